"""Elementwise functions: tensor methods under the standard's names.

One of two operands may be a Python number: it takes the type of the other.
"""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from compiler.array_api.arguments import pair, tensor
from compiler.core.dtypes import Scalar
from compiler.core.keywords import public
from compiler.tensor import Tensor

Unary: TypeAlias = Callable[[Tensor], Tensor]
F = TypeVar("F", bound=Callable[..., Tensor])
Binary: TypeAlias = "Callable[[Tensor | Scalar, Tensor | Scalar], Tensor]"


def _one(name: str, method: str = "") -> Unary:
    """The function `name` that calls `method` of a tensor, by default the method of the same
    name."""

    def function(x: Tensor, /) -> Tensor:
        made: Tensor = getattr(tensor(name, x), method or name)()
        return made

    return public(_named(function, name, method or name))


def _two(name: str, mirrored: str = "") -> Binary:
    """The function `name` that calls the method of the same name. If the first operand is a Python
    number, `mirrored` is called with swapped operands."""

    def function(x1: "Tensor | Scalar", x2: "Tensor | Scalar", /) -> Tensor:
        if mirrored and isinstance(x1, Scalar):
            exchanged: Tensor = getattr(tensor(name, x2), mirrored)(x1)
            return exchanged
        first, second = pair(name, x1, x2)
        made: Tensor = getattr(first, name)(second)
        return made

    return public(_named(function, name, name))


def _named(function: F, name: str, method: str) -> F:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = getattr(Tensor, method).__doc__
    return function


abs = _one("abs")
acos = _one("acos")
acosh = _one("acosh")
asin = _one("asin")
asinh = _one("asinh")
atan = _one("atan")
atanh = _one("atanh")
bitwise_invert = _one("bitwise_invert")
ceil = _one("ceil")
cos = _one("cos")
cosh = _one("cosh")
exp = _one("exp")
expm1 = _one("expm1")
floor = _one("floor")
isfinite = _one("isfinite")
isinf = _one("isinf")
isnan = _one("isnan")
log = _one("log")
log10 = _one("log10")
log1p = _one("log1p")
log2 = _one("log2")
logical_not = _one("logical_not")
negative = _one("negative")
positive = _one("positive", "__pos__")
reciprocal = _one("reciprocal")
round = _one("round")
sign = _one("sign")
signbit = _one("signbit")
sin = _one("sin")
sinh = _one("sinh")
sqrt = _one("sqrt")
square = _one("square")
tan = _one("tan")
tanh = _one("tanh")
trunc = _one("trunc")

add = _two("add")
atan2 = _two("atan2")
bitwise_and = _two("bitwise_and")
bitwise_left_shift = _two("bitwise_left_shift")
bitwise_or = _two("bitwise_or")
bitwise_right_shift = _two("bitwise_right_shift")
bitwise_xor = _two("bitwise_xor")
copysign = _two("copysign")
divide = _two("divide")
equal = _two("equal", "eq")
floor_divide = _two("floor_divide")
greater = _two("greater", "lt")
greater_equal = _two("greater_equal", "le")
hypot = _two("hypot")
less = _two("less", "gt")
less_equal = _two("less_equal", "ge")
logaddexp = _two("logaddexp")
logical_and = _two("logical_and")
logical_or = _two("logical_or")
logical_xor = _two("logical_xor")
maximum = _two("maximum")
minimum = _two("minimum")
multiply = _two("multiply")
nextafter = _two("nextafter")
not_equal = _two("not_equal", "ne")
pow = _two("pow")
remainder = _two("remainder")
subtract = _two("subtract")


@public
def clip(
    x: Tensor, /, min: "Tensor | Scalar | None" = None, max: "Tensor | Scalar | None" = None
) -> Tensor:  # fmt: skip
    """`x`, in its type, limited to `min` … `max`."""
    x = tensor("clip", x)
    return x.clip(min, max).cast(x.dtype)


@public
def conj(x: Tensor, /) -> Tensor:
    """The complex conjugate; numbers are real, so `x`."""
    return +tensor("conj", x)


@public
def real(x: Tensor, /) -> Tensor:
    """The real part; numbers are real, so `x`."""
    return +tensor("real", x)


@public
def imag(x: Tensor, /) -> Tensor:
    """The imaginary part; numbers are real, so 0."""
    return tensor("imag", x).zeros_like()
