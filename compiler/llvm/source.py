"""Stage 7: the LLVM IR of one kernel as generated, each line linked to its instruction."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.llvm.flow import control_flow
from compiler.llvm.writer import SourceLine
from compiler.stage import Stage
from compiler.trace import Line

if TYPE_CHECKING:
    import networkx as nx

_FUNCTION = re.compile(r"(@sv\.[\w.]+)")
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
    def lines(self) -> tuple[Line, ...]:
        """Each line, with the lowered instructions it comes from."""
        callers = self._callers()
        rows, function = [], ""
        for number, row in enumerate(self.rows, start=1):
            if row.text.startswith("define"):
                found = _FUNCTION.search(row.text)
                function = found.group(1) if found else ""
            parents = callers.get(function, ()) if function else self._parents(row)
            rows.append(Line(row.text, f"llvm:{self.kernel}:{number}", parents))
            function = "" if row.text == "}" else function
        return tuple(rows)

    def _parents(self, row: SourceLine) -> tuple[str, ...]:
        return () if row.instruction is None else (f"lowered:{self.kernel}:{row.instruction}",)

    def _callers(self) -> dict[str, tuple[str, ...]]:
        """For each library function the instructions that call it."""
        found: dict[str, dict[str, None]] = {}
        for row in self.rows:
            call = _FUNCTION.search(row.text) if " call " in row.text else None
            if call and row.instruction is not None:
                entity = f"lowered:{self.kernel}:{row.instruction}"
                found.setdefault(call.group(1), {})[entity] = None
        return {name: tuple(entities) for name, entities in found.items()}

    def to_networkx(self) -> "nx.DiGraph[Any]":
        """The control-flow graph of the kernel's function: one node per basic block."""
        end = next(i for i, row in enumerate(self.rows) if row.text == "}")
        return control_flow(self.lines[1:end], label_of, targets_of)


def label_of(text: str) -> str | None:
    """The label that a line of LLVM IR defines."""
    found = _LABEL.match(text)
    return found.group(1) if found else None


def targets_of(text: str) -> tuple[list[str], bool]:
    """The labels an instruction jumps to, and whether it ends the block."""
    word = text.strip().split(" ", 1)[0]
    return _TARGET.findall(text), word in ("br", "ret", "switch", "unreachable")
