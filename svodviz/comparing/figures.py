"""The numbers by which two compilations are compared: of the whole program, and of each kernel.

Bytes, flops and estimated times are those of the schedule's items; instructions are counted in the
lowered program ("instructions") and in the machine code ("machine instructions"), once per
distinct kernel.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from svodviz.comparing.comparison import Figure
from svodviz.wire.items import word_of

if TYPE_CHECKING:
    from compiler.core.trace import PassRecord
    from compiler.program.compilation import Compilation
    from compiler.schedule.printer import Schedule
    from svodviz.data.pages import FigureUnit

RUNS, SECONDS = 200, 0.5  # of a measurement: at most so many runs of each, at most so long
# A kernel's figures in order, each with its unit.
KERNEL_FIGURES: "tuple[tuple[str, FigureUnit], ...]" = (
    ("launches", ""), ("flops", ""), ("bytes", "bytes"), ("estimated", "ns"),
    ("instructions", ""), ("LLVM IR lines", ""), ("machine instructions", ""),
)  # fmt: skip

Numbers = dict[str, float]


@dataclass(frozen=True)
class KernelFigures:
    """The numbers of each kernel of one compilation, by its name."""

    rows: dict[str, Numbers]

    def beside(
        self, other: "KernelFigures", name: str | None, others: str | None
    ) -> tuple[Figure, ...]:
        """The numbers of two kernels side by side; either may be missing."""
        mine, theirs = self.rows.get(name or "", {}), other.rows.get(others or "", {})
        return tuple(Figure(it, unit, mine.get(it), theirs.get(it)) for it, unit in KERNEL_FIGURES)


def kernel_figures(compilation: "Compilation") -> KernelFigures:
    """The numbers of each kernel."""
    rows: defaultdict[str, Numbers] = defaultdict(dict)
    for name, numbers in _of_items(compilation.schedule):
        row = rows[name]
        for figure, number in numbers.items():
            row[figure] = row.get(figure, 0) + number
    for name, figure, count in _counts(compilation):
        rows[name][figure] = count
    return KernelFigures(dict(rows))


def _of_items(schedule: "Schedule") -> Iterable[tuple[str, Numbers]]:
    for position, item in enumerate(schedule.items):
        if word_of(item.operation) == "kernel":
            cost = schedule.analysis[position]
            yield item.operation.name, {
                "launches": 1,
                "flops": cost.flops,
                "bytes": cost.bytes_read + cost.bytes_written,
                "estimated": float(cost.estimated_ns),
            }


def _counts(compilation: "Compilation") -> Iterable[tuple[str, str, int]]:
    """Name, figure and count of each kernel at each stage that has instructions."""
    yield from ((it.name, "instructions", it.line_count) for it in compilation.lowered)
    yield from ((it.name, "LLVM IR lines", it.line_count) for it in compilation.source)
    try:
        assembly = compilation.assembly
    except Exception:
        return  # the stage says the reason; the figure is missing
    yield from ((it.name, "machine instructions", it.instruction_count) for it in assembly)


def program_figures(
    a: "Compilation", b: "Compilation", *, measure: bool = False
) -> tuple[Figure, ...]:
    """The numbers of both programs."""
    mine, theirs = _program(a), _program(b)
    figures = [Figure(name, unit, number, theirs[name, unit]) for (name, unit), number in
             mine.items()]  # fmt: skip
    if measure:
        figures.append(measured_figure(a, b))
    return tuple(figures)


def measured_figure(a: "Compilation", b: "Compilation") -> Figure:
    """The time of one run of each, measured now."""
    return Figure("measured, one run", "ns", *measured(a, b))


def _program(compilation: "Compilation") -> "dict[tuple[str, FigureUnit], float | None]":
    kernels = kernel_figures(compilation).rows.values()
    passes = compilation.passes

    def total(figure: str) -> float | None:
        values = [row[figure] for row in kernels if figure in row]
        return sum(values) if values or not kernels else None

    return {
        ("graph nodes", ""): len(compilation.graph.to_networkx()),
        ("after passes", ""): len(compilation.optimized_graph.to_networkx()),
        ("passes that changed", ""): sum(it.changed for it in passes),
        ("rewrites", ""): _rewrites(passes),
        ("kernels", ""): len(compilation.loops),
        ("scheduled items", ""): len(compilation.schedule.items),
        ("flops", ""): total("flops"),
        ("bytes moved", "bytes"): total("bytes"),
        ("memory planned", "bytes"): _memory(compilation.schedule),
        ("instructions", ""): total("instructions"),
        ("LLVM IR lines", ""): total("LLVM IR lines"),
        ("machine instructions", ""): total("machine instructions"),
        ("estimated, one run", "ns"): _finish(compilation.schedule),
    }


def _rewrites(passes: "Sequence[PassRecord]") -> float | None:
    """The number of rewrites; None if they were not recorded."""
    if not all(it.is_traced for it in passes):
        return None
    return sum(len(it.applied) for it in passes)


def _memory(schedule: "Schedule") -> float | None:
    plan = schedule.memory_plan
    return None if plan is None else float(plan.peak)


def _finish(schedule: "Schedule") -> float | None:
    ends = (float(it.earliest_start + it.cost) for it in schedule.times)
    return max(ends, default=None)


def measured(a: "Compilation", b: "Compilation") -> tuple[float, float]:
    """Nanoseconds of one run of each: the median of interleaved runs, under the same conditions."""
    times: tuple[list[float], list[float]] = ([], [])
    for compilation in (a, b):
        compilation.run()  # the first run loads the machine code
    until = time.perf_counter() + SECONDS
    while len(times[1]) < RUNS and (time.perf_counter() < until or len(times[1]) < 3):
        for compilation, taken in zip((a, b), times, strict=True):
            taken.append(_timed(compilation.run))
    return median(times[0]), median(times[1])


def _timed(function: Callable[[], object]) -> float:
    start = time.perf_counter_ns()
    function()
    return time.perf_counter_ns() - start
