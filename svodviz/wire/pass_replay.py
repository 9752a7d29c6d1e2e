"""Passes as a replay: one table of all nodes that ever occur, and what each step changes.

The `start` of a pass leads from the last graph of the pass before to the first graph of this one.
Consecutive passes share a layout of the union of their graphs, so a node that stays keeps its
place. If the union is much larger than their largest graph, a new layout begins.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, cast

from svodviz.drawing.graphs import Arrow, Box, Drawing, Facts, box_of
from svodviz.drawing.layout import lay_out
from svodviz.foundation.entities import Entities
from svodviz.wire.scene import Budget, edge_rows, layout_row, node_row

if TYPE_CHECKING:
    from compiler.core.trace import Change, Seen
    from svodviz.data import records

# Choices, no measurements.
NODE_BUDGET = 120_000  # nodes that come, go and change over all steps of one replay
ROOM, SPARE = 1.6, 10  # a shared layout holds at most ROOM × the largest graph + SPARE nodes


def _no_change() -> "records.Delta":
    return {}


@dataclass
class ReplayedPass:
    """One pass of a replay: its deltas, and all rows that occur in it."""

    start: "records.Delta" = field(default_factory=_no_change)
    steps: "list[records.Delta]" = field(default_factory=list)
    nodes: dict[int, None] = field(default_factory=dict)
    edges: dict[int, None] = field(default_factory=dict)
    largest: int = 0
    layout: int = 0


class Recorder:
    """Records successive passes over one program."""

    def __init__(self, entities: Entities) -> None:
        self.entities = entities
        self.boxes: list[Box] = []
        self.arrows: dict[Arrow, int] = {}
        self.numbers: dict[str, int] = {}
        self.passes: list[ReplayedPass] = []
        self.budget = NODE_BUDGET
        self.seen: Seen = {}
        """The facts of nodes reported by passes so far: a pass reports only new ones."""
        self._attributes: dict[str, Facts] = {}
        self._operands: dict[str, tuple[str, ...]] = {}
        self._incoming: dict[str, tuple[int, ...]] = {}

    def record(self, changes: "Iterable[Change]") -> int:
        """Records the next pass: all nodes before it, then what each of its rewrites changes.

        Returns the number of rewrites recorded.
        """
        replayed = ReplayedPass()
        for position, change in enumerate(changes):
            if position and self.budget <= 0:
                break
            self.budget -= len(change.nodes) + len(change.removed)
            left = [] if position else [key for key in self._attributes if key not in change.nodes]
            delta = self._advance(change, [*left, *change.removed])
            if position:
                replayed.steps.append(delta)
            else:
                replayed.start = delta
                replayed.nodes.update(dict.fromkeys(self.numbers[key] for key in self._attributes))
                replayed.edges.update(dict.fromkeys(chain.from_iterable(self._incoming.values())))
            replayed.nodes.update(dict.fromkeys(delta.get("n+", ())))
            replayed.edges.update(dict.fromkeys(delta.get("e+", ())))
            replayed.largest = max(replayed.largest, len(self._attributes))
        self.passes.append(replayed)
        return len(replayed.steps)

    def _advance(self, change: "Change", removed: list[str]) -> "records.Delta":
        """The delta from the graph before to this one, in which `removed` are gone."""
        before = self._attributes
        rows = [
            self._take(box_of(key, attributes))
            for key, attributes in change.nodes.items()
            if before.get(key) is not attributes and before.get(key) != attributes
        ]
        # A pass begins with all nodes: most read what they read before.
        moved = {key: operands for key, operands in change.operands.items()
                 if self._operands.get(key) != operands}  # fmt: skip
        had = {it for key in (*moved, *removed) for it in self._incoming.get(key, ())}
        came = [self.numbers[key] for key in change.nodes if key not in self._attributes]
        for key in removed:
            del self._attributes[key]
            self._incoming.pop(key, None)
            self._operands.pop(key, None)
        self._attributes.update(change.nodes)
        self._operands.update(moved)
        incoming = {key: self._rows(key, operands) for key, operands in moved.items()}
        self._incoming.update(incoming)
        has = dict.fromkeys(chain.from_iterable(incoming.values()))
        delta: records.Delta = {
            "n+": came,
            "n-": [self.numbers[key] for key in removed],
            "e+": [index for index in has if index not in had],
            "e-": sorted(index for index in had if index not in has),
            "set": [row for row in rows if row],
        }
        return without_empty(delta)

    def _rows(self, key: str, operands: tuple[str, ...]) -> tuple[int, ...]:
        arrows = (Arrow(source, key, position) for position, source in enumerate(operands))
        return tuple(self.arrows.setdefault(arrow, len(self.arrows)) for arrow in arrows)

    def _take(self, box: Box) -> "tuple[int, records.NodeRow] | None":
        """Puts a box into the table; a known box with changed text gives a new row."""
        number = self.numbers.get(box.entity)
        if number is None:
            self.numbers[box.entity] = len(self.boxes)
            self.boxes.append(box)
            return None
        self.boxes[number] = self.boxes[number].at_least(box.width, box.height)
        return number, node_row(box, self.entities)

    def wire(self, placing: Budget) -> "records.Replay":
        """The replay: tables, layouts (null where `placing` has no room for one) and deltas."""
        layouts = [self._lay_out(index, run, placing) for index, run in enumerate(self._runs())]
        return {
            "nodes": [node_row(box, self.entities) for box in self.boxes],
            "edges": edge_rows(self.arrows, self.numbers),
            "layouts": layouts,
            "passes": [
                {"start": it.start, "steps": it.steps, "layout": it.layout} for it in self.passes
            ],
        }

    def _runs(self) -> list[list[ReplayedPass]]:
        """Consecutive passes whose graphs fit into one layout."""
        runs: list[list[ReplayedPass]] = []
        for replayed in self.passes:
            if runs and _fit([*runs[-1], replayed]):
                runs[-1].append(replayed)
            else:
                runs.append([replayed])
        return runs

    def _lay_out(
        self, index: int, run: list[ReplayedPass], placing: Budget
    ) -> "records.Layout | None":
        for replayed in run:
            replayed.layout = index
        nodes = sorted({node for replayed in run for node in replayed.nodes})
        if not placing.allows(len(nodes)):
            return None
        edges = {edge for replayed in run for edge in replayed.edges}
        boxes = [(node, self.boxes[node]) for node in nodes]
        arrows = [(number, arrow) for arrow, number in self.arrows.items() if number in edges]
        drawing = Drawing(tuple(it for _, it in boxes), tuple(it for _, it in arrows))
        return layout_row(lay_out(drawing), boxes, arrows)


def without_empty(delta: "records.Delta") -> "records.Delta":
    """The delta without its empty lists."""
    return cast("records.Delta", {name: rows for name, rows in delta.items() if rows})


def _fit(run: list[ReplayedPass]) -> bool:
    union = {node for replayed in run for node in replayed.nodes}
    return len(union) <= ROOM * max(replayed.largest for replayed in run) + SPARE
