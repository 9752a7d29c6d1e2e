"""Derivatives of functions composed of several rows, each as a whole.

    rule(b, g, y, *xs)

as in `derivatives.py`. The derivatives of the single steps would be wrong where a step corrects the
rounding of another (log1p, expm1), where both branches of a choice are computed (lgamma), or where
ties differ (clip at its bounds). At kinks the values are PyTorch's.
"""

import math
from typing import TypeVar

from compiler.core.errors import GradientError
from compiler.ops.row import Build, Folds

T = TypeVar("T")


def _times(b: Build[T], g: T, factor: T) -> T:
    return b.op("mul", g, factor)


def _where(b: Build[T], condition: T, g: T) -> T:
    """g where the condition holds, else 0."""
    return b.op("where", condition, g, b.const(0, g))


def _is_number(b: Build[T], x: T) -> T:
    return b.op("eq", x, x)


def of_log1p(b: Build[T], g: T, y: T, x: T) -> T:
    """d log(1 + x) = dx / (1 + x)"""
    return b.op("fdiv", g, b.op("add", b.const(1, x), x))


def of_expm1(b: Build[T], g: T, y: T, x: T) -> T:
    """d(e^x - 1) = (y + 1) dx"""
    return _times(b, g, b.op("add", y, b.const(1, y)))


def of_sinh(b: Build[T], g: T, y: T, x: T) -> T:
    """d sinh(x) = sqrt(1 + y^2) dx"""
    return _times(b, g, b.op("hypot", y, b.const(1, y)))


def of_cosh(b: Build[T], g: T, y: T, x: T) -> T:
    """d cosh(x) = y tanh(x) dx"""
    return _times(b, g, _times(b, y, b.op("tanh", x)))


def of_asinh(b: Build[T], g: T, y: T, x: T) -> T:
    """d asinh(x) = dx / sqrt(1 + x^2)"""
    return b.op("fdiv", g, b.op("hypot", x, b.const(1, x)))


def of_acosh(b: Build[T], g: T, y: T, x: T) -> T:
    """d acosh(x) = dx / sqrt((x - 1) (x + 1))"""
    one = b.const(1, x)
    return _times(b, g, b.op("rsqrt", _times(b, b.op("sub", x, one), b.op("add", x, one))))


def of_atanh(b: Build[T], g: T, y: T, x: T) -> T:
    """d atanh(x) = dx / ((1 - x) (1 + x))"""
    one = b.const(1, x)
    return b.op("fdiv", g, _times(b, b.op("sub", one, x), b.op("add", one, x)))


def of_erfc(b: Build[T], g: T, y: T, x: T) -> T:
    """d erfc(x) = -2/sqrt(pi) e^(-x^2) dx"""
    bell = b.op("exp", b.op("neg", b.op("square", x)))
    return _times(b, _times(b, g, bell), b.const(-2 / math.sqrt(math.pi), g))


def of_erfinv(b: Build[T], g: T, y: T, x: T) -> T:
    """d erfinv(x) = sqrt(pi)/2 e^(y^2) dx"""
    bowl = b.op("exp", b.op("square", y))
    return _times(b, _times(b, g, bowl), b.const(math.sqrt(math.pi) / 2, g))


def of_cbrt(b: Build[T], g: T, y: T, x: T) -> T:
    """d x^⅓ = dx / (3 y^2)"""
    return b.op("fdiv", g, _times(b, b.const(3, y), b.op("square", y)))


