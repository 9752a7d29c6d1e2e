"""reason: why something was chosen, in words, with the numbers that were looked at.

    Reason("3,120 evaluations where it is read cost 9.36 µs; once, in memory, 5.02 µs",
           Number("computed where it is read", 9360.0, "ns", "once, in memory", 5020.0))

    computed where it is read   9.36 µs   >   5.02 µs   once, in memory

A reason is a `str`: who wants words alone need not know of numbers. Units are `bytes`, `ns`, or
whatever is counted, such as `iterations`; what has none is a plain number.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from compiler.core.text import duration, number

Cells: TypeAlias = tuple[str, str, str, str, str]
"""Name, value, sign, the value compared with, and its name; the last three may be empty."""


@dataclass(frozen=True, slots=True)
class Number:
    """A value that was looked at, and the one it was compared with, where there was one."""

    name: str
    value: float
    unit: str = ""
    against: str = ""
    limit: float | None = None

    @property
    def sign(self) -> str:
        """The relation of the two: `<`, `=`, `>`; empty if there is nothing to compare with."""
        if self.limit is None:
            return ""
        return "<" if self.value < self.limit else ">" if self.value > self.limit else "="

    @property
    def cells(self) -> Cells:
        """The number as a row of a table."""
        limit = "" if self.limit is None else shown(self.limit, self.unit)
        return self.name, shown(self.value, self.unit), self.sign, limit, self.against

    def __str__(self) -> str:
        return " ".join(filter(None, self.cells))


class Reason(str):
    """A sentence with its numbers."""

    numbers: tuple[Number, ...]

    def __new__(cls, words: str = "", *numbers: Number) -> "Reason":
        """The sentence `words`, which `numbers` stand behind."""
        reason = super().__new__(cls, words)
        reason.numbers = numbers
        return reason


def numbers_of(words: str) -> tuple[Number, ...]:
    """The numbers behind a reason; none behind plain words."""
    return words.numbers if isinstance(words, Reason) else ()


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice: about which entity, what was chosen or refused, and why."""

    subject: str
    kind: str
    taken: bool
    reason: str

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers that were looked at and compared."""
        return numbers_of(self.reason)

    def __str__(self) -> str:
        head = f"{'✓' if self.taken else '✗'} {self.kind} {self.subject}: {self.reason}"
        return "\n".join([head, *(f"    {row}" for row in table(self.numbers))])


def table(numbers: Iterable[Number]) -> list[str]:
    """The numbers in aligned columns, a line each."""
    rows = [number.cells for number in numbers]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"{name:<{widths[0]}}  {value:>{widths[1]}} {sign:<{widths[2]}} "
        f"{limit:>{widths[3]}}  {against}".rstrip()
        for name, value, sign, limit, against in rows
    ]


def shown(value: float, unit: str = "") -> str:
    """`35.2 µs`, `65,536 bytes`, `12 iterations`, `0.25`"""
    return duration(value) if unit == "ns" else f"{number(value)} {unit}".rstrip()
