"""Functions of NumPy whose arguments are arranged in another way than those of our methods.

Each has NumPy's arguments after `like`, a tensor of the class to make.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from compiler.core.errors import DataError
from compiler.tensors.shapes import axis_of, integers
from compiler.tensors.value import TensorValue, as_node, common_type, operand_of


def _lifted(like: Any, values: Sequence[Any]) -> list[Any]:
    return [v if isinstance(v, TensorValue) else like._lift(v) for v in values]


def _concatenate(like: Any, arrays: Sequence[Any], axis: int | None = 0) -> Any:
    """np.concatenate; with axis None the flat arrays."""
    tensors = _lifted(like, arrays)
    if axis is None:
        tensors, axis = [each.ravel() for each in tensors], 0
    return tensors[0].cat(*tensors[1:], dim=axis)


def _stack(like: Any, arrays: Sequence[Any], axis: int = 0) -> Any:
    """np.stack"""
    first, *others = _lifted(like, arrays)
    return first.stack(*others, dim=axis)


def _vstack(like: Any, tup: Sequence[Any]) -> Any:
    """np.vstack: rows below one another."""
    return _concatenate(like, [each.atleast_2d() for each in _lifted(like, tup)], 0)


def _hstack(like: Any, tup: Sequence[Any]) -> Any:
    """np.hstack: along axis 1, rank 1 along axis 0."""
    tensors = [each.atleast_1d() for each in _lifted(like, tup)]
    return _concatenate(like, tensors, 0 if tensors[0].ndim == 1 else 1)


def _where(like: Any, condition: Any, x: Any = None, y: Any = None) -> Any:
    """np.where; with the condition alone NumPy's nonzero, computed now."""
    (mask,) = _lifted(like, [condition])
    if x is None and y is None:
        return mask.nonzero(as_tuple=True)
    parts = [operand_of("where", v) for v in (x, y)]
    dtype = common_type(parts)
    yes, no = (like._new(as_node("where", part, dtype)) for part in parts)
    return mask.cast("bool").where(yes, no)


def _nonzero(like: Any, a: Any) -> Any:
    """np.nonzero: a row of positions per axis, computed now."""
    return a.nonzero(as_tuple=True)


def _einsum(like: Any, *operands: Any, optimize: object = False) -> Any:
    """np.einsum with a formula."""
    return type(like).einsum(*operands)


def _array_split(like: Any, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """np.array_split: so many parts, the first ones longer, or parts between given indices."""
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
    """np.split: a number counts equal parts (that of our method is their size)."""
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
    """np.pad: a pair is for every axis (that of our method for the last one)."""
    if mode in CONTINUED:
        pairs = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
        return array.pad([tuple(pair) for pair in pairs], mode=mode)
    if mode != "constant" or not np.isscalar(constant_values):
        raise DataError("np.pad", "only one constant value is put around tensors", got=repr(mode),
                        expected=f"mode='constant' and a number, or {' '.join(CONTINUED)}",
                        hint="np.pad(x.numpy(), ...) computes x now")  # fmt: skip
    pairs = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
    return array.pad([tuple(pair) for pair in pairs], constant_values)


def _norm(like: Any, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """np.linalg.norm of vectors; norms of matrices other than the root of the squares' sum have
    no method."""
    axes = range(x.ndim) if axis is None else integers("norm", axis)
    if ord not in (None, "fro") and len(axes) > 1:
        raise DataError("np.linalg.norm", "there are no such norms of matrices here",
                        got=f"ord={ord!r} over {len(axes)} axes", expected="one axis, or no ord",
                        hint="x.norm(ord) is that of all elements")  # fmt: skip
    return x.norm(2 if ord is None else ord, axis, keepdim=keepdims)


ARRANGED: Mapping[str, Callable[..., Any]] = {
    "array_split": _array_split,
    "concatenate": _concatenate,
    "einsum": _einsum,
    "hstack": _hstack,
    "linalg.norm": _norm,
    "ndim": lambda like, a: a.ndim,
    "nonzero": _nonzero,
    "pad": _pad,
    "shape": lambda like, a: a.shape,
    "size": lambda like, a, axis=None: a.size if axis is None else a.shape[axis],
    "split": _split,
    "stack": _stack,
    "vstack": _vstack,
    "where": _where,
}
"""By NumPy's name."""
