"""The kernel graph: which kernels run on which buffers, and after what.

    node = Buffer                                    from the tensor graph: input or result
         | Call(arguments, body, name)               run kernel `body` on these buffers
         | After(buffer, calls…)                     `buffer`, once the calls have run
         | KernelSink(results…)                      what the program gives back

The body of a call is a tensor graph over `Param`s under `Sink(Store(Param 0, …))`. It is an
argument of the call, not a source: walking the kernel graph never enters a body. Calls of
structure-equal bodies share one body, so it is compiled once.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import networkx as nx

from compiler.graph.nodes import Buffer, Sink, TensorNode, short
from compiler.node import Node, toposort
from compiler.stage import Stage
from compiler.trace import Line, Numbering


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Call(Node):
    """Runs `body`; argument i is bound to `Param` i. Argument 0 is the buffer written."""

    body: Sink
    name: str


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class After(Node):
    """`sources[0]`, valid once the calls `sources[1:]` have run."""

    @property
    def buffer(self) -> Buffer:
        """The buffer underneath."""
        return buffer_of(self)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class KernelSink(Node):
    """The results of the program: Buffers or Afters."""


KernelNode: TypeAlias = Buffer | Call | After | KernelSink


def buffer_of(node: Node) -> Buffer:
    """The buffer that an argument or result names, looked for through `After`s."""
    while isinstance(node, After):
        node = node.sources[0]
    assert isinstance(node, Buffer)
    return node


def calls_of(root: KernelSink) -> list[Call]:
    """All calls, producers first; bodies are not entered."""
    return [node for node in toposort([root]) if isinstance(node, Call)]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KernelGraph(Stage):
    """Stage 3: the kernel graph of a program, with printed form and picture.

    `parents` has, for each call and buffer, the tensor-graph entities it comes from.
    """

    root: KernelSink
    numbers: Numbering
    parents: dict[Node, tuple[str, ...]]

    @property
    def nodes(self) -> list[Node]:
        """All nodes, sources first."""
        return toposort([self.root])

    def entity(self, node: Node) -> str:
        """The entity string of a node of this stage."""
        return f"kernels:{self.numbers[node]}"

    @property
    def lines(self) -> tuple[Line, ...]:
        """One line per node, in dependency order."""
        return tuple(
            Line(self._text(node), self.entity(node), self.parents.get(node, ()))
            for node in self.nodes
        )

    def _text(self, node: Node) -> str:
        """`%3 = call k0(%2, %0, %1)   body …`"""
        operands = ", ".join(f"%{self.numbers[s]}" for s in node.sources)
        head = f"%{self.numbers[node]:<3}= "
        match node:
            case Buffer():
                return f"{head}buffer {node.name}".ljust(34) + f"{short(node)}  {node.device}"
            case Call():
                value = node.body.sources[0].sources[1]
                return f"{head}call {node.name}({operands})".ljust(34) + f"{short(value)}"
            case After():
                rest = ", ".join(f"%{self.numbers[s]}" for s in node.sources[1:])
                return f"{head}after %{self.numbers[node.sources[0]]} [{rest}]"
            case _:
                return f"sink {operands}"

    def to_networkx(self) -> "nx.DiGraph[Any]":
        """Buffers, calls and afters; edges from producer to user."""
        graph: nx.DiGraph[Any] = nx.DiGraph()
        for node in self.nodes:
            graph.add_node(self.entity(node), **self._facts(node))
        for node in self.nodes:
            for position, source in enumerate(node.sources):
                is_order = isinstance(node, After) and position > 0
                graph.add_edge(
                    self.entity(source),
                    self.entity(node),
                    operand=position,
                    kind="order" if is_order else "data",
                )
        return graph

    def _facts(self, node: Node) -> dict[str, Any]:
        value: TensorNode | None = None
        if isinstance(node, Call):
            value = node.body.sources[0].sources[1]
        elif isinstance(node, Buffer):
            value = node
        kinds = {Buffer: "buffer", Call: "call", After: "memory", KernelSink: "control"}
        return {
            "op": "sink" if isinstance(node, KernelSink) else type(node).__name__.lower(),
            "kind": kinds[type(node)],
            "argument": node.name if isinstance(node, Call | Buffer) else "",
            "dtype": value.dtype.short if value else "",
            "shape": f"[{','.join(map(str, value.shape))}]" if value else "",
            "name": node.name if isinstance(node, Buffer) else "",
            "parents": self.parents.get(node, ()),
            "group": "",
        }
