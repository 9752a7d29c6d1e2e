"""A few lines that say what was compiled, for people who look at a program for the first time."""

from collections.abc import Sequence

from compiler.graph.nodes import Sink
from compiler.node import Node, toposort
from compiler.schedule.printer import Schedule, path_of
from compiler.scheduling import Scheduled
from compiler.sharding import traffic
from compiler.trace import PassRecord


def summary(
    name: str,
    written: Sink,
    passes: Sequence[PassRecord],
    scheduled: Scheduled,
    schedule: Schedule,
    kernels: Sequence[tuple[int, int]],
) -> str:
    """What was compiled and into how much; `kernels` has instructions and lines of each."""
    changed = [each.name for each in passes if each.changed]
    last: Node = passes[-1].after if passes else written
    after = f", {len(toposort([last])) - 1} after {' and '.join(changed)}"
    lines = [
        f"{name}: {_count(len(toposort([written])) - 1, 'node')} as written"
        f"{after if changed else ', which no pass changed'}",
        f"{_count(len(scheduled.items), 'schedule item')}, "
        f"{_count(len(scheduled.outlined.bodies), 'distinct kernel')}, "
        f"critical path {path_of(schedule.critical_path)}, "
        f"peak {schedule.peak_bytes:,} bytes",
        f"{sum(count for count, _ in kernels)} lowered instructions, "
        f"{sum(lines for _, lines in kernels)} lines of LLVM IR",
    ]
    moved = ", ".join(map(str, traffic(scheduled.items)))
    return "\n".join([*lines, f"moved {moved}"] if moved else lines)


def _count(number: int, noun: str) -> str:
    """`1 kernel`, `3 kernels`"""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
