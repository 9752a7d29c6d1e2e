"""Conversion between storage types and the types they are computed in, by bit arithmetic.

    decoded(x)        f8e4m3fn → f32        int4 → i8
    encoded(x, t)     f32 → f8e4m3fn        i8 or a float → int4

An element is a byte; types of 4 and 2 bits use its low bits, and the rest is 0. Later stages see
the byte as an unsigned integer: no supported machine has instructions for these types.

Floats are rounded once from float32, ties to even, subnormals too. A value that overflows becomes
an infinity, else NaN, else the greatest number, whichever the type has. Doubles are first rounded
to float32, as ml_dtypes, PyTorch and JAX do it. The exponent-only type (e8m0) rounds ties up; 0,
negative numbers and overflow are NaN. Floats saturate to integers, integers wrap, as everywhere.
"""

import struct
from dataclasses import dataclass

from compiler.core import dtypes
from compiler.core.dtypes import DType, Scalar, float32, int8, uint8, uint32
from compiler.graph.kinds.shaping import cast_to
from compiler.graph.nodes import Bitcast, TensorNode, const, elementwise

MANTISSA, BIAS, INFINITE, QUIET = 23, 127, 0x7F800000, 0x7FC00000
"""For float32: mantissa bits, exponent bias, the bits of +inf and of NaN."""


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a small float: sign, exponent, mantissa."""

    mantissa: int
    bias: int
    greatest: int
    """The bits of the greatest finite number."""
    beyond: int
    """The bits that overflow gives, without the sign."""
    nan: int
    """The bits of NaN, without the sign; -1 if the type has none."""
    sign: int = 0x80
    is_unsigned_zero: bool = False
    """True if there is no -0.0: its bits are the only NaN."""


FORMATS = {  # by name: to hash such a type would import ml_dtypes
    "float8_e4m3fn": Format(3, 7, 0x7E, 0x7F, 0x7F),
    "float8_e5m2": Format(2, 15, 0x7B, 0x7C, 0x7E),
    "float8_e4m3fnuz": Format(3, 8, 0x7F, 0x80, 0x80, is_unsigned_zero=True),
    "float8_e5m2fnuz": Format(2, 16, 0x7F, 0x80, 0x80, is_unsigned_zero=True),
    "float4_e2m1fn": Format(1, 1, 0x7, 0x7, -1, sign=0x8),
}


@dataclass(frozen=True, slots=True)
class Bits:
    """A node with Python operators; Python numbers become constants of its type."""

    node: TensorNode

    def _with(self, op: str, other: "Bits | Scalar") -> "Bits":
        return Bits(elementwise(op, self.node, self.like(other)))

    def like(self, value: "Bits | Scalar") -> TensorNode:
        """The node of `value`, or a constant of this type."""
        if isinstance(value, Bits):
            return value.node
        return const(value, self.node.dtype, self.node.shape)

    def __and__(self, other: "Bits | Scalar") -> "Bits":
        return self._with("and", other)

    def __or__(self, other: "Bits | Scalar") -> "Bits":
        return self._with("or", other)

    def __xor__(self, other: "Bits | Scalar") -> "Bits":
        return self._with("xor", other)

    def __lshift__(self, other: int) -> "Bits":
        return self._with("shl", other)

    def __rshift__(self, other: int) -> "Bits":
        return self._with("shr", other)

    def __add__(self, other: "Bits | Scalar") -> "Bits":
        return self._with("add", other)

    def __sub__(self, other: "Bits | Scalar") -> "Bits":
        return self._with("sub", other)

    def __mul__(self, other: "Bits | Scalar") -> "Bits":
        return self._with("mul", other)

    def __lt__(self, other: Scalar) -> "Bits":
        return self._with("lt", other)

    def equals(self, other: Scalar) -> "Bits":
        """True where the value equals `other`."""
        return self._with("eq", other)

    def where(self, condition: "Bits", value: "Bits | Scalar") -> "Bits":
        """`value` where the condition is true, this value elsewhere."""
        return Bits(elementwise("where", condition.node, self.like(value), self.node))

    def cast(self, dtype: DType) -> "Bits":
        """The value converted to `dtype`."""
        return Bits(cast_to(self.node, dtype))

    def read_as(self, dtype: DType) -> "Bits":
        """The same bits read as `dtype`."""
        return Bits(Bitcast((self.node,), dtype))


def decoded(x: TensorNode) -> TensorNode:
    """Elements of a storage type, converted to the type that they are computed in."""
    dtype, byte = x.dtype, Bits(Bitcast((x,), uint8))
    if dtype.is_integer:
        return _extended(byte, dtype).node
    wide = byte.cast(uint32)
    is_power = dtype is dtypes.float8_e8m0fnu
    return (_power(wide) if is_power else _number(wide, FORMATS[dtype.name])).node


def encoded(x: TensorNode, dtype: DType) -> TensorNode:
    """Elements of a compute type, converted to a storage type."""
    if dtype.is_integer:
        return _cut(x, dtype).read_as(dtype).node
    bits = Bits(cast_to(x, float32)).read_as(uint32)
    is_power = dtype is dtypes.float8_e8m0fnu
    bits_of_value = _exponent(bits) if is_power else _rounded(bits, FORMATS[dtype.name])
    return bits_of_value.cast(uint8).read_as(dtype).node


def _extended(byte: Bits, dtype: DType) -> Bits:
    """The low bits as an 8-bit integer, sign-extended for a signed type."""
    if dtype.kind == "uint":
        return byte & dtype.maximum
    unused = 8 - dtype.width
    return (byte.read_as(int8) << unused) >> unused


def _cut(x: TensorNode, dtype: DType) -> Bits:
    """The low bits of an integer; a float is truncated and saturates."""
    wide = Bits(cast_to(x, dtype.arithmetic))
    if x.dtype.is_float:
        for op, limit in (("max", dtype.minimum), ("min", dtype.maximum)):
            wide = Bits(elementwise(op, wide.node, wide.like(limit)))
    return wide.cast(uint8) & ((1 << dtype.width) - 1)


def _power(byte: Bits) -> Bits:
    """2^(byte - 127), a subnormal float32 for 0; NaN for 255."""
    power = (byte << MANTISSA).where(byte.equals(0), 1 << (MANTISSA - 1))
    return power.where(byte.equals(0xFF), QUIET).read_as(float32)


def _exponent(bits: Bits) -> Bits:
    """The biased exponent of the nearest power of two, ties up; 255, NaN, where there is none.

    Between 2^-127 and 2^-126 values always round up, as in ml_dtypes.
    """
    half, least = 1 << (MANTISSA - 1), 1 << MANTISSA
    near = (bits + half) >> MANTISSA
    tiny = near.where(bits < least, 1).where(bits < half + 1, 0)
    is_number = _both(_not(bits < 1), bits < INFINITE)  # negative numbers have more bits than +inf
    return tiny.where(_not(is_number), 0xFF)


def _not(truth: Bits) -> Bits:
    return Bits(elementwise("not", truth.node))


def _both(a: Bits, b: Bits) -> Bits:
    return Bits(elementwise("and", a.node, b.node))


def _number(byte: Bits, form: Format) -> Bits:
    """A small float as a float32: the exponent is rebiased, subnormals are scaled."""
    size = byte & (form.sign - 1)
    moved = (size << (MANTISSA - form.mantissa)) + ((BIAS - form.bias) << MANTISSA)
    step = 2.0 ** (1 - form.bias - form.mantissa)
    counted = (size.cast(float32) * step).read_as(uint32)
    number = moved.where(size < (1 << form.mantissa), counted)
    if form.is_unsigned_zero:
        number = number.where(byte.equals(form.nan), QUIET)
    elif form.nan >= 0:
        number = number.where(_not(size < form.greatest + 1), QUIET)
        if form.beyond != form.nan:
            number = number.where(size.equals(form.beyond), INFINITE)
    sign = (byte & form.sign) << (32 - form.sign.bit_length())
    return (number | sign).read_as(float32)


def _rounded(bits: Bits, form: Format) -> Bits:
    """The bits of a float32 rounded to a small float, ties to even.

    Half a unit in the last place is added and the rest truncated. Subnormals are rounded by adding
    a large number whose unit in the last place is their step.
    """
    size, lost = bits & 0x7FFFFFFF, MANTISSA - form.mantissa
    even = (size >> lost) & 1
    near = ((size + ((1 << (lost - 1)) - 1) + even) >> lost) - ((BIAS - form.bias) << form.mantissa)
    large = 2.0 ** (1 - form.bias - form.mantissa + MANTISSA)
    counted = (size.read_as(float32) + large).read_as(uint32) - _bits_of(large)
    near = near.where(size < ((BIAS - form.bias + 1) << MANTISSA), counted)
    near = near.where(_not(size < _bits_of(_first_beyond(form))), form.beyond)
    sign = (bits >> (32 - form.sign.bit_length())) & form.sign
    is_nan = _not(size < INFINITE + 1)
    if form.is_unsigned_zero:
        near = near.where(is_nan, form.nan)
        return (near | sign).where(near.equals(0), 0)
    if form.nan >= 0:
        return near.where(is_nan, form.nan) | sign
    return (near | sign).where(is_nan, sign ^ form.sign)  # without NaN: ±0, as ml_dtypes has it


def _first_beyond(form: Format) -> float:
    """The overflow threshold, half a step above the greatest number. Values above it overflow, and
    the threshold itself does unless the greatest number is even."""
    count = (form.greatest & ((1 << form.mantissa) - 1)) + (1 << form.mantissa)
    exponent = (form.greatest >> form.mantissa) - form.bias - form.mantissa
    tie = (count + 0.5) * 2.0**exponent
    return tie if count % 2 else _next(tie)


def _next(x: float) -> float:
    return _float_of(_bits_of(x) + 1)


def _bits_of(x: float) -> int:
    return int.from_bytes(struct.pack("<f", x), "little")


def _float_of(bits: int) -> float:
    value: float = struct.unpack("<f", bits.to_bytes(4, "little"))[0]
    return value
