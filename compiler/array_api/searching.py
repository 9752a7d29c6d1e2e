"""Order, and positions of what is looked for."""

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
    """Position of the first greatest element; without an axis in the flat tensor."""
    return tensor("argmax", x).argmax(axis, keepdims)


@public
def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position of the first least element; without an axis in the flat tensor."""
    return tensor("argmin", x).argmin(axis, keepdims)


@public
def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:  # fmt: skip
    """Positions along `axis` of the elements in order; equal ones keep theirs."""
    return tensor("argsort", x).argsort(axis, descending, stable)


@public
def sort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:  # fmt: skip
    """The elements along `axis` in order."""
    return tensor("sort", x).sort(axis, descending, stable)


@public
def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """How many elements are not 0."""
    return tensor("count_nonzero", x).count_nonzero(axis, keepdims)


@public
def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Positions of the elements that are not 0, a row per axis; `x` is computed now."""
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
    """Where `x2` go in `x1`, which is sorted, or is after `sorter` put it in order."""
    if side not in ("left", "right"):
        what, expected = "no such side", "'left' or 'right'"
        raise DataError("searchsorted", what, got=repr(side), expected=expected)
    table = tensor("searchsorted", x1)
    ordered = table if sorter is None else table.take(sorter, 0)
    return ordered.searchsorted(tensor("searchsorted", x2), side == "right")


@public
def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The slices at positions `indices` along `axis`, which may be left out where there is one."""
    x = tensor("take", x)
    if axis is None and x.ndim != 1:
        raise AxisError("take", "which axis must be said where there is not just one",
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
