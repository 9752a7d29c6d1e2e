"""Derivatives of operations, as entries of their rows: one function for each operand.

    derivative(b, g, y, *operands)

In reverse mode it maps the cotangent `g` of the result to that of the operand; in forward mode the
tangent `g` of the operand to that of the result. An operation works on each element separately, so
both are the same product. `y` is the result, `b` a `Build`. The function is linear in `g`, and
built from rows that have derivatives themselves, so it can be differentiated again.

At kinks and ties the values are PyTorch's (2.x, `tools/autograd/derivatives.yaml`): 0 for abs at 0
and relu at 0, infinite for sqrt at 0, half for each of two equal operands of max and min. An
operand that `where` did not choose gets 0, whatever its own derivative is there.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from compiler.ops.row import Build, Folds

T = TypeVar("T")
Derivative: TypeAlias = Callable[..., Any]


def unchanged(b: Build[T], g: T, y: T, *xs: T) -> T:
    """d x = dx"""
    return g


def negated(b: Build[T], g: T, y: T, *xs: T) -> T:
    """d(-x) = -dx"""
    return b.op("neg", g)


def zero(b: Build[T], g: T, y: T, *xs: T) -> T:
    """d f = 0 dx: f is piecewise constant"""
    return b.const(0, g)


def _times(b: Build[T], g: T, factor: T) -> T:
    return b.op("mul", g, factor)


def _scaled(b: Build[T], g: T, factor: float) -> T:
    return b.op("mul", g, b.const(factor, g))


def of_abs(b: Build[T], g: T, y: T, x: T) -> T:
    """d|x| = dx where x > 0, -dx where x < 0"""
    zero = b.const(0, x)
    below = b.op("where", b.op("lt", x, zero), b.op("neg", g), b.const(0, g))
    return b.op("where", b.op("lt", zero, x), g, below)


def of_sqrt(b: Build[T], g: T, y: T, x: T) -> T:
    """d sqrt(x) = dx / (2 sqrt(x))"""
    return b.op("fdiv", g, b.op("add", y, y))


def of_recip(b: Build[T], g: T, y: T, x: T) -> T:
    """d(1/x) = -(1/x)^2 dx"""
    return b.op("neg", _times(b, g, b.op("square", y)))


def of_rsqrt(b: Build[T], g: T, y: T, x: T) -> T:
    """d x^-½ = -½ (x^-½)^3 dx"""
    return _scaled(b, _times(b, g, b.op("mul", b.op("square", y), y)), -0.5)


def of_square(b: Build[T], g: T, y: T, x: T) -> T:
    """d x^2 = 2 x dx"""
    return _times(b, g, b.op("add", x, x))


def of_exp(b: Build[T], g: T, y: T, x: T) -> T:
    """d e^x = e^x dx"""
    return _times(b, g, y)


def of_exp2(b: Build[T], g: T, y: T, x: T) -> T:
    """d 2^x = log(2) 2^x dx"""
    return _scaled(b, _times(b, g, y), math.log(2))


def of_log(b: Build[T], g: T, y: T, x: T) -> T:
    """d log(x) = dx / x"""
    return b.op("fdiv", g, x)


def of_log2(b: Build[T], g: T, y: T, x: T) -> T:
    """d log2(x) = dx / (x log(2))"""
    return b.op("fdiv", g, _scaled(b, x, math.log(2)))


def of_sin(b: Build[T], g: T, y: T, x: T) -> T:
    """d sin(x) = cos(x) dx"""
    return _times(b, g, b.op("cos", x))


def of_cos(b: Build[T], g: T, y: T, x: T) -> T:
    """d cos(x) = -sin(x) dx"""
    return b.op("neg", _times(b, g, b.op("sin", x)))


def of_tan(b: Build[T], g: T, y: T, x: T) -> T:
    """d tan(x) = (1 + tan(x)^2) dx"""
    return _times(b, g, b.op("add", b.const(1, y), b.op("square", y)))


def _arc(b: Build[T], x: T) -> T:
    """(1 - x^2)^-½"""
    return b.op("rsqrt", b.op("sub", b.const(1, x), b.op("square", x)))


def of_asin(b: Build[T], g: T, y: T, x: T) -> T:
    """d asin(x) = dx / sqrt(1 - x^2)"""
    return _times(b, g, _arc(b, x))


def of_acos(b: Build[T], g: T, y: T, x: T) -> T:
    """d acos(x) = -dx / sqrt(1 - x^2)"""
    return b.op("neg", _times(b, g, _arc(b, x)))


def of_atan(b: Build[T], g: T, y: T, x: T) -> T:
    """d atan(x) = dx / (1 + x^2)"""
    return b.op("fdiv", g, b.op("add", b.const(1, x), b.op("square", x)))


def of_tanh(b: Build[T], g: T, y: T, x: T) -> T:
    """d tanh(x) = (1 - tanh(x)^2) dx"""
    return _times(b, g, b.op("sub", b.const(1, y), b.op("square", y)))


def of_erf(b: Build[T], g: T, y: T, x: T) -> T:
    """d erf(x) = 2/sqrt(pi) e^(-x^2) dx"""
    bell = b.op("exp", b.op("neg", b.op("square", x)))
    return _scaled(b, _times(b, g, bell), 2 / math.sqrt(math.pi))


def of_sigmoid(b: Build[T], g: T, y: T, x: T) -> T:
    """d sigmoid(x) = s (1 - s) dx, s = sigmoid(x)"""
    return _times(b, _times(b, g, y), b.op("sub", b.const(1, y), y))


def of_silu(b: Build[T], g: T, y: T, x: T) -> T:
    """d silu(x) = s (1 + x (1 - s)) dx, s = sigmoid(x)"""
    one, s = b.const(1, x), b.op("sigmoid", x)
    inner = b.op("add", one, b.op("mul", x, b.op("sub", one, s)))
    return _times(b, g, b.op("mul", s, inner))


def of_relu(b: Build[T], g: T, y: T, x: T) -> T:
    """d relu(x) = dx but where relu(x) <= 0"""
    return b.op("where", b.op("le", y, b.const(0, y)), b.const(0, g), g)


def of_gelu(b: Build[T], g: T, y: T, x: T) -> T:
    """d gelu(x) = (s + x s (1 - s) (k + 3 k c x^2)) dx, s = sigmoid(k x + k c x^3)

    k = sqrt(8/pi), c = 0.044715: gelu in its tanh form is x times this sigmoid.
    """
    k, c = math.sqrt(8 / math.pi), 0.044715
    one, squared = b.const(1, x), b.op("square", x)
    inner = b.op("add", b.const(k, x), _scaled(b, squared, k * c))
    slope = b.op("add", b.const(k, x), _scaled(b, squared, 3 * k * c))
    s = b.op("sigmoid", b.op("mul", x, inner))
    bend = b.op("mul", b.op("mul", x, s), b.op("mul", b.op("sub", one, s), slope))
    return _times(b, g, b.op("add", s, bend))


def of_softplus(b: Build[T], g: T, y: T, x: T) -> T:
    """d softplus(x) = sigmoid(x) dx"""
    return _times(b, g, b.op("sigmoid", x))


def by_second(b: Build[T], g: T, y: T, x1: T, x2: T, *rest: T) -> T:
    """d(a b) = b da + …"""
    return _times(b, g, x2)


def by_first(b: Build[T], g: T, y: T, x1: T, x2: T, *rest: T) -> T:
    """d(a b) = … + a db"""
    return _times(b, g, x1)


def of_dividend(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d(a / b) = da / b + …"""
    return b.op("fdiv", g, x2)


