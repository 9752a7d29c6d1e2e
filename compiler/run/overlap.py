"""The items of a topological level that run in parallel.

Items of one level may overlap unless they touch the same storage and one writes it
(`schedule/analysis/levels.py`). An item that uses several threads never overlaps with another such
item. Handing work to a thread costs some microseconds: only items that are estimated to take
longer get one (`assemble.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.device.program import Program
from compiler.graph.nodes import Sink
from compiler.schedule.analysis.levels import groups, levels_to_run
from compiler.schedule.items import ItemAnalysis, Kernel, ScheduleItem

WORTH_A_THREAD_NS = 10_000
"""Two items that take at least this long run in parallel. Handing work to a worker took 0.8 µs if
it was awake and 52 to 58 if it slept (Xeon, AVX-512, November 2026). Two kernels of 9 µs by
estimate took 59 µs one by one and 55 in parallel; for 5 µs or less it made no difference, 3 µs at
most (EPYC, AVX2, two busy cores, 2026-11-23)."""


@dataclass(frozen=True, slots=True)
class Level:
    """One topological level: `groups` run one after the other; the items of a group may overlap.

    `parallel` holds, for each group, the items that get a thread of their own.
    """

    number: int
    groups: tuple[tuple[ScheduleItem, ...], ...]
    parallel: tuple[tuple[ScheduleItem, ...], ...]

    @property
    def items(self) -> tuple[int, ...]:
        """The ids of all items of the level, ascending."""
        return tuple(sorted(item.item_id for group in self.groups for item in group))

    def __str__(self) -> str:
        texts = []
        for group, parallel in zip(self.groups, self.parallel, strict=True):
            ids = " ".join(str(item.item_id) for item in group)
            overlapping = " ".join(str(item.item_id) for item in parallel)
            texts.append(ids + (f" (at once: {overlapping})" if parallel else ""))
        return f"level {self.number}: {', then '.join(texts)}"


def plan_levels(
    items: Sequence[ScheduleItem],
    programs: Mapping[tuple[Sink, str], Program],
    analysis: Sequence[ItemAnalysis],
) -> tuple[Level, ...]:
    """The levels of a schedule, with the items that are worth a thread."""
    by_id = {item.item_id: item for item in items}
    cost = {row.item_id: row.cost for row in analysis}
    threaded = {body for (body, _), p in programs.items() if p.tasks > 1}
    result = []
    for number, level in enumerate(levels_to_run(items)):
        cut: list[tuple[ScheduleItem, ...]] = []
        for group in groups(by_id, level):
            cut += _without_two_threaded([by_id[i] for i in group], threaded)
        parallel = tuple(_worth_a_thread(group, cost) for group in cut)
        result.append(Level(number, tuple(cut), parallel))
    return tuple(result)


def _without_two_threaded(
    group: list[ScheduleItem], threaded: set[Sink]
) -> list[tuple[ScheduleItem, ...]]:
    """The group, split so that no two items that use several threads are together."""
    threaded_items = [item for item in group if getattr(item.operation, "body", None) in threaded]
    alone = {item.item_id for item in threaded_items[1:]}
    together = tuple(item for item in group if item.item_id not in alone)
    return [together, *((item,) for item in threaded_items[1:])]


def _worth_a_thread(
    group: tuple[ScheduleItem, ...], cost: Mapping[int, int]
) -> tuple[ScheduleItem, ...]:
    """The long kernels of a group, if there are several; the calling thread runs one."""
    kernels = (i for i in group if isinstance(i.operation, Kernel))
    long = tuple(i for i in kernels if cost.get(i.item_id, 0) >= WORTH_A_THREAD_NS)
    return long if len(long) > 1 else ()