def of_logaddexp_first(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d log(e^a + e^b) = sigmoid(a - b) da + …"""
    return _times(b, g, b.op("sigmoid", b.op("sub", x1, x2)))


def of_logaddexp_second(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d log(e^a + e^b) = … + sigmoid(b - a) db"""
    return of_logaddexp_first(b, g, y, x2, x1)


def of_root(b: Build[T], g: T, y: T, x: T) -> T:
    """d sqrt(x) = dx / (2 sqrt(x)), 0 where x is 0"""
    is_zero = b.op("eq", y, b.const(0, y))
    safe = b.op("where", is_zero, b.const(1, y), y)
    return _where(b, b.op("ne", y, b.const(0, y)), b.op("fdiv", g, b.op("add", safe, safe)))


def of_share(b: Build[T], g: T, y: T, x: T, share: T) -> T:
    """d y = share dx"""
    return _times(b, g, share)


def of_nothing(b: Build[T], g: T, y: T, x: T) -> T:
    """An unknown derivative: a user's function defines its own, which cannot be imported."""
    raise GradientError("gradient", "the function has a derivative of its own, which is not known",
                        got="custom_jvp or custom_vjp of JAX", expected="operations of tensors",
                        hint="import the gradient: from_jax(jax.grad(f), …)")  # fmt: skip


def of_modulus(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d(a % b) = … - (a - a % b) / b db"""
    quotient = b.op("round", b.op("fdiv", b.op("sub", x1, y), x2))
    return b.op("neg", _times(b, g, quotient))


def unchanged(b: Build[T], g: T, y: T, *xs: T) -> T:
    """d(x + …) = dx"""
    return g


# Limits: `x`, then the bounds that are given.


def of_raised(b: Build[T], g: T, y: T, x: T, low: T) -> T:
    """d clip(x, low) = dx where x >= low"""
    return _where(b, b.op("le", low, x), g)


def of_raising(b: Build[T], g: T, y: T, x: T, low: T) -> T:
    """d clip(x, low) = d low where x < low"""
    return _where(b, b.op("lt", x, low), g)


def of_lowered(b: Build[T], g: T, y: T, x: T, high: T) -> T:
    """d clip(x, high) = dx where x <= high"""
    return _where(b, b.op("le", x, high), g)


def of_lowering(b: Build[T], g: T, y: T, x: T, high: T) -> T:
    """d clip(x, high) = d high where high < x"""
    return _where(b, b.op("lt", high, x), g)


def of_clipped(b: Build[T], g: T, y: T, x: T, low: T, high: T) -> T:
    """d clip(x, low, high) = dx where low <= x <= high"""
    return _where(b, b.op("and", b.op("le", low, x), b.op("le", x, high)), g)


def of_low(b: Build[T], g: T, y: T, x: T, low: T, high: T) -> T:
    """d clip(x, low, high) = d low where x < low < high"""
    return _where(b, b.op("and", b.op("lt", x, low), b.op("lt", low, high)), g)


def of_high(b: Build[T], g: T, y: T, x: T, low: T, high: T) -> T:
    """d clip(x, low, high) = d high where high < x or high < low"""
    return _where(b, b.op("or", b.op("lt", high, x), b.op("lt", high, low)), g)


def of_inside(b: Build[T], g: T, y: T, x: T, low: T, high: T) -> T:
    """d relu6(x) = dx but where x <= low or high <= x"""
    is_outside = b.op("or", b.op("le", x, low), b.op("le", high, x))
    return b.op("where", is_outside, b.const(0, g), g)


def of_elu(b: Build[T], g: T, y: T, x: T, alpha: T) -> T:
    """d elu(x) = dx, where x <= 0 (y + alpha) dx"""
    is_bent = b.op("le", x, b.const(0, x))
    return b.op("where", is_bent, _times(b, g, b.op("add", y, alpha)), g)


def of_fmax_first(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d fmax(a, b) = da where a >= b, or b is NaN"""
    return _where(b, b.op("or", b.op("le", x2, x1), b.op("ne", x2, x2)), g)


def of_fmax_second(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d fmax(a, b) = db elsewhere"""
    is_first = b.op("or", b.op("le", x2, x1), b.op("ne", x2, x2))
    return b.op("where", is_first, b.const(0, g), g)


def of_fmin_first(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d fmin(a, b) = da where a <= b, or b is NaN"""
    return _where(b, b.op("or", b.op("le", x1, x2), b.op("ne", x2, x2)), g)


def of_fmin_second(b: Build[T], g: T, y: T, x1: T, x2: T) -> T:
    """d fmin(a, b) = db elsewhere"""
    is_first = b.op("or", b.op("le", x1, x2), b.op("ne", x2, x2))
    return b.op("where", is_first, b.const(0, g), g)


def of_probability(b: Build[T], g: T, y: T, x: T, t: T) -> T:
    """d -(t log x + (1 - t) log(1 - x)) = (x - t) / max(x (1 - x), 1e-12) dx"""
    spread = b.op("max", _times(b, b.op("sub", b.const(1, x), x), x), b.const(1e-12, x))
    return b.op("fdiv", _times(b, g, b.op("sub", x, t)), spread)


def of_target(b: Build[T], g: T, y: T, x: T, t: T) -> T:
    """d -(t log x + (1 - t) log(1 - x)) = (log(1 - x) - log x) dt"""
    return _times(b, g, b.op("sub", b.op("log", b.op("sub", b.const(1, x), x)), b.op("log", x)))


def of_first_extreme(b: Folds[T], g: T, y: T, x: T) -> T:
    """d max(x) = dx where x is it, or is NaN, at the first place"""
    number = b.number()
    beyond = b.const(2**31 - 1, number)
    is_it = b.op("or", b.op("eq", x, y), b.op("ne", x, x))
    place = b.fold("min", b.op("where", is_it, number, beyond))
    return _where(b, b.op("eq", number, place), g)
