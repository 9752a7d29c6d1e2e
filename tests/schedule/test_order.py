"""Items in Kahn's order, first-in first-out; dependencies from arguments only; no cycles."""

import itertools
import random

import pytest

from compiler import dtypes
from compiler.errors import InternalError, ScheduleError
from compiler.graph.nodes import Buffer, Param, Sink, Store, elementwise
from compiler.node import Node
from compiler.schedule.calls import After, Call, KernelSink
from compiler.schedule.kahn import kahn
from compiler.schedule.order import order
from compiler.schedule.verify import verify

f32 = dtypes.float32


def data(unique: int) -> Buffer:
    return Buffer((), unique, (4,), f32, f"b{unique}")


def body(operation: str, reads: int) -> Sink:
    """A kernel body; the operation of several operands is folded over them."""
    params = [Param((), slot, (4,), f32) for slot in range(reads + 1)]
    value = elementwise(operation, params[1])
    for param in params[2:]:
        value = elementwise("add", value, param)
    return Sink((Store((params[0], value)),))


def call(target: Buffer, *reads: Node, operation: str = "neg") -> After:
    """`target`, once a kernel has written it."""
    made = Call((target, *reads), body(operation, len(reads)), f"{operation}{len(reads)}")
    return After((target, made))


def names(root: KernelSink) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    items, dependencies = order(root)
    verify(root, items, dependencies)
    assert [item.item_id for item in items] == list(range(len(items)))
    return [(i.operation.writes[0].name, i.depends_on, i.dependents) for i in items]


def test_items_in_order_with_both_directions() -> None:
    first = call(data(-1), data(1))
    left, right = call(data(-2), first), call(data(-3), first, operation="exp")
    root = KernelSink((call(data(-4), left, right, operation="abs"),))
    assert names(root) == [
        ("b-1", (), (1, 2)),
        ("b-2", (0,), (3,)),
        ("b-3", (0,), (3,)),
        ("b-4", (1, 2), ()),
    ]
    _, dependencies = order(root)
    assert [(d.producer, d.consumer, d.kind, d.nbytes) for d in dependencies] == [
        (0, 1, "data", 16), (0, 2, "data", 16), (1, 3, "data", 16), (2, 3, "data", 16),
    ]  # fmt: skip
    assert [b.name for d in dependencies for b in d.buffers] == ["b-1", "b-1", "b-2", "b-3"]


def test_independent_chains_alternate() -> None:
    """First-in first-out: both first items run before either second one."""
    left = call(data(-2), call(data(-1), data(1)))
    right = call(data(-4), call(data(-3), data(2)))
    assert [name for name, _, _ in names(KernelSink((left, right)))] == ["b-1", "b-3", "b-2", "b-4"]


def test_results_given_twice_and_inputs_need_nothing_more() -> None:
    made = call(data(-1), data(1))
    assert names(KernelSink((made, made, data(1)))) == [("b-1", (), ())]
    assert order(KernelSink((data(1),))) == ((), ())


def test_an_after_of_an_after_waits_for_all() -> None:
    first = call(data(-1), data(1))
    other = call(data(-2), data(1), operation="exp")
    nested = After((first, other.sources[1]))
    items, dependencies = order(KernelSink((call(data(-3), nested),)))
    assert items[2].depends_on == (0, 1)
    assert [d.kind for d in dependencies] == ["data", "control"]
    assert [[b.name for b in d.buffers] for d in dependencies] == [["b-1"], []]
    twice = After((After((first,)), first.sources[1]))
    items, _ = order(KernelSink((call(data(-3), twice),)))
    assert items[1].depends_on == (0,)


def test_an_after_of_anything_else_is_refused() -> None:
    wrong = After((data(-1), Param((), 0, (4,), f32)))
    with pytest.raises(ScheduleError) as caught:
        order(KernelSink((call(data(-2), wrong),)))
    assert str(caught.value) == (
        "schedule: after (%3): it waits for param (%2), which is no call\n"
        "  got:      Param\n"
        "  expected: Call, End(Call), Store or After"
    )


def test_bodies_are_not_entered() -> None:
    """A body is a graph of its own: nothing in it is an item or a dependency."""
    made = call(data(-1), data(1))
    items, _ = order(KernelSink((made,)))
    assert len(items) == 1
    assert items[0].operation.body is made.sources[1].body


KAHN = (
    (3, [], [0, 1, 2]),
    (3, [(2, 0), (2, 1)], [2, 0, 1]),
    (4, [(0, 3), (1, 2)], [0, 1, 3, 2]),
    (4, [(3, 0), (3, 0)], [1, 2, 3, 0]),
    (5, [(4, 3), (3, 2), (2, 1), (1, 0)], [4, 3, 2, 1, 0]),
    (0, [], []),
)


@pytest.mark.parametrize(("count", "edges", "expected"), KAHN)
def test_kahn(count: int, edges: list[tuple[int, int]], expected: list[int]) -> None:
    assert kahn(count, edges) == expected


CYCLES = (
    (2, [(0, 1), (1, 0)], "0 → 1 → 0"),
    (1, [(0, 0)], "0 → 0"),
    (4, [(0, 1), (1, 2), (2, 3), (3, 1)], "1 → 2 → 3 → 1"),
    (5, [(1, 2), (2, 1), (2, 0), (0, 4)], "1 → 2 → 1"),
)


@pytest.mark.parametrize(("count", "edges", "path"), CYCLES)
def test_a_cycle_is_refused_by_its_path(
    count: int, edges: list[tuple[int, int]], path: str
) -> None:
    with pytest.raises(InternalError) as caught:
        kahn(count, edges)
    assert caught.value.problem == "the items wait for each other"
    found = caught.value.got.split(" → ")
    wanted = path.split(" → ")
    assert found[0] == found[-1] and sorted(set(found)) == sorted(set(wanted))
    assert all((int(a), int(b)) in edges for a, b in itertools.pairwise(found))


@pytest.mark.parametrize("seed", range(20))
def test_kahn_on_random_graphs(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 20)
    hidden = rng.sample(range(count), count)
    pairs = [(a, b) for i, b in enumerate(hidden) for a in hidden[:i]]
    edges = [p for p in pairs if rng.random() < 0.2]
    result = kahn(count, edges)
    assert sorted(result) == list(range(count))
    assert all(result.index(a) < result.index(b) for a, b in edges)
    free = [i for i in range(count) if all(b != i for _, b in edges)]
    assert result[: len(free)] == free
    assert kahn(count, rng.sample(edges, len(edges))) == result
