"""Questions on the schedule: what may run at once, what decides how long it takes, memory."""

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING

from compiler.core.text import aligned, duration
from svodviz.foundation.escape import visible
from svodviz.quizzes.drafts import Draft
from svodviz.quizzes.graph_questions import buffer_text, shuffled
from svodviz.quizzes.questions import Choice
from svodviz.wire.items import word_of

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from compiler.schedule.analysis.places import Place
    from compiler.schedule.items import ScheduleItem
    from compiler.schedule.printer import Schedule

MOST_ITEMS = 24  # that a reader follows
CLEARLY = 1.25  # times as long as the next: no reader can tell less
ROUNDED = 64  # bytes: places begin at cache lines


def _name(item: "ScheduleItem") -> str:
    return f"{item.item_id} {visible(item.operation.name)}"


def _traffic(schedule: "Schedule") -> list[str]:
    """`2 k2  reads tmp0[64,32]  writes tmp1[64,10]`, a line for each item."""
    rows = [
        (_name(it), *(f"{word} {' '.join(map(buffer_text, side))}" for word, side in
                      (("reads", it.operation.reads), ("writes", it.operation.writes))))
        for it in schedule.items[:MOST_ITEMS]
    ]  # fmt: skip
    return aligned(rows)


def _befores(schedule: "Schedule") -> list[set[int]]:
    """For each item all that it waits for, directly or not."""
    befores: list[set[int]] = []
    for item in schedule.items[:MOST_ITEMS]:
        before = set(item.depends_on)
        befores.append(before.union(*(befores[it] for it in before)))
    return befores


# -- what may run at the same time -----------------------------------------------------------------


