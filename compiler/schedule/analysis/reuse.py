"""reuse: reuse distances, the bytes that a program touches between two uses of the same memory.

    item 0   writes a 4 MB   from x 4 MB       x   12 MB: all bytes of one run
    item 1   writes b 4 MB   from a            a    4 MB: a itself, and everything since
    item 2   writes y 4 MB   from b, x         x    8 MB

Memory is still in a cache if the cache is larger than the distance. Programs run repeatedly, so an
item also finds memory that the previous run touched after it. Buffers that share memory share its
last use.
"""

from collections.abc import Iterable, Mapping, Sequence

from compiler.graph.nodes import Buffer
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.items import Kernel, ScheduleItem

PARTS = 256
"""The number of parts into which shared memory is divided to record uses: chosen, not measured."""


def last_touched(
    items: Sequence[ScheduleItem], plan: MemoryPlan | None = None
) -> list[Mapping[int, float]]:
    """For each item the reuse distance of each argument of its kernel, by slot.

    `plan` states which buffers share memory.
    """
    parts: Mapping[Buffer, Iterable[Buffer | int]] = _parts(plan)
    resident = float(resident_bytes(items, plan))
    seen: dict[Buffer | int, float] = {}
    touched = 0.0
    times: list[Mapping[int, float]] = []
    for _ in range(2):  # from the second run on, all runs are the same
        times = []
        for item in items:
            buffers = dict.fromkeys((*item.operation.reads, *item.operation.writes))
            places = {buffer: parts.get(buffer, (buffer,)) for buffer in buffers}
            last = {b: min(seen.get(part, 0.0) for part in places[b]) for b in buffers}
            arguments = item.operation.arguments if isinstance(item.operation, Kernel) else ()
            times.append({
                slot: min(touched - last[buffer], resident)
                for slot, buffer in enumerate(arguments) if buffer in last
            })  # fmt: skip
            for buffer in buffers:
                seen |= dict.fromkeys(places[buffer], touched)
            touched += sum(buffer.nbytes for buffer in buffers)
    return times


def resident_bytes(items: Sequence[ScheduleItem], plan: MemoryPlan | None = None) -> int:
    """The bytes of all buffers of a program, which runs repeatedly."""
    buffers = {b for i in items for b in (*i.operation.reads, *i.operation.writes)}
    shared = {p.buffer for p in plan.places if p.offset is not None} if plan else set()
    return sum(b.nbytes for b in buffers - shared) + (plan.arena if plan else 0)


def _parts(plan: MemoryPlan | None) -> dict[Buffer, range]:
    """The parts of the arena that each buffer in it covers."""
    if plan is None or not plan.arena:
        return {}
    size = -(-plan.arena // PARTS)
    return {
        p.buffer: range(p.offset // size, -(-(p.offset + max(p.size, 1)) // size))
        for p in plan.places if p.offset is not None
    }  # fmt: skip
