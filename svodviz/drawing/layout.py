"""The positions of the boxes and arrows of a drawing: deterministic, and equal for every frame.


Graphviz places small graphs in this process, and large ones, or those with many long edges, in a
worker process with a time limit. `layered` places huge graphs, and those for which Graphviz fails
or runs out of time.
"""

import json
import subprocess
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from compiler.core import isolated
from svodviz.drawing import graphviz_layout, layered
from svodviz.drawing.graphs import Drawing

# Measured 2026-11-23 on one core of an AMD EPYC, busy with other work, Graphviz in full and quick:
# a program's kernels (720 nodes) 1.0 and 0.16 s, its graph (1,866 nodes) quick 4.1 s; random graphs
# of 400 nodes 0.9 and 0.1 s, 800 8.6 and 0.4 s, 5,000 quick 8.2 s; layers of our own 0.1 s for
# 5,000.
LARGE = 800  # nodes above which a layout may take longer than a moment
LONG = 5_000  # layers crossed by all edges above which it may do so too
HUGE = 5_000  # nodes above which Graphviz takes longer than anybody waits
SECONDS_ALLOWED = 3.0  # a choice of patience
OWN = "layers of our own"
KEPT = 512  # small graphs whose places are kept: a choice, no measurement

Boxes: TypeAlias = tuple[layered.Sized, ...]
Edges: TypeAlias = tuple[layered.Edge, ...]
Placed: TypeAlias = tuple[layered.Places, str, float]


@dataclass(frozen=True)
class Group:
    """The frame around the boxes of one group."""

    label: str
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class DrawingLayout:
    """Upper left corners by entity, arrow paths by (source, target), all in pixels."""

    places: dict[str, tuple[int, int]]
    routes: dict[tuple[str, str], str]
    groups: tuple[Group, ...]
    width: int
    height: int
    engine: str
    seconds: float


def lay_out(drawing: Drawing, *, seconds_allowed: float = SECONDS_ALLOWED) -> DrawingLayout:
    """The layout of a drawing; `engine` names what made it, `seconds` how long that took."""
    names = [box.entity for box in drawing.boxes]
    number = {name: index for index, name in enumerate(names)}
    pairs = list(dict.fromkeys((arrow.source, arrow.target) for arrow in drawing.arrows))
    boxes = tuple((box.width, box.height, box.group) for box in drawing.boxes)
    edges = tuple((number[source], number[target]) for source, target in pairs)
    answer, engine, seconds = _placed(boxes, edges, seconds_allowed)
    return DrawingLayout(
        places={name: (x, y) for name, (x, y) in zip(names, answer["places"], strict=True)},
        routes=dict(zip(pairs, answer["routes"], strict=True)),
        groups=tuple(Group(*row) for row in answer["groups"]),
        width=answer["size"][0],
        height=answer["size"][1],
        engine=engine,
        seconds=seconds,
    )


def _placed(boxes: Boxes, edges: Edges, seconds_allowed: float) -> Placed:
    """The answer, what made it, and how long that took."""
    if not boxes:
        return {"places": [], "routes": [], "groups": [], "size": [0, 0]}, "nothing to place", 0.0
    if len(boxes) <= LARGE and layered.span({"boxes": boxes, "edges": edges}) <= LONG:
        return _by_graphviz(boxes, edges)
    started = time.perf_counter()
    answer, engine = _large(boxes, edges, seconds_allowed)
    return answer, engine, time.perf_counter() - started


@lru_cache(KEPT)
def _by_graphviz(boxes: Boxes, edges: Edges) -> Placed:
    """Caches layouts: a graph is drawn again for a still picture, or when a cell runs again."""
    started = time.perf_counter()
    answer = graphviz_layout.place({"boxes": boxes, "edges": edges, "quick": False})
    return answer, "Graphviz dot", time.perf_counter() - started


def _large(boxes: Boxes, edges: Edges, seconds_allowed: float) -> tuple[layered.Places, str]:
    request: layered.Question = {"boxes": boxes, "edges": edges, "quick": True}
    if len(boxes) > HUGE:
        return layered.place(request), OWN
    try:
        return _in_a_worker(request, seconds_allowed), "Graphviz dot (quick)"
    except (subprocess.SubprocessError, OSError, ValueError):
        return layered.place(request), OWN


def _in_a_worker(request: layered.Question, seconds_allowed: float) -> layered.Places:
    done = subprocess.run(
        isolated.script(graphviz_layout.__file__),
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=seconds_allowed,
        check=True,
    )
    answer: layered.Places = json.loads(done.stdout)
    return answer
