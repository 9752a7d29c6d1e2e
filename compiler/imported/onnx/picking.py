"""Gather, scatter, selection and top-k."""

import math
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Array
from compiler.imported.axes import along
from compiler.imported.onnx.call import Call, fixed, operator
from compiler.tensor import Tensor
from compiler.tensors.variables import Variable

_PAIRS = ("sum", "add"), ("prod", "mul"), ("amax", "max"), ("amin", "min")
_UPDATES = {onnx: ours for ours, onnx in _PAIRS}
"""Our names of update functions, by ONNX's."""


def _positions(index: Tensor, extent: "int | Variable") -> Tensor:
    """Indices with negative ones resolved."""
    index = index.cast(dtypes.int64)
    return index.lt(0).where(index.add(extent), index)


@operator("Gather")
def gather(call: Call, x: Tensor, index: Tensor) -> Tensor:
    """The slices at indices along an axis."""
    axis = call.axis(call.get("axis", 0), x.ndim)
    return x.take(_positions(index, x.symbolic_shape[axis]), axis)


@operator("GatherElements")
def gather_elements(call: Call, x: Tensor, index: Tensor) -> Tensor:
    """An element for each index."""
    axis = call.axis(call.get("axis", 0), x.ndim)
    return x.gather(axis, _positions(index, x.symbolic_shape[axis]))


@operator("GatherND")
def gather_nd(call: Call, x: Tensor, index: Tensor) -> Tensor:
    """Slices at index tuples, after batch axes."""
    batch, depth = call.get("batch_dims", 0), index.shape[-1]
    lead: Any = index.symbolic_shape[:-1]
    places: list[Any] = []
    for axis in range(batch):
        shape = [1] * len(lead)
        shape[axis] = lead[axis]
        places.append(Tensor(np.arange(lead[axis]).reshape(shape)).broadcast_to(*lead))
    for axis in range(depth):
        places.append(_positions(index[..., axis], x.symbolic_shape[batch + axis]))
    slices: Tensor = x[tuple(places)]
    return slices


@operator("ScatterElements", "Scatter")
def scatter_elements(call: Call, x: Tensor, index: Tensor, updates: Tensor) -> Tensor:
    """Elements written, or combined with the old ones, at indices along an axis."""
    axis = call.axis(call.get("axis", 0), x.ndim)
    how, where = call.get("reduction", "none"), _positions(index, x.symbolic_shape[axis])
    if how == "none":
        return x.scatter(axis, where, updates)
    return x.scatter_reduce(axis, where, updates, _UPDATES[how])


def _extents(x: Tensor) -> Any:
    return x.symbolic_shape


@operator("ScatterND")
def scatter_nd(call: Call, x: Tensor, index: Tensor, updates: Tensor) -> Tensor:
    """Slices written at index tuples."""
    depth = index.shape[-1]
    extents: Any = x.symbolic_shape
    lead, rest = extents[:depth], extents[depth:]
    flat = index[..., 0].mul(0).cast(dtypes.int64)
    for axis in range(depth):
        flat = flat.mul(lead[axis]).add(_positions(index[..., axis], lead[axis]))
    size, count, many = (math.prod(each) for each in (rest, lead, _extents(flat)))
    where = flat.reshape(many, 1).broadcast_to(many, size)
    rows, parts = x.reshape(count, size), updates.reshape(many, size)
    how = call.get("reduction", "none")
    if how == "none":
        written = rows.scatter(0, where, parts)
    else:
        written = rows.scatter_reduce(0, where, parts, _UPDATES[how])
    return written.reshape(*extents)


@operator("OneHot")
def one_hot(call: Call, index: Tensor, _depth: Tensor, values: Tensor) -> Tensor:
    """One value at each position, another elsewhere."""
    depth = int(call.known(1, "the depth").item())
    axis = call.axis(call.get("axis", -1), index.ndim + 1)
    places = _positions(index, depth).unsqueeze(axis)
    shape = [1] * places.ndim
    shape[axis] = depth
    is_hot = places.eq(np.arange(depth).reshape(shape))
    return is_hot.where(values[1], values[0])


@operator("TopK")
def top_k(call: Call, x: Tensor, _k: Tensor | None = None) -> tuple[Tensor, ...]:
    """The greatest or least elements along an axis, and where they are."""
    (k,) = call.numbers(1, "k") if call.has(1) else [call["k"]]
    axis = call.axis(call.get("axis", -1), x.ndim)
    return x.topk(k, axis, bool(call.get("largest", 1)), bool(call.get("sorted", 1)))


