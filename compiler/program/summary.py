"""A few lines that say what was compiled, for people who look at a program for the first time."""

from collections import Counter
from collections.abc import Sequence

from compiler.core.node import Node, toposort
from compiler.core.printable import printout
from compiler.core.text import counted
from compiler.core.trace import PassRecord
from compiler.findings.widening import warnings
from compiler.graph.nodes import Sink
from compiler.llvm.level import Level
from compiler.pipeline.scheduling import Scheduled
from compiler.run.sharding import traffic
from compiler.schedule.printer import Schedule, beside, path_of


def summary(
    name: str,
    written: Sink,
    passes: Sequence[PassRecord],
    scheduled: Scheduled,
    schedule: Schedule,
    kernels: Sequence[tuple[int, int, Level]],
) -> str:
    """How much was compiled into how much; `kernels` has instructions, lines, level of each."""
    changed = [each.name for each in passes if each.changed]
    last: Node = passes[-1].after if passes else written
    after = f", {len(toposort([last])) - 1} after {' and '.join(changed)}"
    lines = [
        f"{name}: {counted(len(toposort([written])) - 1, 'node')} as written"
        f"{after if changed else ', which no pass on the graph changed'}",
        f"{counted(len(scheduled.items), 'schedule item')}, "
        f"{counted(len(scheduled.outlined.bodies), 'distinct kernel')}, "
        f"critical path {path_of(schedule.critical_path)}"
        f"{beside(schedule.critical_path, schedule.critical_items)}, "
        f"peak {schedule.peak_bytes:,} bytes",
        f"{sum(count for count, _, _ in kernels)} lowered instructions, "
        f"{sum(lines for _, lines, _ in kernels)} lines of LLVM IR",
        *_machine_code([level for _, _, level in kernels]),
    ]
    moved = ", ".join(map(str, traffic(scheduled.items)))
    lines += [f"moved {moved}"] if moved else []
    return printout([*lines, *warnings(written)])


def _machine_code(levels: Sequence[Level]) -> list[str]:
    """The words for what LLVM does, and to how many kernels."""
    found = Counter(level.done for level in levels)
    parts = [f"{what} ({counted(number, 'kernel')})" for what, number in found.items()]
    return [f"machine code by {', '.join(parts)}"] if parts else []
