"""A kernel's playground as data for the page: choices, points tried, memory accesses."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compiler.loops.choices import show, text
from compiler.lowered.instructions import DefineGlobal
from compiler.machines.model import LEVELS
from compiler.playground.access_trace import AccessTrace
from compiler.playground.caches import CacheReport
from compiler.playground.playground import Playground
from compiler.playground.point import Point, Timing
from compiler.playground.roofs import Roofs
from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from compiler.core.trace import Line
    from svodviz.data import answers

MOST_LINES = 600
"""Lines of a text that are shown of one point."""


def kernel_row(play: Playground, with_points: bool = True) -> "answers.TriedKernel":
    """The data that the controls need, and the points tried so far."""
    space = play.space
    return {
        "name": visible(play.name),
        "own": text(play.own) or "plain",
        "axes": [(axis.name, axis.extent, axis.role) for axis in play.axes],
        "lanes": space.lanes,
        "cores": space.cores,
        "loaded": list(space.loaded),
        "stored": list(space.stored),
        "labels": {str(slot): visible(name) for slot, name in play.labels.items()},
        "obstacle": visible(play.obstacle),
        "points": [point_row(play, point) for point in play.points] if with_points else [],
    }


def point_row(
    play: Playground, point: Point, trace: AccessTrace | None = None
) -> "answers.TriedPoint":
    """One point; `trace` is that of its accesses, if it was recorded."""
    is_there = point.kernel is not None
    return {
        "number": point.number,
        "text": visible(point.text),
        "label": visible(point.label),
        "rows": [show(choice) for choice in point.choices],
        "refused": visible(point.refused),
        "unmeasured": visible(point.unmeasured),
        "unseen": visible(point.unseen),
        "flops": point.flops,
        "time": time_row(point.timing),
        "cache": cache_row(play, point.cache),
        "texts": texts(point) if is_there else None,
        "trace": trace_row(play, trace),
    }


def time_row(taken: Timing | None) -> "answers.Taken | None":
    """Seconds of one run."""
    if taken is None:
        return None
    return {
        "seconds": taken.seconds, "low": taken.low, "high": taken.high,
        "usual": taken.usual, "samples": taken.samples,
    }  # fmt: skip


def texts(point: Point) -> "answers.Texts":
    """The kernel at three stages, line by line."""
    return {
        "loops": lines_of(point.loops.lines),
        "lowered": lines_of(point.lowered.lines),
        "asm": lines_of(point.assembly.lines),
    }


def lines_of(lines: "Sequence[Line]") -> list[str]:
    """The text of the first lines, and the number of others."""
    shown = [visible(line.text.expandtabs(4)) for line in lines[:MOST_LINES]]
    left = len(lines) - len(shown)
    return [*shown, f"… {left:,} more lines"] if left else shown


def cache_row(play: Playground, report: CacheReport | None) -> "answers.Cache | None":
    """The hits and misses of simulated caches."""
    if report is None:
        return None
    labels = labels_of(play)
    return {
        "accesses": report.accesses, "total": report.total, "lines": report.lines,
        "tasks": report.tasks, "streamed": report.streamed,
        "fetches": report.fetches, "fetched": list(report.fetched),
        "levels": [
            (it.cache.name, it.cache.nbytes, it.cache.ways, it.asked, it.hits)
            for it in report.levels
        ],
        "memories": [
            (it.name, labels.get(it.name, ""), it.accesses, it.lines, list(it.found))
            for it in report.memories
        ],
    }  # fmt: skip


def labels_of(play: Playground) -> dict[str, str]:
    """The user's names of the kernel's arguments, by their names in the kernel."""
    rows = play.plain.linear.instructions
    names = {row.name: row.slot for row in rows if isinstance(row, DefineGlobal)}
    return {name: visible(play.labels.get(slot, "")) for name, slot in names.items()}


def trace_row(play: Playground, trace: AccessTrace | None) -> "answers.AccessTrace | None":
    """The trace of the accesses."""
    if trace is None:
        return None
    labels, places = labels_of(play), {p.region: n for n, p in enumerate(trace.pictures)}
    return {
        "memories": [
            (p.region.name, labels.get(p.region.name, ""), p.rows, p.columns, p.tall, p.wide)
            for p in trace.pictures
        ],
        "sites": [
            (s.number, places[s.region], s.lanes, 1 if s.is_store else 0) for s in trace.sites
        ],
        "steps": [int(part) for step in trace.steps for part in step],
        "intervals": [
            (f.accesses, f.misses, [list(r) for r in f.touched], [list(r) for r in f.missed])
            for f in trace.intervals
        ],
        "accesses": trace.accesses,
        "total": trace.total,
    }


def roofs_row(roofs: Roofs) -> "answers.Roofs":
    """The limits of the machine."""
    return {
        "name": visible(roofs.name), "threads": roofs.threads, "peak": roofs.peak,
        "alone": roofs.alone,
        "levels": list(zip(LEVELS, roofs.bandwidths, strict=True)),
    }  # fmt: skip
