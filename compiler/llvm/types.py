"""LLVM types and constants of our element types."""

import struct

import numpy as np

from compiler.core.dtypes import DType
from compiler.graph.bits import from_bits

_FLOATS = {16: "half", 32: "float", 64: "double"}


def register_type(dtype: DType, lanes: int = 1) -> str:
    """The type of a value in a register: `i1` for bool, `i32`, `float`, `<4 x float>`, …

    A type that is computed in a wider one is held as its bits, an integer.
    """
    if dtype.kind == "bool":
        return vector_type("i1", lanes)
    return vector_type(_FLOATS[dtype.bits] if _is_number(dtype) else f"i{dtype.bits}", lanes)


def _is_number(dtype: DType) -> bool:
    """True if LLVM computes with it as a floating-point number."""
    return dtype.is_float and not dtype.computed_as


def memory_type(dtype: DType, lanes: int = 1) -> str:
    """The type of an element, or of several, in memory: a bool takes a byte."""
    return vector_type("i8", lanes) if dtype.kind == "bool" else register_type(dtype, lanes)


def vector_type(t: str, lanes: int) -> str:
    """The type of `lanes` values of type `t`."""
    return t if lanes == 1 else f"<{lanes} x {t}>"


def splat(value: str | int, t: str, lanes: int) -> str:
    """The constant `value` of type `t`, in each of `lanes` lanes."""
    return str(value) if lanes == 1 else f"splat ({t} {value})"


def in_all_lanes(operand: str) -> str:
    """The number in each lane of a constant of `splat`; of any other operand nothing."""
    inside = operand.removeprefix("splat (").removesuffix(")")
    return inside.partition(" ")[2] if inside != operand else ""


def vector(values: list[str], t: str) -> str:
    """The constant with `values` of type `t` in its lanes."""
    if len(values) > 1 and len(set(values)) == 1:
        return splat(values[0], t, len(values))
    return "<" + ", ".join(f"{t} {value}" for value in values) + ">"


def suffix(dtype: DType, lanes: int) -> str:
    """The type suffix in the name of an intrinsic: `f32`, `i8`, `v4f32`."""
    t = f"{'f' if _is_number(dtype) else 'i'}{dtype.bits}"
    return t if lanes == 1 else f"v{lanes}{t}"


def constant(bits: int, dtype: DType) -> str:
    """A constant that reads back to the same bits: floats are printed in hexadecimal."""
    if dtype.kind == "bool":
        return "true" if bits else "false"
    if dtype.computed_as:
        return str(bits)
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
