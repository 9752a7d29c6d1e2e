"""Convert arrays, Python numbers and nested lists to tensors.

Default types are NumPy's: a Python float becomes float64 (or the type of `set_default_dtype`), an
int int64, a bool bool.

An array that is row-major, aligned and in native byte order is used in place, without a copy: later
writes to it are visible until the tensor has been computed. Any other array is copied.
"""

import sys
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Array, DType, Scalar
from compiler.core.errors import DataError
from compiler.core.origin import current, user_call
from compiler.device.buffers import new_buffer
from compiler.graph.nodes import Const, TensorNode, const
from compiler.ops import references
from compiler.tensors.traced_numbers import input_of, is_traced
from compiler.tensors.variables import Variable, symbolic_tensor

Axes: TypeAlias = Mapping[int, Variable]

_SUPPORTED = "numbers or truth values: " + ", ".join(t.name for t in dtypes.ALL)


@user_call
def tensor(
    data: object, dtype: object = None, name: str = "", symbolic: Axes | None = None
) -> TensorNode:
    """The node for `data`, converted to `dtype` if given. `symbolic` maps axes to the variables
    that are their extents.

    Raises `DataError` for data that are not numeric, are ragged, or do not fit into `dtype`.
    """
    target = None if dtype is None else dtypes.parse(dtype, "Tensor")
    if target is None and not name and is_traced(data):
        return _traced(data)
    if isinstance(data, np.ndarray | np.generic):
        return _from_array(_checked(np.asarray(data), data), target, name, symbolic)
    array = _checked(_as_array(data), data)
    if target is None and array.dtype == np.float64:
        target = dtypes.get_default_dtype()
    elif target is not None:
        _check_range(array, target)
    if isinstance(data, Scalar) and not name and not symbolic:
        return _constant(array, target)
    return _from_array(array, target, name, symbolic)


def scalar(value: Scalar, dtype: DType, operation: str) -> TensorNode:
    """A Python number as a constant of `dtype`; a traced number as an input. Raises `DataError`
    where it does not fit (NumPy's rule: integers must be in range, floats overflow to infinity)."""
    if dtype.is_integer and not dtype.minimum <= value <= dtype.maximum:
        raise _out_of_range(operation, str(value), dtype, type(value))
    if is_traced(value):
        return input_of(value, dtype)
    try:
        return const(value, dtype)
    except OverflowError as error:
        raise _out_of_range(operation, "a larger integer", dtype) from error


def _traced(data: Any) -> TensorNode:
    """A traced number as an input of the type that `Tensor(number)` has."""
    if isinstance(data, np.generic):
        return input_of(data)
    if isinstance(data, float):
        return scalar(data, dtypes.get_default_dtype() or dtypes.float64, "Tensor")
    return scalar(data, dtypes.int64, "Tensor")


def from_generic(value: "np.generic[Any]") -> TensorNode:
    """A NumPy scalar as a constant of its type; a traced number as an input."""
    if is_traced(value):
        return input_of(value)
    return _constant(_checked(np.asarray(value), value), None)


def _constant(array: Array, dtype: DType | None) -> Const:
    """A rank-0 array as a constant node."""
    target = dtype or dtypes.parse(array.dtype)
    value: Scalar = references.cast(array, target).item()
    return const(value, target)


def _from_array(
    array: Array, dtype: DType | None, name: str, symbolic: Axes | None = None
) -> TensorNode:
    if dtype is not None and array.dtype != dtype.numpy:
        array = references.cast(array, dtype)
    native = array.dtype.newbyteorder("=")
    array = np.require(array, native, ("C_CONTIGUOUS", "ALIGNED")).view(np.ndarray)
    array = clean(array)
    if symbolic:
        return symbolic_tensor(array, symbolic, name)
    call = current()  # that of another method than this one lifts an operand
    return new_buffer(array, name, is_lifted=call is not None and call.method != "tensor")


def clean(array: Array) -> Array:
    """`array` with every truth value stored as 0 or 1. A byte viewed as bool may hold other
    values."""
    if array.dtype != np.bool_ or not array.size or array.view(np.uint8).max() <= 1:
        return array
    return np.not_equal(array.view(np.uint8), 0)


def _as_array(data: object) -> Array:
    """`array` made by NumPy. NumPy's exceptions become `DataError`."""
    try:
        return np.asarray(data)
    except (ValueError, TypeError, OverflowError) as error:
        is_ragged = "inhomogeneous" in str(error)
        raise DataError(
            "Tensor",
            "the nested list is ragged" if is_ragged else f"NumPy cannot read the data: {error}",
            got=_describe(data),
            expected="lists of equal length at each level" if is_ragged else _SUPPORTED,
        ) from error


def _checked(array: Array, data: object) -> Array:
    """`array`, if we support its element type and none of its elements is masked."""
    if _is_masked(data):
        raise DataError(
            "Tensor",
            "masked arrays are not supported",
            got=_describe(data),
            hint="fill the masked elements first: array.filled(value)",
        )
    native = array.dtype.newbyteorder("=")
    if dtypes.of_numpy(native) is not None:
        return array
    raise DataError(
        "Tensor",
        f"cannot compute with elements of type {_type_name(array)}",
        got=_describe(data),
        expected=_SUPPORTED,
        hint="convert the data with NumPy first: array.astype(…)",
    )


def _is_masked(data: object) -> bool:
    """True if `data` is a masked array. If nobody has imported `numpy.ma`, it is not."""
    module = sys.modules.get("numpy.ma")  # importing it takes longer than compiling most programs
    return module is not None and isinstance(data, module.MaskedArray)


def _type_name(array: Array) -> str:
    return f"structured {array.dtype}" if array.dtype.names else array.dtype.name


def _check_range(array: Array, dtype: DType) -> None:
    """Raise `DataError` if a Python integer does not fit into its integer type, as in NumPy."""
    if not dtype.is_integer or array.dtype.kind not in "iu" or not array.size:
        return
    for value in (int(array.min()), int(array.max())):
        if not dtype.minimum <= value <= dtype.maximum:
            raise _out_of_range("Tensor", str(value), dtype)


def _out_of_range(operation: str, value: str, dtype: DType, kind: type = int) -> DataError:
    limits = f"{dtype.minimum} … {dtype.maximum}" if dtype.is_integer else "a finite float64"
    return DataError(
        operation,
        f"the Python {'float' if kind is float else 'integer'} does not fit into {dtype}",
        got=value,
        expected=limits,
        hint=f"convert the tensor to a wider type first, e.g. cast({_wider(dtype)})",
    )


def _wider(dtype: DType) -> str:
    return "float64" if dtype.bits == 64 or dtype.is_float else "int64"


def _describe(data: object) -> str:
    """The type of `data`; for arrays also element type and shape. The data could be long."""
    if isinstance(data, np.ndarray):
        return f"{type(data).__name__} of {data.dtype}, shape {data.shape}"
    return type(data).__name__
