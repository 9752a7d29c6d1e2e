"""How printed programs and pictures name tensor nodes: operation, arguments, type and kind."""

from typing import Any

from compiler.graph.devices import written
from compiler.graph.nodes import (
    Bitcast,
    Buffer,
    Cast,
    Const,
    Contiguous,
    Device,
    Elementwise,
    Flip,
    Index,
    Iota,
    Pad,
    Param,
    Permute,
    Reduce,
    Shrink,
    Sink,
    Store,
    TensorNode,
    Threefry,
    Unique,
    Variable,
)
from compiler.graph.placement import Copy, Multi


def short(node: TensorNode) -> str:
    """`f32[64,784]`: type and shape as printed programs write them."""
    return f"{node.dtype.short}[{','.join(map(str, node.shape))}]"


def describe_argument(node: TensorNode) -> str:
    """The node's arguments as printed programs write them, e.g. `(1,0)` or `axes (2)`."""
    match node:
        case Const():
            return str(node.value)
        case Buffer() | Variable() | Device():
            return node.name
        case Param():
            return str(node.slot)
        case Copy():
            return f"to {written(node.devices)}"
        case Multi():
            axis = "whole" if node.axis is None else f"axis {node.axis}"
            return f"{axis} on {written(node.devices)}"
        case Reduce():
            return f"axes {_tuple(node.axes)}"
        case Cast() | Bitcast():
            return node.target.short
        case Permute() | Flip():
            return _tuple(node.order if isinstance(node, Permute) else node.axes)
        case Pad():
            return " ".join(f"{before}+{after}" for before, after in node.widths)
        case Shrink():
            return " ".join(f"{begin}:{end}" for begin, end in node.bounds)
        case _:
            return ""


def _tuple(values: tuple[Any, ...]) -> str:
    return f"({','.join(map(str, values))})"


def operation(node: TensorNode) -> str:
    """The word printed for the node: the operation's name, or the kind in lower case."""
    match node:
        case Elementwise():
            return node.op
        case Reduce():
            return f"reduce {node.op}"
        case _:
            return type(node).__name__.lower()


def kind(node: TensorNode) -> str:
    """The class of node that pictures colour alike."""
    match node:
        case Buffer() | Param():
            return "buffer"
        case Const() | Iota() | Variable() | Device() | Unique():
            return "const"
        case Elementwise() | Threefry():
            return "elementwise"
        case Cast() | Bitcast():
            return "cast"
        case Reduce():
            return "reduce"
        case Contiguous() | Store() | Index() | Copy() | Multi():
            return "memory"
        case Sink():
            return "control"
        case _:
            return "movement"
