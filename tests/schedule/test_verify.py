"""Each invariant of the kernel graph and of the schedule, violated once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.core.node import Node
from compiler.graph.nodes import Buffer, Flip, Param, Sink, Store, elementwise
from compiler.schedule.analysis.costs import analyse
from compiler.schedule.calls import After, Call, KernelSink
from compiler.schedule.items import (
    Dependency,
    Kernel,
    MemoryTransfer,
    Operation,
    ScheduleItem,
    Synchronization,
)
from compiler.schedule.order import order
from compiler.schedule.verify import verify, verify_items, verify_kernels

f32 = dtypes.float32
A, B, C, D = (Buffer((), n, (4,), f32, name) for n, name in enumerate("abcd"))
SHORT = Buffer((), 9, (3,), f32, "short")


def param(slot: int) -> Param:
    return Param((), slot, (4,), f32)


def body(op: str, *slots: int) -> Sink:
    return Sink((Store((param(0), elementwise(op, *map(param, slots)))),))


NEG, ADD = body("neg", 1), body("add", 1, 2)


def call(target: Node, *reads: Node, does: Sink = NEG, name: str = "k0") -> Call:
    return Call((target, *reads), does, name)


def after(buffer: Node, *calls: Node) -> After:
    return After((buffer, *calls))


FIRST = call(B, A)
SECOND = call(C, after(B, FIRST), A, does=ADD, name="k1")
ROOT = KernelSink((after(C, SECOND), after(B, FIRST)))
TURNED = Sink((Store((param(0), Flip((param(0),), (0,)))),))
EXTRA = Sink((Store((param(0), param(0))), Store((param(0), param(1)))))


def root_of(*calls: Call) -> KernelSink:
    return KernelSink(tuple(after(c.sources[0], c) for c in calls))


WRONG_KERNELS: tuple[tuple[int, Callable[[], KernelSink], str], ...] = (
    (1, lambda: KernelSink((FIRST,)), "KernelSink has a wrong operand"),
    (1, lambda: KernelSink((After((B, A)),)), "After has a wrong operand"),
    (1, lambda: KernelSink((After((B,)),)), "an After waits for nothing"),
    (1, lambda: root_of(call(B, param(1))), "a node of another graph"),
    (2, lambda: root_of(call(B, A, does=EXTRA)), "a body is not one store"),
    (
        2,
        lambda: root_of(call(B, A, does=Sink((Store((param(1), param(2))),)))),
        "not write param 0",
    ),
    (2, lambda: root_of(call(B, A, does=body("neg", 2))), "not numbered from 0"),
    (3, lambda: root_of(call(B, A, C)), "call k0 has the wrong number of arguments"),
    (3, lambda: root_of(call(B, SHORT)), "argument 1 of call k0 does not fit its param"),
    (4, lambda: root_of(call(B, does=TURNED)), "a body reads what it writes elsewhere"),
    (4, lambda: root_of(call(B, B)), "call k0 reads the buffer it writes"),
    (5, lambda: root_of(call(B, A), call(B, C)), "buffer b is written by two calls"),
    (6, lambda: root_of(call(C, B), FIRST), "call k0 does not wait for b"),
    (6, lambda: KernelSink((after(B, FIRST), B)), "KernelSink does not wait for b"),
    (7, lambda: root_of(FIRST, call(C, A, name="k9")), "one body has two names"),
    (7, lambda: root_of(FIRST, call(C, A, does=body("exp", 1))), "one name has two bodies"),
)


def assert_broken(caught: Any, number: int, problem: str) -> None:
    assert caught.value.operation == "schedule"
    assert caught.value.problem.startswith(f"invariant {number}: ")
    assert problem in caught.value.problem
    assert caught.value.got
    assert caught.value.expected


@pytest.mark.parametrize(("number", "root", "problem"), WRONG_KERNELS)
def test_broken_kernel_graph(number: int, root: Callable[[], KernelSink], problem: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify_kernels(root())
    assert_broken(caught, number, problem)


def item(number: int, *buffers: Buffer, needs: Any = (), before: Any = ()) -> ScheduleItem:
    does, name = (NEG, "k0") if len(buffers) == 2 else (ADD, "k1")
    return ScheduleItem(number, Kernel(name, does, buffers), tuple(needs), tuple(before))


def edge(a: int, b: int, kind: Any = "data", *buffers: Buffer) -> Dependency:
    return Dependency(a, b, kind, buffers)


I0, I1 = item(0, B, A, before=(1,)), item(1, C, B, A, needs=(0,))
Schedule = tuple[tuple[ScheduleItem, ...], tuple[Dependency, ...]]

WRONG_ITEMS: tuple[tuple[int, Schedule, str], ...] = (
    (8, ((I1, I0), ()), "item 1 is not at its index"),
    (8, ((I0, I0), ()), "item 0 is not at its index"),
    (9, ((replace(I0, dependents=(2,)), I1), ()), "dependents of item 0: out of range"),
    (9, ((replace(I0, depends_on=(-1,)), I1), ()), "depends_on of item 0: out of range"),
    (9, ((replace(I0, depends_on=(0,)), I1), ()), "depends_on of item 0: the item itself"),
    (9, ((I0, replace(I1, depends_on=(0, 0))), ()), "not sorted, or repeated"),
    (9, ((I0, I1), (edge(0, 2),)), "a dependency is out of range"),
    (9, ((I0, I1), (edge(1, 1),)), "a dependency of an item on itself"),
    (10, ((replace(I0, dependents=()), I1), (edge(0, 1),)), "the dependencies disagree"),
    (10, ((I0, I1), ()), "the dependencies disagree"),
    (10, ((item(0, B, A), item(1, C, A)), (edge(0, 1),)), "the dependencies disagree"),
    (
        11,
        (
            (item(0, B, C, needs=(1,), before=(1,)), item(1, C, B, needs=(0,), before=(0,))),
            (edge(0, 1, "data", B), edge(1, 0, "data", C)),
        ),
        "the items wait for each other",
    ),
    (
        11,
        ((item(0, C, B, needs=(1,)), item(1, B, A, before=(0,))), (edge(1, 0, "data", B),)),
        "item 1 stands after item 0, which needs it",
    ),
    (12, ((I0, I1), (edge(0, 1, "data", A),)), "dependency 0 → 1 is not of kind data"),
    (12, ((I0, I1), (edge(0, 1, "data"),)), "dependency 0 → 1 is not of kind data"),
    (12, ((I0, I1), (edge(0, 1, "anti", B),)), "dependency 0 → 1 is not of kind anti"),
    (12, ((I0, I1), (edge(0, 1, "output", B),)), "dependency 0 → 1 is not of kind output"),
    (12, ((I0, I1), (edge(0, 1, "control", B),)), "dependency 0 → 1 is not of kind control"),
    (13, ((item(0, B, A), item(1, B, C)), ()), "item 1 does not wait for item 0, over b"),
    (13, ((item(0, B, A), item(1, A, C)), ()), "item 1 does not wait for item 0, over a"),
    (13, ((item(0, B, A), item(1, C, B)), ()), "item 1 does not wait for item 0, over b"),
)


def operations(*found: Operation) -> tuple[ScheduleItem, ...]:
    """Items that wait for nothing."""
    return tuple(ScheduleItem(i, operation, (), ()) for i, operation in enumerate(found))


MOVED = MemoryTransfer("move", A, B, "CPU", "CPU", (4,), nbytes=16)
FAR = Buffer((), 11, (4,), f32, "far", "CPU:1")
WAIT = Synchronization("late", "event", 1, True)
SIGNAL = Synchronization("now", "event", 1)
WRONG_OPERATIONS: tuple[tuple[int, tuple[ScheduleItem, ...], str], ...] = (
    (15, operations(replace(MOVED, dims=(5,))), "its region reaches outside the source"),
    (15, operations(replace(MOVED, destination=SHORT)), "reaches outside the destination"),
    (15, operations(replace(MOVED, nbytes=8)), "another number of bytes"),
    (15, operations(replace(MOVED, source=FAR)), "other devices"),
    (16, operations(Synchronization("b", "barrier", 1)), "barrier b"),
    (16, operations(Synchronization("e", "event")), "event e"),
    (16, operations(WAIT), "item 0 waits for event 1, which no item before it signals"),
    (16, operations(SIGNAL, WAIT), "item 1 waits for event 1, which no item before it signals"),
    (17, operations(Kernel("k0", NEG, (B, FAR))), "kernel k0 is not where its buffers are"),
)


@pytest.mark.parametrize(("number", "items", "problem"), WRONG_OPERATIONS)
def test_broken_operations(number: int, items: tuple[ScheduleItem, ...], problem: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify_items(items, ())
    assert_broken(caught, number, problem)


def test_right_operations() -> None:
    signal = ScheduleItem(0, SIGNAL, (), (1,))
    wait = ScheduleItem(1, WAIT, (0,), ())
    verify_items((signal, wait), (edge(0, 1, "control"),))
    verify_items(operations(MOVED), ())


def test_order_through_others_is_enough() -> None:
    """Three writes of b: the last waits for the second, which waits for the first."""
    items = (item(0, B, A, before=(1,)), item(1, B, A, needs=(0,), before=(2,)),
             item(2, B, A, needs=(1,)))  # fmt: skip
    verify_items(items, (edge(0, 1, "output", B), edge(1, 2, "output", B)))
    read = (item(0, B, A, before=(1,)), item(1, C, B, needs=(0,), before=(2,)),
            item(2, B, A, needs=(1,)))  # fmt: skip
    verify_items(read, (edge(0, 1, "data", B), edge(1, 2, "anti", B)))
    late = (read[0], read[1], item(2, B, A))
    late = (late[0], replace(late[1], dependents=()), late[2])
    with pytest.raises(InternalError, match="item 2 does not wait for item"):
        verify_items(late, (edge(0, 1, "data", B),))


@pytest.mark.parametrize(("number", "schedule", "problem"), WRONG_ITEMS)
def test_broken_schedule(number: int, schedule: Schedule, problem: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify_items(*schedule)
    assert_broken(caught, number, problem)


def test_a_cycle_is_printed_as_a_path() -> None:
    _, schedule, _ = next(row for row in WRONG_ITEMS if row[0] == 11)
    with pytest.raises(InternalError) as caught:
        verify_items(*schedule)
    assert caught.value.got in ("0 → 1 → 0", "1 → 0 → 1")


def test_items_are_the_calls() -> None:
    items, dependencies = order(ROOT)
    verify(ROOT, items, dependencies, analyse(items))
    with pytest.raises(InternalError) as caught:
        verify(root_of(FIRST), items, dependencies)
    assert_broken(caught, 8, "the items are not the calls")


@pytest.mark.parametrize("rows", ((0,), (0, 0), (1, 0), (0, 1, 1)))
def test_one_row_of_analysis_per_item(rows: tuple[int, ...]) -> None:
    items, dependencies = order(ROOT)
    analysis = [replace(analyse(items)[0], item_id=number) for number in rows]
    with pytest.raises(InternalError) as caught:
        verify(ROOT, items, dependencies, analysis)
    assert_broken(caught, 14, "there is not one row of analysis per item")
    assert caught.value.expected == "[0, 1]"


def test_other_kinds_of_dependency_are_known() -> None:
    """Write after read, write after write, and ordering alone."""
    anti = (item(0, C, A, before=(1,)), item(1, A, D, needs=(0,)))
    verify_items(anti, (edge(0, 1, "anti", A),))
    output = (item(0, B, A, before=(1,)), item(1, B, D, needs=(0,)))
    verify_items(output, (edge(0, 1, "output", B),))
    control = (item(0, B, A, before=(1,)), item(1, C, D, needs=(0,)))
    verify_items(control, (edge(0, 1, "control"),))


def test_shared_bodies_are_right() -> None:
    verify_kernels(root_of(FIRST, call(C, after(B, FIRST))))
