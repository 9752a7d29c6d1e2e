"""Reference functions on NumPy arrays for operations that NumPy leaves undefined in some cases.

Integer arithmetic wraps; division by zero gives 0 and never traps; shifts by the width or more
give 0 (or the sign); float → int saturates and NaN becomes 0.
"""

import math

import numpy as np

from compiler.core.dtypes import Array, DType, is_floating


def truncated_divide(a: Array, b: Array) -> Array:
    """`a / b` rounded towards zero; 0 where `b` is 0; MIN / -1 wraps to MIN."""
    return _integer_divide(a, b)[0]


def truncated_remainder(a: Array, b: Array) -> Array:
    """The remainder with the sign of `a`; 0 where `b` is 0."""
    return _integer_divide(a, b)[1]


def _integer_divide(a: Array, b: Array) -> tuple[Array, Array]:
    """Quotient and remainder of truncating division, zeros where `b` is 0."""
    a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
    dtype = a.dtype
    one, zero = dtype.type(1), dtype.type(0)
    negates = (b == dtype.type(-1)) if dtype.kind == "i" else np.zeros(b.shape, bool)
    safe = np.where((b == 0) | negates, one, b)
    remainder = np.where(negates, zero, np.fmod(a, safe)).astype(dtype)
    quotient = ((a - remainder) // safe).astype(dtype)
    quotient = np.where(negates, (zero - a).astype(dtype), quotient)
    return np.where(b == 0, zero, quotient), np.where(b == 0, zero, remainder)


def float_remainder(a: Array, b: Array) -> Array:
    """C's `fmod`: the exact remainder with the sign of `a`; NaN where `b` is 0."""
    return np.asarray(np.fmod(a, b))


def remainder(a: Array, b: Array) -> Array:
    """Remainder with the dividend's sign, for integers and floats."""
    a = np.asarray(a)
    return truncated_remainder(a, b) if a.dtype.kind in "iu" else float_remainder(a, b)


def shift_left(a: Array, b: Array) -> Array:
    """`a << b`; 0 where `b` is negative or at least the width."""
    a, b, is_out = _shift_operands(a, b)
    return np.where(is_out, a.dtype.type(0), np.left_shift(a, b))


def shift_right(a: Array, b: Array) -> Array:
    """`a >> b`, arithmetic for signed types; the sign fill where `b` is out of range."""
    a, b, is_out = _shift_operands(a, b)
    fill = np.where(a < 0, a.dtype.type(-1), a.dtype.type(0)) if a.dtype.kind == "i" else 0
    return np.where(is_out, fill, np.right_shift(a, b)).astype(a.dtype)


def _shift_operands(a: Array, b: Array) -> tuple[Array, Array, Array]:
    a, b = np.broadcast_arrays(np.asarray(a), np.asarray(b))
    is_out = (b < 0) | (b >= a.dtype.itemsize * 8)
    return a, np.where(is_out, 0, b).astype(a.dtype), is_out


def error_function(x: Array) -> Array:
    """erf, element by element, through the C library in double precision."""
    x = np.asarray(x)
    result = np.vectorize(math.erf, otypes=[np.float64])(x.astype(np.float64))
    return np.asarray(result).astype(x.dtype).reshape(x.shape)


def multiply_add(a: Array, b: Array, c: Array) -> Array:
    """`a * b + c`; machine code may round once instead of twice."""
    return np.asarray(np.add(np.multiply(a, b), c))


def power(a: Array, b: Array) -> Array:
    """`a ** b`; an integer to a negative power truncates: 1, ±1 or 0."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind != "i":
        return np.asarray(np.power(a, b))
    positive = np.power(a, np.maximum(b, 0))
    odd = np.where(b % 2 == 0, a.dtype.type(1), a.dtype.type(-1))
    negative = np.where(a == 1, a.dtype.type(1), np.where(a == -1, odd, a.dtype.type(0)))
    return np.asarray(np.where(b < 0, negative, positive).astype(a.dtype))


def cast(x: Array, dtype: DType) -> Array:
    """Convert to `dtype`: integers wrap, floats saturate into integers, NaN becomes 0."""
    x = np.asarray(x)
    target = dtype.numpy
    if not is_floating(x.dtype) or not dtype.is_integer:
        with np.errstate(all="ignore"):
            return np.asarray(x.astype(target))
    wide = x.astype(np.float64)
    low, high = float(dtype.minimum), float(dtype.maximum)
    inside = np.where(np.isnan(wide) | (wide <= low) | (wide >= high), 0.0, wide)
    result = np.trunc(inside).astype(target)
    result = np.where(wide >= high, target.type(dtype.maximum), result)
    return np.asarray(np.where(wide <= low, target.type(dtype.minimum), result).astype(target))
