"""reuse: how many bytes a program touches between two touches of the same memory.

    item 0   writes a 4 MB   from x 4 MB       x   12 MB: all that one run touches
    item 1   writes b 4 MB   from a            a    4 MB: a itself, and what came since
    item 2   writes y 4 MB   from b, x         x    8 MB

A level of the caches that is larger still has it. Programs run again and again, so what was touched
before an item is also what the last run touched after it. Buffers that share memory share its time.
"""

from collections.abc import Iterable, Mapping, Sequence

from compiler.graph.nodes import Buffer
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.items import Kernel, ScheduleItem

PARTS = 256
"""Parts of shared memory whose touches are told apart: a choice, not measured."""


def last_touched(
    items: Sequence[ScheduleItem], plan: MemoryPlan | None = None
) -> list[Mapping[int, float]]:
    """For each item, by slot of its kernel, the bytes touched since what it has there was.

    `plan` says which buffers share memory.
    """
    parts: Mapping[Buffer, Iterable[Buffer | int]] = _parts(plan)
    resident = float(resident_bytes(items, plan))
    seen: dict[Buffer | int, float] = {}
    touched = 0.0
    found: list[Mapping[int, float]] = []
    for _ in range(2):  # what the second run meets is what every one after it does
        found = []
        for item in items:
            own = dict.fromkeys((*item.operation.reads, *item.operation.writes))
            places = {buffer: parts.get(buffer, (buffer,)) for buffer in own}
            last = {b: min(seen.get(part, 0.0) for part in places[b]) for b in own}
            arguments = item.operation.arguments if isinstance(item.operation, Kernel) else ()
            found.append({
                slot: min(touched - last[buffer], resident)
                for slot, buffer in enumerate(arguments) if buffer in last
            })  # fmt: skip
            for buffer in own:
                seen |= dict.fromkeys(places[buffer], touched)
            touched += sum(buffer.nbytes for buffer in own)
    return found


def resident_bytes(items: Sequence[ScheduleItem], plan: MemoryPlan | None = None) -> int:
    """The bytes of all buffers of a program, which runs again and again."""
    buffers = {b for i in items for b in (*i.operation.reads, *i.operation.writes)}
    shared = {p.buffer for p in plan.places if p.offset is not None} if plan else set()
    return sum(b.nbytes for b in buffers - shared) + (plan.arena if plan else 0)


def _parts(plan: MemoryPlan | None) -> dict[Buffer, range]:
    """The parts of the arena that each buffer with a place there lies on."""
    if plan is None or not plan.arena:
        return {}
    size = -(-plan.arena // PARTS)
    return {
        p.buffer: range(p.offset // size, -(-(p.offset + max(p.size, 1)) // size))
        for p in plan.places if p.offset is not None
    }  # fmt: skip
