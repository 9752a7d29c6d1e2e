"""The kernel graph as a stage: its calls, its printed form, its picture.

The nodes are those of `kinds.py`:

    %0  = buffer x                    f32[4,4]  CPU
    %1  = range 0 … 3
    %3  = bind %2, %1
    %5  = call step(%4, %0, %3)       f32[4]
    %6  = end %5 [%1]
    %7  = after %4 [%6]
    sink %7
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from compiler.core.node import Node, toposort
from compiler.core.stage import Stage
from compiler.core.trace import Line, Numbering, empty_graph
from compiler.graph.nodes import Buffer, Param, TensorNode
from compiler.graph.words import short
from compiler.schedule.kinds import (
    After,
    Bind,
    Call,
    CustomCall,
    DefineLocal,
    DefineVar,
    End,
    KernelNode,
    KernelSink,
    MSelect,
    MStack,
    Range,
    Synchronize,
    Transfer,
    buffer_of,
)
from compiler.schedule.titles import KernelTitle

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["After", "Call", "KernelGraph", "KernelNode", "KernelSink", "buffer_of", "calls_of"]

KINDS: dict[type[Node], str] = {
    Buffer: "buffer", Param: "buffer", DefineLocal: "buffer", Call: "call", CustomCall: "call",
    Transfer: "transfer", Synchronize: "sync", After: "memory", MStack: "memory",
    MSelect: "memory", Bind: "const", DefineVar: "const", Range: "control", End: "control",
    KernelSink: "control",
}  # fmt: skip
"""The category of each kind of node, which determines its colour in pictures."""


def calls_of(root: KernelSink) -> list[Call]:
    """All kernel calls, producers first; kernel bodies are not entered."""
    return [node for node in toposort([root]) if isinstance(node, Call)]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KernelGraph(Stage):
    """Stage 3: the kernel graph of a program, with printed form and picture.

    `parents` has, for each call and buffer, the tensor-graph entities it comes from.
    """

    root: KernelSink
    numbers: Numbering
    parents: dict[Node, tuple[str, ...]]
    titles: Mapping[Node, KernelTitle] = field(default_factory=dict)
    """The readable names of kernels, by call."""

    @cached_property
    def nodes(self) -> list[Node]:
        """All nodes, sources first."""
        return toposort([self.root])

    def entity(self, node: Node) -> str:
        """The entity string of a node of this stage."""
        return f"kernels:{self.numbers[node]}"

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """One line per node, in dependency order."""
        return tuple(
            Line(self._text(node), self.entity(node), self.parents.get(node, ()))
            for node in self.nodes
        )

    def _text(self, node: Node) -> str:
        """`%3 = call k0(%2, %0, %1)   body …`"""
        if isinstance(node, KernelSink):
            return f"sink {self._operands(node.sources)}"
        text, note = f"%{self.numbers[node]:<3}= {self._words(node)}", _note(node)
        return text.ljust(34) + note if note else text

    def _operands(self, sources: tuple[Node, ...]) -> str:
        return ", ".join(f"%{self.numbers[s]}" for s in sources)

    def _words(self, node: Node) -> str:
        """The printed node without its number and type."""
        match node:
            case Call() | CustomCall():
                word = "call" if isinstance(node, Call) else "custom"
                return f"{word} {node.name}({self._operands(node.sources)}{_fixed(node)})"
            case Transfer():
                return f"transfer {node.name}({self._operands(node.sources)}){_region(node)}"
            case Synchronize():
                return f"synchronize {_argument(node)} [{self._operands(node.sources)}]"
            case After() | End():
                rest = self._operands(node.sources[1:])
                return f"{_word(node)} {self._operands(node.sources[:1])} [{rest}]"
            case MSelect():
                return f"mselect {self._operands(node.sources)} lane {node.lane}"
            case _:
                inside = " ".join(filter(None, (_argument(node), self._operands(node.sources))))
                return f"{_word(node)} {inside}".rstrip()

    def network(self) -> "nx.DiGraph[Any]":
        """Buffers, calls and afters; edges from producer to user."""
        graph: nx.DiGraph[Any] = empty_graph()
        for node in self.nodes:
            graph.add_node(self.entity(node), **self._facts(node))
        for node in self.nodes:
            for position, source in enumerate(node.sources):
                is_order = position > 0 if isinstance(node, After) else _only_orders(node)
                graph.add_edge(
                    self.entity(source),
                    self.entity(node),
                    operand=position,
                    kind="order" if is_order else "data",
                )
        return graph

    def _facts(self, node: Node) -> dict[str, Any]:
        value = _value(node)
        return {
            "op": _word(node),
            "kind": KINDS.get(type(node), "const"),
            "argument": _argument(node),
            "dtype": value.dtype.short if value else "",
            "shape": f"[{','.join(map(str, value.shape))}]" if value else "",
            "name": node.name if isinstance(node, Buffer) else "",
            "parents": self.parents.get(node, ()),
            "group": "",
        }


def _fixed(node: Call | CustomCall) -> str:
    """`; at0 = 3`: the values of variables that are fixed by a call."""
    values = node.fixed if isinstance(node, Call) else ()
    return "; " * bool(values) + ", ".join(f"{name} = {value}" for name, value in values)


def _word(node: Node) -> str:
    """The kind of a node in lower case, as printed."""
    return "sink" if isinstance(node, KernelSink) else type(node).__name__.lower()


def _argument(node: Node) -> str:
    """A node's own arguments as printed."""
    match node:
        case Buffer() | Call() | CustomCall() | Transfer():
            return node.name
        case Synchronize():
            number = "" if node.event is None else f" {node.event}"
            return f"{node.name} {'wait for ' if node.is_wait else ''}{node.kind}{number}"
        case Param():
            return str(node.slot)
        case MSelect():
            return str(node.lane)
        case DefineVar():
            return f"{node.name} {node.low} … {node.high}"
        case Range():
            bounds = (b.name if isinstance(b, DefineVar) else str(b) for b in (node.low, node.high))
            return " … ".join(bounds)
        case _:
            return ""


def _region(node: Transfer) -> str:
    """`  3×4 strides (8,1) from 2 …`: the region that is copied; "" for the whole buffer."""
    if node.region is None:
        return ""
    region, parts = node.region, ["×".join(map(str, node.region.dims)) or "1"]
    sides = (("from", region.source_offset, region.source_strides),
             ("to", region.destination_offset, region.destination_strides))  # fmt: skip
    for word, offset, strides in sides:
        stride = "" if strides is None else f" strides ({','.join(map(str, strides))})"
        parts.append(f"{word} {offset}{stride}" if offset or stride else "")
    if region.destination_step:
        parts.append(f"then {region.destination_step} on")
    return "  " + " ".join(filter(None, parts))


def _only_orders(node: Node) -> bool:
    """True if the edges into a node only order it and carry no value."""
    return isinstance(node, Synchronize)


def _value(node: Node) -> TensorNode | DefineLocal | None:
    """The value whose shape and type are shown for a node: for a call what it stores."""
    if isinstance(node, Call):
        return node.body.sources[0].sources[1] if node.body.sources else None
    return node if isinstance(node, TensorNode | DefineLocal) else None


def _note(node: Node) -> str:
    """The type and shape printed after a node, and the device of a buffer."""
    value = _value(node)
    if value is None:
        return ""
    if isinstance(value, DefineLocal):
        return f"{value.dtype.short}[{value.size}]"
    return short(value) + (f"  {node.device}" if isinstance(node, Buffer) else "")
