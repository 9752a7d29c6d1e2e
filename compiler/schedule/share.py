"""share: places for the buffers a program makes, in one arena, so that they use memory in turn.

    Before:  tmp0  64 KiB  levels 0 … 1      After:  tmp0  at 0
             tmp1  64 KiB  levels 1 … 2              tmp1  at 65,536
             tmp2  64 KiB  levels 2 … 3              tmp2  at 0        dead since level 1: tmp0

A buffer lives from the first to the last level (`levels.py`) that touches it: items of one level
may run at once, so two buffers of one level never share, nor do two whose lives touch. Large
buffers are placed first, each into the smallest gap that holds it (best fit; among equal gaps
the lowest), which is deterministic. Results, inputs, and buffers that the caller keeps are not in
the arena.

Relies on: `depends_on` orders every two items that touch one buffer and of which one writes it.
Ensures: two buffers whose places overlap have strictly disjoint lives; offsets are multiples
of 64 bytes.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from compiler.errors import InternalError
from compiler.graph.nodes import Buffer
from compiler.schedule.items import ScheduleItem
from compiler.schedule.levels import level_of, levels
from compiler.schedule.memory import made_buffers

ALIGNMENT = 64
"""Bytes: one cache line, and one 512-bit vector."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a buffer is and when it is needed; `offset` is None outside the arena. Bytes."""

    buffer: Buffer
    offset: int | None
    size: int
    first: int
    last: int
    reason: str

    def meets(self, other: "Place") -> bool:
        """Whether both are needed in some level."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The places of a schedule's buffers, and what sharing saves. Sizes are bytes.

    `unshared` is what the program makes without sharing, `arena` what the shared part takes,
    `kept` what is not shared (results), `live` the most bytes alive in one level: no plan
    needs less.
    """

    places: tuple[Place, ...]
    level_count: int
    unshared: int
    arena: int
    kept: int
    live: int

    @property
    def peak(self) -> int:
        """What the program takes with this plan."""
        return self.arena + self.kept

    def __str__(self) -> str:
        rows = [
            (
                p.buffer.name or f"[{','.join(map(str, p.buffer.shape))}]",
                f"at {p.offset:,}" if p.offset is not None else "alone",
                f"{p.size:,} bytes",
                f"levels {p.first} … {p.last}",
                p.reason,
            )
            for p in self.places
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(t.ljust(w) for t, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        total = (
            f"peak {self.peak:,} bytes; without sharing {self.unshared:,}, "
            f"at least {self.live:,} are alive at once"
        )
        return "\n".join([*lines, total])


def share(
    items: Sequence[ScheduleItem],
    results: Iterable[Buffer],
    waves: Sequence[Sequence[int]] | None = None,
    kept: Collection[Buffer] = (),
) -> MemoryPlan:
    """Places for the buffers the program makes; results and `kept` stay outside the arena.

    `waves` are the ids of items that may run at once, in the order of running; `levels(items)`
    unless given.
    """
    waves = levels(items) if waves is None else waves
    lives = _lives(items, level_of(waves))
    results = set(results)
    outside = {*results, *kept}
    made = made_buffers(items)
    wanted = [b for b in made if _may_share(b, outside)]
    placed: dict[Buffer, Place] = {}
    for buffer in sorted(wanted, key=lambda b: (-_rounded(b.nbytes), lives[b], -b.unique)):
        placed[buffer] = _placed(buffer, lives[buffer], list(placed.values()))
    end = max(len(waves) - 1, 0)
    for buffer in made:
        if buffer not in placed:
            why = "a result" if buffer in results else "the caller keeps it"
            why = f"{why if buffer in outside else f'on {buffer.device}'}: never shared"
            size, first = _rounded(buffer.nbytes), lives[buffer][0]
            placed[buffer] = Place(buffer, None, size, first, end, why)
    places = tuple(placed[b] for b in made)
    plan = _plan(places, len(waves))
    _verify(plan)
    return plan


def _may_share(buffer: Buffer, outside: Collection[Buffer]) -> bool:
    """Whether a buffer the program makes is its alone, in the host's memory."""
    return buffer not in outside and buffer.device.partition(":")[0] != "DISK"


def _rounded(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _lives(
    items: Sequence[ScheduleItem], level: dict[int, int]
) -> dict[Buffer, tuple[int, int]]:
    """The first and last level that touches each buffer."""
    result: dict[Buffer, tuple[int, int]] = {}
    for item in items:
        at = level[item.item_id]
        for buffer in (*item.operation.reads, *item.operation.writes):
            first, last = result.get(buffer, (at, at))
            result[buffer] = min(first, at), max(last, at)
    return result


def _placed(buffer: Buffer, life: tuple[int, int], others: list[Place]) -> Place:
    """The place of a buffer beside those already placed."""
    size = _rounded(buffer.nbytes)
    wish = Place(buffer, 0, size, *life, "")
    offset = _best_fit(size, [o for o in others if o.meets(wish)])
    below = [
        o for o in others
        if o.offset is not None and o.offset < offset + size and offset < o.offset + o.size
    ]  # fmt: skip
    return Place(buffer, offset, size, *life, _reason(life, size, below))


def _best_fit(size: int, busy: list[Place]) -> int:
    """The smallest gap between the places that are in use at the same time; else behind them."""
    taken = sorted((p.offset or 0, (p.offset or 0) + p.size) for p in busy)
    end, best = 0, None
    for begin, stop in taken:
        gap = begin - end
        if gap >= size and (best is None or gap < best[0]):
            best = gap, end
        end = max(end, stop)
    return end if best is None else best[1]


def _reason(life: tuple[int, int], size: int, below: list[Place]) -> str:
    """`shares 65,536 bytes with tmp3: dead since level 4`"""
    if not size:
        return "empty"
    if not below:
        return "memory of its own"
    other = max(below, key=lambda p: (p.size, -p.buffer.unique))
    name = other.buffer.name or str(other.buffer.shape)
    common = min(size, other.size)
    before = other.last < life[0]
    when = f"dead since level {other.last}" if before else f"not needed before level {other.first}"
    more = f", and {len(below) - 1} more" if len(below) > 1 else ""
    return f"shares {common:,} bytes with {name}: {when}{more}"


def _plan(places: tuple[Place, ...], level_count: int) -> MemoryPlan:
    arena = max((p.offset + p.size for p in places if p.offset is not None), default=0)
    kept = sum(p.size for p in places if p.offset is None)
    change = [0] * (max(level_count, 1) + 1)
    for p in places:
        # what the caller gets is made before the first level, so it counts throughout
        change[0 if p.offset is None else p.first] += p.size
        change[p.last + 1] -= p.size
    live = max(accumulate(change))
    return MemoryPlan(places, level_count, sum(p.size for p in places), arena, kept, live)


def _verify(plan: MemoryPlan) -> None:
    """Refuse two buffers that would hold different values at one place and time."""
    inside = [p for p in plan.places if p.offset is not None and p.size]
    inside.sort(key=lambda p: p.offset or 0)
    for number, place in enumerate(inside):
        start = place.offset or 0
        for other in inside[number + 1 :]:
            if (other.offset or 0) >= start + place.size:
                break
            if place.meets(other):
                got = f"{place.buffer.name} and {other.buffer.name} at {other.offset}"
                raise InternalError("share", "two live buffers overlap", got=got)
