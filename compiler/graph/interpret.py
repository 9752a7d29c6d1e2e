"""The NumPy reference interpreter of the tensor graph: what every later stage must agree with.

`interpret` gives the values of the roots and frees every other value after its last use;
`evaluate_all` keeps the value of each node, for a person to look at or a pass to be checked.
Element types are exact: a reference that answers in another type is a broken invariant.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from compiler import random_bits, references
from compiler.errors import InternalError
from compiler.graph.nodes import (
    Bitcast,
    Buffer,
    Cast,
    Const,
    Contiguous,
    Device,
    Elementwise,
    Expand,
    Flip,
    Index,
    Iota,
    Pad,
    Param,
    Permute,
    Reduce,
    Reshape,
    Shrink,
    Sink,
    Store,
    TensorNode,
    Threefry,
    Unique,
    Variable,
)
from compiler.graph.placement import Copy, Multi
from compiler.graph.words import operation, short
from compiler.node import toposort
from compiler.ops import OPS, REDUCTIONS

Array: TypeAlias = "np.ndarray[Any, Any]"
Inputs: TypeAlias = Mapping[Any, Array]
"""Data by Buffer, Param or Variable node."""


def interpret(roots: Sequence[TensorNode], inputs: Inputs) -> list[Array]:
    """The values of `roots`, row-major; `inputs` holds the data of every Buffer, Param and
    Variable.

    Raises `InternalError` where an input is missing or a value has the wrong type or shape.
    """
    order = toposort(roots)
    remaining = _count_uses(order, roots)
    values: dict[TensorNode, Array] = {}
    for node in order:
        values[node] = _evaluate(node, [values[s] for s in node.sources], inputs)
        for source in node.sources:
            remaining[source] -= 1
            if not remaining[source]:
                del values[source]
    return [np.asarray(values[root], order="C") for root in roots]


def evaluate_all(roots: Sequence[TensorNode], inputs: Inputs) -> dict[TensorNode, Array]:
    """The value of every node that `roots` need, sources first; views may share memory."""
    values: dict[TensorNode, Array] = {}
    for node in toposort(roots):
        values[node] = _evaluate(node, [values[s] for s in node.sources], inputs)
    return values


def _count_uses(order: list[TensorNode], roots: Sequence[TensorNode]) -> dict[TensorNode, int]:
    """How often each value is read; being a root counts as a use that never ends."""
    counts = dict.fromkeys(order, 0)
    for source in (s for node in order for s in node.sources):
        counts[source] += 1
    for root in roots:
        counts[root] += 1
    return counts


def _evaluate(node: TensorNode, operands: list[Array], inputs: Inputs) -> Array:
    """One node's value, its type and shape checked."""
    with np.errstate(all="ignore"):
        value = np.asarray(_value(node, operands, inputs))
    if value.dtype != node.dtype.numpy or value.shape != node.shape:
        raise InternalError(
            f"graph interpreter: {operation(node)}",
            "the value has the wrong type or shape",
            got=f"{value.dtype} {value.shape}",
            expected=short(node),
            origin=node.origin,
        )
    return value


def _value(node: TensorNode, operands: list[Array], inputs: Inputs) -> Any:
    match node:
        case Buffer() | Param() | Variable():
            return _input(node, inputs)
        case Const() | Iota():
            return _generated(node)
        case Elementwise(op=op):
            return OPS[op].reference(*operands)
        case Cast(target=target):
            return references.cast(operands[0], target)
        case Bitcast(target=target):
            return operands[0].view(target.numpy)
        case Reduce(op=op, axes=axes):
            return _reduce(node, op, axes, operands[0])
        case Index():
            return _indexed(operands[0], operands[1:])
        case Threefry():
            return random_bits.threefry(operands[0], operands[1])
        case Contiguous():
            return np.asarray(operands[0], order="C")
        case Store():
            return operands[1]
        case Copy():
            return operands[0]
        case Multi(axis=axis):
            return operands[0] if axis is None else np.concatenate(operands, axis)
        case Sink() | Device() | Unique():
            return np.zeros(node.shape, node.dtype.numpy)
        case _:
            return _moved(node, operands[0])


def _indexed(x: Array, positions: list[Array]) -> Array:
    """The elements of `x` at `positions`; 0 where a position is outside."""
    inside = np.ones(positions[0].shape, bool)
    safe = []
    for position, extent in zip(positions, x.shape, strict=True):
        inside &= (position >= 0) & (position < extent)
        safe.append(np.clip(position, 0, max(extent - 1, 0)))
    if not x.size:
        return np.zeros(inside.shape, x.dtype)
    return np.asarray(np.where(inside, x[tuple(safe)], x.dtype.type(0)))


def _moved(node: TensorNode, x: Array) -> Array:
    """The value of a movement node."""
    match node:
        case Reshape(new_shape=shape):
            return x.reshape(shape)
        case Expand(new_shape=shape):
            return np.broadcast_to(x, shape)
        case Permute(order=order):
            return x.transpose(order)
        case Pad(widths=widths):
            return np.pad(x, widths) if x.ndim else x
        case Shrink(bounds=bounds):
            return x[tuple(slice(begin, end) for begin, end in bounds)]
        case Flip(axes=axes):
            return np.flip(x, axes)
    raise InternalError("graph interpreter", f"no rule for node kind {type(node).__name__}")


def _input(node: TensorNode, inputs: Inputs) -> Array:
    """The data given for a Buffer, Param or Variable."""
    if node not in inputs:
        raise InternalError("graph interpreter", f"no data for {node!r}", origin=node.origin)
    if isinstance(node, Variable) and not node.low <= inputs[node] <= node.high:
        raise InternalError(
            "graph interpreter",
            f"the value of variable {node.name} is out of bounds",
            got=str(inputs[node]),
            expected=f"{node.low} … {node.high}",
            origin=node.origin,
        )
    return inputs[node]


def _generated(node: Const | Iota) -> Array:
    """The value of a node that needs no data. Constants keep their bits, NaN payloads too."""
    dtype = node.dtype.numpy
    if isinstance(node, Iota):
        return references.cast(np.arange(node.extent), node.dtype)
    one = np.frombuffer(node.bits.to_bytes(dtype.itemsize, "little"), dtype.newbyteorder("<"))
    return np.broadcast_to(one.astype(dtype).reshape(()), node.shape)


def _reduce(node: Reduce, op: str, axes: tuple[int, ...], x: Array) -> Array:
    """`axes` folded in the node's own type; over an empty axis the identity."""
    row = REDUCTIONS[op]
    if not x.size:
        return np.full(node.shape, row.identity(node.dtype), node.dtype.numpy)
    reference: Callable[..., Array] = row.reference
    return reference(x, axis=axes, dtype=x.dtype, keepdims=True)
