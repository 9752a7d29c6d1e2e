"""Loops around calls: the calls that each range repeats, the nesting of ranges, and their order.

A range repeats the calls that an End closes with it, those that bind it, and those in between:
calls that wait for one of them and that one of them waits for. The following graphs are refused,
because no sequence of loop begins and ends has their meaning:

    a call inside a range that waits for an End of that range (begin, A, end, B, end)
    parts of a range that do not wait for each other: A would run n times before B runs once
    two ranges that cross, or that nest in both orders
    an End that closes no range or several; bounds that are not integers

Among ranges around the same calls, the one closed first is the innermost.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from compiler.core.errors import InternalError, ScheduleError
from compiler.core.node import Node
from compiler.schedule.kahn import Name, kahn
from compiler.schedule.kinds import CALLABLE, Bind, Callable, DefineVar, End, Range
from compiler.schedule.sources import Names, callable_of

Edges: TypeAlias = frozenset[tuple[int, int]]
Counters: TypeAlias = Mapping[Range, int]


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """One range and the indices of the calls it repeats."""

    counter: Range
    calls: frozenset[int]

    low: int
    high: int

    @property
    def values(self) -> range:
        """The values of the counter; an empty range has none."""
        return range(self.low, self.high)


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A call by its index, or a loop with its steps."""

    call: int = -1
    loop: Loop | None = None
    steps: "tuple[Step, ...]" = ()


@dataclass(slots=True, eq=False)
class Waits:
    """The waits between calls: `edges` by index; `ends` has the End for waits on one."""

    calls: Sequence[Callable]
    names: Names
    edges: Edges
    ends: Sequence[tuple[End, int]]
    index: dict[Callable, int] = field(init=False)
    before: dict[int, list[int]] = field(init=False)
    """For each call the calls that it waits for."""

    def __post_init__(self) -> None:
        self.index = {call: i for i, call in enumerate(self.calls)}
        self.before = {i: [] for i in range(len(self.calls))}
        for producer, consumer in self.edges:
            self.before[consumer].append(producer)

    def describe(self, call: int) -> str:
        """The name of a call in messages."""
        return self.names.describe(self.calls[call])


def arrange(waits: Waits) -> tuple[Step, ...]:
    """The calls and loops in execution order: Kahn's algorithm, first-in first-out, ids ascending.

    Raises `ScheduleError` for a cycle, with its path, and for loops that do not nest.
    """
    calls = _sorted(len(waits.calls), waits.edges, waits.describe)
    loops = _loops(waits)
    if not loops:
        return tuple(Step(call=call) for call in calls)
    return _steps(frozenset(calls), loops, waits)


def flatten(steps: Iterable[Step]) -> list[int]:
    """The calls of `steps`, each once, in order."""
    calls: list[int] = []
    for step in steps:
        calls.extend(flatten(step.steps) if step.loop else (step.call,))
    return calls


def count(steps: Iterable[Step]) -> int:
    """The number of runs that `unroll` yields."""
    return sum(
        count(step.steps) * max(0, step.loop.high - step.loop.low) if step.loop else 1
        for step in steps
    )


def unroll(steps: Sequence[Step], counters: Counters) -> Iterator[tuple[int, Counters]]:
    """Every run of every call, with the counters of the loops around it."""
    for step in steps:
        if not step.loop:
            yield step.call, counters
            continue
        if not count([step]):
            continue
        for value in step.loop.values:
            yield from unroll(step.steps, {**counters, step.loop.counter: value})


def loops_around(
    steps: Iterable[Step], outer: tuple[Loop, ...] = ()
) -> dict[int, tuple[Loop, ...]]:
    """For each call the loops around it, outermost first."""
    around: dict[int, tuple[Loop, ...]] = {}
    for step in steps:
        if step.loop:
            around |= loops_around(step.steps, (*outer, step.loop))
        else:
            around[step.call] = outer
    return around


def _sorted(count: int, edges: Iterable[tuple[int, int]], name: Name) -> list[int]:
    try:
        return kahn(count, list(edges), name)
    except InternalError as error:
        what = f"the calls wait for each other: {error.got}"
        raise ScheduleError("schedule", what, expected="no cycle") from None


def _steps(calls: frozenset[int], loops: Sequence[Loop], waits: Waits) -> tuple[Step, ...]:
    """`calls` in order; `loops` are the loops among them, outer before inner."""
    outermost = [a for i, a in enumerate(loops) if not any(a.calls <= b.calls for b in loops[:i])]
    block = {call: frozenset((call,)) for call in calls}
    block |= {call: loop.calls for loop in outermost for call in loop.calls}
    blocks = sorted(set(block.values()), key=min)
    by_calls = {loop.calls: loop for loop in outermost}

    def name(place: int) -> str:
        loop = by_calls.get(blocks[place])
        return waits.names.describe(loop.counter) if loop else waits.describe(min(blocks[place]))

    result = []
    for place in _sorted(len(blocks), _edges(block, blocks, waits), name):
        loop = by_calls.get(blocks[place])
        if loop is None:
            result.append(Step(call=min(blocks[place])))
            continue
        inner = [a for a in loops if a is not loop and a.calls <= loop.calls]
        result.append(Step(loop=loop, steps=_steps(loop.calls, inner, waits)))
    return tuple(result)


