"""Scatter: place a value into a larger shape, by slices or by indices.

Known indices are checked as in NumPy. Computed indices cannot be checked: negative ones count from
the end, and one that is out of range is ignored.
"""

from collections.abc import Sequence

import numpy as np

from compiler.core.dtypes import DType, bool_
from compiler.core.errors import DataError, ShapeError
from compiler.core.node import toposort
from compiler.device.buffers import data, is_shared
from compiler.graph import nodes
from compiler.graph.devices import is_disk
from compiler.graph.extents import symbolic
from compiler.graph.kinds.shaping import places_along
from compiler.graph.nodes import Parts, Shape, TensorNode, const, elementwise
from compiler.tensors.gathering import positions_of
from compiler.tensors.indexing import Part
from compiler.tensors.shapes import written
from compiler.tensors.value import as_node, broadcast_node, operand_of, reshaped

FEW = 256
"""Up to this many nodes, the nodes are searched instead of all live buffers. Not measured."""


def value_for(operation: str, value: object, dtype: DType, shape: Shape) -> TensorNode:
    """`value` converted to `dtype` and broadcast to `shape`.

    As in NumPy, leading axes of extent 1 may be dropped. Raises `ShapeError`.
    """
    node = as_node(operation, operand_of(operation, value), dtype)
    own = node.shape
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
    padded = (1,) * (len(shape) - len(own)) + own
    if len(own) > len(shape) or any(n not in (1, m) for n, m in zip(padded, shape, strict=True)):
        raise ShapeError(
            operation, "the value does not fit the written part", got=written(node.shape),
            expected=f"a shape that broadcasts to {written(shape)}",
        )  # fmt: skip
    return broadcast_node(reshaped(node, own), shape)


def placed(value: TensorNode, parts: Sequence[Part], shape: Shape) -> TensorNode:
    """A tensor of `shape` with `value` in the elements that `parts` select, and 0 elsewhere."""
    turned = tuple(axis for axis, part in enumerate(parts) if part.is_reversed)
    node = nodes.Flip((value,), turned) if turned else value
    if any(part.step > 1 for part in parts):
        node = _spread(node, parts, shape)
    widths = tuple(
        (part.begin, extent - part.begin - length)
        for part, extent, length in zip(parts, shape, node.shape, strict=True)
    )
    return nodes.Pad((node,), widths) if any(map(any, widths)) else node


def _spread(node: TensorNode, parts: Sequence[Part], shape: Shape) -> TensorNode:
    """Zeros inserted after each element: [count] becomes column 0 of [count, step], which is
    flattened.

    The last step may extend past the end; its zeros are cropped.
    """
    columns = reshaped(node, tuple(n for part in parts for n in (part.count, 1)))
    widths = tuple(pair for part in parts for pair in ((0, 0), (0, part.step - 1)))
    spread = reshaped(nodes.Pad((columns,), widths), tuple(part.length for part in parts))
    ends = tuple(
        (0, min(part.length, extent - part.begin))
        for part, extent in zip(parts, shape, strict=True)
    )
    return nodes.Shrink((spread,), ends) if tuple(e for _, e in ends) != spread.shape else spread


def with_parts(node: TensorNode, parts: Sequence[Part], value: TensorNode) -> TensorNode:
    """`node` with `value` in the elements that `parts` select."""
    counts = tuple(part.count for part in parts)
    new = placed(reshaped(value, counts), parts, node.shape)
    mask = placed(const(True, bool_, counts), parts, node.shape)
    return new if mask.shape == counts else elementwise("where", mask, new, node)


def in_parts(value: TensorNode, parts: Sequence[Part], shape: Shape) -> tuple[TensorNode, Parts]:
    """`value` with its elements in memory order, and the parts to write.

    There are no parts if they select all of `shape`.
    """
    new = reshaped(value, tuple(part.count for part in parts))
    turned = tuple(axis for axis, part in enumerate(parts) if part.is_reversed)
    new = nodes.Flip((new,), turned) if turned else new
    where = tuple((part.begin, part.count, part.step) for part in parts)
    return new, () if new.shape == shape else where


def over(node: TensorNode, value: TensorNode, parts: Parts) -> TensorNode:
    """`node` with `value` in `parts`, as a new value."""
    return with_parts(node, [Part(*part) for part in parts], value)


def along(
    operation: str, node: TensorNode, index: object, axis: int, source: object
) -> tuple[TensorNode, tuple[TensorNode, ...]]:
    """The updates and indices of a scatter along `axis`: [i, j] goes to [index[i, j], j].

    `source` is a number or has an element for each of `index`. Raises `ShapeError`.
    """
    extent = symbolic(node.shape, node.extents)[axis]
    positions = positions_of(operation, index, extent, axis, node)
    shape, rank = positions.shape, len(node.shape)
    if len(shape) != rank or any(
        n > m for i, (n, m) in enumerate(zip(shape, node.shape, strict=True)) if i != axis
    ):
        raise ShapeError(
            operation, "the index does not fit the tensor",
            got=f"{written(shape)} for {written(node.shape)}",
            expected=f"the same rank, and no longer on any axis but {axis}",
        )  # fmt: skip
    updates = as_node(operation, operand_of(operation, source), node.dtype)
    if updates.shape:
        updates = _cut(operation, updates, shape)
    return broadcast_node(updates, shape), places_along(positions, axis)


def _cut(operation: str, updates: TensorNode, shape: Shape) -> TensorNode:
    """The part of `updates` that an index of `shape` uses: from 0 on along each axis."""
    given = updates.shape
    if len(given) != len(shape) or any(n < m for n, m in zip(given, shape, strict=True)):
        raise ShapeError(
            operation, "the source does not fit the index", got=written(given),
            expected=f"a number, or the rank and at least the extents of {written(shape)}",
        )  # fmt: skip
    return updates if given == shape else nodes.Shrink((updates,), tuple((0, n) for n in shape))


def check_writable(operation: str, buffer: nodes.Buffer) -> None:
    """Raise `DataError` if the memory of a buffer must not be written."""
    is_file = is_disk(buffer.device)
    if is_file or not data(buffer).flags.writeable:
        raise DataError(
            operation, "the memory of the tensor cannot be written",
            got="a file" if is_file else "a read-only array", expected="memory of its own",
            hint="copy it first: tensor = tensor.contiguous()",
        )  # fmt: skip


def apart(value: TensorNode, buffer: nodes.Buffer) -> TensorNode:
    """`value`; if it reads the memory of `buffer` under another name, it is computed completely
    before `buffer` is written."""
    if _is_large(value) and not is_shared(buffer):
        return value  # nearly always: a whole network need not be searched
    memory = data(buffer)
    others = {
        n for n in toposort([value]) if isinstance(n, nodes.Buffer) and n.unique != buffer.unique
    }
    is_read = any(np.may_share_memory(memory, data(each)) for each in others)
    return nodes.Contiguous((value,)) if is_read else value


def _is_large(value: TensorNode) -> bool:
    """True if the graph of `value` has more than a few nodes."""
    found, stack = {value}, [value]
    while stack and len(found) <= FEW:
        new = set(stack.pop().sources) - found
        found |= new
        stack += new
    return bool(stack)
