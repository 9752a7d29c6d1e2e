"""traffic: the traffic of a kernel between the levels of the memory hierarchy, in cache lines.

    for i0 in 32                   all of it      1.0 MB     in1 once, in2 32 times from level 3,
      for i1 in 16                 inside of i0   0.8 MB     if 0.8 MB do not fit into level 2
        for r2 in 1024             inside of i1   0.1 MB
          … in1[i0*1024 + r2] … in2[r2*256 + i1]

The model finds the outermost loop whose footprint in one iteration fits into a cache level. That
footprint is loaded once per iteration of the enclosing loops; once in total for accesses that are
invariant in them; and lines shared by neighbouring iterations are not loaded twice. Sequential
lines are prefetched; lines that a loop accesses far apart have a latency that is not hidden.

Relies on: only the numbers in a `Footprint`.
Ensures: everything is moved at least once, unless the level holds the whole program.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Since: TypeAlias = "float | Mapping[int, float]"
"""The reuse distance in bytes of each argument, by slot, or one for all of them: an argument is no
longer in a level smaller than its distance."""
LINE = 64
"""The size of a cache line in bytes."""
FETCHED = 2048
"""The largest stride in bytes that hardware prefetchers follow: half a page of 4096."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop around an access; `place` is the same for accesses in the same loop.

    `step`: the stride of the access in elements; None if it depends on data. `is_wide`: the
    iterations are vector lanes, or unrolled.
    """

    place: int
    trips: int
    step: int | None
    is_wide: bool = False


@dataclass(frozen=True, slots=True)
class Footprint:
    """The memory touched by one access to an argument.

    It is described by the loops around the access, outermost first, wide ones last. `size` is the
    size of the whole argument in bytes; `times` is the number of times that all of it is repeated.
    """

    slot: int
    is_write: bool
    itemsize: int
    size: int
    loops: tuple[Loop, ...]
    times: float = 1.0
    around: tuple[Loop, ...] = field(init=False, compare=False)
    """The sequential loops."""
    _known: dict[tuple[int, int], int] = field(
        init=False, compare=False, repr=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        around = tuple(loop for loop in self.loops if not loop.is_wide)
        object.__setattr__(self, "around", around)

    def touched(self, depth: int, unit: int = LINE) -> int:
        """The bytes touched by one iteration of the outermost `depth` loops, in whole units."""
        lines = self._known.get((depth, unit))
        if lines is None:
            most = -(-self.size // unit) * unit
            lines = min(_distinct(self.loops[depth:], self.itemsize, unit)[1] * unit, most)
            self._known[depth, unit] = lines
        return lines

    def crowded(self, depth: int, sets: int) -> int:
        """The bytes of a cache with `sets` sets that one iteration occupies.

        Lines a power of two apart map to few sets and occupy all ways of these: conflict misses.
        """
        lines = self.touched(depth)
        inside = [it for it in self.loops[depth:] if it.step] if sets > 1 else []
        for loop in inside:
            step = abs(loop.step or 0) * self.itemsize
            shared = math.gcd(step // LINE, sets)
            if loop.is_wide or step % LINE or shared < 2 or lines >= loop.trips * LINE * shared:
                continue
            within = [it for it in inside if abs(it.step or 0) < abs(loop.step or 0)]
            if _distinct(within, self.itemsize, LINE)[1] < shared:
                lines = loop.trips * LINE * shared
        return lines

    def moved(self, fitting: int, unit: int = LINE) -> float:
        """The total bytes moved, if the footprint inside the outermost `fitting` loops fits.

        The next iteration reuses it: all of it in loops that the access is invariant in, the
        overlap of both iterations in the others.
        """
        loops, outside = self.around, fitting
        if outside and loops[outside - 1].step != 0:
            outside -= 1
        else:
            while outside and loops[outside - 1].step == 0:
                outside -= 1
        again = math.prod(loop.trips for loop in loops[:outside])
        return self.touched(outside, unit) * self.times * again

    @property
    def _near(self) -> list[Loop]:
        """The wide loops that access adjacent elements."""
        wide = (loop for loop in self.loops if loop.is_wide and loop.step is not None)
        return [loop for loop in wide if abs(loop.step or 0) * self.itemsize < LINE]

    @property
    def apart(self) -> float:
        """The share of lines that are not prefetched, because they are accessed far apart."""
        inner = next((loop for loop in reversed(self.around) if loop.step != 0), None)
        if inner is None:
            return 0.0
        if inner.step is None:
            return 1.0
        together = _distinct(self._near, self.itemsize, LINE)[1] * LINE
        step = abs(inner.step) * self.itemsize
        return 0.0 if step <= max(FETCHED, together) else LINE / together

    @property
    def in_order(self) -> "Footprint":
        """The same number of elements, accessed contiguously and once each."""
        elements = min(
            _distinct(self.loops, self.itemsize, LINE)[0], -(-self.size // max(self.itemsize, 1))
        )
        return Footprint(
            self.slot, self.is_write, self.itemsize, self.size, (Loop(-1, elements, 1),), self.times
        )


@dataclass(frozen=True, slots=True)
class Traffic:
    """The bytes moved from and to beyond a level, and the lines among them with exposed latency."""

    read: float = 0.0
    written: float = 0.0
    waited: float = 0.0


def traffic(
    footprints: Sequence[Footprint], capacity: float, since: Since, sets: int = 1, unit: int = LINE
) -> Traffic:
    """The misses of a cache level with `capacity` bytes during one run of the kernel.

    `sets` is the number of cache sets: 1 if addresses are hashed. `unit` is the line size.
    """
    held = _held(footprints, sets, unit)
    fits = held[()] <= capacity
    groups: dict[tuple[int, bool, tuple[int, ...]], tuple[float, float]] = {}
    for each in footprints:
        if fits and _ago(since, each.slot) <= capacity:
            continue
        places = tuple(loop.place for loop in each.around)
        depths = range(len(places) + 1)
        fitting = next((d for d in depths if held[places[:d]] <= capacity), len(places))
        moved = each.moved(fitting, unit)
        key = each.slot, each.is_write, places[:fitting]
        groups[key] = max(groups.get(key, (0.0, 0.0)), (moved, moved * each.apart))
    read = sum(moved for (_, is_write, _), (moved, _) in groups.items() if not is_write)
    written = sum(moved for (_, is_write, _), (moved, _) in groups.items() if is_write)
    waited = sum(apart for _, apart in groups.values()) / unit
    return Traffic(read, written, waited)


def nearness(
    footprints: Sequence[Footprint], since: Since, capacities: Sequence[float]
) -> tuple[object, ...]:
    """The information in `since` that `traffic` depends on: for each argument, the number of levels
    that may still hold it."""
    slots = sorted({each.slot for each in footprints})
    return tuple((s, sum(_ago(since, s) <= size for size in capacities)) for s in slots)


def lookups(footprints: Sequence[Footprint], pages: int, page: int) -> float:
    """The number of TLB misses: for accesses far apart, on more pages than the TLB holds.

    The TLB of a core has `pages` entries, for pages of `page` bytes.
    """
    if not any(each.apart for each in footprints):
        return 0.0
    return traffic(footprints, pages * page, 0.0, unit=page).waited


def _ago(since: Since, slot: int) -> float:
    """The reuse distance of an argument; scratch memory is always in cache."""
    if slot < 0:
        return 0.0
    return since.get(slot, 0.0) if isinstance(since, Mapping) else since


def _held(
    footprints: Iterable[Footprint], sets: int, unit: int
) -> dict[tuple[int, ...], int]:
    """The bytes of a cache that one iteration of each loop occupies, by the places of the loop and
    its enclosing loops.

    Several accesses to one argument count as the largest, or, if they map to the same sets, as
    their sum.
    """
    most: dict[tuple[int, ...], dict[int, int]] = {(): {}}
    crowded: dict[tuple[int, ...], int] = {}
    for each in footprints:
        places = tuple(loop.place for loop in each.around)
        for depth in range(len(places) + 1):
            slots = most.setdefault(places[:depth], {})
            slots[each.slot] = max(slots.get(each.slot, 0), each.touched(depth, unit))
            if sets > 1:
                lines = each.crowded(depth, sets)
                crowded[places[:depth]] = max(crowded.get(places[:depth], 0), lines)
    return {p: max(sum(slots.values()), crowded.get(p, 0)) for p, slots in most.items()}


def _distinct(loops: Iterable[Loop], itemsize: int, unit: int) -> tuple[int, int]:
    """The distinct elements that an access touches in these loops, and their lines or pages.

    Loops are combined in order of stride: a range longer than the next stride overlaps.
    """
    steps: list[tuple[int, int]] = []
    unknown = 1
    for loop in loops:
        if loop.step is None:
            unknown *= max(loop.trips, 1)
        elif loop.step and loop.trips > 1:
            steps.append((abs(loop.step), loop.trips))
    levels: list[tuple[int, int]] = []  # a stride and its count
    for step, trips in sorted(steps):
        at = next((n for n, (near, count) in enumerate(levels) if step < near * count), None)
        if at is None and levels and step == levels[-1][0] * levels[-1][1]:
            at = len(levels) - 1
        if at is None:
            levels.append((step, trips))
        else:
            near, count = levels[at]
            levels[at] = near, count + max(step // near, 1) * (trips - 1)
    elements = math.prod(count for _, count in levels)
    lines = elements
    if levels and levels[0][0] * itemsize < unit:
        reach = ((levels[0][0] * (levels[0][1] - 1)) + 1) * itemsize
        lines = -(-reach // unit) * (elements // levels[0][1])
    return elements * unknown, lines * unknown
