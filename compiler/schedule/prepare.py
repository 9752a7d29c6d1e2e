"""prepare: a kernel graph with loops becomes a flat list of invocations, independent of data.

    Before:  %1 = range 0 … 3
             %2 = definevar i 0 … 2
             %3 = bind %2, %1
             %6 = call step(%4, %5, %3)
             %7 = end %6 [%1]
    After:   item 0        call step, its arguments, what it waits for, i bound to %1
             invocations   item 0 i = 0;  item 0 i = 1;  item 0 i = 2

Items are in the order of their first invocation: dependency order, loops contiguous. A PreSchedule
has no data and no values of the user's variables; `instantiate.py` adds them for each run.

Ensures: producers are before consumers; every error is a `ScheduleError` that names the node.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from compiler.core.node import Node
from compiler.graph.nodes import Sink
from compiler.schedule.kinds import (
    EFFECTS,
    Call,
    Callable,
    DefineVar,
    End,
    KernelSink,
    Range,
    Storage,
)
from compiler.schedule.nesting import (
    Counters,
    Loop,
    Step,
    Waits,
    arrange,
    count,
    flatten,
    loops_around,
    unroll,
    variables_of,
)
from compiler.schedule.sources import Names, callable_of, ordering, producers, storage_of

LARGEST_UNROLLING = 1_000_000
"""The most invocations of a schedule, as each is held in memory."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PreScheduleItem:
    """One call with its kernel, its arguments and its dependencies.

    `kernel_id` and `dependencies` are ids of calls: their numbers in the printed kernel graph.
    """

    kernel_id: int
    kernel: Callable
    body: Sink | None
    sources: tuple[Node, ...]
    dependencies: tuple[int, ...]
    bound_ranges: Mapping[str, Range]
    """Variables that are loop counters."""
    runtime_variables: Mapping[str, Node]
    """Variables whose value is known at run time only, with the value in their Bind."""
    bounds: Mapping[str, tuple[int, int]]
    """The least and the greatest value of each bound variable."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelInvocation:
    """One run of the item at index `item`; the counters of all loops around it."""

    item: int
    counters: Counters
    fixed_variables: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class PreSchedule:
    """Items and invocations in order, and the storages of the results in the sink's order."""

    items: tuple[PreScheduleItem, ...]
    invocations: tuple[KernelInvocation, ...]
    outputs: tuple[Storage, ...]
    names: Names


def create_pre_schedule(root: KernelSink) -> PreSchedule:
    """Find the calls under `root`, order them, and unroll their loops. Bodies are not entered.

    Raises `ScheduleError`: no calls, a cycle (with its path), a wait for what is no call, a bad
    lane index, a Bind of what is no DefineVar, loops that do not nest (`nesting.py`).
    """
    return pre_schedule(root, Names(root))


def pre_schedule(root: KernelSink, names: Names) -> PreSchedule:
    """`create_pre_schedule` with given names of the graph's nodes."""
    if not names.calls:
        names.refuse(root, "there are no calls to schedule")
    waits = waits_between(names.calls, names)
    steps = arrange(waits)
    order = flatten(steps)
    around = loops_around(steps)
    items = tuple(_item(call, waits, around[call]) for call in order)
    outputs = tuple(
        storage_of(source, names) for source in root.sources if not isinstance(source, EFFECTS)
    )
    return PreSchedule(items, _invocations(steps, order, items, names), outputs, names)


def waits_between(calls: list[Callable], names: Names) -> Waits:
    """All waits between calls: through arguments, and for order alone."""
    index = {call: i for i, call in enumerate(calls)}
    pairs = [(wait, call) for call in calls for wait in producers(call, names)]
    pairs += ordering(names)
    edges = {(index[callable_of(wait)], index[call]) for wait, call in pairs}
    ends = [(wait, index[call]) for wait, call in pairs if isinstance(wait, End)]
    return Waits(calls, names, frozenset((a, b) for a, b in edges if a != b), ends)


def _item(call: int, waits: Waits, loops: tuple[Loop, ...]) -> PreScheduleItem:
    """The item of the call with this index."""
    names, kernel = waits.names, waits.calls[call]
    around = {loop.counter: loop for loop in loops}
    values = variables_of(kernel, names)
    bound = {v: value for v, value in values.items() if isinstance(value, Range)}
    counting = {v: value for v, value in bound.items() if value in around}
    for variable, counter in counting.items():
        _check_counter(variable, around[counter], names)
    return PreScheduleItem(
        kernel_id=names[kernel],
        kernel=kernel,
        body=kernel.body if isinstance(kernel, Call) else None,
        sources=kernel.sources,
        dependencies=tuple(sorted(names[waits.calls[a]] for a in waits.before[call])),
        bound_ranges={v.name: counter for v, counter in counting.items()},
        runtime_variables={v.name: x for v, x in values.items() if v not in counting},
        bounds={v.name: (v.low, v.high) for v in values},
    )


def _check_counter(variable: DefineVar, loop: Loop, names: Names) -> None:
    """Refuse a variable that cannot take every value of its loop."""
    values = loop.values
    if values and not variable.low <= values[0] <= values[-1] <= variable.high:
        what = f"it cannot take every value of {names.describe(loop.counter)}"
        expected = f"{variable.low} … {variable.high}"
        names.refuse(variable, what, got=f"{values[0]} … {values[-1]}", expected=expected)


def _invocations(
    steps: tuple[Step, ...], order: list[int], items: tuple[PreScheduleItem, ...], names: Names
) -> tuple[KernelInvocation, ...]:
    """Every run of every item."""
    if count(steps) > LARGEST_UNROLLING:
        expected = f"at most {LARGEST_UNROLLING:,}"
        loop = next(step.loop for step in steps if step.loop)
        what = "the loops unroll to too many invocations"
        names.refuse(loop.counter, what, got=f"{count(steps):,}", expected=expected)
    place = {call: i for i, call in enumerate(order)}
    invocations: list[KernelInvocation] = []
    for call, counters in unroll(steps, {}):
        item = items[place[call]]
        fixed = {name: counters[counter] for name, counter in item.bound_ranges.items()}
        invocations.append(KernelInvocation(place[call], counters, fixed))
    return tuple(invocations)
