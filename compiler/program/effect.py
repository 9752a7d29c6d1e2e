"""effect: two compilations of a program with different passes, side by side: kernels, bytes,
instructions, estimated and measured time.

    print(compiler.effect(compiler.compile(y), compiler.compile(y, passes=mine)))
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compiler.core.errors import CompileError, DataError, located
from compiler.core.printable import ShownAsText
from compiler.core.text import microseconds

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation

SECONDS = 0.2
"""Seconds for which two programs are measured, alternately: as long as nobody minds to wait."""
FEWEST = 5
"""Runs of each, at least."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure before and after; None where there is none."""

    name: str
    before: float | None
    after: float | None
    unit: str = ""

    @property
    def is_changed(self) -> bool:
        """True if the two differ."""
        return self.before != self.after

    def __str__(self) -> str:
        first, second = (_shown(value, self.unit) for value in (self.before, self.after))
        if not self.before or self.after is None or not self.is_changed:
            return f"{self.name:<26}{first:>16}{second:>16}"
        return f"{self.name:<26}{first:>16}{second:>16}   × {self.after / self.before:.2f}"


@dataclass(frozen=True, slots=True)
class Effect(ShownAsText):
    """The changes from one compilation to another; `figures` that were measured vary."""

    figures: tuple[Figure, ...]

    def __getitem__(self, name: str) -> Figure:
        return next(figure for figure in self.figures if figure.name == name)

    def __str__(self) -> str:
        title = f"{'':<26}{'before':>16}{'after':>16}"
        return "\n".join([title, *map(str, self.figures)])


@located
def effect(before: "Compilation", after: "Compilation", *, measured: bool = True) -> Effect:
    """The figures of two compilations of one program; with `measured`, both run alternately.

    A program that cannot run (because data are missing, say) has no measured time. Raises
    `DataError` for anything but a compilation.
    """
    for program in (before, after):
        if not hasattr(program, "schedule"):
            raise DataError("effect", "this is no compilation", got=type(program).__name__,
                            expected="what compiler.compile gives")  # fmt: skip
    pairs = zip(_counted(before), _counted(after), strict=True)
    rows = [Figure(name, one, two, unit) for (name, one, unit), (_, two, _) in pairs]
    if measured:
        first, second = _measured(before, after)
        rows.append(Figure("measured time", first, second, "ns"))
    return Effect(tuple(rows))


def _counted(program: "Compilation") -> list[tuple[str, float, str]]:
    """The figures that need no run, each with its unit."""
    schedule = program.schedule
    return [
        ("nodes after graph passes", len(program.optimized_graph.nodes), ""),
        ("kernels", len(program.loops), ""),
        ("items", len(schedule.items), ""),
        ("bytes read and written", sum(a.bytes_read + a.bytes_written for a in schedule.analysis),
         "bytes"),
        ("peak bytes", schedule.peak_bytes, "bytes"),
        ("operations", sum(a.flops for a in schedule.analysis), ""),
        ("instructions", sum(len(stage.lines) for stage in program.lowered), ""),
        ("estimated time", schedule.estimated_ns, "ns"),
    ]  # fmt: skip


def _measured(*programs: "Compilation") -> tuple[float | None, float | None]:
    """The median time of a run of each, in nanoseconds; they run alternately, which is fair."""
    runs: list[Callable[[], object]] = [program.run for program in programs]
    try:
        for run in runs:
            run()
    except CompileError:
        return None, None
    times: tuple[list[float], ...] = tuple([] for _ in runs)
    end = time.perf_counter() + SECONDS
    while len(times[0]) < FEWEST or time.perf_counter() < end:
        for run, seconds in zip(runs, times, strict=True):
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
    first, second = (statistics.median(seconds) * 1e9 for seconds in times)
    return first, second


def _shown(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    return microseconds(value, 1) if unit == "ns" else f"{value:,.0f}"
