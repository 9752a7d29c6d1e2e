"""Caches: the levels that are simulated, and what a simulation counted.

    cache  = name  bytes  ways           lines of 64 bytes, sets by the lowest bits of their number
    level  = cache  asked  hits          lines asked for, and how many of them it held
    report = levels  lines touched  by memory of the kernel: accesses, and where each was found
             lines fetched ahead of their use, and for each cache how many were not there yet
"""

from dataclasses import dataclass

from compiler.core.text import binary
from compiler.lowered.instructions import LINE
from compiler.machines.model import LEVELS, MachineModel


@dataclass(frozen=True, slots=True)
class Cache:
    """One level."""

    name: str
    nbytes: int
    ways: int

    @property
    def sets(self) -> int:
        """The number of sets of `ways` lines."""
        return max(1, self.nbytes // (LINE * self.ways))

    def __str__(self) -> str:
        return f"{self.name} {binary(self.nbytes)}, {self.ways} ways"


def caches_of(model: MachineModel) -> tuple[Cache, ...]:
    """The caches of a machine model, the nearest first."""
    rows = zip(LEVELS, model.cache_bytes, model.ways, strict=False)
    return tuple(Cache(name, size, ways) for name, size, ways in rows)


@dataclass(frozen=True, slots=True)
class Level:
    """The requests to one cache."""

    cache: Cache
    asked: int
    hits: int

    @property
    def misses(self) -> int:
        """Lines that it had to ask the next level for."""
        return self.asked - self.hits

    @property
    def rate(self) -> float:
        """The share of hits; 1 where nothing was asked."""
        return self.hits / self.asked if self.asked else 1.0


@dataclass(frozen=True, slots=True)
class Found:
    """One memory of the kernel: accesses, distinct lines, and at which level lines were found.

    `found` counts for each cache, then for memory behind all of them.
    """

    name: str
    accesses: int
    lines: int
    found: tuple[int, ...]


@dataclass(frozen=True, slots=True, repr=False)
class CacheReport:
    """The findings of one kernel's accesses in the caches.

    `accesses` were simulated of `total`: the first ones, where there are more than the limit.
    Each of `tasks` runs has caches of its own. `streamed` lines went past them. `fetches` lines
    were asked for ahead of their use, which is no access; `fetched` says for each cache how many of
    these came from behind it.
    """

    name: str
    accesses: int
    total: int
    lines: int
    tasks: int
    streamed: int
    levels: tuple[Level, ...]
    memories: tuple[Found, ...]
    fetches: int = 0
    fetched: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """True if all accesses were simulated."""
        return self.accesses >= self.total

    def moved(self, level: int) -> int:
        """Bytes that come from behind cache `level`, or go there past it."""
        ahead = self.fetched[level] if self.fetched else 0
        return (self.levels[level].misses + self.streamed + ahead) * LINE

    def __repr__(self) -> str:
        return "\n".join(self._rows())

    def _rows(self) -> list[str]:
        touched = f"{self.lines:,} lines touched ({binary(self.lines * LINE)})"
        part = "" if self.is_whole else f" (the first of {self.total:,})"
        shared = f", {self.tasks} tasks with caches of their own" if self.tasks > 1 else ""
        rows = [f"{self.name}: {self.accesses:,} accesses{part}, {touched}{shared}"]
        for level in self.levels:
            share = f"{100 * level.rate:.1f} % of {level.asked:,} lines"
            rows.append(f"  {level.cache!s:<21} hits {share:<30} misses {level.misses:,}")
        rows += [f"  past the caches       {self.streamed:,} lines"] if self.streamed else []
        if self.fetches:
            rows.append(f"  fetched ahead         {self.fetches:,} lines, {self._new()}")
        names = [level.cache.name for level in self.levels]
        heads = "".join(f"{name:>13}" for name in ("accesses", "lines", *names, "memory"))
        rows.append(f"  {'found in':<8}{heads}")
        for each in self.memories:
            figures = (each.accesses, each.lines, *each.found)
            rows.append(f"  {each.name:<8}" + "".join(f"{n:>13,}" for n in figures))
        return rows

    def _new(self) -> str:
        """The fetched lines that were not in the cache, in words."""
        pairs = zip(self.levels, self.fetched, strict=True)
        return ", ".join(f"{count:,} not in {level.cache.name}" for level, count in pairs)
