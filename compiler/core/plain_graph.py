"""plain_graph: networkx graphs with attributes that files of graphs can hold.

    {"parents": ("graph:1", "graph:2"), "cost": {"flops": 8}, "seconds": None, "start": 0}
    {"origins": "graph:1 graph:2", "cost_flops": 8, "start_ns": 0}

GraphML, GEXF, GML and JSON know text, whole numbers, floats and truth values. A row is its entries
with spaces between them, a table has an attribute for each entry, and what is None is left out.
GEXF has meanings of its own for some names, so these are others.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from compiler.core.printable import printout

if TYPE_CHECKING:
    import networkx as nx

PLAIN = (str, bool, int, float)
NAMES = {"parents": "origins", "start": "start_ns", "finish": "finish_ns"}
"""Other names for what GEXF takes for its own: who is above a node, and when it is there."""


def plain(graph: "nx.DiGraph[Any]") -> "nx.DiGraph[Any]":
    """The graph with plain attributes: str, int, float and bool alone, each text fit for XML.

    Raises `TypeError` for an attribute of another kind.
    """
    copy = graph.__class__()
    copy.add_nodes_from((key, dict(_facts(facts))) for key, facts in graph.nodes(data=True))
    copy.add_edges_from((a, b, dict(_facts(facts))) for a, b, facts in graph.edges(data=True))
    return copy


def _facts(facts: Mapping[str, Any]) -> Iterator[tuple[str, str | bool | int | float]]:
    for name, value in facts.items():
        yield from _entries(NAMES.get(name, name), value)


def _entries(name: str, value: Any) -> Iterator[tuple[str, str | bool | int | float]]:
    """The attributes that a value becomes."""
    if value is None:
        return
    if isinstance(value, str):  # reasons are text with their numbers
        yield name, printout(value.split("\n"))
    elif type(value) in PLAIN:
        yield name, value
    elif isinstance(value, tuple | list) and all(type(it) in PLAIN for it in value):
        yield name, printout([" ".join(map(str, value))])
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _entries(printout([f"{name}_{key}".replace("\n", " ")]), inner)
    else:
        got = f"the attribute {name} is {value!r}, of {type(value).__name__}"
        raise TypeError(f"{got}: expected text, a number, a bool, or a row or table of these")
