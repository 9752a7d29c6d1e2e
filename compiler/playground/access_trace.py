"""A trace of a kernel's memory accesses: which cells of each memory are touched, over time.

    trace    = memories  sites  steps  intervals
    memory   = name  rows  columns     a grid of cells, each of `tall` by `wide` elements
    step     = site  element  missed   one access, of the first few, one after the other
    interval = accesses  misses  for each memory: cells touched, cells that missed the first cache

All intervals but the last have the same number of accesses. A prefetch puts its line into the cache
and does not count as an access. The cells of an interval are runs: pairs of first cell and count,
row by row.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.lowered.instructions import Instruction
from compiler.playground.accesses import Accesses, site_and_address
from compiler.playground.caches import Cache
from compiler.playground.lru import Lru
from compiler.playground.simulate_cache import lines_of
from compiler.playground.sites import Region, Site

Shape: TypeAlias = tuple[int, ...]
INTERVALS, STEPS = 100, 600
SIDE = 32
"""Cells along one side of a memory's picture, at most."""
LIMIT = 5_000_000
"""The most accesses that are traced: 1.2 s (a plain product of 256 × 256 matrices, measured
2026-11-23 on one core of an AMD EPYC). How long a reader waits for a trace is a choice."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The scale of a memory's picture: `rows` by `columns` elements, `tall` by `wide` of them
    per cell."""

    region: Region
    rows: int
    columns: int
    tall: int
    wide: int

    @property
    def across(self) -> int:
        """Cells in a row of cells."""
        return -(-self.columns // self.wide)

    @property
    def cells(self) -> int:
        """The number of cells of the picture."""
        return self.across * -(-self.rows // self.tall)

    def cell(self, element: Array) -> Array:
        """The cell of each element."""
        row, column = np.divmod(element, self.columns)
        return np.asarray(row // self.tall * self.across + column // self.wide)


@dataclass(frozen=True, slots=True)
class Interval:
    """The cells touched by some consecutive accesses: runs of cells for each memory."""

    accesses: int
    misses: int
    touched: tuple[tuple[int, ...], ...]
    missed: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class AccessTrace:
    """See the module docstring; the first `accesses` of `total` are traced."""

    pictures: tuple[Picture, ...]
    sites: tuple[Site, ...]
    steps: tuple[tuple[int, int, bool], ...]
    intervals: tuple[Interval, ...]
    accesses: int
    total: int


def access_trace(
    instructions: Sequence[Instruction],
    cache: Cache,
    shapes: Mapping[int, Shape],
    variables: Mapping[str, int] | None = None,
) -> AccessTrace:
    """The trace of one run; `shapes` are those of the arguments by slot.

    Raises `DataError` if the addresses depend on data.
    """
    return _Recorder(Accesses(instructions, variables), cache, shapes).run()


def picture(region: Region, shape: Shape) -> Picture:
    """A memory as a grid. A row is its last axis; a memory with one axis is about square."""
    columns = shape[-1] if len(shape) > 1 else _row_of(region.size)
    columns = max(1, min(columns, region.size))
    rows = -(-region.size // columns)
    return Picture(region, rows, columns, -(-rows // SIDE), -(-columns // SIDE))


def _row_of(size: int) -> int:
    """The elements in a row of a memory with one axis: whole cache lines if it is long."""
    return size if size <= 64 else min(size, -(-math.isqrt(size) // 16) * 16)


class _Recorder:
    """State while a trace is recorded."""

    def __init__(self, accesses: Accesses, cache: Cache, shapes: Mapping[int, Shape]) -> None:
        self.accesses = accesses
        self.lru = Lru(cache.sets, cache.ways)
        regions = accesses.regions
        self.pictures = tuple(
            picture(r, shapes.get(r.slot, (r.size,)) if r.slot is not None else (r.size,))
            for r in regions
        )
        self.places = np.array([regions.index(s.region) for s in accesses.sites], np.int64)
        self.sizes = np.array([s.nbytes for s in accesses.sites], np.int64)
        self.widths = np.array([s.lanes for s in accesses.sites], np.int64)
        self.fetches = np.array([s.is_fetch for s in accesses.sites], np.bool_)
        self.group = max(1, -(-min(accesses.total, LIMIT) // INTERVALS))
        self.steps: list[tuple[int, int, bool]] = []
        shape = (INTERVALS, len(regions), SIDE * SIDE)
        self.touched, self.missed = (np.zeros(shape, np.bool_) for _ in range(2))
        self.misses = np.zeros(INTERVALS, np.int64)
        self.done = 0

    def run(self) -> AccessTrace:
        """Take all chunks, as far as the limit."""
        for chunk in self.accesses.chunks():
            if self.done >= LIMIT:
                break
            self._take(chunk)
        intervals = tuple(self._intervals())
        return AccessTrace(
            self.pictures, tuple(self.accesses.sites), tuple(self.steps), intervals, self.done,
            max(self.done, self.accesses.total if self.done >= LIMIT else 0),
        )  # fmt: skip

    def _take(self, chunk: Array) -> None:
        site, address = site_and_address(chunk)
        which, line = lines_of(address, self.sizes[site])
        missed = np.zeros(len(site), np.bool_)
        missed[which[~self.lru.touch(line)]] = True
        taken = np.flatnonzero(~self.fetches[site])[: LIMIT - self.done]
        site, address, missed = site[taken], address[taken], missed[taken]
        starts = np.array([p.region.start for p in self.pictures])[self.places[site]]
        items = np.array([p.region.itemsize for p in self.pictures])[self.places[site]]
        element = (address - starts) // items
        left = STEPS - len(self.steps)
        rows = zip(site[:left].tolist(), element[:left].tolist(), missed[:left].tolist(),
                   strict=True)  # fmt: skip
        self.steps += rows
        interval = (self.done + np.arange(len(site))) // self.group
        self.misses += np.bincount(interval[missed], minlength=INTERVALS)
        self._mark(self.touched, interval, site, element)
        self._mark(self.missed, interval[missed], site[missed], element[missed])
        self.done += len(site)

    def _mark(self, marks: Array, interval: Array, current_site: Array, element: Array) -> None:
        """Mark the cells of elements, and of those that were accessed with them."""
        for site in np.unique(current_site):
            here, width = current_site == site, int(self.widths[site])
            place = int(self.places[site])
            each, first, when = self.pictures[place], element[here], interval[here]
            for lane in {*range(0, width, each.wide), width - 1}:
                marks[when, place, each.cell(first + lane)] = True

    def _intervals(self) -> list[Interval]:
        count = -(-self.done // self.group)
        sizes = [min(self.group, self.done - n * self.group) for n in range(count)]
        touched, missed = (
            [tuple(runs(np.flatnonzero(cells)) for cells in interval) for interval in marks]
            for marks in (self.touched, self.missed)
        )
        rows = zip(sizes, self.misses.tolist(), touched, missed, strict=False)
        return [Interval(*row) for row in rows]


def runs(cells: Array) -> tuple[int, ...]:
    """First cell and count of each run in sorted cells."""
    if not len(cells):
        return ()
    begins = np.flatnonzero(np.diff(cells, prepend=cells[0] - 2) > 1)
    lengths = np.diff(begins, append=len(cells))
    return tuple(np.stack([cells[begins], lengths], 1).reshape(-1).tolist())
