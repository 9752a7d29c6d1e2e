"""Selection by positions that are data: integer arrays, masks, `gather` and `take`.

Positions known when the call is made are checked like NumPy's. Positions that are themselves
computed cannot be: negative ones count from the end, and one that is out of range reads 0.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from compiler.device.buffers import data, new_buffer
from compiler.dtypes import int64
from compiler.errors import AxisError, DTypeError, ShapeError
from compiler.graph.extents import Extent, Extents
from compiler.graph.joins import Gather
from compiler.graph.nodes import Buffer, Index, Shape, TensorNode, const, elementwise
from compiler.graph.placement import beside
from compiler.graph.shaping import counting as counting
from compiler.tensors.shapes import written
from compiler.tensors.value import TensorValue, broadcast_node, cast_to, reshaped
from compiler.tensors.variables import Variable, prefix, refuse_symbolic

Array = np.ndarray[Any, Any]


def is_data(item: object) -> bool:
    """Whether an index item is an array of positions or a mask."""
    if isinstance(item, TensorValue | np.ndarray):
        return item.ndim > 0 or str(item.dtype) == "bool" or isinstance(item, TensorValue)
    return isinstance(item, list)


def positions_of(
    operation: str, item: object, extent: int, axis: int, like: TensorNode
) -> TensorNode:
    """Positions along an axis as int64 from 0 on; arrays are put where `like` is.

    `AxisError` where known ones are out of range.
    """
    known = _known(item)
    if known is None:
        assert isinstance(item, TensorValue)
        return _from_end(_integer(operation, item.node), extent)
    if known.dtype.kind not in "iu" and known.size:
        raise DTypeError(
            operation,
            "positions must be integers",
            got=str(known.dtype),
            expected="an integer type",
        )
    wrong = known[(known < -extent) | (known >= extent)]
    if wrong.size:
        raise AxisError(
            operation,
            f"index {wrong[0]} is out of range for axis {axis}",
            got=str(wrong[0]),
            expected=f"{-extent} to {extent - 1}" if extent else "nothing: the axis is empty",
        )
    whole = known.astype(np.int64)
    positions = np.ascontiguousarray(np.where(whole < 0, whole + extent, whole))
    own = item.node.devices if isinstance(item, TensorValue) else ()
    return new_buffer(positions, device=own[0]) if own else beside(new_buffer(positions), like)


def _known(item: object) -> Array | None:
    """The array behind an item that needs no computation; None for a tensor that does."""
    if not isinstance(item, TensorValue):
        return np.asarray(item)
    return data(item.node) if isinstance(item.node, Buffer) else None


def _integer(operation: str, node: TensorNode) -> TensorNode:
    if not node.dtype.is_integer:
        raise DTypeError(
            operation, "positions must be integers", got=str(node.dtype), expected="an integer type"
        )
    return cast_to(node, int64)


def _from_end(node: TensorNode, extent: int) -> TensorNode:
    """Negative positions count from the end."""
    zero, width = (const(v, int64, node.shape) for v in (0, extent))
    below = elementwise("lt", node, zero)
    return elementwise("where", below, elementwise("add", node, width), node)


def select(node: TensorNode, items: Sequence[object]) -> TensorNode:
    """`node` indexed like NumPy's advanced indexing: per axis positions, or None for all of it."""
    refuse_symbolic("getitem", node, [axis for axis, item in enumerate(items) if item is not None])
    return Index((node, *selected(node.shape, items, node, node.extents)))


def selected(
    extents: Shape, items: Sequence[object], like: TensorNode, symbolic: Extents = ()
) -> list[TensorNode]:
    """The positions that such an index takes from a tensor of these extents, one per axis.
    Arrays are put where `like` is.

    The arrays broadcast together; their axes stand where the first of them stood if they are
    neighbours, else in front.
    """
    axes = [axis for axis, item in enumerate(items) if item is not None]
    arrays = [positions_of("getitem", items[axis], extents[axis], axis, like) for axis in axes]
    try:
        common = np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = " and ".join(written(a.shape) for a in arrays)
        raise ShapeError(
            "getitem", "the index arrays do not broadcast together", got=shapes,
            expected="equal extents, or 1, on each axis counted from the last",
        ) from None  # fmt: skip
    is_together = axes[-1] - axes[0] + 1 == len(axes)
    place = axes[0] if is_together else 0
    kept = [axis for axis in range(len(extents)) if axis not in axes]
    before = [axis for axis in kept if axis < axes[0]] if is_together else []
    after = [axis for axis in kept if axis not in before]
    shape = (
        *(extents[a] for a in before), *common, *(extents[a] for a in after)
    )  # fmt: skip
    target = {axis: i for i, axis in enumerate(before)}
    target |= {axis: place + len(common) + i for i, axis in enumerate(after)}
    found: list[TensorNode] = []
    for axis in range(len(extents)):
        if axis in target:
            found.append(_every(symbolic[axis] if symbolic else None, shape, target[axis]))
            continue
        array = broadcast_node(arrays[axes.index(axis)], common)
        wide = (*(1 for _ in before), *common, *(1 for _ in after))
        found.append(broadcast_node(reshaped(array, wide), shape))
    return found


def _every(extent: Extent | None, shape: Shape, place: int) -> TensorNode:
    """All positions of an axis, which may be symbolic, along axis `place` of `shape`."""
    made = counting(shape, place)
    if extent is None:
        return made
    return prefix("getitem", made, place, Variable(extent.name, extent.low, extent.high))


def gathered(node: TensorNode, index: object, axis: int) -> TensorNode:
    """Element [i, j, …] is that of `node` at [i, j, …] with `index[i, j, …]` on `axis`."""
    refuse_symbolic("gather", node, [axis])
    positions = positions_of("gather", index, node.shape[axis], axis, node)
    shape = positions.shape
    fits = len(shape) == len(node.shape) and all(
        n <= m or i == axis for i, (n, m) in enumerate(zip(shape, node.shape, strict=True))
    )
    if not fits:
        raise ShapeError(
            "gather", "the index does not fit the tensor",
            got=f"{written(shape)} for {written(node.shape)}",
            expected=f"the same rank, and no longer on any axis but {axis}",
        )  # fmt: skip
    return Gather((node, positions), axis)
