"""PyTorch's exported programs, as far as they are read here: graphs and their nodes."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol


class Node(Protocol):
    """A node of a graph: `op` is its kind, `target` its operator."""

    name: str
    op: str
    target: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    meta: dict[str, Any]
    """The result that PyTorch describes (`val`), the modules and lines around the node."""
    graph: Any

    @property
    def all_input_nodes(self) -> Sequence["Node"]:
        """The nodes that it reads."""
        ...

    @property
    def users(self) -> Collection["Node"]:
        """The nodes that read it."""
        ...


class Graph(Protocol):
    """Nodes in order."""

    @property
    def nodes(self) -> Collection[Node]:
        """The nodes."""
        ...


class GraphModule(Protocol):
    """A graph, with the tensors and inner graphs that it reads as attributes."""

    graph: Graph


class Exported(Protocol):
    """An exported program: a graph, what its inputs and outputs are, and its tensors."""

    graph: Graph
    graph_module: GraphModule
    graph_signature: Any
    call_spec: Any
    range_constraints: Mapping[Any, Any]
    state_dict: Mapping[str, Any]
    constants: Mapping[str, Any]


def description_of(node: Node) -> Any:
    """PyTorch's description of the result of a node: a type and a shape, a number, or None."""
    return node.meta.get("val")
