"""The user's program as the first stage: its lines, and which of them made nodes."""

import itertools
import linecache
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.core.origin import Origin, reading_order, short_name
from compiler.core.stage import Stage
from compiler.core.trace import Line, empty_graph

if TYPE_CHECKING:
    import networkx as nx

UNTOUCHED = "nothing of this program is made on this line"
NAME_OF_FILE = "the name of a file"
SHOWN_AROUND = 400
"""Lines of one file that are shown at most: those around the first and last that made nodes."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class UserSource(Stage):
    """The files (or notebook cells) that made a program, line by line."""

    rows: tuple[Line, ...]
    entities: dict[tuple[str, int], str]
    files: tuple[tuple[int, str, int], ...] = ()
    """For each file: its first line among `lines`, its name, and that line's number in the file."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """Every shown line; those that made nodes, or called what did, have an entity."""
        return self.rows

    def entities_of(self, origins: Iterable[Origin]) -> tuple[str, ...]:
        """The entities of the lines of `origins` in order, then of those that led there."""
        numbers = [origin.lines for origin in sorted(origins)]
        depth = max(map(len, numbers), default=0)
        lines = (it[level] for level in range(depth) for it in numbers if level < len(it))
        return tuple(dict.fromkeys(self.entities[line] for line in lines))

    def callers_of(self, origins: Iterable[Origin]) -> tuple[str, ...]:
        """The entities of `entities_of` that are callers, not the line that created something."""
        callers = list(origins)
        lines = {self.entities[it.file, it.line] for it in callers}
        return tuple(it for it in self.entities_of(callers) if it not in lines)

    def network(self) -> "nx.DiGraph[Any]":
        """One node per line that made nodes, chained in order."""
        graph: nx.DiGraph[Any] = empty_graph()
        rows = [row for row in self.rows if row.entity]
        for row in rows:
            graph.add_node(row.entity, op=row.text.strip(), kind="control", argument="", dtype="",
                           shape="", name="", parents=(), group="")  # fmt: skip
        for first, second in itertools.pairwise(rows):
            graph.add_edge(first.entity, second.entity, operand=-1, kind="order")
        return graph


def user_source(origins: Iterable[Origin]) -> UserSource:
    """The listing of every file that `origins` name; of several, each under its name.

    A line that only called what made nodes has an entity too.
    """
    lines: dict[str, set[int]] = {}
    for file, line in {line for origin in origins for line in origin.lines}:
        lines.setdefault(file, set()).add(line)
    rows: list[Line] = []
    begins: list[tuple[int, str, int]] = []
    entities: dict[tuple[str, int], str] = {}
    files = sorted(lines, key=reading_order)
    for file in files:
        if len(files) > 1:
            rows.append(Line(f"# {short_name(file)}", alone=NAME_OF_FILE))
        shown = _shown(file, lines[file])
        begins.append((len(rows) + 1, short_name(file), shown.start))
        for number in shown:
            entity = f"source:{len(rows) + 1}" if number in lines[file] else None
            if entity:
                entities[file, number] = entity
            text = linecache.getline(file, number).rstrip("\n")
            rows.append(Line(text, entity, alone="" if entity else UNTOUCHED))
    title = ", ".join(short_name(file) for file in files)
    return UserSource(title=title, name="source", rows=tuple(rows), entities=entities,
                      files=tuple(begins))  # fmt: skip


def _shown(file: str, lines: set[int]) -> range:
    """The line numbers shown of one file."""
    length = len(linecache.getlines(file))
    first, last = min(lines), max(lines)
    if length <= SHOWN_AROUND:
        return range(1, max(length, last) + 1)
    return range(max(first - 10, 1), min(max(last, first + SHOWN_AROUND), max(length, last)) + 1)
