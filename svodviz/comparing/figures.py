"""The numbers by which two compilations are compared: of the whole program, and of each kernel.

Bytes, flops and estimated times are those of the schedule's items; instructions are counted in the
lowered program ("instructions") and in the machine code ("machine instructions"), once per
distinct kernel.
"""

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from svodviz.comparing.comparison import Figure
from svodviz.wire.items import word_of

RUNS, SECONDS = 200, 0.5  # of a measurement: at most so many runs of each, at most so long
_NO_INSTRUCTION = re.compile(r"\s*([#;.].*|\S+:.*)?")
# A kernel's figures in order, each with its unit.
KERNEL_FIGURES = (
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
        """The numbers of one kernel beside those of another, which may both be missing."""
        mine, theirs = self.rows.get(name or "", {}), other.rows.get(others or "", {})
        return tuple(Figure(it, unit, mine.get(it), theirs.get(it)) for it, unit in KERNEL_FIGURES)


def kernel_figures(compilation: Any) -> KernelFigures:
    """The numbers of each kernel."""
    rows: defaultdict[str, Numbers] = defaultdict(dict)
    for name, numbers in _of_items(compilation.schedule):
        row = rows[name]
        for figure, number in numbers.items():
            row[figure] = row.get(figure, 0) + number
    for figure, stages in _counts(compilation):
        for stage in stages:
            rows[str(stage.name)][figure] = _count(figure, stage)
    return KernelFigures(dict(rows))


def _of_items(schedule: Any) -> Iterable[tuple[str, Numbers]]:
    for position, item in enumerate(getattr(schedule, "items", ())):
        if word_of(item.operation) == "kernel":
            cost = schedule.analysis[position]
            yield str(item.operation.name), {
                "launches": 1,
                "flops": int(cost.flops),
                "bytes": int(cost.bytes_read) + int(cost.bytes_written),
                "estimated": float(cost.estimated_ns),
            }


def _counts(compilation: Any) -> list[tuple[str, Any]]:
    found = [("instructions", compilation.lowered), ("LLVM IR lines", compilation.source)]
    try:
        found.append(("machine instructions", compilation.assembly))
    except Exception:
        return found  # the stage says the reason; the figure is missing
    return found


def _count(figure: str, stage: Any) -> int:
    if figure != "machine instructions":
        return len(stage.lines)
    return sum(not _NO_INSTRUCTION.fullmatch(line.text) for line in stage.lines)


def program_figures(a: Any, b: Any, *, measure: bool = False) -> tuple[Figure, ...]:
    """The numbers of both programs."""
    mine, theirs = _program(a), _program(b)
    found = [Figure(name, unit, number, theirs[name, unit]) for (name, unit), number in
             mine.items()]  # fmt: skip
    if measure:
        found.append(measured_figure(a, b))
    return tuple(found)


def measured_figure(a: Any, b: Any) -> Figure:
    """The time of one run of each, measured now."""
    return Figure("measured, one run", "ns", *measured(a, b))


def _program(compilation: Any) -> dict[tuple[str, str], float | None]:
    kernels = kernel_figures(compilation).rows.values()
    items = getattr(compilation.schedule, "items", ())
    passes = compilation.passes

    def total(figure: str) -> float | None:
        known = [row[figure] for row in kernels if figure in row]
        return sum(known) if known or not kernels else None

    return {
        ("graph nodes", ""): len(compilation.graph.to_networkx()),
        ("after passes", ""): len(compilation.optimized_graph.to_networkx()),
        ("passes that changed", ""): sum(bool(it.changed) for it in passes),
        ("rewrites", ""): _rewrites(passes),
        ("kernels", ""): len(compilation.loops),
        ("scheduled items", ""): len(items),
        ("flops", ""): total("flops"),
        ("bytes moved", "bytes"): total("bytes"),
        ("memory planned", "bytes"): _memory(compilation.schedule),
        ("instructions", ""): total("instructions"),
        ("LLVM IR lines", ""): total("LLVM IR lines"),
        ("machine instructions", ""): total("machine instructions"),
        ("estimated, one run", "ns"): _finish(compilation.schedule),
    }


def _rewrites(passes: Any) -> float | None:
    """How many there were; None where they were not recorded."""
    if not all(getattr(it, "is_traced", True) for it in passes):
        return None
    return sum(len(it.rewrites) for it in passes)


def _memory(schedule: Any) -> float | None:
    plan = getattr(schedule, "memory_plan", None)
    return None if plan is None else float(plan.peak)


def _finish(schedule: Any) -> float | None:
    times = getattr(schedule, "times", ())
    return max((float(it.earliest_start + it.cost) for it in times), default=None)


def measured(a: Any, b: Any) -> tuple[float, float]:
    """Nanoseconds of one run of each: the median of runs in turns, so that both meet the same."""
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
