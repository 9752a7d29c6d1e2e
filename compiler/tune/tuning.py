"""The search for one kernel: its tree, its best trial, and the evidence for it.

    k0: 1.34× faster than the default (41.2 µs vs 55.2 µs), 37 tried in 4.8 s
       0               55.2 µs         the default
       1    of 0        312 µs         plain
       9  ★ of 0       41.2 µs  1.34×  tile i0.1 8 → 6
      10    of 9             –         with stream 0: stream: …
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.core.reason import Decision, Number, Reason
from compiler.core.stage import Stage
from compiler.core.text import duration
from compiler.core.trace import Line, empty_graph
from compiler.loops.choices import text
from compiler.tune.duel import Duel
from compiler.tune.trials import Trial

if TYPE_CHECKING:
    import networkx as nx

SHOWN = 12
"""Trials in the short form, the fastest first. By eye."""


@dataclass(frozen=True, slots=True)
class Found:
    """Trials, the number of the best, and how it did against the default.

    `asked`: the seconds that the program had; `spent`: those that this kernel took; `is_complete`:
    nothing was left to try; `is_remembered`: an earlier compilation found it.
    """

    trials: tuple[Trial, ...]
    best: int
    duel: Duel
    asked: float = 0.0
    spent: float = 0.0
    is_complete: bool = False
    is_remembered: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Tuning(Stage):
    """The tuning of one kernel."""

    kernel: int
    found: Found
    why_not: str = ""
    """The reason why nothing was tried; "" if something was."""

    @property
    def tried(self) -> tuple[Trial, ...]:
        """Every trial, the default first."""
        return self.found.trials

    @property
    def best(self) -> Trial:
        """The trial whose choices are used: the default, or one that is faster beyond noise."""
        return self.found.trials[self.found.best]

    @property
    def is_faster(self) -> bool:
        """True if something better than the default was found."""
        return self.found.best > 0

    @property
    def speedup(self) -> float:
        """The speedup of the best over the default: a ratio of medians."""
        won = self.found.duel
        return won.first / won.second if self.is_faster and won.second else 1.0

    def entity(self, number: int) -> str:
        """The entity string of a trial."""
        return f"tuning:{self.kernel}:{number}"

    @property
    def words(self) -> str:
        """The result in a line."""
        if self.why_not:
            return f"not tuned: {self.why_not}"
        spent = duration(1e9 * self.found.spent)
        won, count = self.found.duel, f"{len(self.tried)} tried in {spent}"
        count += ", remembered" if self.found.is_remembered else ""
        if self.is_faster:
            times = f"({duration(1e9 * won.second)} vs {duration(1e9 * won.first)})"
            return f"{self.speedup:.2f}× faster than the default {times}, {count}"
        took = self.tried[0].seconds
        if took is None:
            return "not tuned: there was no time"
        usual = f" ({duration(1e9 * took)})" if took is not None else ""
        return f"nothing is faster than the default{usual} by more than the noise, {count}"

    def decision(self, entity: str) -> Decision:
        """The outcome as a decision about the loops of the kernel."""
        chosen = f"tuned: {text(self.best.choices) or 'plain'}; " if self.is_faster else "tuned: "
        reason = Reason(chosen + self.words, *self._numbers)
        return Decision(entity, "tune", self.is_faster, reason)

    @property
    def _numbers(self) -> tuple[Number, ...]:
        """The numbers that were measured and compared; none where nothing ran."""
        won, count = self.found.duel, Number("choices tried", len(self.tried))
        if self.why_not or self.tried[0].seconds is None:
            return ()
        if not won.rounds:
            return (Number("the default", self.tried[0].seconds * 1e9, "ns"), count)
        return (
            Number("the fastest tried", won.second * 1e9, "ns", "the default", won.first * 1e9),
            Number("difference", won.difference * 1e9, "ns", "noise", won.needed * 1e9),
            count,
        )

    @property
    def lines(self) -> tuple[Line, ...]:
        """The outcome, then a line for each trial."""
        head = Line(f"{self.name}: {self.words}", self.entity(self.found.best))
        return (head, *(Line(self._row(t), self.entity(t.number)) for t in self.tried))

    def _row(self, trial: Trial) -> str:
        star = "★" if trial.number == self.found.best else " "
        source = "" if trial.parent is None else f"of {trial.parent}"
        time = "–" if trial.seconds is None else duration(1e9 * trial.seconds)
        why = f": {trial.refused}" if trial.refused else ""
        ratio = self._ratio(trial)
        return f"{trial.number:>4}  {star} {source:<8} {time:>8}  {ratio:>6}  {trial.change}{why}"

    def _ratio(self, trial: Trial) -> str:
        usual = self.tried[0].seconds
        return "" if not (usual and trial.seconds) else f"{usual / trial.seconds:.2f}×"

    def network(self) -> "nx.DiGraph[Any]":
        """The search tree: a node for each trial, from the default; an edge says what changed."""
        graph: nx.DiGraph[Any] = empty_graph()
        for trial in self.tried:
            graph.add_node(self.entity(trial.number), **self._facts(trial))
            if trial.parent is not None:
                source, target = self.entity(trial.parent), self.entity(trial.number)
                graph.add_edge(source, target, operand=-1, kind="change", change=trial.change)
        return graph

    def _facts(self, trial: Trial) -> dict[str, Any]:
        is_best = trial.number == self.found.best
        kind = "best" if is_best else "tried" if trial.is_measured else "refused"
        return {
            "op": "trial",
            "kind": kind,
            "argument": trial.change,
            "dtype": "",
            "shape": "",
            "name": str(trial.number),
            "parents": (),
            "group": "",
            "cost": {} if trial.seconds is None else {"ns": trial.seconds * 1e9},
            "choices": text(trial.choices),
            "seconds": trial.seconds,
            "refused": trial.refused,
        }

    def __repr__(self) -> str:
        measured = sorted((t for t in self.tried if t.is_measured), key=lambda t: t.time)
        rows = [self.lines[0].text, *(self._row(t) for t in measured[:SHOWN])]
        refused = len(self.tried) - len(measured)
        more = len(measured) - SHOWN
        rows += [f"… {more} slower ones"] if more > 0 else []
        return "\n".join([*rows, f"{refused} refused"] if refused else rows)
