"""Gather, scatter, sorting and searching."""

from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.imported.call import Number, Results
from compiler.imported.torch.call import Call, as_tensor, axis_of, operator
from compiler.imported.torch.masks import as_positions, is_mask, put_where
from compiler.ops.composed import of_share
from compiler.tensor import Tensor

_HOW = {"sum": "sum", "add": "sum", "prod": "prod", "multiply": "prod", "mean": "mean",
        "amax": "amax", "amin": "amin"}  # fmt: skip


@operator("embedding")
def embedding(
    _call: Call, weight: Tensor, indices: Tensor, /, padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
) -> Tensor:  # fmt: skip
    """The row of a table for each index. The row `padding_idx` gets no gradient; with
    `scale_grad_by_freq` the gradient of a row is divided by the number of its uses."""
    rows = weight.take(indices, 0)
    if padding_idx < 0 and not scale_grad_by_freq:
        return rows
    share = indices.ne(padding_idx).cast(rows.dtype)
    if scale_grad_by_freq:
        flat = indices.reshape(indices.size)
        counts = Tensor.zeros(weight.shape[0], dtype="int64").index_add(
            0, flat, flat.full_like(1, dtype="int64"))  # fmt: skip
        exact = share.cast(share.dtype.accumulator)
        share = exact.div(counts.take(indices, 0).cast(exact.dtype)).cast(share.dtype)
    return rows._ruled(of_share, rows, share.unsqueeze(-1).broadcast_to(*rows.symbolic_shape))


@operator("index_select")
def index_select(_call: Call, x: Tensor, /, dim: int, index: Tensor) -> Tensor:
    """The slices at indices along an axis."""
    return x.take(index.reshape(-1), axis_of(dim, x.ndim)) if x.ndim else x


@operator("index", "_unsafe_index")
def index(call: Call, x: Tensor, indices: Any, /) -> Tensor:
    """Elements at indices along several axes; None keeps the whole axis."""
    if any(map(is_mask, indices)):
        raise call.refused("the shape of the result depends on data", "a mask", "positions")
    elements: Tensor = x[as_positions(indices)]
    return elements


@operator("index_put", "_unsafe_index_put")
def index_put(
    call: Call, x: Tensor, indices: Any, values: Tensor, /, accumulate: bool = False
) -> Tensor:
    """Elements written or added at indices or where masks are true."""
    if any(map(is_mask, indices)):
        return put_where(call, x, indices, values, accumulate)
    return x.index_put(as_positions(indices), values, accumulate)


@operator("gather")
def gather(_call: Call, x: Tensor, /, dim: int, index: Tensor) -> Tensor:
    """An element for each index."""
    if not x.ndim:
        return x
    return x.gather(axis_of(dim, x.ndim), index)


@operator("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce", "scatter_add",
          "scatter_reduce")  # fmt: skip
def scatter(
    call: Call, x: Tensor, dim: int, index: Tensor, source: Any, /, reduce: str | None = None,
    include_self: bool = True,
) -> Tensor:  # fmt: skip
    """Elements written, or combined with the old ones, at indices along an axis."""
    axis = axis_of(dim, x.ndim)
    if not isinstance(source, Tensor):
        source = as_tensor(source, call.dtype).expand(*index.shape)
    if call.name.startswith("scatter_add"):
        return x.scatter_add(axis, index, source)
    if reduce is None:
        return x.scatter(axis, index, source)
    return x.scatter_reduce(axis, index, source, _HOW[reduce], include_self)


@operator("index_add")
def index_add(
    _call: Call, x: Tensor, dim: int, index: Tensor, source: Tensor, /, alpha: Number = 1
) -> Tensor:
    """Slices added at indices along an axis."""
    more = source if alpha == 1 else source.mul(alpha)
    return x.index_add(axis_of(dim, x.ndim), index, more)


@operator("index_copy")
def index_copy(_call: Call, x: Tensor, dim: int, index: Tensor, source: Tensor, /) -> Tensor:
    """Slices written at indices along an axis."""
    at = index.reshape(-1)
    if not x.ndim:
        return x.reshape(1).set((at,), source.reshape(1)).reshape(())
    axis = axis_of(dim, x.ndim)
    shape = (*x.shape[:axis], *at.shape, *x.shape[axis + 1 :])
    return x.set((slice(None),) * axis + (at,), source.reshape(shape))


@operator("topk")
def topk(
    _call: Call, x: Tensor, /, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Results:
    """The greatest or least elements along an axis, and their indices."""
    return x.topk(k, axis_of(dim, x.ndim), largest, sorted)


@operator("sort")
def sort(_call: Call, x: Tensor, /, dim: int = -1, descending: bool = False) -> Results:
    """Sorted along an axis, and the sorting indices."""
    axis = axis_of(dim, x.ndim)
    order = x.argsort(axis, descending)
    return x.gather(axis, order), order


@operator("argsort")
def argsort(_call: Call, x: Tensor, /, dim: int = -1, descending: bool = False) -> Tensor:
    """The indices that sort the elements."""
    return x.argsort(axis_of(dim, x.ndim), descending)


@operator("bucketize")
def bucketize(
    call: Call, values: Any, edges: Tensor, /, right: bool = False, out_int32: bool = False
) -> Tensor:
    """The interval between boundaries that contains each element."""
    return _placed(call, edges, values, right, out_int32)


@operator("searchsorted")
def searchsorted(
    call: Call, edges: Tensor, values: Any, /, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None, out_int32: bool = False,
) -> Tensor:  # fmt: skip
    """The insertion index of each element in a sorted row; `sorter` gives the order of an unsorted
    row."""
    if right and side == "left":
        raise call.refused("side and right disagree", "right=True, side=left", "one of them")
    row = edges if sorter is None else edges.gather(edges.ndim - 1, sorter)
    return _placed(call, row, values, right or side == "right", out_int32)


def _placed(call: Call, edges: Tensor, values: Any, right: bool, out_int32: bool) -> Tensor:
    """Insertion indices in one row, or in the row with the same leading index: int64, or int32."""
    dtype = dtypes.int32 if out_int32 else dtypes.int64
    wanted = values if isinstance(values, Tensor) else as_tensor(values, edges.dtype)
    if edges.ndim == 1:
        return wanted.bucketize(edges, right).cast(dtype)
    if edges.shape[-1] == 0:
        return wanted.zeros_like().cast(dtype)
    is_behind = edges.unsqueeze(-2).gt if right else edges.unsqueeze(-2).ge
    return is_behind(wanted.unsqueeze(-1)).logical_not().sum(-1).cast(dtype)


@operator("one_hot")
def one_hot(_call: Call, x: Tensor, classes: int = -1, /) -> Tensor:
    """1 at each position."""
    return x.one_hot(classes)


@operator("isin.Tensor_Tensor")
def isin(_call: Call, x: Tensor, among: Tensor, /, invert: bool = False) -> Tensor:
    """True where an element is one of several; with `invert`, where it is none of them."""
    truth = x.unsqueeze(-1).eq(among.reshape(among.size)).any(-1)
    return truth.logical_not() if invert else truth


@operator("tril_indices", "triu_indices")
def triangle_indices(call: Call, /, row: int, col: int, offset: int = 0) -> Tensor:
    """The indices of the elements of a triangle of a matrix."""
    places = (np.tril_indices if call.name.startswith("tril") else np.triu_indices)(
        row, offset, col)  # fmt: skip
    return Tensor(np.stack(places).astype(call.dtype.numpy))
