"""A few lines that say what was compiled, for people who look at a program for the first time."""

from collections import Counter
from collections.abc import Collection, Sequence

from compiler.core.node import Node, toposort
from compiler.core.printable import printout
from compiler.core.text import counted
from compiler.core.trace import PassRecord
from compiler.findings.widening import warnings
from compiler.graph.nodes import Sink
from compiler.llvm.level import Level
from compiler.pipeline.scheduling import Scheduled
from compiler.run.sharding import traffic
from compiler.schedule.items import Kernel
from compiler.schedule.printer import Schedule, path_of

SHOWN = 6
"""Kernels with plain loops, and exchanges between workers, that are named at most."""
PAIRS = 24
"""Pairs of devices that are named at most."""


def summary(
    name: str,
    written: Sink,
    passes: Sequence[PassRecord],
    scheduled: Scheduled,
    schedule: Schedule,
    kernels: Sequence[tuple[int, int, Level]],
    plain: Collection[Sink],
    collectives: Sequence[object],
) -> str:
    """The size of the program and of its code; `kernels` has instructions, lines, level of each.

    `plain` are the bodies of those whose loops have no vectors but LLVM's.
    """
    changed = [each.name for each in passes if each.changed]
    last: Node = passes[-1].after if passes else written
    after = f", {len(toposort([last])) - 1} after {' and '.join(changed)}"
    lines = [
        f"{name}: {counted(len(toposort([written])) - 1, 'node')} as written"
        f"{after if changed else ', which no pass on the graph changed'}",
        f"{counted(len(scheduled.items), 'schedule item')}, "
        f"{counted(len(scheduled.outlined.bodies), 'distinct kernel')}, "
        f"critical path {path_of(schedule.critical_path, schedule.critical_items)}, "
        f"peak {schedule.peak_bytes:,} bytes",
        f"{sum(count for count, _, _ in kernels)} lowered instructions, "
        f"{sum(lines for _, lines, _ in kernels)} lines of LLVM IR",
        *_machine_code([level for _, _, level in kernels]),
        *_plain(scheduled, schedule, plain),
    ]
    lines += [*_moved(scheduled), *map(str, collectives[:SHOWN])]
    lines += ["… more such exchanges: compilation.collectives"] if collectives[SHOWN:] else []
    return printout([*lines, *warnings(written)])


def _machine_code(levels: Sequence[Level]) -> list[str]:
    """The words for what LLVM does, and to how many kernels."""
    counts = Counter(level.done for level in levels)
    parts = [f"{what} ({counted(number, 'kernel')})" for what, number in counts.items()]
    return [f"machine code by {', '.join(parts)}"] if parts else []


def _moved(scheduled: Scheduled) -> list[str]:
    """The bytes moved between devices, by pair where these are few."""
    pairs = traffic(scheduled.items)
    if len(pairs) <= PAIRS:
        return [f"moved {', '.join(map(str, pairs))}"] if pairs else []
    count = counted(sum(each.transfers for each in pairs), "transfer")
    total = sum(each.nbytes for each in pairs)
    return [f"moved {total:,} bytes in {count} between {len(pairs)} pairs of devices"]


def _plain(scheduled: Scheduled, schedule: Schedule, plain: Collection[Sink]) -> list[str]:
    """The kernels whose loops are left to LLVM, with their shares of the time, the greatest first.
    """
    if not plain:
        return []
    total = max(sum(row.cost for row in schedule.analysis), 1)
    shares: Counter[str] = Counter()
    for item, row in zip(scheduled.items, schedule.analysis, strict=True):
        if isinstance(item.operation, Kernel) and item.operation.body in plain:
            shares[item.operation.name] += row.cost
    names = ", ".join(f"{name} ({cost / total:.0%})" for name, cost in shares.most_common(SHOWN))
    more = ", …" if len(shares) > SHOWN else ""
    of = counted(len(scheduled.outlined.bodies), "kernel")
    words = f"plain loops in {len(shares)} of {of}, with shares of the estimated time"
    return [f"{words}: {names}{more}"]
