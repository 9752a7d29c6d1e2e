"""The names of tensor nodes in printed programs and pictures: operation, arguments, type, kind."""

from itertools import starmap
from typing import Any

from compiler.graph import devices, nodes
from compiler.graph.bits import literal
from compiler.graph.extents import written
from compiler.graph.kinds.composite import Composite
from compiler.graph.kinds.effects import Assign, Custom, Scatter
from compiler.graph.kinds.placement import Copy, Device, Joint, Multi, Received, Unique
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.kinds.scan import Scan


def short(node: nodes.TensorNode) -> str:
    """`f32[64,784]`, `f32[n,784]`: type and shape as printed programs write them."""
    return f"{node.dtype.short}[{written(node.shape, node.extents)}]"


def describe_argument(node: nodes.TensorNode) -> str:
    """The node's arguments as printed programs write them, e.g. `(1,0)` or `axes (2)`."""
    match node:
        case nodes.Const():
            return literal(node.bits, node.dtype)
        case nodes.Buffer() | Device():
            return node.name
        case nodes.Variable():
            return f"{node.name} {node.low} … {node.high}"
        case nodes.Bind():
            return f"= {node.value}"
        case nodes.Prefix() | nodes.Narrow() if node.length is not None:
            return f"axis {node.axis} length {node.length}"
        case nodes.Prefix() | Scan():
            return f"axis {node.axis}"
        case nodes.Param():
            return str(node.slot)
        case Repeat():
            return f"{node.count} iterations, state {node.index}"
        case Copy():
            return f"to {devices.written(node.devices)}"
        case Received():
            return f"on {node.device}"
        case Joint():
            return node.op or f"axis {node.axis}"
        case Multi():
            return f"{_axis(node.axis)} on {devices.written(node.devices)}"
        case nodes.Reduce():
            return f"axes {_tuple(node.axes)}" + f" unroll {node.unroll}" * bool(node.unroll)
        case Composite():
            return node.describe()
        case nodes.Cast() | nodes.Bitcast():
            return node.target.short
        case nodes.Permute():
            return _tuple(node.order)
        case nodes.Flip():
            return _tuple(node.axes)
        case Custom():
            return " ".join((node.name, *(f"{k}={v}" for k, v in node.attributes)))
        case nodes.Store() | Assign():
            return " ".join(starmap(_slice, node.parts))
        case nodes.Pad():
            return " ".join(f"{before}+{after}" for before, after in node.widths)
        case nodes.Shrink():
            return " ".join(f"{begin}:{end}" for begin, end in node.bounds)
        case _:
            return ""


def _axis(axis: int | None) -> str:
    """The axis along which a value is sharded."""
    return "whole" if axis is None else f"axis {axis}"


def _slice(begin: int, count: int, step: int) -> str:
    """`2:8`, `0:7:2`: the part of an axis that is written, as a slice."""
    end = begin + (count - 1) * step + 1 if count else begin
    return f"{begin}:{end}" + f":{step}" * (step != 1)


def _tuple(values: tuple[Any, ...]) -> str:
    return f"({','.join(map(str, values))})"


def operation(node: nodes.TensorNode) -> str:
    """The printed name of a node: that of its operation, or its kind in lower case."""
    match node:
        case nodes.Elementwise():
            return node.op
        case nodes.Reduce():
            return f"reduce {node.op}"
        case Composite():
            return node.word
        case Scatter():
            return f"scatter {node.op}"
        case Scan():
            return f"scan {node.op}"
        case _:
            return type(node).__name__.lower()


def kind(node: nodes.TensorNode) -> str:
    """The category of a node, which determines its colour in pictures."""
    match node:
        case nodes.Buffer() | nodes.Param():
            return "buffer"
        case nodes.Const() | nodes.Iota() | nodes.Variable() | nodes.Bind() | Device() | Unique():
            return "const"
        case nodes.Elementwise() | nodes.Threefry() | Custom():
            return "elementwise"
        case nodes.Cast() | nodes.Bitcast():
            return "cast"
        case nodes.Reduce() | Scan():
            return "reduce"
        case nodes.Contiguous() | Copy() | Multi() | Joint() | Received():
            return "memory"
        case nodes.Store() | nodes.Index() | Scatter() | Assign():
            return "memory"
        case nodes.Sink() | Repeat():
            return "control"
        case Composite():
            return node.colour
        case _:
            return "movement"
