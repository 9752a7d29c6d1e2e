"""log and log2: x = 2**e m with m in [sqrt(1/2), sqrt 2], and a series in f = m - 1."""

import math
from collections.abc import Callable

from compiler.llvm.mathematics.builder import Value
from compiler.llvm.mathematics.constants import LN2, LN2_PARTS, split
from compiler.llvm.mathematics.exponential import polynomial


def log(x: Value) -> Value:
    """e ln 2 + log(1 + f)."""
    return of_all_numbers(x, natural)


def log2(x: Value) -> Value:
    """e + log(1 + f) / ln 2, which is exactly e at the powers of two, where f = 0."""
    return of_all_numbers(x, binary)


def of_all_numbers(x: Value, of_parts: Callable[[Value, Value], Value]) -> Value:
    """The logarithm of any x, given that of 2**e (1 + f).

    In vectors all but positive normal numbers are left to a block of their own.
    """
    code = x.code
    if code.lanes == 1:
        return with_edges(x, of_parts(*positive_parts(x)))
    usual = of_parts(*normal_parts(x, exponent_excess(x)))
    (result,) = code.rarely(
        is_no_normal(x), (usual,), lambda: (with_edges(x, of_parts(*positive_parts(x))),)
    )
    return result


def is_no_normal(x: Value) -> Value:
    """True if x is zero, subnormal, negative, infinity or nan: a range of bits."""
    layout = x.format
    first = layout.bits(layout.smallest_normal)
    x.code.note("all but positive normal numbers are rare")
    return x.code.let("unusual", (x.bits() - first).compare("uge", layout.bits(math.inf) - first))


def natural(e: Value, f: Value) -> Value:
    """log of 2**e (1 + f)."""
    high, low = LN2_PARTS[f.format.name]
    correction = series_correction(f)
    f.code.note("log x = e ln 2 + f + correction, small terms first")
    rest = f + e.times_plus(low, correction)
    return e.times_plus(high, rest)


def binary(e: Value, f: Value) -> Value:
    """log2 of 2**e (1 + f)."""
    high, low = split(1 / LN2, f.format, 2)
    correction = series_correction(f)
    f.code.note("log2 x = e + (f + correction) / ln 2, with 1 / ln 2 in two parts")
    total = f.times_plus(high, e)
    lost = f.times_plus(high, e - total)
    rest = f.times_plus(low, correction.times_plus(high, lost))
    return total + rest


def positive_parts(x: Value) -> tuple[Value, Value]:
    """e and f of every positive x, subnormal ones included: x = 2**e (1 + f)."""
    code, layout = x.code, x.format
    code.note("lift subnormal numbers into the normal range")
    lift = layout.mantissa + 1.0
    excess = exponent_excess(x)
    tiny = code.let("tiny", x < layout.smallest_normal)
    lifted = tiny.choose(x * 2.0**lift, x)
    return normal_parts(lifted, tiny.choose(excess + lift, excess, x.element))


def exponent_excess(x: Value) -> float:
    """The excess that `normal_parts` takes from a biased exponent joined to bits of 2**mantissa."""
    return 2.0**x.format.mantissa + x.format.bias


def normal_parts(x: Value, excess: Value | float) -> tuple[Value, Value]:
    """e and f of a positive normal x: x = 2**e (1 + f), sqrt(1/2) <= 1 + f <= sqrt 2."""
    code, layout = x.code, x.format
    root = layout.bits(layout.rounded(math.sqrt(0.5)))
    code.note("x = 2**e m: adding bits(1) - bits(sqrt(1/2)) lets m start at sqrt(1/2)")
    moved = code.let("moved", x.bits() + (layout.one - root))
    m = code.let("m", ((moved & ((1 << layout.mantissa) - 1)) + root).as_float())
    code.note("e as a float: the low bits of 2**mantissa + e, from which 2**mantissa is taken")
    integer = (moved >> layout.mantissa) | layout.bits(2.0**layout.mantissa)
    e = code.let("e", integer.as_float() - excess)
    return e, code.let("f", m - 1.0)


def series_correction(f: Value) -> Value:
    """log(1 + f) - f."""
    return power_series(f) if f.format.name == "f32" else quotient_series(f)


def power_series(f: Value) -> Value:
    """f**2 (f p(f) - 1/2)."""
    code = f.code
    code.note("log(1 + f) - f = f**2 (f p(f) - 1/2)")
    inner = f.times_plus(polynomial("log", f), -0.5)
    return code.let("correction", f * f * inner)


def quotient_series(f: Value) -> Value:
    """s (f**2/2 + s**2 p(s**2)) - f**2/2 with s = f / (2 + f): half the terms of a power series."""
    code = f.code
    code.note("log(1 + f) = 2 atanh(s) with s = f / (2 + f)")
    s = code.let("s", f / (f + 2.0))
    z = code.let("z", s * s)
    half_square = code.let("half_square", f * f * 0.5)
    code.note("log(1 + f) - f = s (f**2/2 + s**2 p(s**2)) - f**2/2")
    inner = z.times_plus(polynomial("log", z), half_square)
    return code.let("correction", s.times_plus(inner, -half_square))


def with_edges(x: Value, result: Value) -> Value:
    """The logarithm's special values: 0 -> -inf, below -> nan, inf -> inf, nan -> nan."""
    x.code.note("inf stays, 0 gives -inf, negative numbers and nan give nan")
    edge = x.compare("oeq", 0.0).choose(-math.inf, math.nan, x.element)
    result = (x < math.inf).choose(result, math.inf)
    return (x > 0.0).choose(result, edge)
