"""Places in an arena: free gaps, best-fit allocation, and the reason for each place.

    arena   free [64, 128) [512, 640), all from 1,024 on
    take 64 → 64        the smallest gap that fits
    free [128, 512)     is merged with the next gap: [128, 640)
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from compiler.core.reason import Number, Reason
from compiler.graph.nodes import Buffer

SHARES, ALONE = "shares ", "memory of its own"
Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a buffer, in bytes, and its live range; `offset` is None outside the arena."""

    buffer: Buffer
    offset: int | None
    size: int
    first: int
    last: int
    reason: str

    def meets(self, other: "Place") -> bool:
        """True if both are live in some topological level."""
        return self.first <= other.last and other.first <= self.last


def span(place: Place) -> tuple[int, int]:
    """The begin and end of the bytes of a place."""
    offset = place.offset or 0
    return offset, offset + place.size


def gaps(busy: Iterable[tuple[int, int]]) -> list[tuple[int, int | None]]:
    """The gaps between spans, in order of offset; the last one has no end."""
    free: list[tuple[int, int | None]] = []
    end = 0
    for begin, stop in busy:
        if begin > end:
            free.append((end, begin))
        end = max(end, stop)
    return [*free, (end, None)]


@dataclass(slots=True)
class Arena:
    """The free bytes of an arena: gaps, and everything from `end` on.

    Allocating and freeing visit only the gaps that they change, however many there are.
    """

    end: int = 0
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """Size and begin of each gap, ascending."""
    stops: dict[int, int] = field(default_factory=dict)
    """The end of each gap by its begin."""
    begins: dict[int, int] = field(default_factory=dict)
    """The begin of each gap by its end."""

    def take(self, size: int) -> int:
        """Allocate `size` bytes in the smallest gap that fits, else at the end; their begin."""
        if not size:
            return 0
        at = bisect_left(self.gaps, (size, 0))
        if at == len(self.gaps):
            self.end += size
            return self.end - size
        _, begin = self.gaps[at]
        stop = self._forget(begin)
        if begin + size < stop:
            self._note(begin + size, stop)
        return begin

    def free(self, begin: int, stop: int) -> None:
        """Free allocated bytes and merge them with the adjacent gaps."""
        if begin == stop:
            return
        if stop in self.stops:
            stop = self._forget(stop)
        if begin in self.begins:
            begin = self.begins[begin]
            self._forget(begin)
        if stop == self.end:
            self.end = begin
        else:
            self._note(begin, stop)

    def _note(self, begin: int, stop: int) -> None:
        insort(self.gaps, (stop - begin, begin))
        self.stops[begin], self.begins[stop] = stop, begin

    def _forget(self, begin: int) -> int:
        """Remove a gap; its end."""
        stop = self.stops.pop(begin)
        del self.begins[stop]
        del self.gaps[bisect_left(self.gaps, (stop - begin, begin))]
        return stop


def explained(placed: Mapping[Buffer, Place]) -> dict[Buffer, Place]:
    """The places with their reasons."""
    tenants, lives = _tenants(placed.values()), Lives(placed.values())
    beside = _overlapping(tenants)
    result: dict[Buffer, Place] = {}
    for buffer, place in placed.items():
        below = [tenants[other] for other in beside.get(span(place), ())]
        result[buffer] = replace(place, reason=_reason(place, below, lives))
    return result


Tenants: TypeAlias = list[tuple[int, int, int, Place]]
"""The places with one span, sorted by last level, size and order; the earliest of equal ones last.
"""


def _tenants(places: Iterable[Place]) -> dict[Span, Tenants]:
    """All places with memory in the arena, by their spans."""
    result: dict[Span, Tenants] = {}
    for number, place in enumerate(places):
        if place.size:
            result.setdefault(span(place), []).append((place.last, place.size, -number, place))
    for tenants in result.values():
        tenants.sort(key=lambda row: row[:3])
    return result


