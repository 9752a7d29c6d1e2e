"""Waits and the critical path over machines, on bars that are written by hand."""

from compiler.distributed.bars import Bar
from compiler.distributed.waits import Wait, path, waits

MS = 1_000_000


def _bar(
    lane: int, kind: str, begin: float, end: float, *needs: int, source: int | None = None
) -> Bar:
    times = round(begin * MS), round(end * MS)
    return Bar(lane, kind, *times, 0, "k", 8, source, needs)  # type: ignore[arg-type]


BARS = (
    _bar(0, "submit", 0, 1),
    _bar(1, "kernel", 2, 6, 0),
    _bar(2, "kernel", 2, 3, 0),
    _bar(2, "transfer", 6.5, 8, 1, source=1),
    _bar(2, "kernel", 9, 10, 2, 3),
    _bar(1, "kernel", 9.5, 9.9, 1),
)
ONE_CLOCK = 0, 0, 0


def test_a_wait_ends_with_what_came_last() -> None:
    found = {(it.lane, it.next): it for it in waits(BARS, ONE_CLOCK)}
    assert found[2, 4] == Wait(2, 3 * MS, 9 * MS, 4, 3, 8 * MS)
    assert found[2, 2] == Wait(2, 0, 2 * MS, 2, 0, 1 * MS)


def test_where_nothing_was_missing_it_was_dask() -> None:
    (found,) = (it for it in waits(BARS, ONE_CLOCK) if it.next == 5)
    assert found == Wait(1, 6 * MS, round(9.5 * MS), 5, None, 6 * MS)


def test_short_gaps_are_no_waits() -> None:
    bars = _bar(1, "move", 0, 1), _bar(1, "kernel", 1.01, 2, 0)
    assert not waits(bars, (0, 0))
    assert len(waits(bars, (0, 0), least=1)) == 1


def test_threads_of_a_worker_wait_only_together() -> None:
    bars = _bar(1, "kernel", 0, 5), _bar(1, "kernel", 0, 1), _bar(1, "kernel", 4, 6)
    assert not waits(bars, (0, 0))


def test_the_path_goes_over_the_transfer() -> None:
    assert path(BARS, ONE_CLOCK) == (0, 1, 3, 4)


def test_a_lane_that_was_busy_is_on_the_path() -> None:
    bars = _bar(1, "kernel", 0, 4), _bar(2, "kernel", 0, 1), _bar(1, "kernel", 4, 5, 1)
    assert path(bars, ONE_CLOCK) == (0, 2)


def test_what_was_done_again_is_not_waited_for() -> None:
    """The producer's bar that is left ended after its reader began: it was done once more."""
    bars = _bar(1, "kernel", 0, 1), _bar(2, "kernel", 2, 3, 0, 2), _bar(1, "kernel", 2.5, 2.9)
    assert path(bars, ONE_CLOCK) == (0, 1)
    assert waits(bars, ONE_CLOCK)[0].on == 0


def test_clocks_may_be_off() -> None:
    """A transfer that seems to end after its reader began, by less than the clocks' error."""
    bars = _bar(1, "kernel", 0, 1), _bar(2, "transfer", 1, 3.2, 0), _bar(2, "kernel", 3, 4, 1)
    assert path(bars, ONE_CLOCK) == (2,)
    assert path(bars, (0, 0, MS)) == (0, 1, 2)
    assert waits(bars, (0, 0, MS))[0] == Wait(2, 0, 3 * MS, 2, 1, 3 * MS)


def test_nothing() -> None:
    assert not path((), (0,))
    assert not waits((), (0,))
