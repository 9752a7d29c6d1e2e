"""Items in Kahn's order, first-in first-out; dependencies from arguments only; no cycles."""

import itertools
import random

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError, ScheduleError
from compiler.core.node import Node
from compiler.graph import nodes
from compiler.graph.nodes import TensorNode, elementwise
from compiler.schedule.analysis.costs import analyse, timings
from compiler.schedule.calls import After, Call, KernelSink
from compiler.schedule.interpret import interpret_kernels
from compiler.schedule.kahn import kahn
from compiler.schedule.kinds import DefineVar
from compiler.schedule.order import order
from compiler.schedule.printer import Schedule
from compiler.schedule.strict.builder import KernelGraphBuilder
from compiler.schedule.verify import verify
from tests.schedule import graphs

f32 = dtypes.float32


def data(unique: int) -> nodes.Buffer:
    return nodes.Buffer((), unique, (4,), f32, f"b{unique}")


def body(operation: str, reads: int) -> nodes.Sink:
    """A kernel body; the operation of several operands is folded over them."""
    params = [nodes.Param((), slot, (4,), f32) for slot in range(reads + 1)]
    value = elementwise(operation, params[1])
    for param in params[2:]:
        value = elementwise("add", value, param)
    return nodes.Sink((nodes.Store((params[0], value)),))


def call(target: nodes.Buffer, *reads: Node, operation: str = "neg") -> After:
    """`target`, once a kernel has written it."""
    call = Call((target, *reads), body(operation, len(reads)), f"{operation}{len(reads)}")
    return After((target, call))


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
    wrong = After((data(-1), nodes.Param((), 0, (4,), f32)))
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


def test_a_loop_is_unrolled_into_items_with_fixed_counters(b: KernelGraphBuilder) -> None:
    """Two iterations of: t becomes x + i, then x becomes t."""
    x, t, loop, i = graphs.data(b), graphs.made(b), b.loop(2), b.variable("i", 0, 1)
    step = b.call("step", adding(b, i), t, x, b.bind(i, loop))
    carry = b.transfer(b.after(x, step), b.after(t, step), name="carry")
    root = b.sink(b.after(x, b.end(step, loop), b.end(carry, loop)))
    items, dependencies = order(root)
    verify(root, items, dependencies, analyse(items))
    assert [(item.operation.name, getattr(item.operation, "fixed", None)) for item in items] == [
        ("step", (("i", 0),)), ("carry", None), ("step", (("i", 1),)), ("carry", None),
    ]  # fmt: skip
    found = [(d.producer, d.consumer, d.kind, [b.name for b in d.buffers]) for d in dependencies]
    assert found == [
        (0, 1, "data", ["t"]), (0, 1, "anti", ["x"]), (0, 2, "output", ["t"]),
        (1, 2, "data", ["x"]), (1, 2, "anti", ["t"]), (1, 3, "output", ["x"]),
        (2, 3, "data", ["t"]), (2, 3, "anti", ["x"]),
    ]  # fmt: skip
    assert [d.nbytes for d in dependencies] == [16, 0, 0, 16, 0, 0, 16, 0]
    assert items[2].depends_on == (0, 1) and items[0].dependents == (1, 2)
    drawn = Schedule(
        title="", name="", items=items, dependencies=dependencies, analysis=analyse(items),
        times=timings(items, analyse(items)), critical_path=(), lifetimes=(), peak_bytes=0,
        itemwise_bytes=0, results=(), parents=((),) * 4,
    )  # fmt: skip
    edges = drawn.to_networkx().edges
    assert edges["schedule:0", "schedule:1"]["kinds"] == "data anti"
    assert edges["schedule:0", "schedule:2"]["kind"] == "output"
    assert drawn.dependency_lines[:3] == (
        "  0 → 1  data    t  16 bytes", "  0 → 1  anti    x", "  0 → 2  output  t"
    )
    assert "kernel step i = 1" in str(drawn) and "transfer carry CPU → CPU" in str(drawn)
    values = interpret_kernels(root, {x: np.arange(4, dtype=np.float32)})
    assert values[0].tolist() == [1, 2, 3, 4]


def adding(b: KernelGraphBuilder, variable: DefineVar) -> nodes.Sink:
    """A body that writes param 1 plus the variable to param 0."""
    number: TensorNode = nodes.Reshape((nodes.Cast((b.read(variable),), f32),), (1,))
    value = elementwise("add", graphs.P[1], nodes.Expand((number,), (4,)))
    return b.body((graphs.P[0], value))


def test_an_empty_loop_has_no_items(b: KernelGraphBuilder) -> None:
    assert order(graphs.loop(b, 0)) == ((), ())


def test_lanes_are_storage_and_wait_for_all_lanes(b: KernelGraphBuilder) -> None:
    x, left, right, out = graphs.data(b), *(graphs.made(b, name) for name in "lro")
    first, second = (b.call("copy", graphs.COPY, lane, x) for lane in (left, right))
    stack = b.stack(b.after(left, first), b.after(right, second))
    root = b.sink(b.after(out, b.call("copy", graphs.COPY, out, b.select(stack, 1))))
    items, dependencies = order(root)
    verify(root, items, dependencies)
    assert [b.name for b in items[2].operation.reads] == ["r"]
    assert [(d.producer, d.kind) for d in dependencies] == [(0, "control"), (1, "data")]
    values = interpret_kernels(root, {x: np.arange(4, dtype=np.float32)})
    assert values[0].tolist() == [0, 1, 2, 3]


def test_locals_and_params_are_buffers_of_the_schedule(b: KernelGraphBuilder) -> None:
    scratch = b.local(4, f32)
    buffer = nodes.Buffer((), 5, (4,), f32, "x", "CPU:1")
    first = b.call("copy", graphs.COPY, scratch, buffer)
    second = b.call("copy", graphs.COPY, b.parameter(3, (4,), f32), b.after(scratch, first))
    items, _ = order(b.sink(second))
    local, param = items[0].operation.writes[0], items[1].operation.writes[0]
    assert local.unique < 0 and local.device == "CPU:1" and local is items[1].operation.reads[0]
    assert (param.name, param.unique) == ("param3", 3)


def test_a_kernel_in_place_reads_what_it_writes(b: KernelGraphBuilder) -> None:
    x, out = graphs.data(b), graphs.made(b)
    read = b.call("copy", graphs.COPY, out, x)
    write = b.call("increment", graphs.INCREMENT, b.after(x, read))
    items, dependencies = order(b.sink(b.after(out, read), b.after(x, write)))
    assert items[1].operation.reads == items[1].operation.writes == (x,)
    assert [(d.kind, [b.name for b in d.buffers]) for d in dependencies] == [("anti", ["x"])]


def test_a_custom_call_touches_all_or_says_what_it_writes(b: KernelGraphBuilder) -> None:
    x, t = graphs.data(b), graphs.made(b)
    items, _ = order(b.sink(b.custom("any", x, t)))
    assert items[0].operation.reads == items[0].operation.writes == (x, t)
    items, _ = order(b.sink(b.custom("one", t, x, outputs=(0,))))
    assert (items[0].operation.reads, items[0].operation.writes) == ((x,), (t,))


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
    lines = caught.value.got.split(" → ")
    wanted = path.split(" → ")
    assert lines[0] == lines[-1] and sorted(set(lines)) == sorted(set(wanted))
    assert all((int(a), int(b)) in edges for a, b in itertools.pairwise(lines))


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