@operator("NonZero")
def non_zero(call: Call, _x: Tensor) -> Tensor:
    """The indices of the elements that are not 0, which have to be known."""
    return Tensor(np.array(np.nonzero(call.known(0, "where elements are not 0")), np.int64))


@operator("Unique")
def unique(call: Call, _x: Tensor) -> tuple[Tensor, ...]:
    """The distinct elements or slices, first indices, inverse indices and counts."""
    values, axis = call.known(0, "what the elements are"), call.get("axis")
    distinct, first, which, count = np.unique(values, True, True, True, axis=axis)
    if not call.get("sorted", 1):
        order = np.argsort(first, kind="stable")
        distinct = distinct[order] if axis is None else np.take(distinct, order, axis)
        first, count = first[order], count[order]
        which = np.argsort(order)[which]
    rest = (np.asarray(each, np.int64).reshape(-1) for each in (first, which, count))
    return tuple(map(Tensor, (np.ascontiguousarray(distinct), *rest)))


@operator("NonMaxSuppression")
def non_max_suppression(call: Call, *_known: Tensor) -> Tensor:
    """Non-maximum suppression: [n, 3] indices of boxes that overlap no better box of their class
    too much."""
    boxes, scores = call.known(0, "where boxes are"), call.known(1, "how good they are")
    most, share, least = (
        call.known(place, "a limit").item() if call.has(place) else usual
        for place, usual in ((2, 0), (3, 0.0), (4, -np.inf))
    )
    rows = []
    for batch, group in enumerate(scores):
        corners = _corners(boxes[batch], bool(call.get("center_point_box", 0)))
        for kind, marks in enumerate(group):
            kept: list[int] = []
            for box in np.argsort(-marks, kind="stable"):
                if len(kept) == int(most) or marks[box] <= least:
                    break
                if all(_overlap(corners[box], corners[other]) <= share for other in kept):
                    kept.append(int(box))
            rows += [(batch, kind, box) for box in kept]
    return Tensor(np.array(rows, np.int64).reshape(-1, 3))


def _corners(boxes: Array, is_centred: bool) -> Array:
    """Lower and upper ends [n, 4] of boxes."""
    if is_centred:
        middle, size = boxes[:, :2], boxes[:, 2:]
        return np.concatenate([middle - size / 2, middle + size / 2], 1)
    pairs = boxes.reshape(-1, 2, 2)
    return np.concatenate([pairs.min(1), pairs.max(1)], 1)


def _overlap(one: Array, other: Array) -> float:
    """The intersection over union of two boxes."""
    low, high = np.maximum(one[:2], other[:2]), np.minimum(one[2:], other[2:])
    shared = float(np.prod(np.maximum(high - low, 0)))
    whole = float(np.prod(one[2:] - one[:2]) + np.prod(other[2:] - other[:2])) - shared
    return shared / whole if whole else 0.0


@operator("Compress")
def compress(call: Call, x: Tensor, _condition: Tensor) -> Tensor:
    """The slices where a condition is true."""
    (places,) = np.nonzero(call.known(1, "the condition"))
    if "axis" not in call.attributes:
        return x.reshape(-1).take(places)
    return x.take(places, call.axis(call["axis"], x.ndim))


@operator("ReverseSequence")
def reverse_sequence(call: Call, x: Tensor, lengths: Tensor) -> Tensor:
    """The first elements of each sequence reversed."""
    batch, time = call.get("batch_axis", 1), call.get("time_axis", 0)
    n: Any = x.symbolic_shape[time]
    rows = lengths.reshape(-1, 1).cast(dtypes.int64)
    steps = np.arange(n)
    where = rows.gt(steps).where(rows.sub(1).sub(steps), steps)
    where = where if batch == 0 else where.transpose()
    return x.gather(time, where.reshape(*where.shape, *(1,) * (x.ndim - 2)).broadcast_to(*x.shape))


@operator("TensorScatter")
def tensor_scatter(
    call: Call, cache: Tensor, update: Tensor, first: Tensor | None = None
) -> Tensor:
    """A cache of sequences with new elements written from an index on, or wrapped around its
    end."""
    axis = call.axis(call.get("axis", -2), cache.ndim)
    (count,), (longest,) = fixed(update, axis), fixed(cache, axis)
    places = along(Tensor.arange(count), axis, cache.ndim)
    if first is not None:
        places = places.add(along(first.cast("int64"), 0, cache.ndim))
    if call.get("mode", "linear") == "circular":
        places = places.mod(longest)
    return cache.scatter(axis, places.broadcast_to(*update.symbolic_shape), update)
