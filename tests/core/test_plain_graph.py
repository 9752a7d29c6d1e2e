"""Every stage's graph can be written as a file of graphs and read back."""

import contextlib
import importlib
import io
import json
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest

import compiler
from compiler import Options, Tensor, Variable
from compiler.core.errors import Renamed
from compiler.core.plain_graph import PLAIN, plain
from compiler.core.stage import Stage
from svodviz.exporting.export import EXPORTED, graph_of

NAMED = "a\x00b\x1b[1m\n\u202e\ufffe<&\"' \ud800é"
"""A name that no file of XML can hold."""


def held(thing: Any, depth: int = 2) -> Iterator[Stage]:
    """The stages that a thing is, or that its attributes and rows are."""
    if isinstance(thing, Stage):
        yield thing
    elif isinstance(thing, dict):
        yield from (it for each in thing.values() for it in held(each, depth))
    elif isinstance(thing, tuple | list):
        yield from (it for each in thing for it in held(each, depth))
    elif depth:
        names = [name for name in dir(type(thing)) if not name.startswith("_")]
        values = {name: getattr(type(thing), name) for name in names}
        properties = [name for name, it in values.items()
                      if not callable(it) and not isinstance(it, Renamed)]  # fmt: skip
        yield from (it for name in properties for it in held(getattr(thing, name), depth - 2))


def network(x: Tensor) -> Tensor:
    w = Tensor(np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8), name="w", requires_grad=True)
    loss = ((x @ w).relu() + 1.0).softmax(1).clip(0, 0.5).log().mean()
    return loss.gradient(w)


def programs() -> Iterator[Any]:
    """Compilations: with two devices, gradients, a variable extent, a loop, numbers alone."""
    x = Tensor(np.ones((16, 8), np.float32), name=NAMED)
    yield compiler.compile(network(x), name=NAMED, options=Options(tune=0.02))
    yield compiler.compile((x.shard(("CPU", "CPU:1"), axis=0) * 2.0).sum(0))
    n = Variable("n", 1, 16)
    yield compiler.compile(Tensor(np.ones((16, 8), np.float32), symbolic={0: n}).cumsum(0))
    yield compiler.compile(compiler.repeat(5, lambda i, s: s * 0.5 + i, x))
    yield compiler.compile(Tensor(2.0) + 1.0)


@cache
def stages() -> dict[str, list[Stage]]:
    """All stages of all programs, by kind."""
    found: dict[str, list[Stage]] = {}
    for made in programs():
        for stage in (*held(made), *held(made.measure(seconds=0.001)), *held(made.tuning)):
            found.setdefault(type(stage).__name__, []).append(stage)
    return found


def kinds(base: type) -> Iterator[type]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


for file in pkgutil.walk_packages(compiler.__path__, "compiler."):
    with contextlib.suppress(ImportError):  # what needs a library that is not installed
        importlib.import_module(file.name)
KINDS = sorted({it.__name__ for it in kinds(Stage) if it.__module__.startswith("compiler.")})


def test_every_kind_of_stage_is_there() -> None:
    assert sorted(stages()) == KINDS and len(KINDS) >= 10


def graphs(kind: str) -> list[Any]:
    return [stage.to_networkx() for stage in stages()[kind]]


def drawn() -> list[Any]:
    """The graphs as the explorer draws them."""
    made = next(programs())
    return [graph_of(made, stage) for stage in EXPORTED if stage != "run"]


def facts(graph: Any) -> list[dict[str, Any]]:
    rows = (*graph.nodes(data=True), *((0, row) for _, _, row in graph.edges(data=True)))
    return [row for _, row in rows]


def by_graphml(graph: Any) -> Any:
    return nx.read_graphml(written(nx.write_graphml, graph))


def by_gexf(graph: Any) -> Any:
    made = nx.read_gexf(written(nx.write_gexf, graph))
    for row in made.nodes.values():
        del row["label"]  # which networkx adds
    for row in made.edges.values():
        del row["id"]
    return made


def by_gml(graph: Any) -> Any:
    made = nx.read_gml(written(nx.write_gml, graph))
    for row in (*made.nodes.values(), *made.edges.values()):
        # networkx takes the text "[]", a shape of rank 0, for an empty list
        row |= {name: "[]" for name, value in row.items() if value == []}
    return made


def by_json(graph: Any) -> Any:
    text = json.dumps(nx.node_link_data(graph, edges="edges"), allow_nan=False)
    return nx.node_link_graph(json.loads(text), edges="edges")


def by_adjacency(graph: Any) -> Any:
    return nx.adjacency_graph(json.loads(json.dumps(nx.adjacency_data(graph))))


def written(write: Callable[[Any, Any], None], graph: Any) -> io.BytesIO:
    stream = io.BytesIO()
    write(graph, stream)
    stream.seek(0)
    return stream


def assert_same(made: Any, graph: Any) -> None:
    assert made.is_directed() and set(made) == set(graph) and set(made.edges) == set(graph.edges)
    assert {key: dict(row) for key, row in made.nodes.items()} == dict(graph.nodes)
    assert {ends: dict(row) for ends, row in made.edges.items()} == dict(graph.edges)


FORMS = (by_graphml, by_gexf, by_gml, by_json, by_adjacency)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [*KINDS, "drawn"])
def test_it_is_written_and_read_back(kind: str, form: Callable[[Any], Any]) -> None:
    for graph in drawn() if kind == "drawn" else graphs(kind):
        if len(graph):
            assert_same(form(graph), graph)


@pytest.mark.parametrize("kind", [*KINDS, "drawn"])
def test_attributes_are_plain(kind: str) -> None:
    for graph in drawn() if kind == "drawn" else graphs(kind):
        assert all(type(it) in PLAIN for row in facts(graph) for it in row.values())
        assert all(type(key) is str and key.isprintable() for key in graph)


def test_how_attributes_become_plain() -> None:
    graph: Any = nx.DiGraph()
    cost = {"flops": 8, "times": {"ns": 0.5}}
    graph.add_node("a", parents=("b", "c"), cost=cost, seconds=None, start=3, text="x\ny\x1b")
    graph.add_edge("a", "a", kinds=("data", "anti"), sizes=(1, 2), critical=True, none=())
    made = plain(graph)
    assert made.nodes["a"] == {"origins": "b c", "cost_flops": 8, "cost_times_ns": 0.5,
                               "start_ns": 3, "text": "x\ny\\x1b"}  # fmt: skip
    assert made.edges["a", "a"] == {"kinds": "data anti", "sizes": "1 2", "critical": True,
                                    "none": ""}  # fmt: skip
    assert graph.nodes["a"]["parents"] == ("b", "c"), "the graph that was given stays"


OTHERS = [[[1]], {1}, object(), np.float32(1), (("a",),), b"", {"a": [None]}]


@pytest.mark.parametrize("value", OTHERS)
def test_other_attributes_are_refused(value: Any) -> None:
    graph: Any = nx.DiGraph()
    graph.add_node("a", odd=value)
    with pytest.raises(TypeError, match=r"the attribute odd(_a)? is .*: expected text, a number"):
        plain(graph)
