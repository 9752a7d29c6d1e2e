"""Reductions and scans."""

from typing import Any

from compiler.imported.call import Results
from compiler.imported.methods import call_method
from compiler.imported.torch.call import (
    Call,
    as_tensor,
    axes_of,
    axis_of,
    base_of,
    half_or_wide,
    operator,
)
from compiler.tensor import Tensor
from compiler.tensors.shapes import Axes


@operator("sum", "mean")
def total(
    call: Call, x: Tensor, /, dim: Axes = None, keepdim: bool = False
) -> Tensor:
    """The sum or the mean over axes."""
    wide = half_or_wide(as_tensor(x, call.dtype))
    axes = axes_of(dim, x.ndim)
    return wide.mean(axes, keepdim) if call.name.startswith("mean") else wide.sum(axes, keepdim)


@operator("prod")
def product(
    call: Call, x: Tensor, /, dim: int | None = None, keepdim: bool = False
) -> Tensor:
    """The product over one axis, or over all."""
    return as_tensor(x, call.dtype).prod(axes_of(dim, x.ndim), keepdim)


@operator("amax", "amin")
def extreme(call: Call, x: Tensor, /, dim: Axes = (), keepdim: bool = False) -> Tensor:
    """The maximum or minimum over axes."""
    axes = axes_of(dim, x.ndim)
    return x.max(axes, keepdim) if call.name.startswith("amax") else x.min(axes, keepdim)


@operator("max.default", "min.default")
def extreme_of_all(call: Call, x: Tensor, /) -> Tensor:
    """The maximum or minimum of all elements."""
    return x.max() if call.name.startswith("max") else x.min()


@operator("max.dim", "min.dim")
def extreme_and_place(call: Call, x: Tensor, /, dim: int, keepdim: bool = False) -> Results:
    """The maximum or minimum along an axis, and its first index."""
    axis = axis_of(dim, x.ndim)
    if call.name.startswith("max"):
        return x.max(axis, keepdim), x.argmax(axis, keepdim)
    return x.min(axis, keepdim), x.argmin(axis, keepdim)


@operator("argmax", "argmin")
def place_of_extreme(
    call: Call, x: Tensor, /, dim: int | None = None, keepdim: bool = False
) -> Tensor:
    """The first index of the maximum or minimum."""
    axis = None if dim is None else axis_of(dim, x.ndim)
    return x.argmax(axis, keepdim) if call.name.startswith("argmax") else x.argmin(axis, keepdim)


@operator("any", "all")
def truth(call: Call, x: Tensor, /, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """True where any, or all, elements are not 0."""
    axes, truths = axes_of(dim, x.ndim), x.ne(0)
    return truths.any(axes, keepdim) if call.name.startswith("any") else truths.all(axes, keepdim)


@operator("var", "std", "var_mean", "std_mean")
def spread(
    call: Call, x: Tensor, /, dim: Axes = None, unbiased: bool = True, keepdim: bool = False,
    correction: float | None = None,
) -> Results:  # fmt: skip
    """The variance or standard deviation, and the mean. The sum of squares is divided by the count
    minus `correction`, by default 1 if `unbiased`, else 0."""
    less = int(unbiased) if correction is None else correction
    axes, wide = axes_of(dim, x.ndim), half_or_wide(x)
    method = wide.std if call.name.startswith("std") else wide.var
    deviation = method(axes, keepdim=keepdim, correction=less)
    return (deviation, wide.mean(axes, keepdim)) if "_mean" in call.name else deviation


@operator("cumsum", "cumprod", "logcumsumexp")
def scan(call: Call, x: Tensor, /, dim: int) -> Tensor:
    """Cumulative sums or products."""
    wide = half_or_wide(as_tensor(x, call.dtype))
    if not x.ndim:
        return wide
    return call_method(base_of(call.name), wide, axis_of(dim, x.ndim))


@operator("cummax", "cummin")
def running_extreme(call: Call, x: Tensor, /, dim: int) -> Results:
    """The cumulative maximum or minimum, and its index."""
    axis = axis_of(dim, x.ndim)
    if call.name.startswith("cummax"):
        return x.cummax(axis, return_indices=True)
    return x.cummin(axis, return_indices=True)


@operator("softmax.int", "_softmax", "_safe_softmax", "log_softmax.int", "_log_softmax")
def softmax(call: Call, x: Tensor, /, dim: int) -> Tensor:
    """Softmax along an axis, or its logarithm."""
    wide = half_or_wide(as_tensor(x, call.dtype))
    axis = axis_of(dim, x.ndim)
    if "log" in call.name:
        return wide.log_softmax(axis)
    if not call.name.startswith("_safe"):
        return wide.softmax(axis)
    is_empty = wide.eq(float("-inf")).all(axis, keepdim=True)
    return is_empty.where(0.0, is_empty.where(0.0, wide).softmax(axis))


@operator("logsumexp")
def logsumexp(call: Call, x: Tensor, /, dim: Axes, keepdim: bool = False) -> Tensor:
    """The logarithm of a sum of exponentials."""
    return as_tensor(x, call.dtype).logsumexp(axes_of(dim, x.ndim), keepdim)


@operator("norm", "linalg_vector_norm")
def norm(
    call: Call, x: Tensor, /, p: Any = None, ord: Any = 2, dim: Axes = None, keepdim: bool = False
) -> Tensor:
    """The norm of vectors along axes."""
    wide, order = half_or_wide(as_tensor(x, call.dtype)), ord if p is None else p
    return wide.norm(float(order), axes_of(dim, x.ndim), keepdim)
