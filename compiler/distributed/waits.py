"""waits: where lanes did nothing, what for, and what the end of a run waited for.

    k0 ──────┤            what DASK waited for: k0 on DASK:1 until 2.1 ms, then its transfer
    DASK     │ ░░░░░░░░░░ k1
                     ╰ ready: from here on it was Dask's scheduler, telling the worker

A lane's gap ends with a bar. Of what that bar needed, whatever ended last is what the lane waited
for; where all was there before the gap began, tasks were on their way: from us by the scheduler.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler.distributed.bars import HERE, Bar

LEAST = 50_000
"""Nanoseconds: shorter gaps, between the steps of a task, are no waits. A choice."""
LOOKED = 64
"""Bars before one that are looked at: of a worker with several threads some go on. A choice."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A lane that did nothing from `begin` to `end`, then bar `next`; nanoseconds of the run.

    `on` is the bar that was waited for until `ready`; None, and `ready` is `begin`, where nothing
    of the program was missing.
    """

    lane: int
    begin: int
    end: int
    next: int
    on: int | None
    ready: int

    @property
    def ns(self) -> int:
        """Its length."""
        return self.end - self.begin


def waits(bars: Sequence[Bar], errors: Sequence[int], least: int = LEAST) -> tuple[Wait, ...]:
    """The waits of all workers, in order of time; `errors` of each lane's clock, nanoseconds."""
    found = [
        wait for lane in range(HERE + 1, len(errors)) for wait in _gaps(bars, lane, errors, least)
    ]
    return tuple(sorted(found, key=lambda it: (it.begin, it.lane)))


def _gaps(bars: Sequence[Bar], lane: int, errors: Sequence[int], least: int) -> Iterator[Wait]:
    """The waits of one lane, before its last bar."""
    until = 0
    for number, bar in enumerate(bars):
        if bar.lane != lane or bar.kind == "transfer":
            continue
        if bar.begin - until >= least:
            last = _last(bars, _ended(bars, number, errors))
            is_late = last is not None and bars[last].end > until
            ready = min(bars[last].end, bar.begin) if last is not None and is_late else until
            yield Wait(lane, until, bar.begin, number, last if is_late else None, ready)
        until = max(until, bar.end)


def path(bars: Sequence[Bar], errors: Sequence[int]) -> tuple[int, ...]:
    """The bars that the end of the run waited for, in order: the critical path over machines.

    From the bar that ended last backwards, each time to whichever ended last of what the bar needed
    and of what its lane did before.
    """
    number = _last(bars, range(len(bars)))
    found: dict[int, None] = {}
    before = _lane_before(bars)
    while number is not None:
        found[number] = None
        own = before[number]
        candidates = [*_ended(bars, number, errors), *([] if own is None else [own])]
        number = _last(bars, [n for n in candidates if n not in found])
    return tuple(reversed(found))


def _ended(bars: Sequence[Bar], number: int, errors: Sequence[int]) -> list[int]:
    """The inputs of a bar, as far as the clocks show: a bar that was repeated after a loss ended
    too late for it."""
    bar = bars[number]
    return [
        n for n in bar.needs
        if bars[n].end <= bar.begin + errors[bar.lane] + errors[bars[n].lane]
    ]  # fmt: skip


def _last(bars: Sequence[Bar], numbers: Sequence[int]) -> int | None:
    """The one that ended last; of several the one that began last."""
    return max(numbers, key=lambda n: (bars[n].end, n), default=None)


def _lane_before(bars: Sequence[Bar]) -> list[int | None]:
    """For each bar the one that its lane, or what brings data to it, did just before."""
    last: dict[tuple[int, bool], list[int]] = {}
    found: list[int | None] = []
    for number, bar in enumerate(bars):
        own = last.setdefault((bar.lane, bar.kind == "transfer"), [])
        ended = [n for n in own[-LOOKED:] if bars[n].end <= bar.begin]
        found.append(None if bar.kind == "transfer" else _last(bars, ended))
        own.append(number)
    return found
