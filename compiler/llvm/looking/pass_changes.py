"""Changes by LLVM's passes to one kernel: the text before and after each that changed something.

    PassRun   one kernel: its text as LLVM reads it, the changes in order, the remarks
    Change    one pass: the text after it, and how that differs from the one before
    Edit      lines taken out at a place, and those put there instead

Lines are those that LLVM prints, without debug locations: these are in `sources`, as line numbers
of the generated IR. From "machine" on they are instructions of the processor, first with virtual
registers, in the end with physical ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal, TypeAlias

from compiler.core.printable import ShownAsText
from compiler.llvm.level import Level
from compiler.llvm.looking.remarks import Remark

Kind: TypeAlias = Literal["IR", "machine"]


@dataclass(frozen=True, slots=True)
class Printed:
    """Lines of text, each with the source lines that it comes from."""

    rows: tuple[str, ...] = ()
    sources: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """At line `at` of the text before (from 0), lines of the text after replace `removed` lines."""

    at: int
    removed: int
    start: int
    end: int
    """The lines of the text after: from `start` up to `end`, counted from 0."""


@dataclass(frozen=True)
class Change(ShownAsText):
    """One pass that changed the text. `on` is the function or loop that it ran on."""

    name: str
    title: str
    on: str
    kind: Kind
    purpose: str
    before: Printed
    after: Printed

    @property
    def is_first(self) -> bool:
        """True if the text is of another kind than all before: instructions for the machine."""
        return not self.before.rows

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """The differences between the text before and after, from top to bottom."""
        old, new = self.before.rows, self.after.rows
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        middle = old[head : len(old) - tail], new[head : len(new) - tail]
        matcher = SequenceMatcher(None, *middle, autojunk=False)
        return tuple(
            Edit(head + i, i_end - i, head + j, head + j_end)
            for tag, i, i_end, j, j_end in matcher.get_opcodes()
            if tag != "equal"
        )

    @property
    def added(self) -> int:
        """The number of new lines."""
        return sum(edit.end - edit.start for edit in self.edits)

    @property
    def removed(self) -> int:
        """The number of removed lines."""
        return sum(edit.removed for edit in self.edits)

    def diff(self, context: int = 2) -> str:
        """The lines that differ, marked + and -, with so many lines around them."""
        lines: list[str] = []
        shown = 0
        for edit in self.edits:
            first = max(shown, edit.at - context)
            if first > shown:
                lines.append(f"  … {first - shown} lines")
            lines += [f"  {row}" for row in self.before.rows[first : edit.at]]
            past = edit.at + edit.removed
            lines += [f"- {row}" for row in self.before.rows[edit.at : past]]
            lines += [f"+ {row}" for row in self.after.rows[edit.start : edit.end]]
            shown = past
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self.title} ({self.kind}): {self.purpose}\n{self.diff()}"


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """The number of lines that two texts have in common at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


@dataclass(frozen=True)
class PassRun(ShownAsText):
    """LLVM's work on one kernel, pass by pass.

    `unseen` is the number of changes that are not shown: to attributes, declarations or debug
    information alone.
    """

    kernel: str
    number: int
    level: Level
    start: Printed
    changes: tuple[Change, ...]
    remarks: tuple[Remark, ...]
    unseen: int
    seconds: float

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def __getitem__(self, name: str | int) -> Change:
        """A change by position, or the first of the pass of that name."""
        if isinstance(name, int):
            return self.changes[name]
        named = next((change for change in self.changes if change.name == name), None)
        if named is None:
            names = ", ".join(dict.fromkeys(change.name for change in self.changes))
            raise KeyError(f"no pass {name!r} changed {self.kernel}; these did: {names}")
        return named

    def __str__(self) -> str:
        lines = [f"{self.kernel}: {self.level}"]
        width = max((len(it.name) for it in self.changes), default=0)
        for number, it in enumerate(self.changes, start=1):
            counts = f"-{it.removed} +{it.added}"
            lines.append(f"{number:>3}  {it.kind:<8}{it.name:<{width}}  {counts:<10} {it.purpose}")
        lines += [str(remark) for remark in self.remarks]
        return "\n".join(lines)
