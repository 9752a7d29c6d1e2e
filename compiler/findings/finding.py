"""finding: something a program could do better, and all findings of a program.

    1  copy   about 510 µs less, 65 % of the estimated time
       net.py:4  h = x.T.contiguous().exp().sum(1)
       k0 contiguous takes 510 µs (estimated), 65 % of the program, and computes nothing: it copies.
           time of it   510 µs  <  780 µs  the whole program
       Instead: leave .contiguous() out: what reads the value then reads it where it is.

Times are the machine model's until the program has been measured (`Compilation.measure`), then
those of that run; each says which of the two it is. What a change would bring is always an
estimate. Findings stand in the order of what they would bring.
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
    """One result of a rule. `subject` is the entity that shows it, in `view` of the page's `stage`.

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
    brings: str = ""
    """The gain in words, with its share of the program's time."""

    @property
    def lines(self) -> Iterator[str]:
        """The finding as text, without a number of its own."""
        yield f"{self.rule}   {self.brings or duration(self.gain)}"
        yield f"   {'  '.join(filter(None, (self.place, self.text.strip()))) or self.subject}"
        yield f"   {self.words}"
        yield from (f"       {row}" for row in (table(self.numbers) if self.numbers else ()))
        yield f"   Instead: {self.instead}"

    def __str__(self) -> str:
        return printout(self.lines)


@dataclass(frozen=True, slots=True)
class Findings(ShownAsText, Sequence[Finding]):
    """All findings of a program, those that would bring most first. `print` explains each."""

    rows: tuple[Finding, ...]
    looked_for: tuple[str, ...] = ()
    """The descriptions of the rules that ran."""

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