def _overlapping(spans: Iterable[Span]) -> dict[Span, list[Span]]:
    """For each span all spans that overlap with it, including itself."""
    result: dict[Span, list[Span]] = {}
    reached: list[Span] = []
    for each in sorted(spans):
        reached = [other for other in reached if other[1] > each[0]]
        result[each] = [*reached, each]
        for other in reached:
            result[other].append(each)
        reached.append(each)
    return result


def shares(place: Place) -> bool:
    """True if a buffer uses memory that another one uses before or after it."""
    return place.reason.startswith(SHARES)


def _reason(place: Place, below: list[Tenants], lives: "Lives") -> str:
    """`shares 65,536 bytes with tmp3: its live range ends in level 1`"""
    if not place.size:
        return "empty"
    earlier = [bisect_left(firsts, (place.first,)) for firsts in below]
    before = any(earlier)
    counts = earlier if before else [len(firsts) for firsts in below]
    rows = [firsts[count - 1] for firsts, count in zip(below, counts, strict=True) if count]
    others = sum(counts) - (0 if before else 1)
    if not others:
        return lives.why_alone(place)
    if not before:
        rows = [row for firsts in below for row in firsts[-2:] if row[3] is not place]
    other = max(rows, key=lambda row: row[:3])[3]
    name = name_of(other)
    common = min(span(place)[1], span(other)[1]) - max(span(place)[0], span(other)[0])
    when = f"ends in level {other.last}" if before else f"begins in level {other.first}"
    more = f", and {others - 1} more" if others > 1 else ""
    first, second, names = (
        (other.last, place.first, (f"last level of {name}", "its own first"))
        if before
        else (place.last, other.first, ("its own last level", f"first of {name}"))
    )
    return Reason(
        f"{SHARES}{common:,} bytes with {name}: its live range {when}{more}",
        Number(names[0], first, "", names[1], second),
        Number("bytes in common", common, "bytes", "its size", place.size),
    )


def name_of(place: Place) -> str:
    """The name of a buffer, or its shape if it has none."""
    return place.buffer.name or str(place.buffer.shape)


class Lives:
    """The live ranges of all places in an arena."""

    def __init__(self, places: Iterable[Place]) -> None:
        self.places = sorted((p for p in places if p.size), key=lambda p: -p.size)
        self.firsts = sorted(p.first for p in self.places)
        self.lasts = sorted(p.last for p in self.places)

    def meeting(self, place: Place) -> int:
        """The number of other places whose live range overlaps with that of `place`."""
        later = len(self.firsts) - bisect_right(self.firsts, place.last)
        return len(self.places) - 1 - later - bisect_left(self.lasts, place.first)

    def why_alone(self, place: Place) -> Reason:
        """The reason why no other buffer uses the memory of `place` at another time."""
        meeting, others = self.meeting(place), len(self.places) - 1
        count = Number("buffers live at the same time", meeting, "", "other buffers", others)
        if not others:
            return Reason(f"{ALONE}: there is no other buffer to share it with", count)
        if meeting == others:
            return Reason(f"{ALONE}: every other buffer is live at the same time", count)
        other = next(p for p in self.places if not p.meets(place))
        name = name_of(other)
        size = Number(f"size of {name}", other.size, "bytes", "its own", place.size)
        words = f"{ALONE}: of the buffers live at other times, {name} is the largest"
        if other.size < place.size:
            return Reason(f"{words}, but too small", count, size)
        begin, end = span(other)
        there = (p for p in self.places if p is not place and p.meets(place))
        third = next((p for p in there if span(p)[0] < end and begin < span(p)[1]), None)
        if third is None:
            return Reason(f"{words}; sharing would not make the arena smaller", count, size)
        tenant = name_of(third)
        lives = Number(f"first level of {tenant}", third.first, "", "its own last", place.last)
        return Reason(f"{words}, but {tenant} is live in that place", count, size, lives)
