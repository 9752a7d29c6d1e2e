"""Operators that pick and place by positions."""

from typing import Any, cast

import numpy as np

from compiler.core import dtypes
from compiler.imported.torch.call import Call, as_tensor, axis_of, operator
from compiler.tensor import Tensor

_HOW = {"sum": "sum", "add": "sum", "prod": "prod", "multiply": "prod", "mean": "mean",
        "amax": "amax", "amin": "amin"}  # fmt: skip


@operator("embedding")
def embedding(_call: Call, weight: Tensor, indices: Tensor, *_: Any, **_options: Any) -> Tensor:
    """The row of a table for each index."""
    return weight.take(indices, 0)


@operator("index_select")
def index_select(_call: Call, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices at positions along an axis."""
    return x.take(index, axis_of(dim, x.ndim)) if x.ndim else x


@operator("index", "_unsafe_index")
def index(call: Call, x: Tensor, indices: Any) -> Tensor:
    """Elements at positions along several axes; None leaves an axis as it is."""
    made: Tensor = x[_positions(call, indices)]
    return made


def _positions(call: Call, indices: Any) -> Any:
    if any(i is not None and i.dtype.kind == "bool" for i in indices):
        raise call.refused("the shape of the result hangs on data", "a mask", "positions")
    return tuple(slice(None) if i is None else i.cast(dtypes.int64) for i in indices)


@operator("index_put", "_unsafe_index_put")
def index_put(
    call: Call, x: Tensor, indices: Any, values: Tensor, accumulate: bool = False
) -> Tensor:
    """Elements put at positions, or added to what is there."""
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype.kind == "bool":
        mask = indices[0].reshape(*indices[0].shape, *(1,) * (x.ndim - indices[0].ndim))
        if values.size == 1 and not accumulate:  # what a mask says where is no position
            return cast(Tensor, mask.where(values.reshape(*(1,) * x.ndim), x))
    if accumulate:
        return _added(call, x, indices, values)
    return x.set(_positions(call, indices), values)


def _added(call: Call, x: Tensor, indices: Any, values: Tensor) -> Tensor:
    if any(i is None for i in indices[:1]) or any(i is not None for i in indices[1:]):
        raise call.refused("it adds at positions of several axes", "accumulate", "one axis")
    rows = indices[0].reshape(-1).cast(dtypes.int64)
    whole = values.expand(*indices[0].shape, *x.shape[1:]).reshape(rows.size, *x.shape[1:])
    return x.index_add(0, rows, whole)


@operator("gather")
def gather(_call: Call, x: Tensor, dim: int, index: Tensor, **_options: Any) -> Tensor:
    """An element for each position."""
    if not x.ndim:
        return x
    return x.gather(axis_of(dim, x.ndim), index)


@operator("scatter", "scatter_add", "scatter_reduce")
def scatter(
    call: Call, x: Tensor, dim: int, index: Tensor, source: Any, reduce: str | None = None,
    include_self: bool = True,
) -> Tensor:  # fmt: skip
    """An element put at each position, or joined with what is there."""
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
    call: Call, x: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any = 1
) -> Tensor:
    """Slices added at positions along an axis."""
    more = source if alpha == 1 else source.mul(alpha)
    return x.index_add(axis_of(dim, x.ndim), index, more)


@operator("index_copy")
def index_copy(_call: Call, x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Slices put at positions along an axis."""
    return x.set((slice(None),) * axis_of(dim, x.ndim) + (index,), source)


@operator("masked_fill")
def masked_fill(call: Call, x: Tensor, mask: Tensor, value: Any) -> Any:
    """A number where a mask is true."""
    return mask.where(as_tensor(value, call.dtype), x)


@operator("topk")
def topk(
    _call: Call, x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """The greatest or least along an axis, and where they are."""
    return x.topk(k, axis_of(dim, x.ndim), largest, sorted)


@operator("sort")
def sort(call: Call, x: Tensor, *given: Any, **named: Any) -> Any:
    """In order along an axis, and where each was."""
    if call.name.endswith("stable"):
        named = {"dim": -1, "descending": False, **named}
        given = ()
    axis = axis_of(given[0] if given else named.get("dim", -1), x.ndim)
    down = bool(given[1] if len(given) > 1 else named.get("descending", False))
    order = x.argsort(axis, down)
    return x.gather(axis, order), order


@operator("argsort")
def argsort(_call: Call, x: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    """Where the elements are that come first, second, …"""
    return x.argsort(axis_of(dim, x.ndim), descending)


@operator("bucketize", "searchsorted")
def bucketize(call: Call, first: Any, second: Any, *_: Any, **options: Any) -> Any:
    """Between which boundaries each element lies."""
    values, edges = (first, second) if call.name.startswith("bucketize") else (second, first)
    right = bool(options.get("right", False)) or options.get("side") == "right"
    return as_tensor(values.bucketize(edges, right), call.dtype)


@operator("one_hot")
def one_hot(_call: Call, x: Tensor, classes: int = -1) -> Tensor:
    """1 at each position."""
    return x.one_hot(classes)


@operator("isin.Tensor_Tensor")
def isin(_call: Call, x: Tensor, among: Tensor, **_options: Any) -> Tensor:
    """Whether each element is one of several."""
    return x.unsqueeze(-1).eq(among.reshape(-1)).any(-1)


@operator("tril_indices", "triu_indices")
def triangle_indices(
    call: Call, rows: int, columns: int, offset: int = 0, **_options: Any
) -> Tensor:
    """Where a triangle of a matrix is."""
    found = (np.tril_indices if call.name.startswith("tril") else np.triu_indices)(
        rows, offset, columns)  # fmt: skip
    return Tensor(np.stack(found).astype(np.int64))
