"""Element types: their limits, kinds and conversions."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from compiler.array_api.arguments import placed, tensor
from compiler.core import dtypes
from compiler.core.dtypes import DType, Scalar
from compiler.core.errors import DataError, DTypeError
from compiler.core.keywords import public
from compiler.tensor import Tensor
from compiler.tensors.value import TensorValue, common_type

Kinds: TypeAlias = "DType | str | tuple[DType | str, ...]"

KINDS: dict[str, frozenset[str]] = {
    "bool": frozenset(("bool",)),
    "signed integer": frozenset(("int",)),
    "unsigned integer": frozenset(("uint",)),
    "integral": frozenset(("int", "uint")),
    "real floating": frozenset(("float",)),
    "complex floating": frozenset(),
    "numeric": frozenset(("int", "uint", "float")),
}
"""Kinds of types, by the standard's names."""


@dataclass(frozen=True)
class FloatLimits:
    """Limits of a type of floats, as Python floats."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerLimits:
    """Limits of an integer type."""

    bits: int
    max: int
    min: int
    dtype: DType


def type_of(operation: str, value: object) -> DType:
    """The type of a tensor or an array; a type is returned unchanged."""
    return value.dtype if isinstance(value, TensorValue) else dtypes.parse(
        value.dtype if isinstance(value, np.ndarray) else value, operation
    )  # fmt: skip


@public
def astype(
    x: Tensor, dtype: DType, /, *, copy: bool = True, device: object = None
) -> Tensor:  # fmt: skip
    """`x` converted to `dtype`: integers wrap, floats saturate when converted to integers.

    Returns a new tensor, even if the type is the same, unless `copy` is false.
    """
    x = tensor("astype", x)
    made = x.cast(dtype) if copy or x.dtype != dtype else x
    return placed(made, device)


@public
def can_cast(from_: "DType | Tensor", to: DType, /) -> bool:
    """True if type `from_` can be promoted to `to`."""
    target = dtypes.parse(to, "can_cast")
    return dtypes.promote(type_of("can_cast", from_), target) is target


@public
def finfo(type: "DType | Tensor", /) -> FloatLimits:
    """The limits of a float type. Raises `DTypeError` for others."""
    dtype = type_of("finfo", type)
    if not dtype.is_float:
        raise DTypeError("finfo", "not a float type", got=str(dtype), expected="float32, float64")
    found = dtypes.float_limits(dtype.numpy)
    eps, most, least, normal = map(
        float, (found.eps, found.max, found.min, found.smallest_normal)
    )  # fmt: skip
    return FloatLimits(dtype.bits, eps, most, least, normal, dtype)


@public
def iinfo(type: "DType | Tensor", /) -> IntegerLimits:
    """The limits of an integer type. Raises `DTypeError` for others."""
    dtype = type_of("iinfo", type)
    if not dtype.is_integer:
        raise DTypeError("iinfo", "no integer type", got=str(dtype), expected="int32, uint8, …")
    return IntegerLimits(dtype.bits, int(dtype.maximum), int(dtype.minimum), dtype)


@public
def isdtype(dtype: DType, kind: Kinds) -> bool:
    """True if a type is of a kind. `kind` is a type, the standard's name of a kind, or a tuple of
    these."""
    found = dtypes.parse(dtype, "isdtype")
    return any(_is_of(found, each) for each in (kind if isinstance(kind, tuple) else (kind,)))


def _is_of(dtype: DType, kind: "DType | str") -> bool:
    if not isinstance(kind, str):
        return bool(dtype == kind)
    if kind not in KINDS:
        raise DataError("isdtype", "no such kind", got=repr(kind), expected=", ".join(KINDS))
    return dtype.kind in KINDS[kind]


@public
def result_type(*arrays_and_dtypes: "Tensor | Scalar | DType") -> DType:
    """The type that the arguments are promoted to. Of a Python number only the kind counts."""
    if all(isinstance(each, Scalar) for each in arrays_and_dtypes):
        raise DataError("result_type", "nothing here has a type", got=str(len(arrays_and_dtypes)),
                        expected="a tensor or a type among them")  # fmt: skip
    parts = [v.node for v in arrays_and_dtypes if isinstance(v, TensorValue)]
    weak = [v for v in arrays_and_dtypes if isinstance(v, Scalar)]
    rest = [
        type_of("result_type", v)
        for v in arrays_and_dtypes if not isinstance(v, TensorValue | Scalar)
    ]  # fmt: skip
    own = [common_type(parts)] if parts else []
    return dtypes.promote(*own, *rest, *weak)
