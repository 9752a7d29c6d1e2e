"""LLVM types and constants of our element types."""

import struct

import numpy as np

from compiler.dtypes import DType
from compiler.graph.nodes import from_bits

_FLOATS = {16: "half", 32: "float", 64: "double"}


def register_type(dtype: DType) -> str:
    """The type of a value in a register: `i1` for bool, `i32`, `float`, …"""
    if dtype.kind == "bool":
        return "i1"
    return _FLOATS[dtype.bits] if dtype.is_float else f"i{dtype.bits}"


def memory_type(dtype: DType) -> str:
    """The type of an element in memory: a bool takes a byte."""
    return "i8" if dtype.kind == "bool" else register_type(dtype)


def constant(bits: int, dtype: DType) -> str:
    """A constant that reads back to the same bits: floats are printed in hexadecimal."""
    if dtype.kind == "bool":
        return "true" if bits else "false"
    if dtype.is_integer:
        return str(from_bits(bits, dtype))
    if dtype.bits == 16:
        return f"0xH{bits:04X}"
    if dtype.bits == 32:
        bits = _widen(bits)
    return f"0x{bits:016X}"


def _widen(bits: int) -> int:
    """The bits of the double that equals the float with `bits`; NaN payloads are kept."""
    with np.errstate(invalid="ignore"):
        wide = np.uint32(bits).view(np.float32).astype(np.float64)
    return int.from_bytes(struct.pack("<d", wide), "little")


def float_constant(value: float, dtype: DType) -> str:
    """The float constant `value`, rounded to `dtype`."""
    bits = int.from_bytes(np.array(value, dtype.numpy).tobytes(), "little")
    return constant(bits, dtype)
