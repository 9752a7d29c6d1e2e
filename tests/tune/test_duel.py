"""Who wins: only what is faster by more than the noise of the rounds themselves."""

import pytest

from compiler.tune.duel import LEAST_ROUNDS, duel

ROUNDS = {
    "half the time": ([(2.0, 1.0)] * 9, True),
    "the same": ([(1.0, 1.0)] * 9, False),
    "slower": ([(1.0, 1.5)] * 9, False),
    "1 % is no gain": ([(1.0, 0.99)] * 99, False),
    "3 % without noise": ([(1.0, 0.97)] * 9, True),
    "too few rounds": ([(2.0, 1.0)] * (LEAST_ROUNDS - 1), False),
    "noise as large as the gain": ([(1.1, 1.0), (1.0, 1.1), (1.3, 1.0), (1.0, 1.2)] * 3, False),
    "disturbed, but together": ([(1.0, 0.8), (5.0, 4.0), (1.1, 0.9), (3.0, 2.5)] * 4, True),
    "no rounds": ([], False),
}


@pytest.mark.parametrize(("pairs", "is_won"), ROUNDS.values(), ids=ROUNDS)
def test_who_wins(pairs: list[tuple[float, float]], is_won: bool) -> None:
    assert duel(pairs).is_won is is_won


def test_medians_are_reported() -> None:
    found = duel([(3.0, 1.0), (2.0, 1.0), (9.0, 1.0), (2.0, 1.5), (2.0, 1.0)])
    assert (found.first, found.second, found.difference, found.rounds) == (2.0, 1.0, 1.0, 5)
