"""NumPy functions whose arguments are arranged differently from those of our methods.

Each takes NumPy's arguments after `like`, a tensor of the class to return.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from compiler.core.errors import DataError
from compiler.tensors.shapes import axis_of, broadcast, integers, written
from compiler.tensors.value import TensorValue, as_node, common_type, operand_of


def _lifted(like: Any, values: Sequence[Any]) -> list[Any]:
    return [v if isinstance(v, TensorValue) else like._lift(v) for v in values]


def _concatenate(like: Any, arrays: Sequence[Any], axis: int | None = 0) -> Any:
    """np.concatenate; with axis None the flattened arrays."""
    tensors = _lifted(like, arrays)
    if axis is None:
        tensors, axis = [each.ravel() for each in tensors], 0
    return tensors[0].cat(*tensors[1:], dim=axis)


def _stack(like: Any, arrays: Sequence[Any], axis: int = 0) -> Any:
    """np.stack"""
    first, *others = _lifted(like, arrays)
    return first.stack(*others, dim=axis)


def _vstack(like: Any, tup: Sequence[Any]) -> Any:
    """np.vstack: stacked along axis 0."""
    return _concatenate(like, [each.atleast_2d() for each in _lifted(like, tup)], 0)


def _hstack(like: Any, tup: Sequence[Any]) -> Any:
    """np.hstack: concatenated along axis 1; rank 1 along axis 0."""
    tensors = [each.atleast_1d() for each in _lifted(like, tup)]
    return _concatenate(like, tensors, 0 if tensors[0].ndim == 1 else 1)


def _where(like: Any, condition: Any, x: Any = None, y: Any = None) -> Any:
    """np.where; with only a condition, np.nonzero, computed now."""
    (mask,) = _lifted(like, [condition])
    if x is None and y is None:
        return mask.nonzero(as_tuple=True)
    parts = [operand_of("where", v) for v in (x, y)]
    dtype = common_type(parts)
    yes, no = (like._new(as_node("where", part, dtype)) for part in parts)
    return mask.cast("bool").where(yes, no)


def _nonzero(like: Any, a: Any) -> Any:
    """np.nonzero: one row of indices per axis, computed now."""
    return a.nonzero(as_tuple=True)


def _einsum(like: Any, *operands: Any, optimize: object = False) -> Any:
    """np.einsum with a formula."""
    return type(like).einsum(*operands)


def _array_split(like: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """np.array_split: a number of parts, the first ones longer; or parts between the given
    indices."""
    (tensor,) = _lifted(like, [ary])
    extent = tensor.shape[axis_of("array_split", axis, tensor.ndim)]
    if isinstance(indices_or_sections, int | np.integer):
        lengths = [len(part) for part in np.array_split(np.empty(extent), indices_or_sections)]
    else:
        cuts = [slice(None, n).indices(extent)[1] for n in integers("split", indices_or_sections)]
        bounds = zip([0, *cuts], [*cuts, extent], strict=True)
        lengths = [max(end - begin, 0) for begin, end in bounds]
    return list(tensor.split(tuple(lengths), axis))


def _split(like: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """np.split: a number is the number of equal parts (in our method it is their size)."""
    (tensor,) = _lifted(like, [ary])
    extent = tensor.shape[axis_of("split", axis, tensor.ndim)]
    is_count = isinstance(indices_or_sections, int | np.integer)
    if is_count and (indices_or_sections < 1 or extent % indices_or_sections):
        raise DataError(
            "np.split", f"axis {axis} has no such equal parts", got=str(indices_or_sections),
            expected=f"a number of parts that divides {extent}", hint="np.array_split allows rests",
        )  # fmt: skip
    return _array_split(like, tensor, indices_or_sections, axis)


CONTINUED = ("reflect", "symmetric", "edge", "wrap")
"""Modes in which `pad` continues a tensor by its own elements."""


def _pad(like: Any, array: Any, pad_width: Any, mode: str = "constant",
         constant_values: Any = 0) -> Any:  # fmt: skip
    """np.pad: a single pair applies to every axis (in our method to the last one)."""
    if mode in CONTINUED:
        pairs = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
        return array.pad([tuple(pair) for pair in pairs], mode=mode)
    if mode != "constant" or not np.isscalar(constant_values):
        raise DataError("np.pad", "tensors are padded with one constant value only", got=repr(mode),
                        expected=f"mode='constant' and a number, or {' '.join(CONTINUED)}",
                        hint="np.pad(x.numpy(), ...) computes x now")  # fmt: skip
    pairs = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
    return array.pad([tuple(pair) for pair in pairs], constant_values)


def _norm(like: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """np.linalg.norm of vectors. Of matrix norms only the Frobenius norm is supported."""
    axes = range(x.ndim) if axis is None else integers("norm", axis)
    if ord not in (None, "fro") and len(axes) > 1:
        raise DataError("np.linalg.norm", "this matrix norm is not supported",
                        got=f"ord={ord!r} over {len(axes)} axes", expected="one axis, or no ord",
                        hint="x.norm(ord) is that of all elements")  # fmt: skip
    return x.norm(2 if ord is None else ord, axis, keepdim=keepdims)


def _broadcast_arrays(like: Any, *args: Any, subok: bool = False) -> tuple[Any, ...]:
    """np.broadcast_arrays"""
    tensors = _lifted(like, args)
    shape = broadcast("broadcast_arrays", *(each.node for each in tensors))
    return tuple(each.broadcast_to(shape) for each in tensors)


def _average(like: Any, a: Any, axis: Any = None, weights: Any = None) -> Any:
    """np.average: the mean, optionally with weights of the same shape."""
    (tensor,) = _lifted(like, [a])
    if weights is None:
        return tensor.mean(axis)
    (weight,) = _lifted(like, [weights])
    if weight.shape != tensor.shape:
        raise DataError("np.average", "there is one weight per element", got=written(weight.shape),
                        expected=written(tensor.shape))  # fmt: skip
    dtype = tensor.mul(weight)._statistic_type()
    exact, share = tensor._as_wide(), weight._as_wide()
    return exact.mul(share).sum(axis).div(share.sum(axis)).cast(dtype)


def _column_stack(like: Any, tup: Sequence[Any]) -> Any:
    """np.column_stack: vectors become columns."""
    tensors = [t.unsqueeze(1) if t.ndim == 1 else t for t in _lifted(like, tup)]
    return _concatenate(like, tensors, 1)


def _percentile(like: Any, a: Any, q: Any, axis: Any = None) -> Any:
    """np.percentile"""
    return a.quantile((np.asarray(q) / 100).tolist(), axis)


def _without_nan(fold: str, other: float) -> Callable[..., Any]:
    """np.nansum, nanprod, nanmax, nanmin: NaN is replaced by `other`."""

    def folded(like: Any, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        known = a.isnan().where(other, a).cast(a.dtype) if a.dtype.is_float else a
        made = getattr(known, fold)(axis, keepdims)
        if not a.dtype.is_float or fold in ("sum", "prod"):
            return made
        return a.isnan().all(axis, keepdims).where(math.nan, made)

    return folded


def _nanmean(like: Any, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """np.nanmean"""
    if not a.dtype.is_float:
        return a.mean(axis, keepdims)
    known = a.isnan().logical_not()
    total = known.where(a._as_wide(), 0).sum(axis, keepdims)
    return total.div(known.sum(axis, keepdims).cast(total.dtype)).cast(a.dtype)


ARRANGED: Mapping[str, Callable[..., Any]] = {
    "argwhere": lambda like, a: a.nonzero(),
    "array_split": _array_split,
    "average": _average,
    "broadcast_arrays": _broadcast_arrays,
    "column_stack": _column_stack,
    "concatenate": _concatenate,
    "copy": lambda like, a: a.clone(),
    "einsum": _einsum,
    "flatnonzero": lambda like, a: a.ravel().nonzero(as_tuple=True)[0],
    "hstack": _hstack,
    "linalg.norm": _norm,
    "nanmax": _without_nan("max", -math.inf),
    "nanmean": _nanmean,
    "nanmin": _without_nan("min", math.inf),
    "nanprod": _without_nan("prod", 1),
    "nansum": _without_nan("sum", 0),
    "ndim": lambda like, a: a.ndim,
    "nonzero": _nonzero,
    "pad": _pad,
    "percentile": _percentile,
    "ptp": lambda like, a, axis=None, keepdims=False: a.max(axis, keepdims).sub(
        a.min(axis, keepdims)
    ),
    "shape": lambda like, a: a.shape,
    "size": lambda like, a, axis=None: a.size if axis is None else a.shape[axis],
    "split": _split,
    "stack": _stack,
    "vstack": _vstack,
    "where": _where,
}
"""Functions by NumPy's name."""
