"""Boxes stand apart, arrows end at boxes, and the same graph is placed alike everywhere."""

import itertools
import json
import re
import subprocess
import sys

import networkx as nx
import pytest

from svodviz.drawing import graphviz_layout, layered, layout
from svodviz.drawing.graphs import Drawing, columns, draw, shorten
from svodviz.drawing.layout import DrawingLayout, lay_out
from tests.svodviz.sample import large, sample


def ladder(count: int, group: str = "") -> Drawing:
    graph = nx.DiGraph()
    for number in range(count):
        graph.add_node(f"graph:{number}", op="add", kind="elementwise", shape="[4]", group=group)
    edges = [(it, it + step) for it in range(count) for step in (1, 3) if it + step < count]
    graph.add_edges_from((f"graph:{a}", f"graph:{b}", {"operand": 0}) for a, b in edges)
    return draw(graph)


def assert_apart(drawing: Drawing, made: DrawingLayout) -> None:
    boxes = [(*made.places[it.entity], it.width, it.height) for it in drawing.boxes]
    for (x, y, w, h), (left, top, wide, high) in itertools.combinations(boxes, 2):
        assert x + w <= left or left + wide <= x or y + h <= top or top + high <= y
    assert all(x >= 0 and x + w <= made.width + 1 for x, _, w, _ in boxes)
    assert all(y >= 0 and y + h <= made.height + 1 for _, y, _, h in boxes)


@pytest.mark.parametrize("seconds", [layout.SECONDS_ALLOWED, 0.001])
@pytest.mark.parametrize("count", [1, 2, 40, 900])
def test_boxes_stand_apart(count: int, seconds: float) -> None:
    drawing = ladder(count)
    made = lay_out(drawing, seconds_allowed=seconds)
    assert_apart(drawing, made)
    assert len(made.routes) == len(drawing.arrows)


def test_a_slow_layout_is_stopped() -> None:
    # which of the two follows depends on how busy the machine is
    assert lay_out(ladder(900)).engine in ("Graphviz dot (quick)", layout.OWN)
    assert lay_out(ladder(900), seconds_allowed=0.001).engine == layout.OWN


def test_huge_graphs_do_not_wait() -> None:
    made = lay_out(ladder(layout.HUGE + 1))
    assert made.engine == layout.OWN
    assert made.seconds < 6, "two seconds on a machine that does nothing else"


def test_the_layered_layout_takes_cycles_and_wide_layers() -> None:
    boxes = [[100, 40, ""] for _ in range(300)]
    edges = [[0, it] for it in range(1, 300)] + [[1, 0], [5, 5], [7, 8], [8, 7]]
    made = layered.place({"boxes": boxes, "edges": edges, "quick": True})
    assert len({tuple(it) for it in made["places"]}) == 300
    assert max(x for x, _ in made["places"]) <= layered.WIDEST_LAYER
    assert len(made["routes"]) == len(edges)


def test_the_same_in_every_process() -> None:
    drawing = draw(sample().graph.to_networkx())
    request = {
        "boxes": [[it.width, it.height, it.group] for it in drawing.boxes],
        "edges": [[0, 1], [1, 2], [0, 2]],
        "quick": False,
    }
    script = [sys.executable, "-P", graphviz_layout.__file__]
    done = subprocess.run(
        script, input=json.dumps(request), capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == graphviz_layout.place(request)
    assert done.stderr == ""  # any label would make the wheel speak about fonts


def test_groups_hold_their_boxes() -> None:
    drawing = ladder(6, "]]> <b>")
    made = lay_out(drawing)
    (group,) = made.groups
    assert group.label == "]]> <b>"
    for x, y in made.places.values():
        assert group.x <= x <= group.x + group.width
        assert group.y <= y <= group.y + group.height


def test_nothing_to_place() -> None:
    assert lay_out(Drawing((), ())).places == {}


def test_a_loop_and_two_edges_of_one_pair() -> None:
    graph = nx.DiGraph()
    graph.add_node("a", op="block", text="first\n  second")
    graph.add_edge("a", "a", kind="control")
    assert lay_out(draw(graph)).routes["a", "a"].startswith("M")
    request = {"boxes": [[100, 40], [60, 30]], "edges": [[0, 0], [0, 1]]}
    (left, top), _ = layered.place(request)["places"]
    numbers = [float(it) for it in re.findall(r"-?\d+", layered.place(request)["routes"][0])]
    assert {numbers[0], numbers[-2]} == {left + 100.0} and numbers[2] > left + 100
    assert all(top - 5 <= y <= top + 45 for y in numbers[1::2])


def test_labels_are_cut_by_columns() -> None:
    assert shorten("x" * 40, 10) == "x" * 9 + "…"
    assert columns("日本") == 4
    assert columns(shorten("日本語の名前", 7)) <= 7
    assert shorten("short", 10) == "short"


def test_a_label_says_the_dtype_once() -> None:
    graph = nx.DiGraph()
    graph.add_node("a", op="mul", argument="i64", dtype="i64", name="n")
    graph.add_node("b", op="const", argument="4 i64", dtype="i64", shape="")
    assert [box.label for box in draw(graph).boxes] == [("mul n", "i64"), ("const 4", "i64")]


def test_large_graphs_are_drawn() -> None:
    drawing = draw(large(2000).graph.to_networkx())
    made = lay_out(drawing)
    assert len(made.places) == 2000
