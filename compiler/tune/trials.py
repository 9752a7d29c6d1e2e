"""The trials of a search for one kernel, in order, each with its parent.

    Trial(0)                       the default
      Trial(3, change="tile i0 64 → 128")
        Trial(9, change="with stream 0")
      Trial(4, change="without vectorize i0.1", refused="vectorize: …")
"""

from collections.abc import Sequence
from dataclasses import dataclass

from compiler.loops.choices import Choices


class Refused(Exception):
    """Choices that are not legal, or not worth measuring; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Choices, what was changed in those of trial `parent`, and how long the kernel took.

    `seconds` is the least of several runs; None where it was refused, `refused` says why.
    """

    number: int
    parent: int | None
    change: str
    choices: Choices
    seconds: float | None = None
    refused: str = ""

    @property
    def is_measured(self) -> bool:
        """True if it ran."""
        return self.seconds is not None

    @property
    def time(self) -> float:
        """Seconds, for comparisons: infinite if it never ran."""
        return float("inf") if self.seconds is None else self.seconds


def fastest(trials: Sequence[Trial], count: int) -> list[Trial]:
    """The trials that took least, the default not among them if others were as fast."""
    measured = [t for t in trials if t.is_measured]
    return sorted(measured, key=lambda t: (t.time, -t.number))[:count]
