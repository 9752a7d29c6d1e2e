"""share: the memory plan. Buffers with disjoint live ranges share memory in one arena.

    Before:  tmp0  64 KiB  levels 0 … 1      After:  tmp0  at 0
             tmp1  64 KiB  levels 1 … 2              tmp1  at 65,536
             tmp2  64 KiB  levels 2 … 3              tmp2  at 0        shares with tmp0

A buffer is live from the first to the last topological level (`levels.py`) that touches it. Items
of one level may run at once, so buffers that are live in one level never share memory. Large
buffers are placed first, each into the smallest gap that fits (best fit; the lowest of equal gaps).
If that needs more than the most bytes live at once, other orders are tried and the smallest arena
is used; the result is deterministic. Results, inputs, and buffers that the caller keeps are not in
the arena.

Relies on: `depends_on` orders every two items that touch one buffer and of which one writes it.
Ensures: two buffers whose places overlap have strictly disjoint live ranges; offsets are multiples
of 64 bytes.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import accumulate
from typing import TypeAlias

from compiler.core.errors import InternalError
from compiler.core.printable import ShownAsText, printout
from compiler.core.text import aligned
from compiler.graph.devices import is_disk
from compiler.graph.nodes import Buffer
from compiler.schedule.analysis.footprint import made_buffers
from compiler.schedule.analysis.levels import level_of, levels
from compiler.schedule.analysis.places import Arena, Place, explained, gaps, span
from compiler.schedule.items import ScheduleItem

ALIGNMENT = 64
"""The alignment in bytes: one cache line, or one 512-bit vector."""
Life: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MemoryPlan(ShownAsText):
    """The places of a schedule's buffers, and what sharing saves. Sizes are bytes.

    `unshared` is the size of all buffers without sharing, `arena` that of the shared memory, `kept`
    that of buffers that are not shared (results), `live` the most bytes live in one level: the
    lower bound for every plan.
    """

    places: tuple[Place, ...]
    level_count: int
    unshared: int
    arena: int
    kept: int
    live: int

    @property
    def peak(self) -> int:
        """The bytes that the program needs with this plan."""
        return self.arena + self.kept

    def __str__(self) -> str:
        lines = aligned(
            (
                p.buffer.name or f"[{','.join(map(str, p.buffer.shape))}]",
                f"at {p.offset:,}" if p.offset is not None else "alone",
                f"{p.size:,} bytes",
                f"levels {p.first} … {p.last}",
                p.reason,
            )
            for p in self.places
        )
        total = (
            f"peak {self.peak:,} bytes; without sharing {self.unshared:,}, "
            f"at least {self.live:,} are alive at once"
        )
        return printout([*lines, total])


def share(
    items: Sequence[ScheduleItem],
    results: Iterable[Buffer],
    by_level: Sequence[Sequence[int]] | None = None,
    kept: Collection[Buffer] = (),
) -> MemoryPlan:
    """Places for the buffers that the program computes; results and `kept` are not in the arena.

    `by_level` has the ids of items that may run at once, in execution order; `levels(items)` unless
    given.
    """
    by_level = levels(items) if by_level is None else by_level
    lives = _lives(items, level_of(by_level))
    results = set(results)
    outside = {*results, *kept}
    buffers = made_buffers(items)
    wanted = [b for b in buffers if _may_share(b, outside)]
    placed = explained(_smallest(wanted, lives))
    end = max(len(by_level) - 1, 0)
    for buffer in buffers:
        if buffer not in placed:
            why = "a result" if buffer in results else "the caller keeps it"
            why = f"{why if buffer in outside else f'on {buffer.device}'}: never shared"
            size, first = _rounded(buffer.nbytes), lives[buffer][0]
            placed[buffer] = Place(buffer, None, size, first, end, why)
    places = tuple(placed[b] for b in buffers)
    plan = _plan(places, len(by_level))
    _verify(plan)
    return plan


def _may_share(buffer: Buffer, outside: Collection[Buffer]) -> bool:
    """True if a buffer is internal to the program and in the host's memory."""
    return buffer not in outside and not is_disk(buffer.device)


