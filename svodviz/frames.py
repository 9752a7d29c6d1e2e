"""The frames of passes as a film: one table of all nodes ever present, and what each step changes.

    film    scene (see `scene`) plus {"passes": [{"start": delta, "steps": [delta], "layout": n}]}
    delta   {"n+": [node], "n-": […], "e+": [edge], "e-": […], "set": [[node, row]]}; empty ones
            are left out

`start` leads from the last frame of the pass before to the first frame of this one. Consecutive
passes share a layout of the union of their frames, so what stays holds its place, as long as that
union is not much larger than their largest frame; then a new layout begins.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

from svodviz.entities import Entities
from svodviz.graphs import Arrow, Box, Drawing, arrow_of, box_of
from svodviz.layout import lay_out
from svodviz.scene import Wire, edge_rows, layout_row, node_row

NODE_BUDGET = 120_000  # nodes looked at over all frames of one film
ROOM, SPARE = 1.6, 10  # a shared layout holds at most ROOM × the largest frame + SPARE nodes


@dataclass
class PassFilm:
    """What the film keeps of one pass: its deltas, and all rows that are ever on screen in it."""

    start: Wire = field(default_factory=dict)
    steps: list[Wire] = field(default_factory=list)
    nodes: dict[int, None] = field(default_factory=dict)
    edges: dict[int, None] = field(default_factory=dict)
    largest: int = 0
    layout: int = 0


class Film:
    """Collects the frames of successive passes over one program."""

    def __init__(self, entities: Entities) -> None:
        self.entities = entities
        self.boxes: list[Box] = []
        self.arrows: dict[Arrow, int] = {}
        self.numbers: dict[str, int] = {}
        self.passes: list[PassFilm] = []
        self.budget = NODE_BUDGET
        self._attributes: dict[str, dict[str, Any]] = {}
        self._edges: dict[int, None] = {}

    def shoot(self, frames: Iterable["nx.DiGraph[str]"]) -> int:
        """Takes in the frames of the next pass; returns how many steps were taken in."""
        shot = PassFilm()
        for position, graph in enumerate(frames):
            if position and self.budget <= 0:
                break
            self.budget -= graph.number_of_nodes()
            delta = self._advance(graph)
            if position:
                shot.steps.append(delta)
            else:
                shot.start = delta
            shot.nodes.update(dict.fromkeys(self.numbers[key] for key in graph))
            shot.edges.update(self._edges)
            shot.largest = max(shot.largest, graph.number_of_nodes())
        self.passes.append(shot)
        return len(shot.steps)

    def _advance(self, graph: "nx.DiGraph[str]") -> Wire:
        """What leads from the frame before to this one."""
        current = {str(key): dict(attributes) for key, attributes in graph.nodes(data=True)}
        rows = [
            self._take(box_of(key, attributes))
            for key, attributes in current.items()
            if self._attributes.get(key) != attributes
        ]
        edges = dict.fromkeys(self._row(arrow_of(*edge)) for edge in graph.edges(data=True))
        delta = {
            "n+": [self.numbers[key] for key in current if key not in self._attributes],
            "n-": [self.numbers[key] for key in self._attributes if key not in current],
            "e+": [index for index in edges if index not in self._edges],
            "e-": [index for index in self._edges if index not in edges],
            "set": [row for row in rows if row],
        }
        self._attributes, self._edges = current, edges
        return {name: numbers for name, numbers in delta.items() if numbers}

    def _take(self, box: Box) -> list[Any] | None:
        """Puts a box into the table; a known one that now reads differently gives a new row."""
        number = self.numbers.get(box.entity)
        if number is None:
            self.numbers[box.entity] = len(self.boxes)
            self.boxes.append(box)
            return None
        self.boxes[number] = self.boxes[number].at_least(box.width, box.height)
        return [number, node_row(box, self.entities)]

    def _row(self, arrow: Arrow) -> int:
        return self.arrows.setdefault(arrow, len(self.arrows))

    def wire(self) -> Wire:
        """The film: tables, layouts and deltas."""
        return {
            "nodes": [node_row(box, self.entities) for box in self.boxes],
            "edges": edge_rows(self.arrows, self.numbers),
            "layouts": [self._lay_out(index, run) for index, run in enumerate(self._runs())],
            "passes": [
                {"start": it.start, "steps": it.steps, "layout": it.layout} for it in self.passes
            ],
        }

    def _runs(self) -> list[list[PassFilm]]:
        """Consecutive passes whose frames fit into one layout."""
        runs: list[list[PassFilm]] = []
        for shot in self.passes:
            if runs and _fit([*runs[-1], shot]):
                runs[-1].append(shot)
            else:
                runs.append([shot])
        return runs

    def _lay_out(self, index: int, run: list[PassFilm]) -> Wire:
        nodes = sorted({node for shot in run for node in shot.nodes})
        edges = {edge for shot in run for edge in shot.edges}
        for shot in run:
            shot.layout = index
        boxes = [(node, self.boxes[node]) for node in nodes]
        arrows = [(number, arrow) for arrow, number in self.arrows.items() if number in edges]
        drawing = Drawing(tuple(it for _, it in boxes), tuple(it for _, it in arrows))
        return layout_row(lay_out(drawing), boxes, arrows)


def _fit(run: list[PassFilm]) -> bool:
    union = {node for shot in run for node in shot.nodes}
    return len(union) <= ROOM * max(shot.largest for shot in run) + SPARE
