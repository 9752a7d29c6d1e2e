"""The operation tables. An operation is one row; everything else reads it from here.

`OPS` holds the elementwise operations: name, operands, meaning, NumPy reference, operand kinds,
result type, relative cost, a domain for tests, and, for a row that is no machine instruction,
its expansion into rows that are. `REDUCTIONS` holds the reductions: identity and combination.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from compiler.core.dtypes import DType, Kind, Scalar, bool_
from compiler.ops import references

T = TypeVar("T")
Result = Literal["same", "bool"]

ANY: frozenset[Kind] = frozenset(("bool", "int", "uint", "float"))
NUMBER: frozenset[Kind] = frozenset(("int", "uint", "float"))
INTEGER: frozenset[Kind] = frozenset(("int", "uint"))
BITS: frozenset[Kind] = frozenset(("bool", "int", "uint"))
FLOAT: frozenset[Kind] = frozenset(("float",))


class Build(Protocol[T]):
    """What an expansion builds with: operations by name and constants of an operand's type."""

    def op(self, name: str, *sources: T) -> T:
        """The operation `name` applied to `sources`."""
        ...

    def const(self, value: Scalar, like: T) -> T:
        """`value` with the shape and type of `like`."""
        ...


Expansion = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Op:
    """One elementwise operation; see the module docstring for the fields."""

    name: str
    arity: int
    meaning: str
    reference: Callable[..., Any]
    accepts: frozenset[Kind] = NUMBER
    result: Result = "same"
    cost: int = 1
    domain: tuple[float, float] = (-100.0, 100.0)
    expansion: Expansion | None = None

    def result_dtype(self, operands: tuple[DType, ...]) -> DType:
        """The element type of the result for operands of these types."""
        return bool_ if self.result == "bool" else operands[-1]


@dataclass(frozen=True, slots=True)
class Reduction:
    """One reduction: `combine` is the elementwise operation that folds two partial results."""

    name: str
    combine: str
    meaning: str
    reference: Callable[..., Any]
    accepts: frozenset[Kind]
    has_identity: bool = True

    def identity(self, dtype: DType) -> Scalar:
        """The value that leaves every partial result unchanged."""
        match self.name:
            case "max":
                return dtype.minimum
            case "min":
                return dtype.maximum
        value = 1 if self.name == "prod" else 0
        return float(value) if dtype.is_float else (bool(value) if dtype.kind == "bool" else value)


def _square(b: Build[T], x: T) -> T:
    """square(x) = x * x"""
    return b.op("mul", x, x)


def _rsqrt(b: Build[T], x: T) -> T:
    """rsqrt(x) = 1 / sqrt(x)"""
    return b.op("recip", b.op("sqrt", x))


def _sign(b: Build[T], x: T) -> T:
    """sign(x) = 0 where x is 0 (-0.0 too), NaN where it is NaN, else 1 with the sign of x"""
    zero, one, minus = b.const(0, x), b.const(1, x), b.const(-1, x)
    level = b.op("where", b.op("eq", x, zero), zero, x)
    below = b.op("where", b.op("lt", x, zero), minus, level)
    return b.op("where", b.op("lt", zero, x), one, below)


def _sigmoid(b: Build[T], x: T) -> T:
    """sigmoid(x) = 1 / (1 + exp(-x))"""
    return b.op("recip", b.op("add", b.const(1, x), b.op("exp", b.op("neg", x))))


def _silu(b: Build[T], x: T) -> T:
    """silu(x) = x / (1 + exp(-x))"""
    return b.op("fdiv", x, b.op("add", b.const(1, x), b.op("exp", b.op("neg", x))))


def _relu(b: Build[T], x: T) -> T:
    """relu(x) = max(x, 0)"""
    return b.op("max", x, b.const(0, x))


def _gelu(b: Build[T], x: T) -> T:
    """gelu(x) = x / (1 + 2^(x * (c + 0.044715 c x^2))), c = -sqrt(8/pi) log2(e)

    1 + tanh would cancel; a power of two takes fewer steps than one of e.
    """
    slope = -math.sqrt(8 / math.pi) * math.log2(math.e)
    bend = b.op("mul", b.op("mul", x, x), b.const(0.044715 * slope, x))
    power = b.op("exp2", b.op("mul", x, b.op("add", bend, b.const(slope, x))))
    return b.op("fdiv", x, b.op("add", b.const(1, x), power))


def _softplus(b: Build[T], x: T) -> T:
    """softplus(x) = max(x, 0) + log(1 + exp(-|x|))"""
    small = b.op("exp", b.op("neg", b.op("abs", x)))
    rest = _log_of_one_plus(b, small)
    return b.op("add", b.op("max", x, b.const(0, x)), rest)


def _log_of_one_plus(b: Build[T], x: T) -> T:
    """log(1 + x) for small x >= 0: log(u) x / (u - 1) corrects the rounding of u = 1 + x"""
    one = b.const(1, x)
    u = b.op("add", one, x)
    corrected = b.op("fdiv", b.op("mul", b.op("log", u), x), b.op("sub", u, one))
    return b.op("where", b.op("eq", u, one), x, corrected)


def _compare(name: str, meaning: str, reference: Callable[..., Any]) -> Op:
    return Op(name, 2, meaning, reference, ANY, "bool")


def _exponential(name: str, meaning: str, reference: Callable[..., Any], low: float) -> Op:
    return Op(name, 1, meaning, reference, FLOAT, cost=12, domain=(low, 80.0))


def _reference_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _reference_gelu(x: Any) -> Any:
    one, scale, k = (x.dtype.type(v) for v in (1, 0.044715, -math.sqrt(8 / math.pi)))
    return x / (one + np.exp(k * (x + scale * (x * x * x))))


