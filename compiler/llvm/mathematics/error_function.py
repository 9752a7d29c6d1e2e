"""erf: a polynomial below 1, and 1 - erfc from there on, with a polynomial for log2 erfc."""

from compiler.llvm.mathematics.builder import Value
from compiler.llvm.mathematics.exponential import (
    exp2_parts,
    polynomial,
    power_of_two,
    with_sign,
)

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
