"""Schedules written by hand: items with given dependencies and costs."""

from collections.abc import Sequence

from compiler.core import dtypes
from compiler.graph.nodes import Buffer, Param, Sink, Store, elementwise
from compiler.schedule.items import ItemAnalysis, Kernel, ScheduleItem

_written, _read = (Param((), slot, (4,), dtypes.float32) for slot in (0, 1))
BODY = Sink((Store((_written, elementwise("neg", _read))),))


def buffer(unique: int, size: int = 4) -> Buffer:
    """A buffer of `size` bytes; negative numbers are made by the program, others are inputs."""
    return Buffer((), unique, (size,), dtypes.int8, f"b{unique}")


def schedule(
    edges: Sequence[tuple[int, int]], count: int, arguments: Sequence[tuple[Buffer, ...]] = ()
) -> tuple[ScheduleItem, ...]:
    """`count` items that depend on each other by `edges`; item i writes `arguments[i][0]`."""
    given = arguments or [(buffer(-1 - i),) for i in range(count)]
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for producer, consumer in sorted(edges):
        before[consumer].append(producer)
        after[producer].append(consumer)
    return tuple(
        ScheduleItem(i, Kernel("k0", BODY, given[i]), tuple(before[i]), tuple(after[i]))
        for i in range(count)
    )


def costs(*nanoseconds: int) -> tuple[ItemAnalysis, ...]:
    """One row of analysis per item."""
    return tuple(ItemAnalysis(i, 0, 0, 0, ns) for i, ns in enumerate(nanoseconds))
