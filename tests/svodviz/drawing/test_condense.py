"""A graph too large to be drawn, as stretches of its layers."""

import networkx as nx

from svodviz.drawing.condense import STRETCHES, condensed
from tests.svodviz.sample import large, sample


def test_every_node_is_in_one_stretch() -> None:
    graph = large(5000).graph.to_networkx()
    made = condensed(graph, "graph:0:stretch ")
    assert len(made) <= STRETCHES
    counts = [int(it["shape"].split(" ")[0].replace(",", "")) for _, it in made.nodes(data=True)]
    assert sum(counts) == 5000
    assert nx.is_directed_acyclic_graph(made)


def test_a_stretch_says_its_layers_and_what_is_in_it() -> None:
    made = condensed(sample().graph.to_networkx(), "s ")
    first = made.nodes["s 0"]
    assert first["op"] == "layer 0"
    assert first["shape"].endswith("nodes: buffer ×4, const ×2")


def test_every_node_leads_to_its_stretch() -> None:
    graph = large(5000).graph.to_networkx()
    made = condensed(graph, "s ")
    found = [key for _, parents in made.nodes(data="parents") for key in parents]
    assert sorted(found) == sorted(graph)


def test_edges_lead_where_those_of_the_nodes_do() -> None:
    graph = nx.DiGraph([(f"n{it}", f"n{it + 1}") for it in range(STRETCHES * 3 - 1)])
    made = condensed(graph, "s ")
    assert nx.is_isomorphic(made, nx.path_graph(STRETCHES, create_using=nx.DiGraph))


def test_wide_layers_and_cycles_are_taken() -> None:
    wide = nx.DiGraph([("root", f"n{it}") for it in range(3000)])
    assert len(condensed(wide, "s ")) == 2
    cycle = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")])
    assert len(condensed(cycle, "s ")) <= 3


def test_stretches_of_the_way_back_are_marked() -> None:
    graph = nx.DiGraph()
    for number in range(10):
        graph.add_node(f"graph:{number}", op="mul", kind="elementwise", back=number >= 4)
    nx.add_path(graph, list(graph))
    made = [facts for _, facts in condensed(graph, "s ").nodes(data=True)]
    assert [bool(it.get("back")) for it in made] == [False] * 4 + [True] * 6
    assert made[0]["shape"] == "1 node: mul ×1"
    assert made[9]["shape"] == "1 node: mul ×1, 1 in the backward pass"
