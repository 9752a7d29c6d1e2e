"""Sums, means, extremes, cumulative sums, all and any, differences."""

from typing import TypeAlias

from compiler.array_api.arguments import tensor
from compiler.core.dtypes import DType
from compiler.core.errors import AxisError
from compiler.core.keywords import public
from compiler.tensor import Tensor

Axes: TypeAlias = int | tuple[int, ...] | None
Type: TypeAlias = DType | None


@public
def all(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """True where all elements are not 0; true over an empty axis."""
    return tensor("all", x).all(axis, keepdims)


@public
def any(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """True where any element is not 0; false over an empty axis."""
    return tensor("any", x).any(axis, keepdims)


@public
def max(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The maximum; NaN propagates."""
    return tensor("max", x).max(axis, keepdims)


@public
def min(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The minimum; NaN propagates."""
    return tensor("min", x).min(axis, keepdims)


@public
def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The mean, sum divided by count; NaN over an empty axis."""
    return tensor("mean", x).mean(axis, keepdims)


@public
def prod(x: Tensor, /, *, axis: Axes = None, dtype: Type = None, keepdims: bool = False) -> Tensor:
    """The product of the elements; small integers in 64 bits unless `dtype` is given."""
    return tensor("prod", x).prod(axis, keepdims, dtype)


@public
def sum(x: Tensor, /, *, axis: Axes = None, dtype: Type = None, keepdims: bool = False) -> Tensor:
    """The sum of the elements; small integers in 64 bits unless `dtype` is given."""
    return tensor("sum", x).sum(axis, keepdims, dtype)


@public
def std(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:  # fmt: skip
    """The standard deviation, the square root of `var`."""
    return tensor("std", x).std(axis, keepdim=keepdims, correction=correction)


@public
def var(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:  # fmt: skip
    """The variance: squared distances from the mean, divided by count - `correction`."""
    return tensor("var", x).var(axis, keepdim=keepdims, correction=correction)


@public
def cumulative_prod(
    x: Tensor, /, *, axis: int | None = None, dtype: Type = None, include_initial: bool = False
) -> Tensor:  # fmt: skip
    """Cumulative products, with a leading 1 if `include_initial`."""
    x, place = _along("cumulative_prod", tensor("cumulative_prod", x), axis)
    running = (x if dtype is None else x.cast(dtype)).cumprod(place)
    running = running if dtype is None else running.cast(dtype)
    return _after(running, 1, place) if include_initial else running


@public
def cumulative_sum(
    x: Tensor, /, *, axis: int | None = None, dtype: Type = None, include_initial: bool = False
) -> Tensor:  # fmt: skip
    """Cumulative sums, with a leading 0 if `include_initial`."""
    x, place = _along("cumulative_sum", tensor("cumulative_sum", x), axis)
    running = (x if dtype is None else x.cast(dtype)).cumsum(place)
    running = running if dtype is None else running.cast(dtype)
    return _after(running, 0, place) if include_initial else running


def _along(operation: str, x: Tensor, axis: int | None) -> tuple[Tensor, int]:
    """The axis to work along, which is optional for rank 1."""
    if axis is None and x.ndim != 1:
        raise AxisError(
            operation, "the axis is required unless there is exactly one", got=f"rank {x.ndim}",
            expected="axis=", hint="of the flat tensor: xp.reshape(x, (-1,))",
        )  # fmt: skip
    return x, 0 if axis is None else axis


def _after(running: Tensor, initial: int, axis: int) -> Tensor:
    """`running` with a slice of `initial` in front."""
    place = axis % running.ndim
    shape = (*running.shape[:place], 1, *running.shape[place + 1 :])
    return Tensor.full(shape, initial, running.dtype).cat(running, dim=place)


@public
def diff(
    x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Differences of neighbouring elements along `axis`, `n` times, of `prepend`, `x` and
    `append`."""
    given = [tensor("diff", each) for each in (prepend, x, append) if each is not None]
    joined = given[0].cat(*given[1:], dim=axis) if n else tensor("diff", x)
    return joined.diff(n, axis)
