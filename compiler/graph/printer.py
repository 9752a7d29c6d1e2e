"""The printed form and the picture of a tensor graph.

    %4 = mul %2 %3                     f32[64,10]      digits.py:15
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from compiler.graph.extents import written
from compiler.graph.nodes import Buffer, Const, Sink, TensorNode
from compiler.graph.strides import strides
from compiler.graph.words import describe_argument, kind, operation, short
from compiler.node import toposort
from compiler.stage import Stage
from compiler.trace import Line, Numbering, empty_graph

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Graph(Stage):
    """Stage 1 or 2: a tensor graph. `parents` gives each node's lines as source entities."""

    root: Sink
    numbers: Numbering
    parents: dict[TensorNode, tuple[str, ...]]
    places: dict[TensorNode, str]
    """For each node the `file:line`s it comes from, for the last column of the text."""
    modules: dict[TensorNode, str] = field(default_factory=dict)
    """For each node the user's functions that made it, from the outermost: "network/attention"."""

    @cached_property
    def nodes(self) -> list[TensorNode]:
        """All nodes, sources first."""
        return toposort([self.root])

    def entity(self, node: TensorNode) -> str:
        """The entity string of a node."""
        return f"graph:{self.numbers[node]}"

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """One line per node, sources first."""
        return tuple(
            Line(self._text(node), self.entity(node), self.parents.get(node, ()))
            for node in self.nodes
        )

    def _text(self, node: TensorNode) -> str:
        operands = " ".join(f"%{self.numbers[s]}" for s in node.sources)
        words = (operation(node), operands, describe_argument(node))
        body = " ".join(w for w in words if w)
        if isinstance(node, Sink):
            return body
        left = f"%{self.numbers[node]} = {body}".ljust(38)
        place = self.places.get(node, "")
        return f"{left} {short(node):<20} {place}".rstrip()

    def to_networkx(self) -> "nx.DiGraph[Any]":
        """The graph; edges run from operand to user."""
        graph: nx.DiGraph[Any] = empty_graph()
        for node in self.nodes:
            facts = node_facts(node)
            facts["parents"] = self.parents.get(node, ())
            facts["strides"] = _strides(node)
            facts["name"] = facts["name"] or self.numbers.name(node)
            graph.add_node(self.entity(node), **facts)
        for node in self.nodes:
            for position, source in enumerate(node.sources):
                graph.add_edge(
                    self.entity(source), self.entity(node), operand=position, kind="data"
                )
        return graph


def _strides(node: TensorNode) -> str:
    """The strides in elements as text; "" where a value has none."""
    if isinstance(node, Sink) or not node.shape or node.extents:
        return ""
    found = strides(node)
    return "none: not a regular view" if found is None else ", ".join(map(str, found))


def node_facts(node: TensorNode) -> dict[str, Any]:
    """What a picture of the node needs (the attributes every stage's graph has)."""
    has_value = not isinstance(node, Sink)
    return {
        "op": operation(node),
        "kind": kind(node),
        "argument": describe_argument(node),
        "dtype": node.dtype.short if has_value else "",
        "shape": f"[{written(node.shape, node.extents)}]" if has_value else "",
        "name": node.name if isinstance(node, Buffer) else "",
        "parents": (),
        "group": "",
        "is_constant": isinstance(node, Const),
    }
