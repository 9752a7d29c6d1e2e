"""traffic: what a kernel's loops move from and to the levels of memory, in whole lines.

    for i0 in 32                   all of it      1.0 MB     in1 once, in2 32 times from level 3,
      for i1 in 16                 inside of i0   0.8 MB     where 0.8 MB are too much for level 2
        for r2 in 1024             inside of i1   0.1 MB
          … in1[i0*1024 + r2] … in2[r2*256 + i1]

A level holds what one iteration of some loop touches; the outermost such loop decides. What an
argument has there is moved once for each iteration of the loops outside, and once for all of them
where they do not move it; what neighbouring iterations share is not moved twice. Lines that
follow one another are fetched ahead of their use, those that a loop meets far apart are waited for.

Relies on: nothing but the numbers in a `Footprint`.
Ensures: nothing is moved less often than once, unless the level holds the whole program.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Since: TypeAlias = "float | Mapping[int, float]"
"""Bytes that the program touched since it touched an argument, by its slot, or of all of them: what
was touched longer ago than a level is large is not there any more."""
LINE = 64
"""Bytes: what moves between caches at once."""
FETCHED = 2048
"""Bytes from one read to the next up to which processors fetch ahead: half a page of 4096."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One loop around an access; `place` is the same for accesses in the same loop.

    `step`: elements that an iteration moves the access by; None where data decide. `is_wide`: all
    iterations are lanes, or stand side by side.
    """

    place: int
    trips: int
    step: int | None
    is_wide: bool = False


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one access to an argument touches, by the loops around it, outermost first, wide ones
    last. `size` is that of the whole argument, in bytes; `times` how often all of it is done."""

    slot: int
    is_write: bool
    itemsize: int
    size: int
    loops: tuple[Loop, ...]
    times: float = 1.0
    around: tuple[Loop, ...] = field(init=False, compare=False)
    """The loops whose iterations follow one another."""
    _known: dict[tuple[int, int], int] = field(
        init=False, compare=False, repr=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        around = tuple(loop for loop in self.loops if not loop.is_wide)
        object.__setattr__(self, "around", around)

    def touched(self, depth: int, unit: int = LINE) -> int:
        """Bytes of the lines, or other units, that the loops inside the outermost `depth` ones
        touch."""
        found = self._known.get((depth, unit))
        if found is None:
            most = -(-self.size // unit) * unit
            found = min(_distinct(self.loops[depth:], self.itemsize, unit)[1] * unit, most)
            self._known[depth, unit] = found
        return found

    def crowded(self, depth: int, sets: int) -> int:
        """The bytes of a cache of so many sets that they take: all ways of a few sets, where they
        are a power of two apart."""
        found = self.touched(depth)
        inside = [it for it in self.loops[depth:] if it.step] if sets > 1 else []
        for loop in inside:
            step = abs(loop.step or 0) * self.itemsize
            shared = math.gcd(step // LINE, sets)
            if loop.is_wide or step % LINE or shared < 2 or found >= loop.trips * LINE * shared:
                continue
            within = [it for it in inside if abs(it.step or 0) < abs(loop.step or 0)]
            if _distinct(within, self.itemsize, LINE)[1] < shared:
                found = loop.trips * LINE * shared
        return found

    def moved(self, fitting: int, unit: int = LINE) -> float:
        """The bytes moved in all, if the level holds what the loops inside `fitting` ones touch.

        That is there for the next iteration: the same of it in loops that do not move the access,
        what both touch in one that does.
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
        """What is next to each other of what is touched side by side."""
        wide = (loop for loop in self.loops if loop.is_wide and loop.step is not None)
        return [loop for loop in wide if abs(loop.step or 0) * self.itemsize < LINE]

    @property
    def apart(self) -> float:
        """Of how many lines one has to be waited for, as a share: those met far apart."""
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
        """The same elements, all one after the other, each moved once."""
        elements = min(
            _distinct(self.loops, self.itemsize, LINE)[0], -(-self.size // max(self.itemsize, 1))
        )
        return Footprint(
            self.slot, self.is_write, self.itemsize, self.size, (Loop(-1, elements, 1),), self.times
        )


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that come from, and go to, beyond a level; and lines among them that are waited for."""

    read: float = 0.0
    written: float = 0.0
    waited: float = 0.0


def traffic(
    footprints: Sequence[Footprint], capacity: float, since: Since, sets: int = 1, unit: int = LINE
) -> Traffic:
    """What a level of so many bytes does not hold, of one run of the kernel.

    An address belongs to one of `sets`: 1 where addresses are spread by a hash. `unit`: the bytes
    that are held or not, as a whole.
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
    """All that `traffic` is told by `since`: of each argument, how many levels may still have it.
    """
    slots = sorted({each.slot for each in footprints})
    return tuple((s, sum(_ago(since, s) <= size for size in capacities)) for s in slots)


def lookups(footprints: Sequence[Footprint], pages: int, page: int) -> float:
    """Pages whose addresses are looked up again and again: met far apart, and too many.

    A core keeps the addresses of so many `pages`, of `page` bytes each.
    """
    if not any(each.apart for each in footprints):
        return 0.0
    return traffic(footprints, pages * page, 0.0, unit=page).waited


def _ago(since: Since, slot: int) -> float:
    """Bytes touched since an argument was; scratch memory is always near."""
    if slot < 0:
        return 0.0
    return since.get(slot, 0.0) if isinstance(since, Mapping) else since


def _held(
    footprints: Iterable[Footprint], sets: int, unit: int
) -> dict[tuple[int, ...], int]:
    """Bytes of a cache that one iteration of each loop takes, by the places of it and those around
    it: of several accesses to one argument the most, or all that crowd the same sets."""
    most: dict[tuple[int, ...], dict[int, int]] = {(): {}}
    crowded: dict[tuple[int, ...], int] = {}
    for each in footprints:
        places = tuple(loop.place for loop in each.around)
        for depth in range(len(places) + 1):
            slots = most.setdefault(places[:depth], {})
            slots[each.slot] = max(slots.get(each.slot, 0), each.touched(depth, unit))
            if sets > 1:
                found = each.crowded(depth, sets)
                crowded[places[:depth]] = max(crowded.get(places[:depth], 0), found)
    return {p: max(sum(slots.values()), crowded.get(p, 0)) for p, slots in most.items()}


def _distinct(loops: Iterable[Loop], itemsize: int, unit: int) -> tuple[int, int]:
    """The elements that an access meets in these loops, and the lines or pages that they are on.

    Steps are taken from the shortest on: what reaches further than the next one overlaps with it.
    """
    steps: list[tuple[int, int]] = []
    unknown = 1
    for loop in loops:
        if loop.step is None:
            unknown *= max(loop.trips, 1)
        elif loop.step and loop.trips > 1:
            steps.append((abs(loop.step), loop.trips))
    levels: list[tuple[int, int]] = []  # a step, and how many of it
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
