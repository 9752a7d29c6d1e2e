"""The search, on recorded times: it finds what is better, keeps to the time, repeats itself."""

from collections.abc import Sequence

import pytest

from compiler.loops.choices import Choices, Tile, Unroll
from compiler.tune.search import Move, Searched, search
from compiler.tune.trials import Refused, Trial, fastest

SIZES = (1, 2, 4, 8, 16, 32)


class Recorded:
    """A judge that knows the time of each size, and whose clock runs as it is asked."""

    def __init__(self, best: int = 16, cost: float = 1.0) -> None:
        self.best, self.cost, self.now = best, cost, 0.0
        self.asked: list[int] = []

    def measure(self, choices: Choices, best: float) -> float:
        self.now += self.cost
        tiles = choices.of(Tile)
        if choices.of(Unroll):
            raise Refused("no unrolling")
        size = tiles[0].size if tiles else 1
        self.asked.append(size)
        return 1.0 + abs(SIZES.index(size) - SIZES.index(self.best))


def of_size(size: int) -> Choices:
    return Choices((Tile("i0", size),))


def moves(choices: Choices) -> list[Move]:
    """The next size up and down, and something illegal."""
    place = SIZES.index(choices.of(Tile)[0].size) if choices.of(Tile) else 0
    near = (SIZES[n] for n in (place - 1, place + 1) if 0 <= n < len(SIZES))
    made = [Move(f"size {size}", of_size(size), "size") for size in near]
    return [*made, Move("unrolled", Choices((*choices.rows, Unroll("i0"))), "unroll")]


def searched(judge: Recorded, seconds: float = 100.0) -> Searched:
    starts = [Move("the default", of_size(1))]
    return search(starts, moves, judge, lambda: judge.now >= seconds)


def test_it_climbs_to_the_best() -> None:
    found = searched(Recorded())
    assert fastest(found.trials, 1)[0].choices == of_size(16)
    assert found.is_complete


def test_each_trial_comes_from_one_that_ran() -> None:
    trials = searched(Recorded()).trials
    assert [t.number for t in trials] == list(range(len(trials)))
    assert trials[0].parent is None
    for trial in trials[1:]:
        assert trial.parent is not None and trial.parent < trial.number
        assert trials[trial.parent].is_measured


def test_what_is_refused_is_recorded() -> None:
    refused = [t for t in searched(Recorded()).trials if not t.is_measured]
    assert refused and {t.refused for t in refused} == {"no unrolling"}
    assert {t.change for t in refused} == {"unrolled"}


@pytest.mark.parametrize("seconds", [1.0, 2.0, 5.0])
def test_it_stops_when_it_is_late(seconds: float) -> None:
    judge = Recorded()
    found = searched(judge, seconds)
    assert judge.now == seconds and len(found.trials) == seconds
    assert not found.is_complete


def test_without_time_the_default_is_measured() -> None:
    found = searched(Recorded(), 0.0)
    assert [t.change for t in found.trials] == ["the default"]


def test_equal_times_lead_to_equal_searches() -> None:
    assert searched(Recorded(), 9.0) == searched(Recorded(), 9.0)


def test_nothing_is_tried_twice() -> None:
    judge = Recorded()
    searched(judge)
    assert len(set(judge.asked)) == len(judge.asked)


def test_starts_are_tried_before_changes() -> None:
    judge = Recorded(best=1)
    starts = [Move("the default", of_size(4)), Move("plain", of_size(1)), Move("same", of_size(4))]
    trials = search(starts, moves, judge, lambda: judge.now >= 4).trials
    assert judge.asked[:2] == [4, 1] and trials[1].parent == 0
    assert trials[2].parent == 1  # the faster one is changed


def test_a_default_that_is_refused_ends_it() -> None:
    judge = Recorded()
    starts = [Move("the default", Choices((Unroll("i0"),))), Move("plain", of_size(1))]
    found = search(starts, moves, judge, lambda: False)
    assert [t.refused for t in found.trials] == ["no unrolling"]


def test_who_listens_hears_each_trial() -> None:
    heard: list[Trial] = []
    judge = Recorded()
    found = search([Move("the default", of_size(1))], moves, judge, lambda: False, heard.append)
    assert tuple(heard) == found.trials


def test_kinds_that_help_come_first() -> None:
    def either(choices: Choices) -> Sequence[Move]:
        return [*moves(choices), *(Move(f"no {n}", Choices((*choices.rows, Unroll(f"i{n}"))), "no")
                                   for n in range(9))]  # fmt: skip

    judge = Recorded(best=32)
    starts = [Move("the default", of_size(1))]
    trials = search(starts, either, judge, lambda: 32 in judge.asked).trials
    assert len(trials) <= 9  # at random about one in six would be a size
