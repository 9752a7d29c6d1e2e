"""Constants as bits: 0.0 and -0.0 differ, a NaN equals itself and keeps its payload."""

import re
import struct
from typing import Any

import numpy as np

from compiler.core.dtypes import DType, Scalar


def to_bits(value: Scalar, dtype: DType) -> int:
    """`value` rounded or wrapped to `dtype`, as the integer with the same bits."""
    if dtype.kind == "bool":
        return int(bool(value))
    if dtype.is_integer:
        return int(value) & ((1 << (dtype.width or dtype.bits)) - 1)
    with np.errstate(over="ignore"):
        return int.from_bytes(np.array(value, dtype.numpy).tobytes(), "little")


def from_bits(bits: int, dtype: DType) -> Scalar:
    """The inverse of `to_bits`, as a Python scalar."""
    if dtype.kind == "bool":
        return bool(bits)
    if dtype.computed_as:
        value: int | float = as_array(bits, dtype.numpy).item()
        return value
    if dtype.kind == "uint":
        return bits
    if dtype.kind == "int":
        return bits - (1 << dtype.bits) if bits >> (dtype.bits - 1) else bits
    code = {16: "<e", 32: "<f", 64: "<d"}[dtype.bits]
    value = struct.unpack(code, bits.to_bytes(dtype.itemsize, "little"))[0]
    return value


def as_array(bits: int, dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """The value with these bits, rank 0; a NaN keeps its payload."""
    data = bits.to_bytes(dtype.itemsize, "little")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype).reshape(())


EXACT = 2.0**53
"""All integers below it are exact as float64."""


def literal(bits: int, dtype: DType) -> str:
    """The shortest decimal literal that rounds to these bits: 1e-5, not 9.99999974e-06."""
    value = from_bits(bits, dtype)
    if not dtype.is_float or not np.isfinite(value):
        return str(value)
    is_whole = float(value).is_integer() and abs(value) < EXACT
    shortest = value if is_whole else float(str(dtype.numpy.type(value)))
    return re.sub(r"e\+?(-?)0*", r"e\1", repr(shortest))
