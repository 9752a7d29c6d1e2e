"""roof: the roofline bound of a kernel, the least time for its operations and bytes on a machine.

The bound assumes that all work is vectorised and all accesses are contiguous, on the same number of
cores. Accesses that depend on data, such as those of a gather, do not change. A kernel's share of
peak is the bound divided by its time.
"""

from dataclasses import replace

from compiler.machines.model import MachineModel
from compiler.schedule.analysis.work import Work, begin_ns, estimate


def at_best(work: Work) -> Work:
    """The same work fully vectorised, with contiguous accesses and no loop overhead."""
    best = work.in_vectors
    stretches = zip(best.stretches, work.stretches, strict=True)
    return replace(best, stretches=tuple(
        replace(it, begun=0, operations=before.operations) for it, before in stretches
    ))  # fmt: skip


def roof_ns(work: Work, model: MachineModel, resident: int) -> float:
    """The roofline bound in nanoseconds, without the call overhead.

    `resident` is the size of all buffers of the program, which runs repeatedly.
    """
    return estimate(at_best(work), model, resident) - begin_ns(model)
