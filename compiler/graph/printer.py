"""The printed form and the picture of a tensor graph.

    %4 = mul %2 %3                     f32[64,10]      digits.py:15

The body of a loop is printed below it, indented; it reads operands of the loop by their names.

    %2 = repeat %0 %1 60 iterations, state 0 f64[3]               power.py:9
      iteration0 = 0 … 59:
        %t0 = reshape state0               f64[1,3]             power.py:5
        …
        state0 = %t6
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from compiler.core.node import toposort
from compiler.core.origin import Origin
from compiler.core.stage import Stage
from compiler.core.trace import Line, Numbering, Provenance, empty_graph
from compiler.graph.extents import written
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Buffer, Const, Param, Sink, TensorNode, Variable
from compiler.graph.partners import Partners
from compiler.graph.strides import strides
from compiler.graph.words import describe_argument, kind, operation, short

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Graph(Stage):
    """Stage 1 or 2: a tensor graph. `parents` has each node's source lines as entities."""

    root: Sink
    numbers: Numbering
    parents: dict[TensorNode, tuple[str, ...]]
    places: dict[TensorNode, str]
    """For each node the `file:line`s it comes from, for the last column of the text."""
    modules: dict[TensorNode, str] = field(default_factory=dict)
    """For each node the user's functions that created it, outermost first: "network/attention"."""
    callers: dict[TensorNode, tuple[str, ...]] = field(default_factory=dict)
    """For each node those of `parents` that are only calls of the function that created it."""
    scopes: dict[TensorNode, int] = field(default_factory=dict)
    """For each node of a graph as written its scope, by position."""
    partners: dict[TensorNode, Partners] = field(default_factory=dict)
    """For each node its counterparts in the backward pass, or in the forward pass."""

    @cached_property
    def nodes(self) -> list[TensorNode]:
        """All nodes, sources first."""
        return toposort([self.root])

    def entity(self, node: TensorNode) -> str:
        """The entity string of a node."""
        return f"graph:{self.numbers[node]}"

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """One line per node in topological order; the body of a loop follows it."""
        printed: set[object] = set()
        return tuple(line for node in self.nodes for line in self._lines(node, printed))

    def _lines(self, node: TensorNode, printed: set[object]) -> Iterator[Line]:
        """The line of a node, then the body of a loop that is not in `printed` yet."""
        yield Line(self._text(node), self.entity(node), self.parents.get(node, ()))
        if isinstance(node, Repeat) and node.loop not in printed:
            printed.add(node.loop)
            names = [f"%{self.numbers[s]}" for s in node.sources]
            for inner, text in iteration(node, names.__getitem__):
                row = text if inner is node else self._row(text, inner)
                yield Line(f"  {row}", None, self.parents.get(inner, ()))

    def _text(self, node: TensorNode) -> str:
        text = self.definition(node)
        return text if isinstance(node, Sink) else self._row(text, node)

    def definition(self, node: TensorNode) -> str:
        """`%4 = mul %2 %3`: the printed operation, without its type and source line."""
        operands = " ".join(f"%{self.numbers[s]}" for s in node.sources)
        words = (operation(node), operands, describe_argument(node))
        body = " ".join(w for w in words if w)
        return body if isinstance(node, Sink) else f"%{self.numbers[node]} = {body}"

    def _row(self, left: str, node: TensorNode) -> str:
        return f"{left:<38} {short(node):<20} {self.places.get(node, '')}".rstrip()

    def network(self) -> "nx.DiGraph[Any]":
        """The graph for a picture; edges run from operand to user."""
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


def iteration(
    node: Repeat, outer: Callable[[int], str], name: str = "%t"
) -> list[tuple[TensorNode, str]]:
    """The printed body of a loop: each node of it with its line.

    The lines of the counter and of the next states belong to the loop node. `outer` names the
    operands of the loop that are not states; nodes of the body are called `name` and a number.
    """
    names = _names_in_iteration(node, outer, name)
    results: list[tuple[TensorNode, str]] = [(node, f"{node.counter} = 0 … {node.count - 1}:")]
    for each in toposort([node.body]):
        if isinstance(each, Sink | Param | Variable):
            continue
        operands = " ".join(names[s] for s in each.sources)
        words = " ".join(w for w in (operation(each), operands, describe_argument(each)) if w)
        results.append((each, f"  {names[each]} = {words}"))
        if isinstance(each, Repeat):
            read = [names[s] for s in each.sources]
            below = iteration(each, read.__getitem__, f"{names[each]}.")
            results += [(node if it is each else it, f"    {text}") for it, text in below]
    states = enumerate(node.body.sources)
    return [*results, *((node, f"  state{k} = {names[new]}") for k, new in states)]


def _names_in_iteration(
    node: Repeat, outer: Callable[[int], str], name: str
) -> dict[TensorNode, str]:
    names: dict[TensorNode, str] = {}
    number = itertools.count()
    for each in toposort([node.body]):
        match each:
            case Variable():
                names[each] = each.name
            case Param(slot=slot):
                names[each] = f"state{slot}" if slot < node.states else outer(slot)
            case _:
                names[each] = f"{name}{next(number)}"
    return names


def origins_of(node: TensorNode, provenance: Provenance[Origin]) -> list[Origin]:
    """The user's lines that a node comes from, in order; nodes of a loop body carry their own."""
    return sorted(provenance.of(node) or {it for it in (node.origin,) if it})


def _strides(node: TensorNode) -> str:
    """The strides in elements as text; "" where a value has none."""
    if isinstance(node, Sink) or not node.shape or node.extents:
        return ""
    steps = strides(node)
    return "none: not a regular view" if steps is None else ", ".join(map(str, steps))


def node_facts(node: TensorNode) -> dict[str, Any]:
    """The facts for a picture of the node: attributes that the graphs of all stages have."""
    has_value = not isinstance(node, Sink)
    inner = iteration(node, "operand{}".format) if isinstance(node, Repeat) else []
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
        "text": "\n".join(text for _, text in inner),
    }
