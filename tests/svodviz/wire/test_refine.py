"""The kernel graph and the schedule's graph as they are drawn."""

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from compiler.core.dtypes import float32
from compiler.schedule.kinds import Range
from compiler.schedule.strict.builder import KernelGraphBuilder
from svodviz.drawing.graphs import draw
from svodviz.drawing.palette import BY_NAME
from svodviz.wire.refine import pictured
from tests.svodviz import sample_schedule
from tests.svodviz.sample import rich
from tests.svodviz.sample_schedule import kernel_graph


@pytest.fixture(scope="module")
def graph() -> "nx.DiGraph[str]":
    return pictured(kernel_graph())


def kinds_of(graph: Any) -> dict[str, str]:
    return {facts["op"]: facts["kind"] for _, facts in graph.nodes(data=True)}


def test_every_kind_of_the_kernel_graph_is_told_apart(graph: Any) -> None:
    kinds = kinds_of(graph)
    assert kinds == {
        "buffer": "buffer", "definelocal": "local", "definevar": "variable", "range": "loop",
        "bind": "variable", "call": "call", "end": "loop", "after": "order", "mstack": "lanes",
        "mselect": "lanes", "customcall": "callback", "sink": "control", "transfer": "transfer",
        "synchronize": "sync",
    }  # fmt: skip
    assert set(kinds.values()) <= set(BY_NAME)


def test_what_a_loop_repeats_is_a_group_with_its_iterations(graph: Any) -> None:
    groups = {facts["group"] for _, facts in graph.nodes(data=True)} - {""}
    (group,) = groups
    assert group == "loop %5: i = 0 … 2, 3 iterations"
    inside = [facts["op"] for _, facts in graph.nodes(data=True) if facts["group"]]
    assert sorted(inside) == ["bind", "call", "end", "range"]


def test_glyphs_stand_before_the_words(graph: Any) -> None:
    labels = [box.label[0] for box in draw(graph).boxes]
    assert "↻ range 0 … 3, 3 iterations" in labels
    assert "ƒ customcall report" in labels
    assert "buffer x" in labels


def test_edges_of_counters_and_order_are_told_apart(graph: Any) -> None:
    kinds = {
        (graph.nodes[a]["op"], graph.nodes[b]["op"]): kind
        for a, b, kind in graph.edges(data="kind")
    }
    assert kinds["range", "end"] == kinds["range", "bind"] == "loop"
    assert kinds["end", "after"] == "order"
    assert kinds["bind", "call"] == "data"
    assert kinds["transfer", "synchronize"] == "order"


def test_devices_are_in_the_words_of_buffers(graph: Any) -> None:
    boxes = {box.name: box for box in draw(graph).boxes if box.op == "buffer"}
    assert boxes["y"].label[1] == "f32[4] CPU:1"
    assert boxes["x"].label[1] == "f32[4]"
    assert boxes["x"].facts["device"] == "CPU"


def test_all_kinds_of_dependency_are_arrows_of_their_own() -> None:
    drawing = draw(pictured(rich().schedule))
    ends = [it.kind for it in drawing.arrows if (it.source, it.target) == (
        "schedule:2", "schedule:3")]  # fmt: skip
    assert ends == ["data", "output"]
    assert sum(it.kind == "fusion" for it in drawing.arrows) == 4


def test_links_join_items_that_nothing_else_joins() -> None:
    own, drawn = rich().schedule.to_networkx(), pictured(rich().schedule)
    assert not own.has_edge("schedule:5", "schedule:9")
    assert drawn.edges["schedule:5", "schedule:9"]["kind"] == "fusion"
    assert drawn.edges["schedule:1", "schedule:5"]["fusion"] == "scaled is read by combine too"


def test_iterations_of_the_schedule_are_a_group() -> None:
    drawn = pictured(rich().schedule)
    grouped = [entity for entity, group in drawn.nodes(data="group") if group]
    assert grouped == ["schedule:2", "schedule:3", "schedule:4"]


def test_calls_that_take_turns_are_one_group() -> None:
    made = sample_schedule.long(7, 6)
    names = ("even", "odd")
    items = tuple(
        replace(it, operation=replace(it.operation, name=names[n % 2], fixed=()))
        for n, it in enumerate(made.items)
    )
    parents = (*((f"kernels:{n % 2}",) for n in range(6)), ("kernels:9",))
    drawn = pictured(replace(made, items=items, parents=parents))
    groups = [group for _, group in drawn.nodes(data="group")]
    assert groups == ["loop 0 of even, odd: iterations 0, 1, 2"] * 6 + [None]


def test_the_stages_own_graph_is_left_alone() -> None:
    stage = kernel_graph()
    before = nx.to_dict_of_dicts(stage.to_networkx())
    pictured(stage)
    assert nx.to_dict_of_dicts(stage.to_networkx()) == before


def test_bounds_that_are_no_numbers_are_shown_as_they_are() -> None:
    b = KernelGraphBuilder()
    x, rows = b.input("x", np.zeros(4, np.float32)), b.variable("rows", 1, 9)
    counter = Range((), 1, 0, rows)
    old = b.parameter(0, (4,), float32)
    step = b.call("step", b.body((old, old)), x)
    stage = b.graph(b.sink(b.after(x, b.end(step, counter))))
    facts = pictured(stage).nodes[stage.entity(counter)]
    assert facts["argument"] == "0 … rows"
    assert facts["group"] == f"loop %{stage.numbers[counter]}: counter = 0 … rows"
