"""The kernels of one network of ours: measured one by one, with their estimates and rooflines.

Estimates are those of the loops that run, on the model of this machine as it was measured, not on
the one that they were chosen for. The roofline of a kernel is what its arithmetic, or moving its
inputs and outputs, takes at this machine's best: all cores in vectors, all bytes once, from the
level of the caches that holds them.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from benchmarks.peers import on_limits
from benchmarks.workloads import Limit, Workload
from compiler import MachineModel
from compiler.ask.measurement import Measurement
from compiler.device.calibration import measure
from compiler.loops.choices import Choices
from compiler.program.compilation import Compilation
from compiler.schedule.analysis.reuse import last_touched
from compiler.schedule.analysis.work import estimate
from compiler.schedule.items import ItemAnalysis, Kernel
from compiler.schedule.printer import Schedule
from compiler.schedule.titles import KernelTitle

FAR, WORTH = 0.4, 0.01
"""A kernel is listed if it reaches less than `FAR` of its roofline and takes more than `WORTH` of
the time."""


@dataclass(frozen=True, slots=True)
class KernelTime:
    """All items that run one kernel: times in nanoseconds, added up.

    `ns` has in it the `calls` from Python by which items are timed one by one.
    """

    name: str
    title: str
    items: int
    ns: float
    estimated: float
    roof: float
    bound: str
    calls: float
    plain: str
    """Why its loops are plain; "" where they are in vectors."""

    @property
    def of_roof(self) -> float:
        """The share of its roofline that it reaches."""
        return self.roof / self.ns if self.ns else 1.0

    @property
    def off(self) -> float:
        """How many times the estimate is too long or too short: at least 1."""
        took = max(self.ns - self.calls, 1.0)
        return max(self.estimated / took, took / self.estimated)

    @property
    def why(self) -> str:
        """The cause of its time, as far as the compiler knows."""
        return f"plain: {self.plain}" if self.plain else f"bound by {self.bound}"


@functools.cache
def at_hand() -> MachineModel:
    """This machine as it is measured, once in a process. It is not kept on disk: programs, ours
    and those of other processes, have the loops that they would have without it."""
    return measure()


def machine(seconds: float = 0.2) -> MachineModel:
    """The model of this machine, its memory and multiply-adds at least as fast as a run of the
    limits' kernels: a busy moment while the model was measured lowers no roofline."""
    model = at_hand()
    memory = _limit("copy", seconds) / model.memory_cores
    first, second, third, last = model.read
    read = first, second, max(third, memory), max(last, memory)
    first, second, third, last = model.write
    write = first, second, max(third, memory), max(last, memory)
    fma = 2 * model.cores / _limit("fma", seconds)
    return replace(model, read=read, write=write, fma_ns=min(model.fma_ns, fma))


def _limit(kind: Limit, seconds: float) -> float:
    """Bytes or operations in a nanosecond: the best of several calls."""
    workload = Workload("limit", "limit", {}, (), 0, kind, 0.0)
    run = on_limits.programs(workload, {})["limits"]
    least, end = float("inf"), perf_counter() + seconds
    while perf_counter() < end or least == float("inf"):
        start = perf_counter()
        run()
        least = min(least, perf_counter() - start)
    return on_limits.amount(kind) / least / 1e9


def kernels(
    compilation: Compilation, measured: Measurement, best: MachineModel
) -> tuple[KernelTime, ...]:
    """The kernels of a measured program, those that take longest first; `best` is the machine at
    its best."""
    schedule, found = compilation.schedule, dict[str, list[int]]()
    for item in schedule.items:
        if isinstance(item.operation, Kernel) and item.item_id in measured.by_item:
            found.setdefault(item.operation.name, []).append(item.item_id)
    model = at_hand()
    choices, estimates = compilation.choices, _estimates(schedule, model)
    call = max(measured.call - model.launch_ns, 0.0)
    made = []
    for name, items in found.items():
        rows = [schedule.analysis[it] for it in items]
        times = [measured.by_item[it] for it in items]
        made.append(KernelTime(
            name, _title(schedule.titles[items[0]]), len(items), sum(t.ns for t in times),
            sum(estimates[it] for it in items), sum(roof_ns(row, best) for row in rows),
            measured.bound(max(times, key=lambda t: t.ns)), call * len(items),
            plain(choices[name]),
        ))  # fmt: skip
    return tuple(sorted(made, key=lambda kernel: -kernel.ns))


def _estimates(schedule: Schedule, model: MachineModel) -> list[float]:
    """Nanoseconds of each item on a model of the machine."""
    ago = last_touched(schedule.items, schedule.memory_plan)
    rows = zip(schedule.analysis, schedule.works, ago, strict=True)
    return [
        float(row.cost) if work is None else estimate(work, model, since)
        for row, work, since in rows
    ]


def _title(title: KernelTitle) -> str:
    extents = "×".join(str(it) for it in title.shape if it != 1) or "1"
    return f"{title.short} {extents}"


def roof_ns(row: ItemAnalysis, model: MachineModel) -> float:
    """The least time of an item: of its operations, two in a multiply-add, and of its bytes."""
    computing = row.flops * model.fma_ns / 2 / model.cores
    level = model.level(row.bytes_read + row.bytes_written)
    moving = model.moving_ns(level, row.bytes_read, row.bytes_written, model.cores)
    return max(computing, moving) + model.launch_ns


def plain(choices: Choices) -> str:
    """Why there are no vectors in the loops of a kernel; "" where there are."""
    if choices.has("vectorize"):
        return ""
    reasons = (str(it.because) for it in choices.refused if it.kind == "vectorize")
    return "; ".join(reasons) or "nothing was chosen"


def far(found: Sequence[KernelTime]) -> tuple[KernelTime, ...]:
    """Those below `FAR` of their roofline that take over `WORTH` of the time."""
    total = sum(kernel.ns for kernel in found)
    return tuple(it for it in found if it.ns > WORTH * total and it.of_roof < FAR)
