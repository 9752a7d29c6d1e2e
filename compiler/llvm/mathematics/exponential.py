"""exp, exp2 and tanh: reduce to |r| <= 0.35, a polynomial, then a scale by a power of two.

erf is a polynomial below 1, and 1 - erfc from there on, with a polynomial for log2 erfc.
"""

from compiler.llvm.mathematics.builder import Value
from compiler.llvm.mathematics.coefficients import POLYNOMIALS
from compiler.llvm.mathematics.constants import LN2, LN2_PARTS

# Beyond these exponents of two every result has become 0 or infinity.
EXPONENT_RANGE = {"f32": (-151.0, 129.0), "f64": (-1076.0, 1025.0)}
EXP_RANGE = {"f32": (-104.0, 89.0), "f64": (-746.0, 710.0)}
# tanh rounds to 1 from half of this on.
TANH_END = {"f32": 20.0, "f64": 40.0}


def polynomial(name: str, x: Value) -> Value:
    """Horner's rule: c0 + x (c1 + x (c2 + …))."""
    *lower, highest = POLYNOMIALS[name, x.format.name]
    result: Value | float = highest
    for coefficient in reversed(lower):
        result = x.times_plus(result, coefficient)
    assert isinstance(result, Value), "a polynomial has at least two coefficients"
    return result


def nearest_integer(x: Value, scale: float) -> tuple[Value, Value]:
    """x * scale rounded to an integer: as a float, and as bits whose low end counts it."""
    code, magic = x.code, x.format.magic
    shifted = x.times_plus(scale, magic)
    whole = code.let("k", shifted - magic)
    return whole, shifted.bits()


def power_of_two(bits: Value) -> Value:
    """2**n as a float from bits that end in n; n is a normal exponent."""
    layout = bits.format
    return ((bits << layout.mantissa) + layout.one).as_float()


def scaled(mantissa: Value, whole: Value, bits: Value) -> Value:
    """mantissa * 2**whole: one instruction, or two steps so that subnormals too round once."""
    code, layout = mantissa.code, mantissa.format
    once = code.scale(mantissa, whole)
    if once is not None:
        return once
    code.note("multiply by 2**k as 2**(k/2) 2**(k - k/2): neither leaves the normal exponents")
    half = whole.times_plus(0.5, layout.magic).bits()
    first, second = power_of_two(half), power_of_two(bits - half)
    return mantissa * first * second


def remainder_of_ln2(x: Value, whole: Value) -> Value:
    """x - whole ln 2, with ln 2 in two parts; the first step is exact."""
    high, low = LN2_PARTS[x.format.name]
    code = x.code
    code.note("r = x - k ln 2, ln 2 in two parts, so that |r| <= 0.35")
    return code.let("r", whole.times_plus(-low, whole.times_plus(-high, x)))


def within(x: Value, ends: tuple[float, float]) -> tuple[Value, Value]:
    """x where the result is neither 0 nor infinity, else an end or 0; and where the result is 0.

    That is chosen, not computed: a processor takes a hundred cycles for a vector in which one
    result is too small. Softmax of 12×128×128 whose upper half is masked took 650 µs so, and takes
    95, as without a mask (Xeon, AVX-512, 2026-11-23).
    """
    low, high = ends
    x.code.note("beyond these ends the result is 0 or infinity")
    vanishes = x.code.let("vanishes", x < low)
    return vanishes.choose(0.0, x).at_most(high), vanishes


def exp(x: Value) -> Value:
    """e**x = 2**k e**r."""
    code = x.code
    x, vanishes = within(x, EXP_RANGE[x.format.name])
    code.note("k = the integer nearest to x / ln 2, rounded by adding 1.5 * 2**mantissa")
    whole, bits = nearest_integer(x, float(1 / LN2))
    r = remainder_of_ln2(x, whole)
    code.note("e**r = 1 + (r + r**2 q(r))")
    tail = (r * r).times_plus(polynomial("exp", r), r)
    return vanishes.choose(0.0, scaled(code.let("mantissa", tail + 1.0), whole, bits))


def exp2(x: Value) -> Value:
    """2**x = 2**k 2**r."""
    x, vanishes = within(x, EXPONENT_RANGE[x.format.name])
    whole, bits, mantissa = exp2_parts(x)
    return vanishes.choose(0.0, scaled(mantissa, whole, bits))


def exp2_parts(x: Value, low: Value | None = None, name: str = "exp2") -> tuple[Value, ...]:
    """k as a float, bits that end in k, and 2**r, where x + low = k + r."""
    code = x.code
    code.note("k = the nearest integer, r = x - k")
    whole, bits = nearest_integer(x, 1.0)
    r = code.let("r", x - whole)
    if low is not None:
        r = r + low
    code.note("2**r = 1 + r q(r)")
    mantissa = code.let("mantissa", r.times_plus(polynomial(name, r), 1.0))
    return whole, bits, mantissa


def tanh(x: Value) -> Value:
    """tanh |x| = -m / (m + 2) with m = e**(-2 |x|) - 1, which keeps small arguments exact."""
    code = x.code
    sign = code.let("sign", x.bits() & x.format.sign)
    code.note("y = -2 |x|; beyond the limit tanh rounds to 1")
    y = code.let("y", (x.magnitude() * -2.0).at_least(-TANH_END[x.format.name]))
    whole, bits = nearest_integer(y, float(1 / LN2))
    r = remainder_of_ln2(y, whole)
    code.note("e**r - 1 = r + r**2 q(r)")
    small = code.let("small", (r * r).times_plus(polynomial("expm1", r), r))
    code.note("m = e**y - 1 = 2**k (e**r - 1) + (2**k - 1)")
    scale = power_of_two(bits)
    m = code.let("m", small.times_plus(scale, scale - 1.0))
    return with_sign((m / (m + 2.0)).magnitude(), sign)


def with_sign(magnitude: Value, sign: Value) -> Value:
    """A value that is not negative, given the sign bit."""
    magnitude.code.note("the sign of the argument, of zeros too")
    return (magnitude.bits() | sign).as_float()


# erf rounds to 1 from here on.
ERF_END = {"f32": 4.0, "f64": 6.0}


def erf(x: Value) -> Value:
    """x + x p(x**2) for |x| < 1, else 1 - 2**q(|x| - 1) with the sign of x."""
    code = x.code
    code.note("|x| < 1: erf x = x + x p(x**2)")
    magnitude = code.let("magnitude", x.magnitude())
    square = code.let("square", x * x)
    small = code.let("small", x.times_plus(polynomial("erf_small", square), x))
    code.note("else: erf |x| = 1 - 2**q(t), t = |x| - 1, up to where erf rounds to 1")
    t = code.let("t", magnitude.at_most(ERF_END[x.format.name]) - 1.0)
    logarithm = code.let("logarithm", polynomial("erf_large", t))
    _, bits, mantissa = exp2_parts(logarithm)
    large = code.let("large", (-mantissa).times_plus(power_of_two(bits), 1.0))
    sign = code.let("sign", x.bits() & x.format.sign)
    signed = with_sign(large, sign)
    return (magnitude < 1.0).choose(small, signed)
