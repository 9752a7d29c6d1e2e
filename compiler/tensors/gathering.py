"""Gather: selection by index tensors, for indexing with arrays and masks, `gather` and `take`.

Indices known when the call is made are checked as in NumPy. Indices that are computed cannot be
checked: negative ones count from the end, and one that is out of range reads 0.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from compiler.core.dtypes import Array, int64
from compiler.core.errors import AxisError, DTypeError, ShapeError
from compiler.device.buffers import data, new_buffer
from compiler.graph.extent import Extent, Number
from compiler.graph.extents import Extents, symbolic
from compiler.graph.kinds.joins import Gather
from compiler.graph.kinds.placement import replicated_like
from compiler.graph.kinds.shaping import counting as counting
from compiler.graph.kinds.shaping import counting_to, value_of
from compiler.graph.nodes import Buffer, Const, Index, Shape, TensorNode, const, elementwise
from compiler.tensors import watching
from compiler.tensors.shapes import written
from compiler.tensors.value import TensorValue, broadcast_node, cast_to, reshaped

Positions: TypeAlias = Sequence[TensorNode | None]
"""For each axis, the indices of the elements to take; None takes the whole axis."""


def positions_of(
    operation: str, item: object, extent: Number, axis: int, like: TensorNode
) -> TensorNode:
    """Indices along an axis as int64, negative ones resolved. Arrays go to the device of `like`.

    Raises `AxisError` if a known index is out of range; on a variable axis, if it may be.
    """
    given = known(item)
    if given is None:
        assert isinstance(item, TensorValue)
        if not extent and item.size:
            raise AxisError(operation, f"axis {axis} is empty: no index is in range",
                            got=f"positions of shape {written(item.shape)}",
                            expected="an axis with elements, or no positions")  # fmt: skip
        return _from_end(_integer(operation, item.node), extent)
    if isinstance(extent, Extent):
        return _known_positions(operation, given, extent, axis, like)
    if given.dtype.kind not in "iu" and (given.size or isinstance(item, np.ndarray)):
        raise _no_positions(operation, str(given.dtype))
    _check_range(operation, given, extent, axis)
    whole = given.astype(np.int64)
    positions = np.asarray(np.where(whole < 0, whole + extent, whole), order="C")
    own = item.node.devices if isinstance(item, TensorValue) else ()
    if own:
        return new_buffer(positions, device=own[0], is_lifted=True)
    return replicated_like(new_buffer(positions, is_lifted=True), like)


def _known_positions(
    operation: str, given: Array, extent: Extent, axis: int, like: TensorNode
) -> TensorNode:
    """Known indices on an axis with a variable extent."""
    wrong = given[(given < -extent.low) | (given >= extent.low)]
    if wrong.size:
        raise AxisError(
            operation, f"index {wrong.flat[0]} may be out of range for axis {axis}",
            got=f"{wrong.flat[0]} of {extent.described} elements",
            expected=f"{-extent.low} to {extent.low - 1}: those are always there",
        )  # fmt: skip
    whole = np.asarray(given.astype(np.int64), order="C")
    made: TensorNode = replicated_like(new_buffer(whole, is_lifted=True), like)
    return _from_end(made, extent) if (given < 0).any() else made


def refuse_out_of_range(operation: str, item: object, extent: int, axis: int) -> None:
    """Raise `AxisError` if an index that needs no computation is out of range."""
    given = known(item)
    if given is not None and given.dtype.kind in "iu":
        _check_range(operation, given, extent, axis)


def _check_range(operation: str, given: Array, extent: int, axis: int) -> None:
    wrong = given[(given < -extent) | (given >= extent)]
    if wrong.size:
        raise out_of_range(operation, wrong.flat[0], axis, extent)


def out_of_range(operation: str, index: object, axis: int, extent: int) -> AxisError:
    """The error for an index that an axis of `extent` elements does not have."""
    return AxisError(
        operation,
        f"index {index} is out of range for axis {axis}",
        got=str(index),
        expected=f"{-extent} to {extent - 1}" if extent else "nothing: the axis is empty",
    )


def known(item: object) -> Array | None:
    """The array behind an index item, if it needs no computation, else None. While a function is
    captured it is None for every tensor, because the capture must work for other data as well."""
    if not isinstance(item, TensorValue):
        return np.asarray(item)
    if watching.current():
        return None
    if isinstance(item.node, Const):
        return np.full(item.shape, item.node.value, item.dtype.numpy)
    return data(item.node) if isinstance(item.node, Buffer) else None


def _no_positions(operation: str, got: str) -> DTypeError:
    what, expected = "positions must be integers", "an integer type"
    return DTypeError(operation, what, got=got, expected=expected)


def _integer(operation: str, node: TensorNode) -> TensorNode:
    if not node.dtype.is_integer:
        raise _no_positions(operation, str(node.dtype))
    return cast_to(node, int64)


def _from_end(node: TensorNode, extent: Number) -> TensorNode:
    """Negative indices resolved: they count from the end."""
    zero: TensorNode = const(0, int64, node.shape)
    if isinstance(extent, Extent):
        width: TensorNode = broadcast_node(value_of(extent), node.shape)
    else:
        width = const(extent, int64, node.shape)
    below = elementwise("lt", node, zero)
    return elementwise("where", below, elementwise("add", node, width), node)


def select(
    operation: str, node: TensorNode, positions: Positions, is_together: bool = True
) -> TensorNode:
    """`node` indexed as by NumPy's advanced indexing; see `selected`."""
    return Index((node, *selected(operation, node.shape, positions, node.extents, is_together)))


def selected(
    operation: str,
    extents: Shape,
    positions: Positions,
    variable: Extents = (),
    is_together: bool = True,
) -> list[TensorNode]:
    """The indices, one per axis, that advanced indexing takes from a tensor of these extents.
    `positions` has the given indices of some axes, and None for all of an axis.

    The given indices broadcast together. If they are neighbours and were written next to each
    other, their axes replace the first of them, else they go in front, as in NumPy.
    """
    axes = [axis for axis, item in enumerate(positions) if item is not None]
    arrays = [item for item in positions if item is not None]
    common = _common(operation, arrays)
    is_together = is_together and axes[-1] - axes[0] + 1 == len(axes)
    place = axes[0] if is_together else 0
    kept = [axis for axis in range(len(extents)) if axis not in axes]
    before, after = kept[:place], kept[place:]
    shape = (*(extents[a] for a in before), *common, *(extents[a] for a in after))
    wide = (*(1,) * len(before), *common, *(1,) * len(after))
    targets = (*range(place), *range(place + len(common), len(shape)))
    target = dict(zip(kept, targets, strict=True))

    def index(axis: int, item: TensorNode | None) -> TensorNode:
        if item is None:
            return counting_to(shape, target[axis], variable[axis] if variable else None)
        return broadcast_node(reshaped(broadcast_node(item, common), wide), shape)

    return [index(axis, item) for axis, item in enumerate(positions)]


def _common(operation: str, arrays: Sequence[TensorNode]) -> Shape:
    """The shape that index arrays broadcast to."""
    try:
        return np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = " and ".join(written(a.shape) for a in arrays)
        raise ShapeError(
            operation, "the index arrays do not broadcast together", got=shapes,
            expected="equal extents, or 1, on each axis counted from the last",
        ) from None  # fmt: skip


def gathered(node: TensorNode, index: object, axis: int) -> TensorNode:
    """Element [i, j, …] of the result is element [i, j, …] of `node`, with `index[i, j, …]` on
    `axis`."""
    extent = symbolic(node.shape, node.extents)[axis]
    positions = positions_of("gather", index, extent, axis, node)
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
