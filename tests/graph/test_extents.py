"""Symbolic axes of graph nodes: which nodes have one, and which refuse."""

from types import SimpleNamespace

import numpy as np
import pytest

from compiler.core.dtypes import float32, int64
from compiler.core.errors import InternalError, ShapeError
from compiler.core.trace import Provenance
from compiler.device.buffers import new_buffer
from compiler.graph.decompose import decompose
from compiler.graph.extent import less, product, total
from compiler.graph.extents import Extent, Extents, refused, shape_of, written
from compiler.graph.interpret import interpret
from compiler.graph.nodes import (
    Bind,
    Buffer,
    Cast,
    Contiguous,
    Elementwise,
    Expand,
    Flip,
    Index,
    Iota,
    Pad,
    Param,
    Permute,
    Prefix,
    Reduce,
    Reshape,
    Shrink,
    Sink,
    Store,
    TensorNode,
    Variable,
    const,
    elementwise,
)
from compiler.graph.rewrite import RuleSet, rewrite, rule_of
from compiler.graph.verify import verify
from compiler.graph.words import short

N = Variable((), "n", 2, 8)
n = Extent("n", 2, 8)
m = Extent("m", 0, 4)
B = Buffer((), 1, (8, 4), float32, "x")
X = Prefix((B, N), 0)
ONES = const(1, float32, (8, 4))

KEPT: tuple[tuple[TensorNode, Extents], ...] = (
    (B, ()),
    (X, (n, None)),
    (Prefix((X, Variable((), "m", 0, 4)), 1), (n, m)),
    (elementwise("add", X, ONES), (n, None)),
    (elementwise("add", ONES, X), (n, None)),
    (Cast((X,), int64), (n, None)),
    (Contiguous((X,)), (n, None)),
    (Permute((X,), (1, 0)), (None, n)),
    (Reshape((X,), (1, 8, 1, 2, 2)), (None, n, None, None, None)),
    (Expand((Reshape((X,), (8, 1, 4)),), (8, 3, 4)), (n, None, None)),
    (Reshape((X,), (32,)), (product((n, 4)),)),
    (Reshape((X,), (4, 8)), (None, n)),
    (Reshape((X,), (16, 2), (product((n, 2)), None)), (product((n, 2)), None)),
    (Pad((X,), ((0, 1), (0, 0))), (total((n, 1)), None)),
    (Shrink((X,), ((1, 8), (0, 4)), (0,)), (less(n, 1), None)),
    (Prefix((B, Variable((), "k", 0, 7)), 0), (Extent("k", 0, 7), None)),
    (Prefix((X, N), 0, less(n, 1)), (less(n, 1), None)),
    (Index((X, Iota((), 3, int64), Iota((), 3, int64))), ()),
    (Pad((X,), ((0, 0), (1, 1))), (n, None)),
    (Shrink((X,), ((0, 8), (1, 2))), (n, None)),
    (Shrink((X,), ((0, 2), (0, 4))), ()),
    (Flip((X,), (0, 1)), (n, None)),
    (Reduce((X,), "sum", (1,)), (n, None)),
    (Reduce((X,), "sum", (0,)), ()),
    (Index((Buffer((), 2, (5,), float32), Cast((X,), int64))), (n, None)),
    (Index((Reshape((X,), (8, 2, 2)), *(Cast((X,), int64) for _ in range(3)))), (n, None)),
    (Store((Param((), 0, (8, 4), float32), X)), (n, None)),
    (Sink((X,)), ()),
)


@pytest.mark.parametrize(("node", "extents"), KEPT, ids=lambda it: type(it).__name__)
def test_how_extents_pass_on(node: TensorNode, extents: Extents) -> None:
    assert node.extents == extents


REFUSED = (
    (lambda: Reshape((X,), (4, 4, 2)), "reshape of (4, 4, 2) cannot split it so"),
    (lambda: Shrink((X,), ((1, 8), (0, 4))), "shrink would take 1:8"),
    (lambda: Shrink((X,), ((3, 8), (0, 4)), (0,)), "shrink would take 3:8"),
    (lambda: Shrink((X,), ((0, 3), (0, 4))), "shrink would take 0:3"),
    (lambda: elementwise("mul", X, Prefix((B, Variable((), "k", 0, 8)), 0)), "mul meets n"),
    (lambda: Prefix((X, Variable((), "k", 0, 8)), 0), "prefix would make it k (0 … 8)"),
)


@pytest.mark.parametrize(("make", "problem"), REFUSED, ids=[problem for _, problem in REFUSED])
def test_what_is_refused(make: object, problem: str) -> None:
    with pytest.raises(ShapeError) as caught:
        make()  # type: ignore[operator]
    assert problem in caught.value.problem
    assert "axis 0 has " in caught.value.problem


def test_kinds_that_say_nothing_refuse() -> None:
    unknown = SimpleNamespace(sources=(ONES, X), op="fold")
    assert TensorNode._extents is refused
    with pytest.raises(ShapeError, match="runs: fold is not defined for such an axis"):
        refused(unknown)


def test_words() -> None:
    assert short(X) == "f32[n,4]" and short(B) == "f32[8,4]"
    assert written((8, 4), (n, m)) == "n,m"
    assert shape_of((8, 4), (n, None), {"n": 3}) == (3, 4)


BROKEN = (
    (Prefix((Buffer((), 3, (1,), float32), Variable((), "k", 0, 1)), 0),
     "invariant 15: the variable does not fit the axis"),
    (Prefix((B, Variable((), "k", -1, 8)), 0), "invariant 15: the variable does not fit the axis"),
    (Reduce((Prefix((B, Variable((), "k", 0, 8)), 0),), "max", (0,)),
     "invariant 15: max over an axis that may be empty"),
    (Bind((N,), 9), "invariant 12: a bind outside its bounds"),
)  # fmt: skip


@pytest.mark.parametrize(("node", "problem"), BROKEN)
def test_broken_invariants(node: TensorNode, problem: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify(Sink((node,)))
    assert caught.value.problem.startswith(problem)


def test_no_value_is_left_after_decompose() -> None:
    root = Sink((Prefix((B, Bind((N,), 5)), 0),))
    verify(root)
    with pytest.raises(InternalError, match="invariant 15: a value of this run was not taken out"):
        verify(root, is_decomposed=True)
    decomposed = decompose(root, Provenance())
    verify(decomposed, is_decomposed=True)
    assert decomposed is Sink((X,))


def test_the_interpreter_takes_what_is_there() -> None:
    whole = np.arange(32, dtype="f4").reshape(8, 4)
    x = Prefix((new_buffer(whole), N), 0)
    folded = Reduce((elementwise("add", x, ONES),), "sum", (0,))
    bound = Reduce((Prefix((new_buffer(whole[:3], shape=(8, 4)), Bind((N,), 3)), 0),), "sum", (0,))
    (found,) = interpret([folded], {x.sources[0]: whole, N: np.array(5)})
    np.testing.assert_array_equal(found[0], whole[:5].sum(0) + 5)
    (found,) = interpret([bound], {bound.sources[0].sources[0]: whole[:3]})
    np.testing.assert_array_equal(found[0], whole[:3].sum(0))


def test_a_rule_never_loses_an_extent() -> None:
    @rule_of((Elementwise, "max"))
    def take_second(node: Elementwise) -> TensorNode:
        """max(x, y) = y"""
        return node.sources[1]

    rules = RuleSet((take_second,))
    kept, lost = elementwise("max", ONES, X), elementwise("max", X, ONES)
    assert rewrite(kept, rules, Provenance()) is X
    assert rewrite(lost, rules, Provenance()) is lost