def of_divisor(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d(a / b) = … - (a / b) / b db"""
    return b.op("neg", _times(b, g, b.op("fdiv", y, x2)))


def of_modulus(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d(a mod b) = … - trunc(a / b) db"""
    return b.op("neg", _times(b, g, b.op("trunc", b.op("fdiv", x1, x2))))


def of_base(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d a^b = b a^(b - 1) da + …, 0 where b is 0"""
    lesser = b.op("pow", x1, b.op("sub", x2, b.const(1, x2)))
    slope = b.op("mul", x2, lesser)
    flat = b.const(0, x2)
    return _times(b, g, b.op("where", b.op("eq", x2, flat), flat, slope))


def of_exponent(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d a^b = … + log(a) a^b db, 0 where a is 0 and b at least 0"""
    nothing = b.const(0, x1)
    is_flat = b.op("and", b.op("eq", x1, nothing), b.op("le", nothing, x2))
    safe = b.op("where", is_flat, b.const(1, x1), x1)
    return _times(b, g, b.op("where", is_flat, nothing, b.op("mul", y, b.op("log", safe))))


def _shared(b: Build[T], g: T, is_other: T, is_tie: T) -> T:
    """0 where the other operand is chosen, g / 2 at a tie, g where one operand is NaN or this one
    is chosen."""
    part = b.op("where", is_tie, _scaled(b, g, 0.5), g)
    return b.op("where", is_other, b.const(0, g), part)


def of_greater_first(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d max(a, b) = da but where a < b, half where they are equal"""
    return _shared(b, g, b.op("lt", x1, x2), b.op("eq", x1, x2))


def of_greater_second(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d max(a, b) = db but where b < a, half where they are equal"""
    return _shared(b, g, b.op("lt", x2, x1), b.op("eq", x1, x2))


def of_hypot_first(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d hypot(a, b) = a / hypot(a, b) da + …"""
    return _times(b, g, b.op("fdiv", x1, y))


def of_hypot_second(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d hypot(a, b) = … + b / hypot(a, b) db"""
    return _times(b, g, b.op("fdiv", x2, y))


def _over_squares(b: Build[T], g: T, factor: T, x1: T, x2: T) -> T:
    """g factor / (a^2 + b^2), 0 where both are 0"""
    total = b.op("add", b.op("square", x1), b.op("square", x2))
    nothing = b.const(0, total)
    is_zero = b.op("eq", total, nothing)
    safe = b.op("where", is_zero, b.const(1, total), total)
    return b.op("where", is_zero, nothing, _times(b, g, b.op("fdiv", factor, safe)))


def of_atan2_first(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d atan2(a, b) = b / (a^2 + b^2) da + …"""
    return _over_squares(b, g, x2, x1, x2)


def of_atan2_second(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d atan2(a, b) = … - a / (a^2 + b^2) db"""
    return b.op("neg", _over_squares(b, g, x1, x1, x2))


def of_copysign(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d copysign(a, b) = sign(a) sign(copysign(a, b)) da, 0 where a is 0"""
    return _times(b, g, b.op("mul", b.op("sign", x1), b.op("sign", y)))


def of_chosen(b: Build[T], g: T, y: T, condition: T, yes: T, no: T) -> T:
    """d where(c, a, b) = da where c is true, else 0"""
    return b.op("where", condition, g, b.const(0, g))


def of_other(b: Build[T], g: T, y: T, condition: T, yes: T, no: T) -> T:
    """d where(c, a, b) = db where c is false, else 0"""
    return b.op("where", condition, b.const(0, g), g)


# Reductions and scans: `b` has `fold`, a reduction broadcast to every element, and `run`, a scan
# along the axis; `g` and `y` are broadcast to every element of `x`.


def of_sum(b: Folds[T], g: T, y: T, x: T) -> T:
    """d sum(x) = sum of dx"""
    return g


def of_product(b: Folds[T], g: T, y: T, x: T) -> T:
    """d prod(x) = sum of dx times the others: all, where one is 0 only at that one"""
    nothing, one = b.const(0, x), b.const(1, x)
    is_zero = b.op("eq", x, nothing)
    zeros = b.fold("sum", b.op("where", is_zero, one, nothing))
    rest = b.op("where", is_zero, one, x)
    others = b.op("fdiv", b.fold("prod", rest), rest)
    alone = b.op("eq", zeros, b.op("where", is_zero, one, nothing))
    return _times(b, g, b.of_others(b.op("where", alone, others, nothing)))


def of_extreme(b: Folds[T], g: T, y: T, x: T) -> T:
    """d max(x) = dx where x is it, in equal parts where several are; NaN for all where it is NaN"""
    is_it = b.op("eq", x, y)
    return b.op("where", is_it, b.shared(g, is_it), of_unchosen(b, y, g))


def of_unchosen(b: Build[T], y: T, g: T) -> T:
    """0 for elements that are not the extreme y; NaN where y is NaN, which equals no element."""
    return b.op("where", b.op("eq", y, y), b.const(0, g), b.const(math.nan, g))


def of_running_sum(b: Folds[T], g: T, y: T, x: T) -> T:
    """d cumsum(x)[t] = sum of dx[s], s <= t"""
    return b.run("sum", g, True)


def of_running_product(b: Folds[T], g: T, y: T, x: T) -> T:
    """d cumprod(x)[t] = sum of dx[s] times the others up to t, s <= t

    After the first 0 only its own tangent contributes, times the product of the other factors.
    """
    nothing, one = b.const(0, x), b.const(1, x)
    is_zero = b.op("eq", x, nothing)
    zeros = b.run("sum", b.op("where", is_zero, one, nothing))
    is_first = b.op("and", is_zero, b.op("eq", zeros, one))
    rest = b.run("prod", b.op("where", is_first, one, x))
    at_first = b.run("sum", _times(b, g, rest), True)
    plain = b.run("sum", _times(b, g, y), True)
    others = b.op("fdiv", plain, b.op("where", is_zero, one, x))
    return b.of_runs(b.op("where", is_first, at_first, others), g)
