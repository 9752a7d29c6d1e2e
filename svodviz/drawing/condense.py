"""Condenses a graph too large to draw into stretches of its layers.

    before   100,000 nodes
    after    at most `STRETCHES` nodes "layers 120 … 179", with what is in each, and edges between

A stretch descends from all nodes in it: a line that shows one of them is linked to its stretch. One
that is mostly backward pass is marked as such, and states how many of its nodes are.
"""

from collections import Counter
from typing import TYPE_CHECKING

from compiler.core.text import counted
from svodviz.drawing import layered
from svodviz.drawing.graphs import Facts

if TYPE_CHECKING:
    import networkx as nx

STRETCHES = 240  # nodes of the picture: a choice, no measurement


def condensed(graph: "nx.DiGraph[str]", prefix: str) -> "nx.DiGraph[str]":
    """The stretches of a graph, as nodes whose entities begin with `prefix`."""
    keys = list(graph)
    number = {key: index for index, key in enumerate(keys)}
    edges = [(number[source], number[target]) for source, target in graph.edges]
    layers = layered.layers_of(len(keys), edges)
    stretches = _stretches(layers, max(1, -(-len(keys) // STRETCHES)))
    from compiler.core.trace import empty_graph

    condensed_graph: nx.DiGraph[str] = empty_graph()
    home = [0] * len(keys)
    for position, (first, nodes) in enumerate(stretches):
        for node in nodes:
            home[node] = position
        facts = [graph.nodes[keys[node]] for node in nodes]
        parents = tuple(keys[node] for node in nodes)
        condensed_graph.add_node(f"{prefix}{position}", parents=parents,
                      **_facts(first, nodes, layers, facts))  # fmt: skip
    for source, target in edges:
        ends = home[source], home[target]
        if ends[0] != ends[1]:
            condensed_graph.add_edge(*(f"{prefix}{it}" for it in ends), operand=-1, kind="data")
    return condensed_graph


def _stretches(layers: list[list[int]], most: int) -> list[tuple[int, list[int]]]:
    """Runs of layers with about `most` nodes: the first layer, and all nodes."""
    stretches: list[tuple[int, list[int]]] = []
    for depth, nodes in enumerate(layers):
        if stretches and len(stretches[-1][1]) + len(nodes) <= most:
            stretches[-1][1].extend(nodes)
        else:
            stretches.append((depth, list(nodes)))
    return stretches


def _facts(
    first: int, nodes: list[int], layers: list[list[int]], facts: list[Facts]
) -> dict[str, object]:
    count, last = 0, first
    while count < len(nodes):
        count += len(layers[last])
        last += 1
    kinds = Counter(str(it.get("kind", "")) for it in facts)
    ops = Counter(str(it.get("op", "")) for it in facts).most_common(2)
    words = ", ".join(f"{op} ×{number:,}" for op, number in ops)
    back = sum(bool(it.get("back")) for it in facts)
    words += f", {back:,} in the backward pass" if back else ""
    return {
        "op": f"layers {first:,} … {last - 1:,}" if last - 1 > first else f"layer {first:,}",
        "kind": kinds.most_common(1)[0][0],
        "dtype": "",
        "shape": f"{counted(len(nodes), 'node')}: {words}",
        "name": "", "argument": "", "group": "",
        **({"back": True} if 2 * back > len(nodes) else {}),
    }  # fmt: skip
