"""Sorting, searching and selection by index."""

from typing import Literal, TypeAlias

from compiler.array_api.arguments import tensor
from compiler.core.dtypes import Scalar
from compiler.core.errors import AxisError, DataError, ShapeError
from compiler.core.keywords import public
from compiler.tensor import Tensor
from compiler.tensors.apply import select

Axes: TypeAlias = int | tuple[int, ...] | None


@public
def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the first maximum; without an axis in the flattened tensor."""
    return tensor("argmax", x).argmax(axis, keepdims)


@public
def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the first minimum; without an axis in the flattened tensor."""
    return tensor("argmin", x).argmin(axis, keepdims)


@public
def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:  # fmt: skip
    """The indices that sort the elements along `axis`; stable."""
    return tensor("argsort", x).argsort(axis, descending, stable)


@public
def sort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:  # fmt: skip
    """The elements sorted along `axis`."""
    return tensor("sort", x).sort(axis, descending, stable)


@public
def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The number of elements that are not 0."""
    return tensor("count_nonzero", x).count_nonzero(axis, keepdims)


@public
def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The indices of the elements that are not 0, one tensor per axis; `x` is computed now."""
    x = tensor("nonzero", x)
    if not x.ndim:
        raise ShapeError("nonzero", "rank 0 has no positions", got="shape ()",
                         expected="rank 1 or more")  # fmt: skip
    found = x.nonzero(as_tuple=True)
    return found if isinstance(found, tuple) else (found,)


@public
def searchsorted(
    x1: Tensor, x2: Tensor, /, *, side: Literal["left", "right"] = "left",
    sorter: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The indices at which `x2` would be inserted into `x1`, which is sorted, or sorted by
    `sorter`."""
    if side not in ("left", "right"):
        what, expected = "no such side", "'left' or 'right'"
        raise DataError("searchsorted", what, got=repr(side), expected=expected)
    table = tensor("searchsorted", x1)
    ordered = table if sorter is None else table.take(sorter, 0)
    return ordered.searchsorted(tensor("searchsorted", x2), side == "right")


@public
def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The slices at `indices` along `axis`, which is optional for rank 1."""
    x = tensor("take", x)
    if axis is None and x.ndim != 1:
        raise AxisError("take", "the axis is required unless there is exactly one",
                        got=f"rank {x.ndim}", expected="axis=")  # fmt: skip
    return x.take(indices, 0 if axis is None else axis)


@public
def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """Element [i, j, …] is the one at `indices[i, j, …]` on `axis`; other axes broadcast."""
    return tensor("take_along_axis", x).take_along_axis(indices, axis)


@public
def where(condition: Tensor, x1: "Tensor | Scalar", x2: "Tensor | Scalar", /) -> Tensor:
    """`x1` where `condition` is true, else `x2`."""
    return Tensor.from_node(select("where", tensor("where", condition), x1, x2))
