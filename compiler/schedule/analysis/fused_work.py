"""fused_work: the work of one kernel in place of two, from the work of both.

    first     trips 1,000  exp   in0 +1  out +1          second    trips 1,000  add   in0 +1  out +1
    fused     trips 1,000  exp   in0 +1                            trips 1,000  add          out +1

What the first writes and the second reads is not in memory any more. Where the second reads each
value several times, the first's work is done as often: the trips of its stretches, and what it
reads inside the outermost loop, count so many times. The loops of both are taken to stand beside
each other in the one kernel, which is the least that fusion does.

Relies on: both were counted by `loops/count.py`.
Ensures: without repetition, the operations are those of both, and the accesses those of both but
the ones left out.
"""

from collections.abc import Collection
from dataclasses import replace

from compiler.schedule.analysis.work import Footprint, Stretch, Work


def fused_work(
    first: Work,
    second: Work,
    times: float = 1.0,
    unwritten: Collection[int] = (),
    unread: Collection[int] = (),
) -> Work:
    """One kernel that does the first's work `times` times, and the second's.

    `unwritten` are arguments of the first that are not written any more, `unread` those of the
    second that are not read.
    """
    blocks = 1 + max((it.block for it in first.stretches), default=0)
    stretches = (
        *(_stretch(it, unwritten, times) for it in first.stretches),
        *(replace(_stretch(it, unread), block=it.block + blocks) for it in second.stretches),
    )
    depths = max((len(it.nbytes) for it in (*first.footprints, *second.footprints)), default=0)
    footprints = (
        *(_footprint(it, depths, times) for it in first.footprints if it.slot not in unwritten),
        *(_footprint(it, depths, 1.0) for it in second.footprints if it.slot not in unread),
    )
    return Work(stretches, footprints, max(first.registers, second.registers))


def _stretch(stretch: Stretch, without: Collection[int], times: float = 1.0) -> Stretch:
    """A stretch without accesses to some arguments, done so many times."""
    return replace(
        stretch,
        trips=round(stretch.trips * times),
        begun=round(stretch.begun * times),
        accesses=tuple(it for it in stretch.accesses if it.slot not in without),
    )


def _footprint(footprint: Footprint, depths: int, times: float) -> Footprint:
    """A footprint of so many loops; what is done again reads again what the loops inside touch."""
    nbytes, repeats = footprint.nbytes, footprint.repeats
    last = nbytes[-1:] or (0,), repeats[-1:] or (1,)
    missing = depths - len(nbytes)
    nbytes, repeats = nbytes + last[0] * missing, repeats + last[1] * missing
    again = tuple(it if not depth else round(it * times) for depth, it in enumerate(repeats))
    return replace(footprint, nbytes=nbytes, repeats=again)
