"""Stage 7: the LLVM IR of one kernel as generated, each line linked to its instruction."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from compiler.core.stage import Stage
from compiler.core.trace import Line
from compiler.llvm.flow import control_flow
from compiler.llvm.writer import SourceLine

if TYPE_CHECKING:
    import networkx as nx

_MENTIONED = re.compile(r"[@!#][\w.]+")
_DEFINED = re.compile(r"^(?:(?:define|declare) [^@]*(@[\w.]+)\(|(?:attributes )?([!#]\d+) =)")
_LABEL = re.compile(r"^([\w.]+):")
_TARGET = re.compile(r"label %([\w.]+)")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Source(Stage):
    """LLVM IR text of one kernel. Lines of library functions belong to all their callers."""

    rows: tuple[SourceLine, ...]
    kernel: int

    @property
    def text(self) -> str:
        """The module as LLVM reads it."""
        return "\n".join(row.text for row in self.rows)

    @property
    def symbol(self) -> str:
        """The name of its function."""
        match = re.search(r"define [^@]*@([\w.]+)\(", self.text)
        return match[1] if match else self.name

    @property
    def line_count(self) -> int:
        """The number of its lines."""
        return len(self.rows)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Each line, with the lowered instructions it comes from."""
        return tuple(
            Line(row.text, f"llvm:{self.kernel}:{number}", self._entities(of), _alone(row.text, of))
            for number, (row, of) in enumerate(
                zip(self.rows, instructions_of(self.rows), strict=True), start=1
            )
        )

    def _entities(self, instructions: tuple[int, ...]) -> tuple[str, ...]:
        return tuple(f"lowered:{self.kernel}:{number}" for number in instructions)

    def network(self) -> "nx.DiGraph[Any]":
        """The control-flow graph of the kernel's function: one node per basic block."""
        end = next(i for i, row in enumerate(self.rows) if row.text == "}")
        return control_flow(self.lines[1:end], label_of, targets_of)


def _alone(text: str, instructions: tuple[int, ...]) -> str:
    """The reason why a line belongs to no instruction."""
    return "" if instructions or not text else "for LLVM alone"


def instructions_of(rows: tuple[SourceLine, ...]) -> list[tuple[int, ...]]:
    """For each line the instructions it belongs to.

    A function, an attribute or metadata belongs to all lines that mention it, and these may be in
    functions themselves, so this goes on until nothing new is found.
    """
    instructions = [row.instructions for row in rows]
    mentions: dict[str, list[int]] = {}
    for position, row in enumerate(rows):
        for name in set(_MENTIONED.findall(row.text)):
            mentions.setdefault(name, []).append(position)
    defined = _defined(rows)
    size = -1
    while size != (size := sum(map(len, instructions))):
        for name, lines in defined:
            users = (p for p in mentions[name] if p != lines.start)
            of = tuple(dict.fromkeys(number for p in users for number in instructions[p]))
            instructions[lines.start : lines.stop] = [of] * len(lines)
    return instructions


def _defined(rows: tuple[SourceLine, ...]) -> list[tuple[str, range]]:
    """Functions and metadata that other lines mention, each with its lines."""
    result = []
    for position, row in enumerate(rows):
        match = _DEFINED.match(row.text)
        if match is None or row.instructions:
            continue
        end = position
        while row.text.startswith("define") and rows[end].text != "}":
            end += 1
        result.append((match[1] or match[2], range(position, end + 1)))
    return result


def renamed(rows: tuple[SourceLine, ...], name: str, symbol: str) -> tuple[SourceLine, ...]:
    """The lines of the kernel `name` with `symbol` for its function, and for that of its tasks."""
    called = re.compile(rf"@{re.escape(name)}(?=[(.])")
    return tuple(
        replace(row, text=called.sub(f"@{symbol}", row.text)) if "@" in row.text else row
        for row in rows
    )


def label_of(text: str) -> str | None:
    """The label that a line of LLVM IR defines."""
    match = _LABEL.match(text)
    return match.group(1) if match else None


def targets_of(text: str) -> tuple[list[str], bool]:
    """The labels an instruction jumps to, and whether it ends the block."""
    word = text.strip().split(" ", 1)[0]
    return _TARGET.findall(text), word in ("br", "ret", "switch", "unreachable")