def _rounded(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _lives(items: Sequence[ScheduleItem], level: dict[int, int]) -> dict[Buffer, Life]:
    """The live range of each buffer: the first and the last level that touches it."""
    result: dict[Buffer, Life] = {}
    for item in items:
        at = level[item.item_id]
        for buffer in (*item.operation.reads, *item.operation.writes):
            first, last = result.get(buffer, (at, at))
            result[buffer] = min(first, at), max(last, at)
    return result


def _smallest(wanted: Sequence[Buffer], lives: dict[Buffer, Life]) -> dict[Buffer, Place]:
    """The places with the smallest arena of all arrangements; the first of equal ones."""
    unplaced = [Place(b, 0, _rounded(b.nbytes), *lives[b], "") for b in wanted]
    if len(unplaced) > MANY:
        return _swept(unplaced)
    least = most_alive(unplaced)
    best: dict[Buffer, Place] = {}
    for order, fit in ARRANGEMENTS:
        places: dict[Buffer, Place] = {}
        for place in sorted(unplaced, key=order):
            busy = sorted(span(o) for o in places.values() if o.meets(place))
            places[place.buffer] = replace(place, offset=fit(place, busy, least))
        if not best or _end(places.values()) < _end(best.values()):
            best = places
        if _end(best.values()) <= least:
            break
    return best


def _swept(unplaced: Iterable[Place]) -> dict[Buffer, Place]:
    """Places by one sweep over the levels with best fit, in time linear in the buffers."""
    arena = Arena()
    alive: list[tuple[int, int, int]] = []
    places: dict[Buffer, Place] = {}
    for place in sorted(unplaced, key=_by_level):
        while alive and alive[0][0] < place.first:
            _, begin, end = heappop(alive)
            arena.free(begin, end)
        begin = arena.take(place.size)
        heappush(alive, (place.last, begin, begin + place.size))
        places[place.buffer] = replace(place, offset=begin)
    return places


def most_alive(places: Iterable[Place]) -> int:
    """The most bytes live in one level."""
    change: dict[int, int] = {}
    for place in places:
        change[place.first] = change.get(place.first, 0) + place.size
        change[place.last + 1] = change.get(place.last + 1, 0) - place.size
    return max(accumulate(change[level] for level in sorted(change)), default=0)


def _end(places: Iterable[Place]) -> int:
    return max((span(place)[1] for place in places), default=0)


def best_fit(place: Place, busy: Sequence[tuple[int, int]], least: int) -> int:
    """The offset of the smallest gap that fits the buffer; else the end of the arena."""
    free = [(begin, end) for begin, end in gaps(busy) if end is None or end - begin >= place.size]
    return min(free, key=lambda gap: (gap[1] is None, (gap[1] or 0) - gap[0], gap[0]))[0]


def lowest(place: Place, busy: Sequence[tuple[int, int]], least: int) -> int:
    """The offset of the first gap that fits the buffer."""
    return next(b for b, end in gaps(busy) if end is None or end - b >= place.size)


def either_end(place: Place, busy: Sequence[tuple[int, int]], least: int) -> int:
    """The lowest gap for even levels, the highest for odd ones: a chain alternates between both."""
    inside = [(b, least if end is None else end) for b, end in gaps(busy)]
    high = [end - place.size for b, end in inside if end - b >= place.size]
    return high[-1] if place.first % 2 and high else lowest(place, busy, least)


def _by_size(place: Place) -> tuple[int, ...]:
    return -place.size, place.first, place.last, -place.buffer.unique


def _by_level(place: Place) -> tuple[int, ...]:
    return place.first, -place.last, -place.size, -place.buffer.unique


def _by_area(place: Place) -> tuple[int, ...]:
    return -place.size * (place.last - place.first + 1), *_by_size(place)


ARRANGEMENTS = (
    (_by_size, best_fit), (_by_size, lowest), (_by_level, either_end), (_by_level, best_fit),
    (_by_area, best_fit), (_by_level, lowest),
)  # fmt: skip
"""The arrangements: the order in which buffers are placed, and the choice of gaps."""
MANY = 512
"""The number of buffers from which they are placed by one sweep, because comparing all pairs takes
too long. 512 took 19 ms by pairs and 4 in a sweep, 1,024 340 and 9, 2,048 243 and 19; the arenas of
the sweep were 5 to 17 % larger (random sizes and live ranges; EPYC, AVX2, one core, 2026-11-23)."""


def _plan(places: tuple[Place, ...], level_count: int) -> MemoryPlan:
    arena = max((p.offset + p.size for p in places if p.offset is not None), default=0)
    kept = sum(p.size for p in places if p.offset is None)
    # buffers for the caller are allocated before the first level, so they count throughout
    live = kept + most_alive(p for p in places if p.offset is not None)
    return MemoryPlan(places, level_count, sum(p.size for p in places), arena, kept, live)


def _verify(plan: MemoryPlan) -> None:
    """Raise `InternalError` if two buffers overlap in memory and in time."""
    inside = [p for p in plan.places if p.offset is not None and p.size]
    alive: list[tuple[int, int]] = []
    begins: list[int] = []
    held: list[Place] = []
    for place in sorted(inside, key=lambda p: p.first):
        while alive and alive[0][0] < place.first:
            gone = bisect_left(begins, heappop(alive)[1])
            del begins[gone], held[gone]
        begin, end = span(place)
        at = bisect_left(begins, begin)
        # live places are disjoint so far, so only the neighbours can overlap
        for other in held[max(at - 1, 0) : at + 1]:
            if span(other)[0] < end and begin < span(other)[1]:
                got = f"{place.buffer.name} and {other.buffer.name} at {other.offset}"
                raise InternalError("share", "two live buffers overlap", got=got)
        begins.insert(at, begin)
        held.insert(at, place)
        heappush(alive, (place.last, begin))
