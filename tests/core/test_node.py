"""Interned nodes: equal structure is one object, whoever makes it; what is unused goes away."""

import gc
import threading
import weakref
from typing import Any

import pytest

from compiler.core import dtypes
from compiler.core.node import Node, field_names, substitute, toposort, users
from compiler.core.origin import Origin, no_origin, state
from compiler.graph.nodes import Buffer, Cast, Const, Reduce, TensorNode, const, elementwise

f32 = dtypes.float32
X = Buffer((), 901, (2, 3), f32, "x")
Y = Buffer((), 902, (2, 3), f32, "y")


def test_equal_structure_is_one_object() -> None:
    assert elementwise("add", X, Y) is elementwise("add", X, Y)
    assert elementwise("add", X, Y) is not elementwise("add", Y, X)
    assert elementwise("add", X, Y) is not elementwise("mul", X, Y)
    assert Reduce((X,), "sum", (0,)) is not Reduce((X,), "sum", (1,))


def test_keywords_and_defaults_name_the_same_node() -> None:
    plain = Buffer((), 903, (4,), f32, "", "CPU")
    assert Buffer((), 903, (4,), f32) is plain
    assert Buffer(sources=(), unique=903, given_shape=(4,), given_dtype=f32, device="CPU") is plain
    with pytest.raises(TypeError, match="Buffer misses its field 'given_dtype'"):
        Buffer((), 903, (4,))  # type: ignore[call-arg]


CONSTANTS: tuple[TensorNode, ...] = (
    const(0.0, f32),
    const(-0.0, f32),
    const(float("nan"), f32),
    const(1.0, f32),
    const(1, dtypes.int32),
    const(1, dtypes.int64),
    const(True, dtypes.bool_),
    const(1.0, dtypes.float64),
    const(1.0, dtypes.float16),
    const(1, dtypes.uint32),
    const(1.0, f32, (2,)),
)


def test_constants_differ_by_bits_type_and_shape() -> None:
    """0.0 == -0.0 and 1 == True == 1.0 in Python: none of these may be one node."""
    assert len(set(CONSTANTS)) == len(CONSTANTS)


def test_a_nan_is_one_node() -> None:
    assert const(float("nan"), f32) is const(float("nan"), f32)
    assert Const((), 0x7FC00001, f32) is not const(float("nan"), f32)


def test_nodes_of_different_lines_differ_until_they_are_merged() -> None:
    made = []
    for line in (3, 7, 3):
        state.origin = Origin("digits.py", line, "exp")
        try:
            made.append(elementwise("exp", X))
        finally:
            state.origin = None
    assert made[0] is made[2]
    assert made[0] is not made[1]
    state.origin = Origin("digits.py", 3, "exp")
    with no_origin():
        assert elementwise("exp", X) not in made
    assert state.origin == Origin("digits.py", 3, "exp")
    state.origin = None


def test_with_sources_keeps_the_arguments() -> None:
    total = Reduce((X,), "max", (1,))
    assert total.with_sources((X,)) is total
    assert total.with_sources((Y,)) is Reduce((Y,), "max", (1,))
    assert total.arguments == {"op": "max", "axes": (1,), "unroll": 0}
    assert field_names(Reduce) == ("op", "axes", "unroll")
    assert repr(total) == "Reduce(op='max', axes=(1,), unroll=0)"


def test_toposort_puts_sources_first_in_one_order() -> None:
    left, right = elementwise("exp", X), elementwise("neg", Y)
    both = elementwise("add", right, left)
    root = elementwise("mul", both, left)
    assert toposort([root]) == [Y, right, X, left, both, root]
    assert toposort([left, root]) == [X, left, Y, right, both, root]
    assert toposort([root, root]) == toposort([root])
    assert toposort([]) == []


def test_users_counts_each_operand() -> None:
    square = elementwise("mul", X, X)
    root = elementwise("add", square, X)
    assert users(toposort([root])) == {X: [square, square, root], square: [root], root: []}


def test_substitute_rebuilds_only_what_it_must() -> None:
    left, right = elementwise("exp", X), elementwise("neg", Y)
    root = elementwise("add", left, right)
    changed = substitute(root, {X: Y})
    assert changed is elementwise("add", elementwise("exp", Y), right)
    assert substitute(root, {}) is root


def test_a_chain_of_30_000_nodes() -> None:
    node: TensorNode = X
    for _ in range(30_000):
        node = elementwise("neg", node)
    order = toposort([node])
    assert len(order) == 30_001
    assert order[0] is X and order[-1] is node
    moved = substitute(node, {X: Y})
    assert toposort([moved])[0] is Y
    del order, moved
    node = X  # freed without recursion


def test_unused_nodes_are_freed() -> None:
    node = Cast((elementwise("exp", Buffer((), 904, (7,), f32)),), dtypes.int8)
    watched = [weakref.ref(each) for each in toposort([node])]
    assert all(ref() is not None for ref in watched)
    del node
    gc.collect()
    assert all(ref() is None for ref in watched)


def test_threads_get_the_same_objects() -> None:
    """Eight threads race through the same 2,000 constructions, each new to the table."""
    barrier = threading.Barrier(8)
    made: list[list[Node]] = [[] for _ in range(8)]

    def build(mine: list[Any]) -> None:
        barrier.wait()
        for number in range(1000):
            leaf = Buffer((), 10_000 + number, (3,), f32)
            mine += [leaf, elementwise("exp", leaf)]

    threads = [threading.Thread(target=build, args=(mine,)) for mine in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for others in made[1:]:
        assert all(a is b for a, b in zip(made[0], others, strict=True))
    assert len(set(made[0])) == 2000
