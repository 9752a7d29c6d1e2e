"""search_kernel: the search for one kernel, for so many seconds.

    search from the default for three quarters of the time           (search.py)
    the five fastest against the default, alternately                (duel.py)
    the best of those that won, else the default

Compiling counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compiler.loops.choices import PLAIN, Choices
from compiler.settings.options import Options
from compiler.tune.duel import LEAST_ROUNDS, Duel, duel
from compiler.tune.neighbours import neighbours, space
from compiler.tune.search import Move, search
from compiler.tune.trials import Refused, Trial, fastest
from compiler.tune.tuning import Found
from compiler.tune.workbench import Workbench

SEARCHED = 0.75
"""The share of a kernel's time after which nothing new is tried. Chosen, not measured."""
FINALISTS = 5
"""Of the fastest in the search so many meet the default. In searches of 12 s the best of the duels
was fifth, fifth, second and third of them for a product of 128 × 128, a softmax, a convolution and
a transposition (EPYC, AVX2, two busy cores, 2026-11-23)."""
NEAR = 1.1
"""Choices that took up to so many times as long as the default may be faster after all. Chosen, not
measured."""
ROUNDS = 101
"""In 40 duels of a kernel with itself, four kernels, the medians of so many rounds were apart by
0.2 to 0.7 %, and 3.0 % at most; of 51 rounds 0.4 to 1.0 and 9.6, of 11 rounds 0.6 to 1.8 and 7.4
(EPYC, AVX2, two busy cores, 2026-11-23)."""
NOTHING = Duel(0.0, 0.0, 0.0, 0.0, 0)
Clock = Callable[[], float]


@dataclass(slots=True)
class Job:
    """One kernel that is to be searched."""

    number: int
    name: str
    bench: Workbench
    key: bytes
    weight: float
    before: Choices | None = None
    """The best of an earlier search, which had less time."""


def search_kernel(
    job: Job, seconds: float, options: Options, clock: Clock, seen: Callable[[Trial], None]
) -> Found:
    """Search the choices of one kernel for so long."""
    begin, bench = clock(), job.bench
    if bench.estimated > seconds:
        return default(bench)
    choices_space = space(bench.default.whole, bench.model)
    starts = [Move("the default", bench.default.choices), Move("plain", PLAIN)]
    starts.append(Move("as chosen", bench.chosen("auto")))
    starts += [Move("as found before", job.before)] if job.before is not None else []
    late = begin + SEARCHED * seconds
    result = search(
        starts, lambda c: neighbours(c, choices_space), bench, lambda: clock() >= late, seen
    )
    best, won = _final(result.trials, bench, begin + seconds, clock)
    spent = clock() - begin
    return Found(result.trials, best, won, options.tune, spent, result.is_complete)


def _final(trials: Sequence[Trial], bench: Workbench, end: float, clock: Clock) -> tuple[int, Duel]:
    """The best of the fastest that won against the default, and how it did."""
    best, won, usual = 0, NOTHING, trials[0]
    near = (t for t in fastest(trials, FINALISTS + 1) if t.time < NEAR * usual.time)
    several = [t for t in near if t.number][:FINALISTS]
    for place, trial in enumerate(several):
        left = end - clock()
        if place and left < LEAST_ROUNDS * (usual.time + trial.time):
            break
        share = left / (len(several) - place)
        try:
            pairs = bench.compare(usual.choices, trial.choices, ROUNDS, share)
        except Refused:
            continue
        result = duel(pairs)
        if result.is_won and result.difference / result.first > _gain(won):
            best, won = trial.number, result
    return best, won


def _gain(won: Duel) -> float:
    """The share of the default's time that was saved."""
    return won.difference / won.first if won.first else 0.0


def default(bench: Workbench) -> Found:
    """Nothing but the default, which was not measured."""
    return Found((Trial(0, None, "the default", bench.default.choices),), 0, NOTHING)
