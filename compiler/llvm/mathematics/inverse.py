"""asin, acos and atan: reduce to at most 1/2 or tan(pi/8), then an odd polynomial."""

import math

from compiler.llvm.mathematics.builder import Value
from compiler.llvm.mathematics.constants import PI, split
from compiler.llvm.mathematics.exponential import polynomial, with_sign

TAN_EIGHTH, TAN_THREE_EIGHTHS = math.sqrt(2) - 1, math.sqrt(2) + 1
"""tan(pi/8) and tan(3 pi/8): where atan is the least steep in each of its three parts."""


def atan(x: Value) -> Value:
    """The angle of |x|, m or (m - 1) / (m + 1) or -1 / m with what atan of the rest is, signed."""
    code, layout = x.code, x.format
    sign = code.let("sign", x.bits() & layout.sign)
    m = code.let("m", x.magnitude())
    is_far, is_middle = m > TAN_THREE_EIGHTHS, m > TAN_EIGHTH
    code.note("tan(a - b) of a = atan m and b = 0, pi/4 or pi/2 is below tan(pi/8)")
    above = is_far.choose(-1.0, is_middle.choose(m - 1.0, m))
    below = is_far.choose(m, is_middle.choose(m + 1.0, 1.0, layout.element))
    t = code.let("t", above / below)
    code.note("atan t = t + t z p(z), z = t**2")
    z = code.let("z", t * t)
    tail = code.let("tail", t * z * polynomial("atan", z))
    (half, half_low), (quarter, quarter_low) = (split(PI / n, layout, 2) for n in (2, 4))
    element = layout.element
    high = is_far.choose(half, is_middle.choose(quarter, 0.0, element), element)
    low = is_far.choose(half_low, is_middle.choose(quarter_low, 0.0, element), element)
    return with_sign((high + (t + (tail + low))).magnitude(), sign)


def asin(x: Value) -> Value:
    """x + x z p(z) up to 1/2, else pi/2 - 2 asin sqrt((1 - |x|) / 2), signed."""
    code = x.code
    sign = code.let("sign", x.bits() & x.format.sign)
    is_near, root, tail = _arc(x)
    half, half_low = split(PI / 2, x.format, 2)
    code.note("pi/2 - 2 asin sqrt((1 - |x|) / 2)")
    far = root.times_plus(-2.0, half) + tail.times_plus(-2.0, half_low)
    return with_sign(is_near.choose(root + tail, far).magnitude(), sign)


def acos(x: Value) -> Value:
    """pi/2 - asin x up to 1/2, else 2 asin sqrt((1 - |x|) / 2), from pi where x is negative."""
    code = x.code
    is_near, root, tail = _arc(x)
    (half, half_low), (whole, whole_low) = (split(PI / n, x.format, 2) for n in (2, 1))
    is_negative = x < 0.0
    code.note("pi/2 - asin x")
    signed, rest = (is_negative.choose(-part, part) for part in (root, tail))
    near = (-signed) + half + (half_low - rest)
    code.note("2 asin sqrt((1 - |x|) / 2), or pi less that")
    double = (root + tail) * 2.0
    back = root.times_plus(-2.0, whole) + tail.times_plus(-2.0, whole_low)
    return is_near.choose(near, is_negative.choose(back, double))


def _arc(x: Value) -> tuple[Value, Value, Value]:
    """True if |x| is at most 1/2; and two numbers whose sum is asin |x|, or else
    asin sqrt((1 - |x|) / 2)."""
    code = x.code
    m = code.let("m", x.magnitude())
    is_near = m.compare("ole", 0.5)
    code.note("z = x**2, or (1 - |x|) / 2, which is exact")
    z = code.let("z", is_near.choose(m * m, (1.0 - m) * 0.5))
    root = code.let("root", is_near.choose(m, code.intrinsic("sqrt", z)))
    code.note("asin t = t + t z p(z), z = t**2")
    tail = code.let("tail", root * z * polynomial("asin", z))
    return is_near, root, tail
