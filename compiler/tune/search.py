"""search: the loops of one kernel, changed one choice at a time, as long as there is time.

The next change is applied to the fastest trial. Each change that did not help is a penalty of 3 %
for its trial, so the search leaves a local optimum and continues from the next best trial. `moves`
lists the possible changes. Kinds of change that helped come first, those that were refused or did
not help last; within a kind the order is random with a fixed seed.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from compiler.loops.choices import Choices, text
from compiler.tune.trials import Refused, Trial

MISS = 0.03
"""The penalty of a trial for each change that did not help. Chosen, not measured."""
SEED = 0


class Judge(Protocol):
    """Says how long choices take."""

    def measure(self, choices: Choices, best: float) -> float:
        """Seconds; `best` is the least so far. Raises `Refused`."""
        ...


@dataclass(frozen=True, slots=True)
class Move:
    """Changed choices, what was changed, and what kind of change that is."""

    change: str
    choices: Choices
    kind: str = ""


@dataclass(slots=True)
class _Open:
    """A trial with the changes that were not tried yet."""

    trial: Trial
    moves: list[Move] = field(default_factory=list)
    misses: int = 0

    @property
    def promise(self) -> float:
        """Less is better."""
        return self.trial.time * (1 + MISS * self.misses)


@dataclass(frozen=True, slots=True)
class Searched:
    """All trials in order, and whether nothing was left to try."""

    trials: tuple[Trial, ...]
    is_complete: bool


def search(
    starts: Sequence[Move],
    moves: Callable[[Choices], Sequence[Move]],
    judge: Judge,
    is_late: Callable[[], bool],
    seen: Callable[[Trial], None] = lambda trial: None,
) -> Searched:
    """Try the starts, the first of which is the default, then changes of what was tried.

    The default is always measured; if it is refused the search ends. `seen` is called with each
    trial.
    """
    searching = _Search(judge, seen)
    for start in starts:
        if searching.trials and (is_late() or not searching.trials[0].is_measured):
            break
        searching.attempt(start, 0 if searching.trials else None)
    rng, opened = random.Random(SEED), [_Open(t) for t in searching.trials if t.is_measured]
    for each in opened:
        each.moves = shuffled(moves(each.trial.choices), rng)
    while not is_late():
        able = [each for each in opened if each.moves]
        if not able:
            return Searched(tuple(searching.trials), True)
        source = min(able, key=lambda each: each.promise)
        move = searching.next_of(source.moves)
        trial = searching.attempt(move, source.trial.number)
        if trial is None:
            continue
        is_better = trial.time < source.trial.time
        source.misses = 0 if is_better else source.misses + 1
        searching.count(move, is_better)
        if trial.is_measured:
            opened.append(_Open(trial, shuffled(moves(trial.choices), rng)))
    return Searched(tuple(searching.trials), False)


def shuffled(moves: Sequence[Move], rng: random.Random) -> list[Move]:
    """The moves in random order."""
    return rng.sample(list(moves), len(moves))


class _Search:
    """The trials so far."""

    def __init__(self, judge: Judge, seen: Callable[[Trial], None]) -> None:
        self.trials: list[Trial] = []
        self._judge, self._seen = judge, seen
        self._met: set[str] = set()
        self._best = float("inf")
        self._kinds: defaultdict[str, list[int]] = defaultdict(lambda: [1, 2])

    def next_of(self, moves: list[Move]) -> Move:
        """Take the first move of the kind that did best so far."""
        shares = {kind: wins / tries for kind, (wins, tries) in self._kinds.items()}
        # kinds that were not tried count as even: a choice
        place = max(range(len(moves)), key=lambda n: (shares.get(moves[n].kind, 0.5), -n))
        return moves.pop(place)

    def count(self, move: Move, is_better: bool) -> None:
        """Remember whether a kind of change made something faster."""
        kind = self._kinds[move.kind]
        kind[0] += is_better
        kind[1] += 1

    def attempt(self, move: Move, parent: int | None) -> Trial | None:
        """Measure choices; None where they were tried before."""
        words = text(move.choices)
        if words in self._met:
            return None
        self._met.add(words)
        seconds, refused = None, ""
        try:
            seconds = self._judge.measure(move.choices, self._best)
        except Refused as error:
            refused = str(error)
        else:
            self._best = min(self._best, seconds)
        trial = Trial(len(self.trials), parent, move.change, move.choices, seconds, refused)
        self.trials.append(trial)
        self._seen(trial)
        return trial
