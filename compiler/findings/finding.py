"""finding: something a program could do better, and all findings of a program.

    1  float64   net.py:4  h = x * np.float64(0.5)                       would save about 41.2 µs
       The program becomes float64 in mul, beside a float64 constant: 61 % of its time follows.
           time in float64   82.4 µs  of  135 µs   the program
       instead: write Python's number, 0.5, or np.float32(0.5): these keep x what it is

What a finding would bring is an estimate by the machine model, like all times before a program is
measured, and so is what it is compared with. Findings stand in the order of what they would bring.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, overload

from compiler.core.printable import ShownAsText, printout
from compiler.core.reason import Number, table
from compiler.core.text import duration

View: TypeAlias = Literal["graph", "text", "timeline", "fusion"]


@dataclass(frozen=True, slots=True)
class Finding(ShownAsText):
    """What a rule found. `subject` is the entity that shows it, in `view` of the page's `stage`.

    `gain` is what changing it would bring, nanoseconds of one run (of one compilation, where it is
    compiled anew); `place` and `text` are the line of the user's program, where it is known.
    """

    rule: str
    words: str
    instead: str
    gain: float
    subject: str
    stage: str
    view: View
    numbers: tuple[Number, ...] = ()
    place: str = ""
    text: str = ""
    line: str = ""
    """The entity of that line among those of the user's source, where it is one of these."""

    @property
    def lines(self) -> Iterator[str]:
        """The finding as text, without a number of its own."""
        where = "  ".join(filter(None, (self.place, self.text.strip())))
        yield f"{self.rule}   {where or self.subject}   would save about {duration(self.gain)}"
        yield f"   {self.words}"
        yield from (f"       {row}" for row in (table(self.numbers) if self.numbers else ()))
        yield f"   instead: {self.instead}"

    def __str__(self) -> str:
        return printout(self.lines)


@dataclass(frozen=True, slots=True)
class Findings(ShownAsText, Sequence[Finding]):
    """All findings of a program, those that would bring most first. `print` explains each."""

    rows: tuple[Finding, ...]
    looked_for: tuple[str, ...] = ()
    """What the rules look for, in words."""

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> Finding: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Finding, ...]: ...
    def __getitem__(self, place: int | slice) -> Finding | tuple[Finding, ...]:
        return self.rows[place]

    def __str__(self) -> str:
        if not self.rows:
            return printout(["no findings. Looked for:", *(f"   {it}" for it in self.looked_for)])
        return printout(self._lines())

    def _lines(self) -> Iterator[str]:
        for number, row in enumerate(self.rows, 1):
            first, *rest = row.lines
            yield f"{number}  {first}"
            yield from rest
