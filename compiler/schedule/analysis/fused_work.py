"""fused_work: the work of one kernel in place of two, from the work of both.

    first     trips 1,000  exp   in0 +1  out +1          second    trips 1,000  add   in0 +1  out +1
    fused     trips 1,000  exp   in0 +1                            trips 1,000  add          out +1

What the first writes and the second reads is not in memory any more. Where the second reads each
value several times, the first's work is done as often. The loops of both are taken to run one
after the other in the one kernel, which is the least that fusion does.

Relies on: both were counted by `loops/count.py`.
Ensures: without repetition, the operations are those of both, and the accesses those of both but
the ones left out.
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
    """Both parts of one kernel that does the first's work `times` times, and the second's.

    `unwritten` are arguments of the first that are not written any more, `unread` those of the
    second that are not read.
    """
    return _without(first, unwritten, times), _without(second, unread)


def fused_ns(
    parts: tuple[Work, Work], model: MachineModel, since: tuple[Since, Since] = (0, 0)
) -> float:
    """Nanoseconds of the one kernel: of both parts, begun once."""
    both = (estimate(work, model, ago) for work, ago in zip(parts, since, strict=True))
    return sum(both) - begin_ns(model)


def _without(work: Work, slots: Collection[int], times: float = 1.0) -> Work:
    """The work without accesses to some arguments, done so many times."""
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
