"""fused_work: the work of a fused kernel, from the work of a producer and a consumer kernel.

    first     trips 1,000  exp   in0 +1  out +1          second    trips 1,000  add   in0 +1  out +1
    fused     trips 1,000  exp   in0 +1                            trips 1,000  add          out +1

The value passed from the first kernel to the second needs no memory traffic after fusion. If the
second reads each value several times, the first kernel's work is repeated as often. The estimate
assumes that both loop nests run one after the other in one kernel, which is the least that fusion
achieves.

Relies on: both were counted by `loops/count.py`.
Ensures: without recomputation, the operations and accesses are those of both kernels, except the
accesses left out.
"""

from collections.abc import Collection
from dataclasses import replace

from compiler.machines.model import MachineModel
from compiler.schedule.analysis.traffic import Since
from compiler.schedule.analysis.work import Work, begin_ns, estimate


def fused_work(
    first: Work,
    second: Work,
    times: float = 1.0,
    unwritten: Collection[int] = (),
    unread: Collection[int] = (),
) -> tuple[Work, Work]:
    """Both parts of the fused kernel: the first's work `times` times, and the second's.

    `unwritten` are arguments of the first that are no longer written, `unread` those of the second
    that are no longer read.
    """
    return _without(first, unwritten, times), _without(second, unread)


def fused_ns(
    parts: tuple[Work, Work], model: MachineModel, since: tuple[Since, Since] = (0, 0)
) -> float:
    """The time of the fused kernel in nanoseconds: both parts, with one launch."""
    both = (estimate(work, model, ago) for work, ago in zip(parts, since, strict=True))
    return sum(both) - begin_ns(model)


def _without(work: Work, slots: Collection[int], times: float = 1.0) -> Work:
    """The work without accesses to the arguments `slots`, repeated `times` times."""
    stretches = tuple(
        replace(
            it, trips=round(it.trips * times), begun=round(it.begun * times),
            accesses=tuple(access for access in it.accesses if access.slot not in slots),
        )
        for it in work.stretches
    )  # fmt: skip
    footprints = tuple(
        replace(it, times=it.times * times) for it in work.footprints if it.slot not in slots
    )
    return Work(stretches, footprints, work.registers)