def _reference_round(x: Any) -> Any:
    return np.rint(x) if x.dtype.kind == "f" else x


_ROWS = (
    # unary
    Op("neg", 1, "-x", np.negative, NUMBER),
    Op("not", 1, "bits or truth inverted", np.invert, BITS),
    Op("abs", 1, "|x|", np.absolute, NUMBER),
    Op("sign", 1, "-1, 0 or 1; NaN stays", np.sign, NUMBER, cost=6, expansion=_sign),
    Op("sqrt", 1, "square root", np.sqrt, FLOAT, cost=4, domain=(0.0, 100.0)),
    Op("recip", 1, "1 / x", np.reciprocal, FLOAT, cost=4),
    Op("rsqrt", 1, "1 / sqrt(x)", lambda x: np.reciprocal(np.sqrt(x)), FLOAT, cost=8,
       domain=(0.0, 100.0), expansion=_rsqrt),
    Op("square", 1, "x * x", np.square, NUMBER, expansion=_square),
    _exponential("exp", "e to the x", np.exp, -90.0),
    _exponential("exp2", "2 to the x", np.exp2, -120.0),
    Op("log", 1, "natural logarithm", np.log, FLOAT, cost=12, domain=(0.0, 1000.0)),
    Op("log2", 1, "logarithm to base 2", np.log2, FLOAT, cost=12, domain=(0.0, 1000.0)),
    Op("sin", 1, "sine of x radians", np.sin, FLOAT, cost=20),
    Op("cos", 1, "cosine of x radians", np.cos, FLOAT, cost=20),
    Op("tan", 1, "tangent of x radians", np.tan, FLOAT, cost=30),
    Op("tanh", 1, "hyperbolic tangent", np.tanh, FLOAT, cost=16, domain=(-12.0, 12.0)),
    Op("erf", 1, "error function", references.error_function, FLOAT, cost=20, domain=(-5.0, 5.0)),
    Op("trunc", 1, "towards zero", np.trunc, FLOAT),
    Op("floor", 1, "towards -inf", np.floor, FLOAT),
    Op("ceil", 1, "towards +inf", np.ceil, FLOAT),
    Op("round", 1, "to nearest, ties to even", _reference_round, FLOAT),
    Op("sigmoid", 1, "1 / (1 + exp(-x))", _reference_sigmoid, FLOAT, cost=18, expansion=_sigmoid),
    Op("silu", 1, "x * sigmoid(x)", lambda x: x / (1 + np.exp(-x)), FLOAT, cost=18,
       expansion=_silu),
    Op("relu", 1, "max(x, 0)", lambda x: np.maximum(x, x.dtype.type(0)), NUMBER, expansion=_relu),
    Op("gelu", 1, "x times the normal distribution of x, tanh form", _reference_gelu, FLOAT,
       cost=26, expansion=_gelu),
    Op("softplus", 1, "log(1 + exp(x))", lambda x: np.logaddexp(x, x.dtype.type(0)), FLOAT,
       cost=28, expansion=_softplus),
    # binary
    Op("add", 2, "a + b; or, for bool", np.add, ANY),
    Op("sub", 2, "a - b", np.subtract, NUMBER),
    Op("mul", 2, "a * b; and, for bool", np.multiply, ANY),
    Op("fdiv", 2, "a / b", np.divide, FLOAT, cost=4),
    Op("idiv", 2, "a / b towards zero; 0 where b is 0", references.truncated_divide, INTEGER,
       cost=8),
    Op("mod", 2, "remainder with the sign of a", references.remainder, NUMBER, cost=8),
    Op("pow", 2, "a to the b", references.power, NUMBER, cost=40, domain=(0.1, 8.0)),
    Op("max", 2, "the greater; NaN propagates", np.maximum, ANY),
    Op("min", 2, "the lesser; NaN propagates", np.minimum, ANY),
    _compare("lt", "a < b", np.less),
    _compare("le", "a <= b", np.less_equal),
    _compare("gt", "a > b", np.greater),
    _compare("ge", "a >= b", np.greater_equal),
    _compare("eq", "a == b", np.equal),
    _compare("ne", "a != b", np.not_equal),
    Op("xor", 2, "a ^ b", np.bitwise_xor, BITS),
    Op("or", 2, "a | b", np.bitwise_or, BITS),
    Op("and", 2, "a & b", np.bitwise_and, BITS),
    Op("shl", 2, "a << b; 0 past the width", references.shift_left, INTEGER, domain=(0.0, 70.0)),
    Op("shr", 2, "a >> b; the sign past the width", references.shift_right, INTEGER,
       domain=(0.0, 70.0)),
    # ternary
    Op("where", 3, "b where a is true, else c", np.where, ANY),
    Op("mulacc", 3, "a * b + c, rounded once or twice", references.multiply_add, NUMBER),
)  # fmt: skip

OPS: dict[str, Op] = {row.name: row for row in _ROWS}

REDUCTIONS: dict[str, Reduction] = {
    row.name: row
    for row in (
        Reduction("sum", "add", "sum of the elements", np.add.reduce, ANY),
        Reduction("prod", "mul", "product of the elements", np.multiply.reduce, ANY),
        Reduction("max", "max", "greatest element", np.maximum.reduce, ANY, has_identity=False),
        Reduction("min", "min", "least element", np.minimum.reduce, ANY, has_identity=False),
    )
}


def expand(build: Build[T], name: str, *sources: T) -> T:
    """The operation `name` in terms of machine operations, built with `build`.

    Raises `KeyError` for an operation that is a machine operation itself.
    """
    expansion = OPS[name].expansion
    if expansion is None:
        raise KeyError(name)
    result: T = expansion(build, *sources)
    return result
