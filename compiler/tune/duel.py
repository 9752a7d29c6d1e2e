"""duel: whether one kernel is faster than another by more than the noise.

Both run alternately, so that what disturbs the machine disturbs both; each round gives a difference
of times. The second wins where the median of these differences is more than

    2 % of the median time of the first, and
    three standard errors of that median: 3 · 1.2533 · 1.4826 · MAD / √rounds

and where it is more than 2 % in the first half of the rounds and in the second half, too: what
disturbs the machine for a while is not independent from round to round.

(MAD: the median distance of the differences from their median; the factors are those of normally
distributed values). With fewer than five rounds nobody wins.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_ROUNDS = 5
"""Two halves need two rounds each at least. Chosen, not measured."""
MARGIN = 0.02
"""Of the time of the first. Of 480 duels of a kernel with itself 52 were further apart, and 2 were
won (EPYC, AVX2, two busy cores, 2026-11-23; how far apart by rounds: `tune.py`)."""
ERRORS = 3.0
"""Standard errors: a chance of 1 in 740 where rounds are independent."""
OF_THE_MEDIAN = 1.2533 * 1.4826


@dataclass(frozen=True, slots=True)
class Duel:
    """Median seconds of both, by how much the second took less, and what that had to exceed."""

    first: float
    second: float
    difference: float
    needed: float
    rounds: int
    is_steady: bool = True
    """True if each half of the rounds says the same."""

    @property
    def is_won(self) -> bool:
        """True if the second is faster by more than the noise."""
        is_known = self.rounds >= LEAST_ROUNDS and self.is_steady
        return is_known and self.difference > self.needed


def duel(pairs: Sequence[tuple[float, float]]) -> Duel:
    """The verdict of rounds of both; each pair has the seconds of the first and of the second."""
    if not pairs:
        return Duel(0.0, 0.0, 0.0, 0.0, 0)
    differences = [one - two for one, two in pairs]
    middle = statistics.median(differences)
    spread = statistics.median(abs(d - middle) for d in differences)
    first, second = (statistics.median(side) for side in zip(*pairs, strict=True))
    error = OF_THE_MEDIAN * spread / math.sqrt(len(pairs))
    needed = max(MARGIN * first, ERRORS * error)
    half = len(pairs) // 2
    is_steady = all(
        statistics.median(part) > MARGIN * first
        for part in (differences[:half], differences[half:]) if part
    )  # fmt: skip
    return Duel(first, second, middle, needed, len(pairs), is_steady)
