"""order: the calls of a kernel graph become schedule items in dependency order, loops unrolled.

    Before:  …
             %3 = call k0(%1, %2)      f32[64,1]
             %4 = after %1 [%3]
             %5 = call k1(%0, %4)      f32[64,1]
             …
    After:   0 kernel k0 … reads x … writes tmp0 …
             1 kernel k1 … reads tmp0 … writes tmp1 …
             0 → 1 data tmp0

`create_pre_schedule` sorts the calls by Kahn's algorithm: first-in first-out, ids ascending. Each
of its invocations is an item. The dependencies of an item follow from the buffers that it reads and
writes (RAW, WAR, WAW), and from waits of the kernel graph for order alone.

Relies on: every `After` names calls of this graph.
Ensures: item i is at index i; producers are before consumers; an error about a cycle shows it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from compiler.schedule.dependencies import conflicts, waits_in_iteration
from compiler.schedule.items import Dependency, DependencyKind, Operation, ScheduleItem
from compiler.schedule.kinds import Callable, KernelSink
from compiler.schedule.operations import operations
from compiler.schedule.prepare import PreSchedule, pre_schedule
from compiler.schedule.sources import Names

KINDS: tuple[DependencyKind, ...] = ("data", "anti", "output", "control")


@dataclass(frozen=True, slots=True)
class Ordered:
    """Items, their dependencies, and the kernel-graph call of each item."""

    items: tuple[ScheduleItem, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    calls: tuple[Callable, ...] = ()


def order(root: KernelSink) -> tuple[tuple[ScheduleItem, ...], tuple[Dependency, ...]]:
    """Items and dependencies of the calls under `root`; see `ordered`."""
    in_order = ordered(root)
    return in_order.items, in_order.dependencies


def ordered(root: KernelSink) -> Ordered:
    """The calls under `root` in order. Raises `ScheduleError` where `create_pre_schedule` does."""
    names = Names(root)
    if not names.calls:
        return Ordered()
    pre = pre_schedule(root, names)
    runs = operations(pre)
    dependencies = tuple(_dependencies(pre, runs))
    calls = tuple(pre.items[run.item].kernel for run in pre.invocations)
    return Ordered(_items(runs, dependencies), dependencies, calls)


def _dependencies(pre: PreSchedule, runs: list[Operation]) -> Iterable[Dependency]:
    """All dependencies, by consumer, producer and kind."""
    waits_of = conflicts([(run.reads, run.writes) for run in runs])
    waits = waits_in_iteration(pre)
    for consumer, (edges, before) in enumerate(zip(waits_of, waits, strict=True)):
        for producer in sorted({*edges, *before}):
            kinds = edges.get(producer, {"control": ()})
            for kind in KINDS:
                if kind in kinds:
                    yield Dependency(producer, consumer, kind, tuple(kinds[kind]))


def _items(runs: list[Operation], dependencies: Iterable[Dependency]) -> tuple[ScheduleItem, ...]:
    before: list[dict[int, None]] = [{} for _ in runs]
    after: list[dict[int, None]] = [{} for _ in runs]
    for edge in dependencies:
        before[edge.consumer][edge.producer] = None
        after[edge.producer][edge.consumer] = None
    return tuple(
        ScheduleItem(i, run, tuple(sorted(before[i])), tuple(sorted(after[i])))
        for i, run in enumerate(runs)
    )
