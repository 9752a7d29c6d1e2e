"""Boolean masks as indices: elements written where they are true.

    x[:, mask] = v      x where the mask is false, else v: one row, or a row for each true element

The number of true elements depends on data, but no shape does: each element of the mask gets an
index, which is out of range where the mask is false, so that nothing is written there.
"""

import math
from collections.abc import Sequence
from typing import Any

from compiler.core import dtypes
from compiler.imported.torch.call import Call
from compiler.tensor import Tensor


def is_mask(index: Tensor | None) -> bool:
    """True for an index that is a mask: truth values, or bytes."""
    return index is not None and (index.dtype.kind == "bool" or index.dtype == dtypes.uint8)


def as_positions(indices: Sequence[Tensor | None]) -> tuple[Any, ...]:
    """An index of a tensor, with the whole axis for None."""
    return tuple(slice(None) if i is None else i.cast(dtypes.int64) for i in indices)


def put_where(
    call: Call, x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool
) -> Tensor:
    """`x` with values written at indices, one of which is a mask."""
    place, *more = [n for n, each in enumerate(indices) if is_mask(each)]
    if more:
        raise call.refused("there are several masks", f"{1 + len(more)} masks", "one mask")
    mask = indices[place]
    assert mask is not None
    mask = mask.ne(0)
    if not values.size or not x.size:
        return x
    others = [each for n, each in enumerate(indices) if each is not None and n != place]
    if not others and (spread := _spread(x, mask, place, values)) is not None:
        return _chosen(x, mask, place, spread, accumulate)
    return _scattered(x, mask, indices, place, values, accumulate)


def _spread(x: Tensor, mask: Tensor, place: int, values: Tensor) -> Tensor | None:
    """Values that are the same for all true elements, with axes of extent 1 for those of the mask;
    None if they differ."""
    count = values.ndim - (x.ndim - place - mask.ndim) - 1
    if count < 0:
        return values
    if values.shape[count] != 1:
        return None
    return values.reshape(*values.shape[:count], *(1,) * mask.ndim, *values.shape[count + 1 :])


def _chosen(x: Tensor, mask: Tensor, place: int, values: Tensor, accumulate: bool) -> Tensor:
    """The old or the new value of each element."""
    trail = x.ndim - place - mask.ndim
    is_in = mask.reshape(*mask.shape, *(1,) * trail)
    new = values.broadcast_to(*x.symbolic_shape)
    return x.add(is_in.where(new, 0)) if accumulate else is_in.where(new, x)


def _scattered(
    x: Tensor, mask: Tensor, indices: Sequence[Tensor | None], place: int, values: Tensor,
    accumulate: bool,
) -> Tensor:  # fmt: skip
    """An index for each element of the mask; the n-th true one gets the n-th value."""
    flat = mask.reshape(mask.size)
    order = flat.cast(dtypes.int64).cumsum(0).sub(1).maximum(0)
    whole: list[Any] = []
    for n, each in enumerate(indices):
        if n == place:
            whole += _outside_where_false(flat, mask.shape)
        else:
            whole.append(each if each is None else _in_order(each, each.ndim - 1, order))
    depths = [each.ndim for each in whole if each is not None]
    rank = x.ndim - len(depths) + max(depths)
    last = _first_axis(whole) + max(depths) - 1  # that of the elements of the mask
    new = _in_order(values, last - (rank - values.ndim), order)
    return x.index_put(as_positions(whole), new, accumulate)


def _outside_where_false(flat: Tensor, shape: Sequence[int]) -> list[Tensor]:
    """The index on each axis, out of range where the mask is false."""
    number = Tensor.arange(flat.size)
    steps = [math.prod(shape[n + 1 :]) for n in range(len(shape))]
    return [
        flat.where(number.idiv(step).fmod(extent), extent)
        for step, extent in zip(steps, shape, strict=True)
    ]


def _in_order(values: Tensor, axis: int, order: Tensor) -> Tensor:
    """Values with one per element of the mask along an axis; a single value is unchanged."""
    return values if axis < 0 or values.shape[axis] == 1 else values.take(order, axis)


def _first_axis(indices: Sequence[Tensor | None]) -> int:
    """The position of the index axes in the result: in front, unless the indices are neighbours."""
    places = [n for n, each in enumerate(indices) if each is not None]
    is_together = places[-1] - places[0] == len(places) - 1
    return places[0] if is_together else 0
