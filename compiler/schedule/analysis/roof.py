"""roof: the time that a kernel's operations and bytes need at this machine's best.

All of it in vectors and every access one after the other, on as many cores; what data decide, as
where a gather reads, stays as it is. A kernel's share of the roofline is its roof by its time.
"""

from dataclasses import replace

from compiler.machines.model import MachineModel
from compiler.schedule.analysis.work import Work, begin_ns, estimate


def at_best(work: Work) -> Work:
    """The same work in vectors, one element after the other, no loop begun."""
    best = work.in_vectors
    stretches = zip(best.stretches, work.stretches, strict=True)
    return replace(best, stretches=tuple(
        replace(it, begun=0, operations=before.operations) for it, before in stretches
    ))  # fmt: skip


def roof_ns(work: Work, model: MachineModel, resident: int) -> float:
    """Nanoseconds at best, without the call; `resident` are the bytes of all buffers of the
    program, which runs again and again."""
    return estimate(at_best(work), model, resident) - begin_ns(model)
