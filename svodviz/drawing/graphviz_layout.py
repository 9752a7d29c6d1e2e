"""Places boxes with Graphviz's `dot`. Also a script: JSON request on stdin, JSON answer on stdout.

As a script it is the worker process for large graphs: Graphviz cannot be interrupted and holds the
interpreter lock, so what may take long runs where it can be stopped. The script imports nothing of
this package, which keeps its start short.

    request   {"boxes": [[width, height, group]], "edges": [[source, target]], "quick": bool}
    answer    {"places": [[x, y]], "routes": [path], "groups": [[label, x, y, w, h]],
               "size": [w, h]}

Boxes are numbered by position; x and y are upper left corners; all in pixels, y downwards.
"""

import json
import signal
import sys
from typing import TYPE_CHECKING

import pygraphviz

if TYPE_CHECKING:
    from svodviz.drawing.layered import Places, Question, Sized

POINTS_PER_INCH = 72
# Fewer rounds of crossing reduction and straight edges: faster, a little less tidy. Measured on two
# cores with Debian 12, at a date not on record: graphs of 100, 500, 2,000 and 10,000 nodes take
# .005, .03, .2 and 4.0 s instead of .01, .06, 1.2 and 65.
QUICK = {"nslimit": "0.1", "nslimit1": "1", "mclimit": "0.05", "splines": "line"}


def place(request: "Question") -> "Places":
    """The answer to one request; the same request gives the same answer in every process."""
    graph = _graph(request)
    graph.layout(prog="dot")
    left, _, right, top = (float(it) for it in graph.graph_attr["bb"].split(","))
    return {
        "places": [
            _corner(graph.get_node(number).attr["pos"], box, top)
            for number, box in enumerate(request["boxes"])
        ],
        "routes": [_path(graph.get_edge(*edge).attr["pos"], top) for edge in request["edges"]],
        "groups": [_group(subgraph, top) for subgraph in graph.subgraphs()],
        "size": [round(right - left), round(top)],
    }


def _graph(request: "Question") -> pygraphviz.AGraph:
    graph = pygraphviz.AGraph(directed=True, strict=True)
    graph.graph_attr.update(rankdir="TB", nodesep="0.25", ranksep="0.38", splines="spline")
    if request.get("quick"):
        graph.graph_attr.update(QUICK)
    # Labels stay empty: measuring text would make the drawing depend on installed fonts.
    graph.node_attr.update(shape="box", fixedsize="true", label="")
    graph.edge_attr.update(arrowsize="0.6")
    members: dict[str, list[int]] = {}
    for number, (width, height, group) in enumerate(request["boxes"]):
        inches = {"width": width / POINTS_PER_INCH, "height": height / POINTS_PER_INCH}
        graph.add_node(number, **inches)
        if group:
            members.setdefault(group, []).append(number)
    graph.add_edges_from([tuple(edge) for edge in request["edges"]])
    for index, (group, numbers) in enumerate(members.items()):
        graph.add_subgraph(
            numbers, name=f"cluster_{index}", margin="24", comment=json.dumps(group), label=""
        )
    return graph


def _corner(position: str, box: "Sized", top: float) -> list[int]:
    x, y = (float(it) for it in position.split(","))
    return [round(x - box[0] / 2), round(top - y - box[1] / 2)]


def _path(position: str, top: float) -> str:
    """Graphviz's "e,x,y p0 p1 p2 …" as an SVG path that ends at the arrow's tip."""
    tip = ""
    points = []
    for word in position.replace("\\\n", "").split():
        if word.startswith("e,"):
            tip = f"L{_point(word[2:], top)}"
        elif not word.startswith("s,"):
            points.append(_point(word, top))
    return f"M{points[0]}C{' '.join(points[1:])}{tip}"


def _point(text: str, top: float) -> str:
    x, y = (float(it) for it in text.split(","))
    return f"{round(x)} {round(top - y)}"


def _group(subgraph: pygraphviz.AGraph, top: float) -> tuple[str, int, int, int, int]:
    left, bottom, right, upper = (float(it) for it in subgraph.graph_attr["bb"].split(","))
    label = json.loads(subgraph.graph_attr["comment"])
    return label, round(left), round(top - upper), round(right - left), round(upper - bottom)


def main() -> None:
    """Answers one request, within the seconds that the first argument allows."""
    if sys.argv[1:] and hasattr(signal, "alarm"):
        signal.alarm(int(sys.argv[1]) + 1)
    json.dump(place(json.load(sys.stdin)), sys.stdout)


if __name__ == "__main__":
    main()
