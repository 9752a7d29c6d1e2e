"""simulate_cache: the accesses of a kernel, in order, through caches that forget the oldest line.

    accesses   ──▶ lines ──▶ L1 ──misses──▶ L2 ──misses──▶ L3 ──misses──▶ memory

A store asks for its line as a load does. What a kernel fetches ahead is in the caches from then on,
and is counted apart: nothing waits for it. What a processor fetches by itself, and what is written
back, are not simulated; addresses are those of arrays one behind the other, as they are
before the system maps pages. So shares of hits are to be compared, not to be taken for times.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from compiler.core.dtypes import Array
from compiler.lowered.instructions import LINE, Instruction
from compiler.lowered.linearize import CORE
from compiler.lowered.machine import DefineVar
from compiler.playground.accesses import Accesses, site_and_address
from compiler.playground.caches import Cache, CacheReport, Found, Level
from compiler.playground.lru import Lru

LIMIT = 100_000_000
"""Accesses that are simulated unless the caller says otherwise: some 8 s, at 12 to 13 million a
second (plain products, measured 2026-11-23 on one core of an AMD EPYC). How long is a choice."""


def simulate_cache(
    name: str,
    instructions: Sequence[Instruction],
    caches: Sequence[Cache],
    variables: Mapping[str, int] | None = None,
    limit: int = LIMIT,
) -> CacheReport:
    """The report of a kernel's accesses to `caches`; of many tasks each has caches of its own.

    Raises `DataError` where data decide what is accessed.
    """
    simulation = Simulation(instructions, caches)
    count, values = tasks_of(instructions), dict(variables or {})
    for core in range(count):
        simulation.run({CORE: core} | values, limit // count)
    return simulation.report(name, count)


def tasks_of(instructions: Sequence[Instruction]) -> int:
    """The number of tasks that share the work of a kernel."""
    cores = [i.maximum + 1 for i in instructions if isinstance(i, DefineVar) and i.name == CORE]
    return max(cores, default=1)


class Simulation:
    """State of one simulation: counts for each site, and all lines seen."""

    def __init__(self, instructions: Sequence[Instruction], caches: Sequence[Cache]) -> None:
        self._instructions, self._caches = instructions, tuple(caches)
        self.accesses = Accesses(instructions)
        self._counts = np.zeros((len(self.accesses.sites), len(caches) + 1), np.int64)
        self._fetched = np.zeros(len(caches) + 1, np.int64)
        self._made = np.zeros(len(self.accesses.sites), np.int64)
        ends = [region.start + region.nbytes for region in self.accesses.regions]
        self._seen = np.zeros(-(-max(ends, default=0) // LINE), np.bool_)
        self._streamed = self._total = self._done = 0

    def run(self, values: Mapping[str, int], limit: int) -> None:
        """One run of the kernel, with empty caches at first, or as much of it as `limit` says."""
        accesses = Accesses(self._instructions, values)
        levels = [Lru(cache.sets, cache.ways) for cache in self._caches]
        self._total += accesses.total
        left = limit
        for chunk in accesses.chunks():
            if left <= 0:
                return
            is_access = ~self._is_fetch[site_and_address(chunk)[0]]
            taken = chunk[np.cumsum(is_access) <= left]
            left -= int(np.count_nonzero(is_access[: len(taken)]))
            self._step(taken, levels)
            if len(taken) < len(chunk):
                return
        # predicates and branches left some out
        self._total += limit - left - accesses.total

    def _step(self, chunk: Array, levels: list[Lru]) -> None:
        site, address = site_and_address(chunk)
        self._done += int(np.count_nonzero(~self._is_fetch[site]))
        self._made += np.bincount(site, minlength=len(self._made))
        which, line = lines_of(address, self._sizes[site])
        site = site[which]
        self._seen[line] = True
        past = self._is_streamed[site]
        self._streamed += int(np.count_nonzero(past))
        level_of = np.full(len(line), len(levels), np.int64)
        left = np.flatnonzero(~past)
        for depth, level in enumerate(levels):
            hits = level.touch(line[left])
            level_of[left[hits]] = depth
            left = left[~hits]
        ahead = self._is_fetch[site]
        self._fetched += np.bincount(level_of[ahead], minlength=len(self._fetched))
        kept = ~past & ~ahead
        width = self._counts.shape[1]
        pairs = np.bincount(site[kept] * width + level_of[kept], minlength=self._counts.size)
        self._counts += pairs.reshape(self._counts.shape)

    @property
    def _sizes(self) -> Array:
        return np.array([site.nbytes for site in self.accesses.sites], np.int64)

    @property
    def _is_streamed(self) -> Array:
        return np.array([site.is_streamed for site in self.accesses.sites], np.bool_)

    @property
    def _is_fetch(self) -> Array:
        return np.array([site.is_fetch for site in self.accesses.sites], np.bool_)

    def report(self, name: str, tasks: int) -> CacheReport:
        """The report of all counts."""
        by_level = [int(n) for n in self._counts.sum(0)]
        asked = [sum(by_level[depth:]) for depth in range(len(self._caches))]
        fetched = [int(self._fetched[depth + 1 :].sum()) for depth in range(len(self._caches))]
        rows = zip(self._caches, asked, by_level, strict=False)
        return CacheReport(
            name, self._done, self._total, int(np.count_nonzero(self._seen)), tasks, self._streamed,
            tuple(Level(cache, n, hits) for cache, n, hits in rows),
            tuple(self._found()), int(self._fetched.sum()), tuple(fetched),
        )  # fmt: skip

    def _found(self) -> list[Found]:
        """The counts by memory."""
        rows = []
        for region in self.accesses.regions:
            sites = [n for n, site in enumerate(self.accesses.sites) if site.region is region]
            first, last = region.start // LINE, (region.start + region.nbytes - 1) // LINE
            lines = int(np.count_nonzero(self._seen[first : last + 1]))
            hits = tuple(int(n) for n in self._counts[sites].sum(0))
            counted = [n for n in sites if not self.accesses.sites[n].is_fetch]
            accesses = int(self._made[counted].sum())
            rows.append(Found(region.name, accesses, lines, hits))
        return rows


def lines_of(address: Array, nbytes: Array) -> tuple[Array, Array]:
    """For each line that is asked for the access that asks, by position, and the line's number.

    An access that goes over the end of a line asks for several.
    """
    first = address // LINE
    several = (address + nbytes - 1) // LINE - first + 1
    if not len(several) or several.max() == 1:
        return np.arange(len(first)), first
    starts = np.repeat(np.cumsum(several) - several, several)
    which = np.repeat(np.arange(len(first)), several)
    return which, first[which] + np.arange(len(which)) - starts
