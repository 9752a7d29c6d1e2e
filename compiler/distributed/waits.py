"""waits: idle time of lanes and its cause, and the critical path of a run.

    k0 ──────┤            DASK waits for k0 on DASK:1 until 2.1 ms, then for its transfer
    DASK     │ ░░░░░░░░░░ k1
                     ╰ ready: from here on, DASK waits for a message of Dask's scheduler

A gap of a lane ends with a bar. The cause is the need of that bar that ended last. If all needs
ended before the gap began, the lane waited for its task: from the client, by the scheduler.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler.distributed.bars import HERE, Bar

LEAST = 50_000
"""Nanoseconds: shorter gaps between the steps of a task are not waits. A choice."""
LOOKED = 64
"""Earlier bars of a lane that are searched: a worker with several threads overlaps bars. A
choice."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A lane was idle from `begin` to `end`, in nanoseconds of the run, then ran bar `next`.

    It waited for bar `on` until `ready`. `on` is None, and `ready` is `begin`, if all operands had
    arrived.
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
    waits_of_lanes = [
        wait for lane in range(HERE + 1, len(errors)) for wait in _gaps(bars, lane, errors, least)
    ]
    return tuple(sorted(waits_of_lanes, key=lambda it: (it.begin, it.lane)))


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
    """The critical path over machines: the bars that the end of the run waited for, in order.

    It is followed backwards from the bar that ended last: to the one that ended last of the bar's
    needs and the bar before it on its lane.
    """
    number = _last(bars, range(len(bars)))
    path_bars: dict[int, None] = {}
    before = _lane_before(bars)
    while number is not None:
        path_bars[number] = None
        previous = before[number]
        candidates = [*_ended(bars, number, errors), *([] if previous is None else [previous])]
        number = _last(bars, [n for n in candidates if n not in path_bars])
    return tuple(reversed(path_bars))


def _ended(bars: Sequence[Bar], number: int, errors: Sequence[int]) -> list[int]:
    """The needs of a bar that ended before it began, within the clocks' errors: a need that was
    repeated after a loss ended later."""
    bar = bars[number]
    return [
        n for n in bar.needs
        if bars[n].end <= bar.begin + errors[bar.lane] + errors[bars[n].lane]
    ]  # fmt: skip


def _last(bars: Sequence[Bar], numbers: Sequence[int]) -> int | None:
    """The bar that ended last; among equal ones, the one that began last."""
    return max(numbers, key=lambda n: (bars[n].end, n), default=None)


def _lane_before(bars: Sequence[Bar]) -> list[int | None]:
    """For each bar, the one before it on its lane; for a transfer, the transfer before it."""
    last: dict[tuple[int, bool], list[int]] = {}
    before: list[int | None] = []
    for number, bar in enumerate(bars):
        lane_bars = last.setdefault((bar.lane, bar.kind == "transfer"), [])
        ended = [n for n in lane_bars[-LOOKED:] if bars[n].end <= bar.begin]
        before.append(None if bar.kind == "transfer" else _last(bars, ended))
        lane_bars.append(number)
    return before