def _edges(
    block: Mapping[int, frozenset[int]], blocks: list[frozenset[int]], waits: Waits
) -> set[tuple[int, int]]:
    """The blocks that wait for each other, by place, from the calls in them that do."""
    place = {calls: number for number, calls in enumerate(blocks)}
    inside = [(block[a], block[b]) for a, b in waits.edges if a in block and b in block]
    return {(place[a], place[b]) for a, b in inside if a != b}


def _loops(waits: Waits) -> list[Loop]:
    """The loops of the graph, outer before inner; refuses loops that do not nest."""
    ends = [node for node in waits.names.nodes if isinstance(node, End)]
    closed: dict[Range, set[int]] = {}
    for end in ends:
        _check_end(end, waits)
        closed.setdefault(end.ranges[0], set()).add(waits.index[callable_of(end)])
    loops = []
    for counter, inside in closed.items():
        low, high = _bounds(counter, waits.names)
        inside = inside | _binding(counter, waits)
        loop = Loop(counter, _between(inside, waits.edges), low, high)
        _check_separate(loop, waits)
        loops.append(loop)
    # The one closed last is the outer one of two around the same calls, and sorting is stable.
    loops.reverse()
    loops.sort(key=lambda loop: -len(loop.calls))
    _check_nesting(loops, ends, waits.names)
    return loops


def _check_end(end: End, waits: Waits) -> None:
    if not isinstance(end.call, CALLABLE):
        waits.names.refuse(end, "it ends no call", got=waits.names.describe(end.call))
    if len(end.ranges) != 1:
        what = "it must close exactly one range"
        waits.names.refuse(end, what, got=f"{len(end.ranges)} ranges", expected="1 range")


def _bounds(counter: Range, names: Names) -> tuple[int, int]:
    for bound in (counter.low, counter.high):
        if not isinstance(bound, int):
            got = f"{type(bound).__name__} {getattr(bound, 'name', '')}".rstrip()
            names.refuse(counter, "its bounds are not concrete", got=got, expected="an integer")
    assert isinstance(counter.low, int) and isinstance(counter.high, int)
    return counter.low, counter.high


def _binding(counter: Range, waits: Waits) -> set[int]:
    """The calls that bind a counter."""
    return {
        i
        for i, call in enumerate(waits.calls)
        if any(isinstance(a, Bind) and a.sources[1] is counter for a in call.sources)
    }


def _between(calls: set[int], edges: Edges) -> frozenset[int]:
    """`calls`, and the calls on a path from one of them to another."""
    after = _reached(calls, edges)
    before = _reached(calls, frozenset((b, a) for a, b in edges))
    return frozenset(calls | (after & before))


def _reached(calls: Iterable[int], edges: Edges) -> set[int]:
    """The calls reachable from `calls` along `edges`."""
    following: dict[int, list[int]] = {}
    for a, b in edges:
        following.setdefault(a, []).append(b)
    reached = set(calls)
    stack = list(reached)
    while stack:
        for other in following.get(stack.pop(), ()):
            if other not in reached:
                reached.add(other)
                stack.append(other)
    return reached


def _check_separate(loop: Loop, waits: Waits) -> None:
    """Refuse begin, A, end, B, end: the calls of a range are closed together."""
    names, counter = waits.names, loop.counter
    for end, call in waits.ends:
        if counter in _ranges_of(end) and call in loop.calls:
            what = f"{waits.describe(call)} is inside it, but waits for its {names.describe(end)}"
            names.refuse(counter, what, expected="calls that are closed together")
    inside = frozenset(
        pair for a, b in waits.edges if {a, b} <= loop.calls for pair in ((a, b), (b, a))
    )
    first = min(loop.calls)
    rest = loop.calls - _reached([first], inside)
    if rest:
        pair = f"{waits.describe(first)} and {waits.describe(min(rest))}"
        what = f"{pair} are closed separately, neither waits for the other"
        names.refuse(counter, what, expected="a range for each")


def _ranges_of(end: Node) -> list[Range]:
    """The ranges an End and the Ends inside it close, innermost first."""
    ranges: list[Range] = []
    while isinstance(end, End):
        ranges[:0] = end.ranges
        end = end.sources[0]
    return ranges


def _check_nesting(loops: Sequence[Loop], ends: Iterable[End], names: Names) -> None:
    for outer, inner in itertools.combinations(loops, 2):
        if not (inner.calls <= outer.calls or inner.calls.isdisjoint(outer.calls)):
            what = f"it crosses {names.describe(outer.counter)}: neither is inside the other"
            names.refuse(inner.counter, what)
    depth = {loop.counter: i for i, loop in enumerate(loops)}
    for end in ends:
        for inner_range, outer_range in itertools.pairwise(_ranges_of(end)):
            if depth[inner_range] <= depth[outer_range]:
                what = f"it nests {names.describe(inner_range)} inside "
                what += f"{names.describe(outer_range)}, which elsewhere is not around it"
                names.refuse(end, what)


def variables_of(call: Callable, names: Names) -> dict[DefineVar, Node]:
    """The variables that a call binds, with their values; a Bind needs a DefineVar."""
    variables: dict[DefineVar, Node] = {}
    for argument in call.sources:
        if not isinstance(argument, Bind):
            continue
        variable, value = argument.sources
        if not isinstance(variable, DefineVar):
            got = names.describe(variable)
            names.refuse(argument, "it binds no DefineVar", got=got, expected="a DefineVar")
        if variable.name in {other.name for other in variables}:
            names.refuse(call, f"it binds {variable.name} twice")
        variables[variable] = value
    return variables
