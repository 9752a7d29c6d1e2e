"""pow: 2**(y log2 |x|) with the logarithm to more bits than the result has."""

import math
from fractions import Fraction

from compiler.llvm.mathematics.builder import F64, Value
from compiler.llvm.mathematics.constants import LN2, split
from compiler.llvm.mathematics.exponential import (
    EXPONENT_RANGE,
    exp2_parts,
    polynomial,
    power_of_two,
    scaled,
)
from compiler.llvm.mathematics.logarithm import (
    exponent_excess,
    is_no_normal,
    normal_parts,
    positive_parts,
)

# |y| above this gives 0, 1 or infinity, as infinity itself does.
LARGEST_EXPONENT = 2.0**70


def pow(x: Value, y: Value) -> Value:
    """|x|**y, then the signs and the special cases of C99; in vectors these are rare."""
    code = x.code
    magnitude = code.let("magnitude", x.magnitude())
    positive = float_power if x.format.name == "f32" else double_power
    usual = positive(magnitude, y)
    if code.lanes == 1:
        return with_special_cases(x, y, magnitude, usual)
    code.note("all but positive normal x and finite y are rare")
    infinite = y.magnitude().bits().compare("uge", y.format.bits(math.inf))
    (result,) = code.rarely(
        is_no_normal(x) | infinite,
        (usual,),
        lambda: (with_special_cases(x, y, magnitude, usual),),
    )
    return result


def float_power(x: Value, y: Value) -> Value:
    """x**y for float32 x > 0: in float64, log2 to 2**-43 and 2**t to 2**-34 are enough."""
    code = x.code
    x, y = x.convert("fpext", "double"), y.convert("fpext", "double")
    e, f = normal_parts(x, exponent_excess(x))
    code.note("log2(1 + f) = s p(s**2), s = f / (2 + f)")
    s = code.let("s", f / (f + 2.0))
    logarithm = code.let("logarithm", s.times_plus(polynomial("log2_short", s * s), e))
    code.note("t = y log2 x, kept where 2**t is a normal float64")
    t = y.at_most(LARGEST_EXPONENT).at_least(-LARGEST_EXPONENT) * logarithm
    t = code.let("t", t.at_most(200.0).at_least(-200.0))
    _, bits, mantissa = exp2_parts(t, name="exp2_short")
    return (mantissa * power_of_two(bits)).convert("fptrunc", "float")


def double_power(x: Value, y: Value) -> Value:
    """x**y for float64 x > 0, with the logarithm as a sum of two float64."""
    code = x.code
    high, low = log2_pair(x)
    code.note("y log2 x as a sum of two: the product and its rounding error")
    y = code.let("exponent", y.at_most(LARGEST_EXPONENT).at_least(-LARGEST_EXPONENT))
    product = code.let("product", y * high)
    error = y.times_plus(low, y.times_plus(high, -product))
    code.note("outside the exponents of float64 the result is 0 or infinity")
    bottom, top = EXPONENT_RANGE["f64"]
    t = product.at_most(top + 4).at_least(bottom - 4)
    error = t.compare("oeq", product).choose(error, 0.0)
    whole, bits, mantissa = exp2_parts(t, error)
    return scaled(mantissa, whole, bits)


def log2_pair(x: Value) -> tuple[Value, Value]:
    """log2 x as a sum of two float64 with a relative error of about 2**-64."""
    code = x.code
    e, f = positive_parts(x)
    s, s_low = quotient_pair(f)
    correction, correction_low = series_pair(s, s_low)
    code.note("w = s 2/ln 2 in two parts; log2 x = e + w + w u")
    scale, scale_low = split(2 / LN2, F64, 2)
    w, w_low = product_pair(s, s_low, scale, scale_low)
    v, v_low = product_pair(w, w_low, correction, correction_low)
    code.note("add from large to small, keeping the rounding errors")
    first = e + w
    first_error = w - (first - e)
    second = first + v
    second_error = v - (second - first)
    rest = (first_error + second_error) + (w_low + v_low)
    total = code.let("log_high", second + rest)
    return total, code.let("log_low", rest - (total - second))


def quotient_pair(f: Value) -> tuple[Value, Value]:
    """s = f / (2 + f) as a sum of two."""
    code = f.code
    code.note("s = f / (2 + f) in two parts, by the remainder of the rounded quotient")
    g = code.let("g", f + 2.0)
    g_low = f - (g - 2.0)
    reciprocal = 1.0 / g
    s = code.let("s", f * reciprocal)
    remainder = (-s).times_plus(g_low, (-s).times_plus(g, f))
    return s, code.let("s_low", remainder * reciprocal)


def series_pair(s: Value, s_low: Value) -> tuple[Value, Value]:
    """u = atanh(s) / s - 1 = z/3 + z**2 q(z), z = s**2, as a sum of two."""
    code = s.code
    code.note("z = s**2 and u = atanh(s) / s - 1 = z/3 + z**2 q(z), each in two parts")
    z = code.let("z", s * s)
    z_low = (s + s).times_plus(s_low, s.times_plus(s, -z))
    third, third_low = split(Fraction(1, 3), F64, 2)
    u, u_low = product_pair(z, z_low, third, third_low)
    return u, code.let("u_low", (z * z).times_plus(polynomial("log_tail", z), u_low))


def product_pair(
    a: Value, a_low: Value, b: Value | float, b_low: Value | float
) -> tuple[Value, Value]:
    """(a + a_low) (b + b_low) as a sum of two, without a_low b_low."""
    product = a * b
    cross = a_low.times_plus(b, a.times_plus(b, -product))
    return product, a.times_plus(b_low, cross)


def with_special_cases(x: Value, y: Value, magnitude: Value, power: Value) -> Value:
    """C99's cases around |x|**y."""
    code, layout = x.code, x.format
    code.note("|x| = 0 or infinity gives 0 or infinity")
    infinite = magnitude.compare("oeq", math.inf)
    extreme = code.let("extreme", infinite | magnitude.compare("oeq", 0.0))
    grows = infinite.compare("eq", y > 0.0)
    power = extreme.choose(grows.choose(math.inf, 0.0, x.element), power)
    code.note("a negative x needs an integer y: an odd one gives a negative result")
    whole = y.floor().compare("oeq", y)
    half = y * 0.5
    odd = whole & half.floor().compare("une", half)
    sign = odd.choose(x.bits() & layout.sign, 0)
    power = (power.bits() | sign).as_float()
    undefined = (x < 0.0) & whole.compare("eq", 0) & (magnitude < math.inf)
    power = undefined.choose(math.nan, power)
    code.note("nan in, nan out, but 1**y = x**0 = 1 for every x and y")
    power = x.compare("uno", y).choose(math.nan, power)
    one = x.compare("oeq", 1.0) | y.compare("oeq", 0.0)
    return one.choose(1.0, power)
