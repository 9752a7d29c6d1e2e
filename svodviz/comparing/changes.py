"""Changes from one revision of a program to the next: marks for lines and nodes, and counterparts.

    before  loops:0 line 3   for i0 in 64:            after  loops:0 line 3   for i0 in 32:   ~
    before  graph:4  relu                             after  graph:4  relu
                                                             graph:5  mul                     added

Each stage is compared when it is first asked for, so that a page need not wait for LLVM.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from compiler.core.user_source import NAME_OF_FILE
from svodviz.comparing.compare import kernel_pairs, unit_pairs
from svodviz.comparing.comparison import DIFFERENT, ONLY_A, ONLY_B, UnitPair
from svodviz.comparing.pair_nodes import CHANGED, ONLY
from svodviz.foundation.stages import BY_ID, WITH_GRAPHS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from compiler.program.compilation import Compilation
    from svodviz.data import pages, records
    from svodviz.foundation.stages import Unit

EARLY = tuple(id for id in WITH_GRAPHS if not BY_ID[id].late)
"""The stages that are available as soon as a page opens."""
LATE = tuple(id for id in WITH_GRAPHS if BY_ID[id].late)
MARKS: "Final[Mapping[str, Literal['added', 'changed']]]" = {ONLY: "added", CHANGED: "changed"}
SIGNS: "Final[Mapping[str, Literal['~', '−', '+']]]" = {
    "replace": DIFFERENT, "delete": ONLY_A, "insert": ONLY_B,
}  # fmt: skip


class Changes:
    """Changes from the compilation `before` to the compilation `after`.

    The lines `apart` of the source of `after` are no part of the program: they only asked for it.
    """

    def __init__(
        self, before: "Compilation", after: "Compilation", apart: range = range(0)
    ) -> None:
        self.before, self.after, self.apart = before, after, apart
        self._pairs: dict[str, tuple[UnitPair, ...]] = {}

    @cached_property
    def _kernels(self) -> "list[tuple[str | None, str | None, float]]":
        return kernel_pairs(self.before, self.after)

    def pairs(self, stage: str) -> tuple[UnitPair, ...]:
        """The units of a stage in both; none if either lacks the stage."""
        if stage not in self._pairs:
            kernels = self._kernels if BY_ID[stage].per_kernel else []
            try:
                self._pairs[stage] = unit_pairs(stage, self.before, self.after, kernels)
            except Exception:
                if not BY_ID[stage].on_demand:
                    raise
                self._pairs[stage] = ()  # its page says why it could not be made
        return self._pairs[stage]

    def count(self, stage: str) -> int:
        """The number of changed lines of a stage; of the source, of the lines of both."""
        if stage == "source":
            return sum(len(self._source_lines(pair)) for pair in self.pairs(stage))
        blocks = (block for pair in self.pairs(stage) for block in pair.blocks)
        return sum(max(j - i, n - m) for tag, i, j, m, n in blocks if tag != "equal")

    @property
    def is_none(self) -> bool:
        """True if both are the same in all stages before LLVM."""
        rest = (pair for stage in EARLY if stage != "source" for pair in self.pairs(stage))
        if self.count("source") or not all(pair.is_same for pair in rest):
            return False
        # Lines of a graph count as equal where they only read other nodes.
        return all(pair.pairing.is_same for pair in self.pairs("graph"))

    def rows(
        self, stages: "Iterable[records.Stage]", places: "Mapping[str, int]"
    ) -> "dict[str, pages.StageChanges]":
        """The marks of stages of the page of `after`, whose entities have these places."""
        pairs = {}
        for stage in stages:
            if stage["id"] in WITH_GRAPHS:
                pairs[stage["id"]] = self._stage(stage, places)
        return pairs

    def _stage(self, stage: "records.Stage", places: "Mapping[str, int]") -> "pages.StageChanges":
        id, units = stage["id"], stage["units"]
        rows: list[pages.UnitChanges] = []
        for pair in self.pairs(id):
            if pair.b is None:
                continue
            position = pair.b[0]
            # To find the partners of nodes takes long: not of what is not drawn, nor of kernels
            # whose lines are the same. Lines of graphs may be the same where operands are others.
            is_drawn = position < len(units) and units[position]["scene"] is not None
            is_drawn = is_drawn and not (BY_ID[id].per_kernel and pair.is_same)
            row: pages.UnitChanges = {
                "unit": position,
                "lines": self._source_lines(pair) if id == "source" else _lines(pair),
                "nodes": _nodes(pair, places) if is_drawn else [],
            }
            if row["lines"] or row["nodes"]:
                rows.append(row)
        return {"count": self.count(id), "units": rows}

    def _source_lines(self, pair: UnitPair) -> "list[pages.LineChange]":
        """New lines of the program. Changes of cells, or of their numbers, do not count."""
        lines = pair.b[1].stage.lines if pair.b else ()
        return [
            (line, sign) for line, sign in _lines(pair)
            if sign != ONLY_A and lines[line].alone != NAME_OF_FILE and line not in self.apart
        ]  # fmt: skip

    # -- places --------------------------------------------------------------------------------

    def unit(self, stage: str, position: int) -> int:
        """The new position of the unit of a stage that was at a position; 0 if it is gone."""
        partners = (it.b[0] for it in self.pairs(stage) if it.a and it.b and it.a[0] == position)
        return next(partners, 0)

    def counterpart(self, entity: str) -> str:
        """The entity that an entity has become; "" if it is gone."""
        stage = entity.partition(":")[0]
        if stage not in WITH_GRAPHS:
            return ""
        for pair in self.pairs(stage):
            line = _line_after(pair, entity)
            if not line and stage != "source" and pair.a and entity.startswith(f"{stage}:"):
                line = pair.pairing.to_b.get(entity, "")
            if line:
                return line
        return ""


def _lines(pair: UnitPair) -> "list[pages.LineChange]":
    """Lines of the second text: added, changed, or followed by removed lines."""
    rows: list[pages.LineChange] = []
    for tag, _, _, m, n in pair.blocks:
        if tag == "delete":
            rows.append((max(0, m - 1), SIGNS[tag]))
        elif tag != "equal":
            rows += [(line, SIGNS[tag]) for line in range(m, n)]
    return rows


def _nodes(pair: UnitPair, places: "Mapping[str, int]") -> "list[pages.NodeChange]":
    marks = pair.pairing.marks_b
    return [(places[it], MARKS[mark]) for it, mark in marks.items() if mark and it in places]


def _line_after(pair: UnitPair, entity: str) -> str:
    """The entity of the line that a line of the first text has become."""
    if pair.a is None or pair.b is None:
        return ""
    mine, theirs = _entities(pair.stage, pair.a), _entities(pair.stage, pair.b)
    if entity not in mine:
        return ""
    line = mine.index(entity)
    for tag, i, j, m, n in pair.blocks:
        # A line that was rewritten in its place is still that line.
        if i <= line < j and (tag == "equal" or (tag == "replace" and line - i < n - m)):
            return theirs[m + line - i]
    return ""


def _entities(stage: str, side: "tuple[int, Unit]") -> list[str]:
    """The entity of each line of a part; "" for a line without one."""
    position, unit = side
    return [
        it.entity or (f"{stage}:{position}:line {at + 1}" if it.parents else "")
        for at, it in enumerate(unit.stage.lines)
    ]
