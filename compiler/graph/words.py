"""How printed programs and pictures name tensor nodes: operation, arguments, type and kind."""

from typing import Any

from compiler.graph.nodes import (
    Assign,
    Bitcast,
    Buffer,
    Cast,
    Const,
    Contiguous,
    Custom,
    Elementwise,
    Flip,
    Index,
    Iota,
    Pad,
    Param,
    Permute,
    Reduce,
    Scatter,
    Shrink,
    Sink,
    Store,
    TensorNode,
    Threefry,
    Variable,
)


def short(node: TensorNode) -> str:
    """`f32[64,784]`: type and shape as printed programs write them."""
    return f"{node.dtype.short}[{','.join(map(str, node.shape))}]"


def describe_argument(node: TensorNode) -> str:
    """The node's arguments as printed programs write them, e.g. `(1,0)` or `axes (2)`."""
    match node:
        case Const():
            return str(node.value)
        case Buffer() | Variable():
            return node.name
        case Param():
            return str(node.slot)
        case Reduce():
            return f"axes {_tuple(node.axes)}"
        case Cast() | Bitcast():
            return node.target.short
        case Permute() | Flip():
            return _tuple(node.order if isinstance(node, Permute) else node.axes)
        case Custom():
            return " ".join((node.name, *(f"{k}={v}" for k, v in node.attributes)))
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
        case Scatter():
            return f"scatter {node.op}"
        case _:
            return type(node).__name__.lower()


def kind(node: TensorNode) -> str:
    """The class of node that pictures colour alike."""
    match node:
        case Buffer() | Param():
            return "buffer"
        case Const() | Iota() | Variable():
            return "const"
        case Elementwise() | Threefry() | Custom():
            return "elementwise"
        case Cast() | Bitcast():
            return "cast"
        case Reduce():
            return "reduce"
        case Contiguous() | Store() | Index() | Scatter() | Assign():
            return "memory"
        case Sink():
            return "control"
        case _:
            return "movement"
