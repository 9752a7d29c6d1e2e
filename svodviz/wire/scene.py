"""Drawings on the wire: a table of nodes, a table of edges, and one or more layouts of them.

Nodes and edges are referred to by their position in the tables; fields that are empty are left out.
A stage has a single layout of all nodes; the frames of passes have one for each run of passes whose
frames fit together. What would take long to place has null for its layout: the page places it when
it is looked at.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsFloat, cast

from svodviz.drawing.graphs import Arrow, Box, Drawing
from svodviz.drawing.layout import DrawingLayout, lay_out
from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from svodviz.data import records

# Choices of patience: Graphviz takes 0.2 to 0.9 s for 200 to 400 nodes (see `drawing/layout.py`).
PLACED = 600  # nodes of all graphs together that Graphviz places before the page opens
MOST_PLACED = 400  # nodes of one of them


@dataclass
class Budget:
    """The number of nodes that may still be placed before the page opens; the page places the rest.

    A program with a graph that is too large opens soonest when the page places all of its graphs.
    """

    nodes: int = PLACED

    def allows(self, count: int) -> bool:
        """True if the budget has room for a graph of `count` nodes, which are then deducted."""
        is_allowed = count <= min(self.nodes, MOST_PLACED)
        self.nodes = self.nodes - count if is_allowed else 0
        return is_allowed


def node_row(box: Box, entities: Entities) -> "records.NodeRow":
    """One row of the node table."""
    row: dict[str, object] = {"e": entities.number(box.entity), "op": box.op, "kind": box.kind}
    words = (("name", box.name), ("arg", box.argument), ("dtype", box.dtype),
             ("shape", box.shape), ("group", box.group))  # fmt: skip
    for key, word in words:
        if word:
            row[key] = word
    row.update(label=list(box.label), w=box.width, h=box.height)
    for key, value in box.facts.items():
        row[key] = plain(value)
    return cast("records.NodeRow", row)  # its keys are those of `Box.facts`


def plain(value: object) -> "records.Json":
    """A fact as JSON: numbers to four digits, no infinities, printable text."""
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key): plain(it) for key, it in value.items()}
    if isinstance(value, list | tuple):
        return [plain(it) for it in value]
    return number(value) if isinstance(value, SupportsFloat) else visible(value)


def number(value: SupportsFloat) -> "records.Number":
    """A number to four digits; whole ones stay, infinities and NaN become their names."""
    if isinstance(value, int):
        return value
    it = float(value)
    if it != it:
        return "nan"
    if abs(it) == float("inf"):
        return "inf" if it > 0 else "-inf"
    return rounded(it)


def rounded(value: float) -> float:
    """A finite number to four digits; whole ones stay."""
    return value if isinstance(value, int) else float(f"{value:.4g}")


def layout_row(
    layout: DrawingLayout, boxes: Collection[tuple[int, Box]], arrows: Collection[tuple[int, Arrow]]
) -> "records.Layout":
    """One layout of the given rows of the tables."""
    return {
        "places": [(index, *layout.places[box.entity]) for index, box in boxes],
        "routes": [(index, layout.routes[arrow.source, arrow.target]) for index, arrow in arrows],
        "groups": [(it.label, it.x, it.y, it.width, it.height) for it in layout.groups],
        "size": (layout.width, layout.height),
        "engine": layout.engine,
        "seconds": rounded(layout.seconds),
    }


def edge_rows(arrows: Collection[Arrow], places: dict[str, int]) -> "list[records.EdgeRow]":
    """The edge table; `places` has a node's row by its entity."""
    return [(places[it.source], places[it.target], it.operand, it.kind) for it in arrows]


def scene(drawing: Drawing, entities: Entities, budget: Budget) -> "records.Scene":
    """A stage's graph: both tables and their one layout, where the budget allows it."""
    places = {box.entity: index for index, box in enumerate(drawing.boxes)}
    return {
        "nodes": [node_row(box, entities) for box in drawing.boxes],
        "edges": edge_rows(drawing.arrows, places),
        "layouts": [_whole(drawing) if budget.allows(len(drawing.boxes)) else None],
    }


def _whole(drawing: Drawing) -> "records.Layout":
    return layout_row(
        lay_out(drawing), list(enumerate(drawing.boxes)), list(enumerate(drawing.arrows))
    )