def together(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """Which two items may run at once?"""
    schedule = compilation.schedule
    items, befores = schedule.items[:MOST_ITEMS], _befores(schedule)
    pairs = list(combinations(range(len(items)), 2))
    free = [it for it in pairs if it[0] not in befores[it[1]]]
    bound = sorted(set(pairs) - set(free), key=lambda it: (it[1] - it[0], it))
    for first, then in shuffled(free, random):
        # Those that share an item with the right pair tempt, and so do those with one in between.
        wrong = sorted(shuffled(bound, random), key=lambda it: not {first, then} & set(it))
        yield Draft(
            "These are the items of the schedule. Which two of them may run at the same time?",
            _traffic(schedule),
            Choice(_pair(schedule, first, then), "neither waits for the other, directly or not"),
            [Choice(_pair(schedule, *it), _way(schedule, befores, *it)) for it in wrong],
            ["an item waits for those that write what it reads, and for those that still read "
             "what it writes"],
            schedule.entity(items[then].item_id),
        )  # fmt: skip


def _pair(schedule: "Schedule", first: int, then: int) -> str:
    return f"{_name(schedule.items[first])} and {_name(schedule.items[then])}"


def _way(schedule: "Schedule", befores: list[set[int]], first: int, then: int) -> str:
    """By which buffers an item waits for another."""
    if first not in schedule.items[then].depends_on:
        between = sorted(it for it in befores[then] if first in befores[it])
        return f"{then} waits for {first} by way of item {', '.join(map(str, between[:3]))}"
    edges = [it for it in schedule.dependencies if (it.producer, it.consumer) == (first, then)]
    names = dict.fromkeys(buffer.name for it in edges for buffer in it.buffers)
    return f"{then} waits for {first}: {' '.join(names) or 'their order is kept'}"


# -- what decides how long the program takes -------------------------------------------------------


def critical(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """Which item may not be late? Those that tempt take long and have time to spare."""
    schedule = compilation.schedule
    items, times = schedule.items[:MOST_ITEMS], schedule.times
    spare = [it for it in range(len(items)) if not times[it].is_critical]
    spare.sort(key=lambda it: -times[it].cost)
    path = set(schedule.critical_path)
    tight = [place for place, it in enumerate(items) if it.item_id in path]
    for place in shuffled(tight[:-1], random):  # the last item is always critical
        yield Draft(
            "These are the items of the schedule and what each takes. Which one cannot be late "
            "without delaying the end?",
            _timed(schedule),
            Choice(_name(items[place]), "it is on the critical path: it has no slack"),
            [Choice(_name(items[it]), f"it may start {duration(times[it].slack)} late")
             for it in spare],
            ["critical path: " + " → ".join(_name(items[it]) for it in tight)],
            schedule.entity(items[place].item_id),
        )  # fmt: skip


def _timed(schedule: "Schedule") -> list[str]:
    """`2 k2  takes 38 µs  waits for 0 k0, 1 k1`, a line for each item, in columns."""
    items = schedule.items[:MOST_ITEMS]
    names = {it.item_id: _name(it) for it in items}
    rows = []
    for item, time in zip(items, schedule.times, strict=False):
        before = ", ".join(names[it] for it in item.depends_on if it in names)
        waits = f"waits for {before}" if before else ""
        rows.append((_name(item), "takes", duration(time.cost), waits))
    return aligned(rows, right=(2,))


def costly(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """Which kernel takes longest by the estimate?"""
    schedule = compilation.schedule
    kernels = {it.operation.name: place for place, it in enumerate(schedule.items[:MOST_ITEMS])
               if word_of(it.operation) == "kernel"}  # fmt: skip
    costs = {place: schedule.times[place].cost for place in kernels.values()}
    order = sorted(costs, key=lambda it: -costs[it])
    # Any of the slower half can be the right one, among such as are clearly faster.
    for rank, place in enumerate(order[: max(len(order) // 2, 1)]):
        faster = [it for it in order[rank + 1 :] if costs[it] * CLEARLY <= costs[place]]
        faster.sort(key=lambda it: -schedule.analysis[it].flops)
        yield Draft(
            "These are the kernels of the program, with their operations and the bytes that they "
            "read and write. Which one of the four takes longest, by the compiler's estimate?",
            _work(schedule, sorted(costs)),
            Choice(_name(schedule.items[place]), _cost(schedule, place)),
            [Choice(_name(schedule.items[it]), _cost(schedule, it)) for it in faster],
            ["what a kernel takes is the greatest of computing and of moving data from each "
             "cache: few operations can take long where they fill no vectors"],
            schedule.entity(schedule.items[place].item_id),
        )  # fmt: skip


def _work(schedule: "Schedule", places: list[int]) -> list[str]:
    rows = []
    for place in places:
        item, cost = schedule.items[place], schedule.analysis[place]
        sides = item.operation.reads, item.operation.writes
        reads, writes = (" ".join(map(buffer_text, side)) for side in sides)
        rows.append((_name(item), f"reads {reads}", f"writes {writes}", f"{cost.flops:,} flops",
                     f"{cost.bytes_read + cost.bytes_written:,} bytes"))  # fmt: skip
    return aligned(rows, right=(3, 4))


def _cost(schedule: "Schedule", place: int) -> str:
    cost = schedule.analysis[place]
    lanes = f", {cost.occupancy:.0%} of it in vectors" if cost.occupancy else ""
    most = f": {cost.bound} takes most of it" if cost.bound else ""
    return f"about {duration(schedule.times[place].cost)}{most}{lanes}"


# -- how much memory -------------------------------------------------------------------------------


def memory(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """How many bytes do the buffers take that the program makes?"""
    schedule = compilation.schedule
    plan = schedule.memory_plan
    if plan is None or not 2 < len(plan.places) <= MOST_ITEMS or plan.peak != plan.live:
        return  # a plan with gaps takes more than the question states
    sizes = {it.buffer: it.size for it in plan.places}
    most, least = max(sizes.values()), min(sizes.values())
    inputs = {buffer: buffer.nbytes for item in schedule.items
              for buffer in item.operation.reads if buffer not in sizes}  # fmt: skip
    wrong = {
        plan.unshared: "that is the sum of all: nothing shares memory",
        plan.arena: "that is the shared part alone: the results have memory of their own",
        most: "that is the largest buffer alone",
        plan.peak + most: "that is one buffer too many",
        plan.peak - least: "that is one buffer too few",
        plan.peak + sum(inputs.values()): "that counts the inputs, which are there already",
        plan.peak - most: "that leaves out the largest",
        plan.peak + least: "that is one buffer too many",
    }
    yield Draft(
        "How many bytes do the buffers take that the program itself makes, if those that are never "
        "needed at once share memory? Results share with none; sizes are multiples of "
        f"{ROUNDED} bytes.",
        [*_traffic(schedule), "", *aligned(_needed(it) for it in plan.places)],
        Choice(f"{plan.peak:,} bytes", "the most that is needed at once, and the results"),
        [Choice(f"{size:,} bytes", why) for size, why in wrong.items() if size > 0],
        [f"{it.buffer.name}: {it.reason}" for it in plan.places[:8]],
    )  # fmt: skip


def _needed(place: "Place") -> tuple[str, str]:
    return place.buffer.name, f"{place.size:,} bytes"


def shared(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """Which buffer can have the memory of another?"""
    schedule = compilation.schedule
    plan = schedule.memory_plan
    if plan is None or len(schedule.items) > MOST_ITEMS:
        return
    places = plan.places
    inputs = dict.fromkeys(b for it in schedule.items for b in it.operation.reads)
    outside = [it for it in inputs if it not in {place.buffer for place in places}]
    lines = _traffic(schedule)
    for place in shuffled((it for it in places if it.offset is not None), random):
        free = [it for it in places if it.offset is not None and not it.meets(place)]
        wrong = [Choice(buffer_text(it.buffer), _why_not(it)) for it in places
                 if it is not place and (it.meets(place) or it.offset is None)]  # fmt: skip
        wrong += [Choice(buffer_text(it), "it is an input: its memory is the caller's")
                  for it in shuffled(outside, random)]  # fmt: skip
        for other in shuffled(free, random)[:1]:
            yield Draft(
                f"Which of these buffers can use the same memory as {place.buffer.name}?",
                lines,
                Choice(buffer_text(other.buffer), "at no time are both needed"),
                wrong,
                [f"{place.buffer.name}: {place.reason}", f"{other.buffer.name}: {other.reason}"],
            )


def _why_not(place: "Place") -> str:
    return place.reason if place.offset is None else "both are needed at the same time"
