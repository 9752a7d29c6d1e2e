"""The operation tables. An operation is one row; everything else reads it from here.

`OPS` holds the elementwise operations and `REDUCTIONS` the reductions; `row.py` defines the columns
and which of them are required. To add an operation, write its row here, above it its expansion
unless it is a machine instruction, its derivative in `derivatives.py`, and a method of `Tensor`
that applies it.
"""

import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from compiler.core.dtypes import DType, Scalar, is_floating
from compiler.ops import bounds, references
from compiler.ops import c_text as c
from compiler.ops import derivatives as d
from compiler.ops import llvm_text as llvm
from compiler.ops.row import (
    ANY,
    BITS,
    FLOAT,
    INTEGER,
    NUMBER,
    Build,
    Law,
    Op,
    Reduction,
    by_kind,
    table,
)

T = TypeVar("T")
PLAIN = (-100.0, 100.0)
AMOUNT = (0.0, 70.0)
"""The range of shift amounts in tests: beyond the width of every type."""
ONCE = 0.5
"""The rounding error of an exact result, rounded once."""
ELEMENTARY = 4.0
"""The maximal error of elementary functions, in units in the last place; `llvm/mathematics` is
better."""
COMPOSED = 128.0
"""The error of functions composed of several operations: exp magnifies the error of its operand."""
FREE: frozenset[Law] = frozenset(("associative", "commutative"))
KEEPING: frozenset[Law] = FREE | {"idempotent"}
WHOLE_NUMBERS = frozenset(BITS)
"""The types that rounding to integers leaves unchanged."""


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


def _hypot(b: Build[T], x: T, y: T) -> T:
    """hypot(x, y) = g + l r / (1 + sqrt(1 + r^2)), r = l / g, of |x| and |y| the greater and lesser

    No square overflows, and what is rounded twice is at most 0.42 g. inf with NaN gives inf.
    """
    x, y, one, infinite = b.op("abs", x), b.op("abs", y), b.const(1, x), b.const(math.inf, x)
    greater, lesser = b.op("max", x, y), b.op("min", x, y)
    is_zero = b.op("eq", greater, b.const(0, x))
    ratio = b.op("where", is_zero, greater, b.op("fdiv", lesser, greater))
    root = b.op("sqrt", b.op("add", b.op("mul", ratio, ratio), one))
    more = b.op("mul", lesser, b.op("fdiv", ratio, b.op("add", one, root)))
    is_infinite = b.op("or", b.op("eq", x, infinite), b.op("eq", y, infinite))
    return b.op("where", is_infinite, infinite, b.op("add", greater, more))


def _atan2(b: Build[T], y: T, x: T) -> T:
    """atan2(y, x) = atan |y / x|, left of 0 pi less that, with the sign of y

    Equal magnitudes, infinite ones too, have the quotient 1; that of 0 is 0 for every x.
    """
    zero, one = b.const(0, x), b.const(1, x)
    up, along = b.op("abs", y), b.op("abs", x)
    ratio = b.op("where", b.op("eq", up, along), one, b.op("fdiv", up, along))
    angle = b.op("atan", b.op("where", b.op("eq", up, zero), zero, ratio))
    is_left = b.op("lt", b.op("copysign", one, x), zero)
    turned = b.op("where", is_left, b.op("sub", b.const(math.pi, x), angle), angle)
    return b.op("where", b.op("ne", x, x), x, b.op("copysign", turned, y))


def _zero(dtype: DType) -> Scalar:
    """x + -0.0 = x for floats; x + 0.0 would turn -0.0 into 0.0."""
    return -0.0 if dtype.is_float else 0


def _reference_sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _reference_gelu(x: Any) -> Any:
    one, scale, k = (x.dtype.type(v) for v in (1, 0.044715, -math.sqrt(8 / math.pi)))
    return x / (one + np.exp(k * (x + scale * (x * x * x))))


def _reference_round(x: Any) -> Any:
    return np.rint(x) if is_floating(x.dtype) else x


def _units_of_multiply_add(unit: Callable[[Any], Any], result: Any, operands: Any) -> Any:
    """Half a unit of the result, and half a unit of the product, in case it is rounded as well."""
    return (unit(result) + unit(np.multiply(*operands[:2]))) / 2


def _elementary(
    name: str,
    meaning: str,
    reference: Callable[..., Any],
    cost: int,
    ns: float,
    derivative: d.Derivative,
    domain: tuple[float, float] = PLAIN,
) -> Op:
    """A function of one float that has this name in `llvm/mathematics` and the C library."""
    return Op(
        name, 1, meaning, reference, FLOAT, cost=cost, ns=ns, rounding=ELEMENTARY, domain=domain,
        llvm=by_kind(floats=llvm.routine(name, has_halves=False)),
        c=by_kind(floats=c.function(name)), vectors="all", derivative=(derivative,),
    )  # fmt: skip


def _to_whole(name: str, meaning: str, reference: Callable[..., Any], of_llvm: str = "",
              of_c: str = "") -> Op:  # fmt: skip
    """A rounding to integers."""
    return Op(
        name, 1, meaning, reference, FLOAT, cost=1, rounding=0, domain=PLAIN, vectors="all",
        llvm=by_kind(floats=llvm.intrinsic(of_llvm or name, has_halves=False)),
        c=by_kind(floats=c.function(of_c or name)), unchanged=WHOLE_NUMBERS, derivative=(),
    )  # fmt: skip


def _compare(name: str, sign: str, reference: Callable[..., Any], floats: str, integers: str = "",
             of_bounds: bounds.BoundsRule | None = None) -> Op:  # fmt: skip
    """A comparison: `floats` and `integers` are LLVM's predicates for it."""
    signed, unsigned = (f"s{integers}", f"u{integers}") if integers else (name, name)
    return Op(
        name, 2, f"a {sign} b", reference, ANY, "bool", cost=1, domain=PLAIN, vectors="all",
        llvm=by_kind(
            llvm.instruction(f"icmp {unsigned}"),
            floats=llvm.instruction(f"fcmp {floats}"), signed=llvm.instruction(f"icmp {signed}"),
        ),
        c=by_kind(c.infix(sign)), bounds=of_bounds, takes_numbers=True, infix=f" {sign} ",
        derivative=(),
    )  # fmt: skip


def _bitwise(name: str, sign: str, reference: Callable[..., Any], of_c: str, laws: frozenset[Law],
             of_bounds: bounds.BoundsRule | None = None) -> Op:  # fmt: skip
    """A bitwise operation; `of_c` is C's operator for truth values."""
    return Op(
        name, 2, f"a {sign} b", reference, BITS, cost=1, domain=PLAIN, vectors="all", laws=laws,
        llvm=by_kind(llvm.instruction(name)), bounds=of_bounds, infix=f" {sign} ",
        c=by_kind(integers=c.bitwise(sign), bools=c.infix(of_c)),
    )  # fmt: skip


_UNARY = (
    Op("neg", 1, "-x", np.negative, NUMBER, cost=1, rounding=0, domain=PLAIN, vectors="all",
       llvm=by_kind(floats=llvm.instruction("fneg"), integers=llvm.with_zero("sub")),
       c=by_kind(floats="-{a}", integers=c.NEGATED), laws=frozenset(("involution",)),
       whole=operator.neg, is_size=True,
       bool_hint="use ~ or logical_not to invert truth values", derivative=(d.negated,)),
    Op("not", 1, "bits or truth inverted", np.invert, BITS, cost=1, domain=PLAIN, vectors="all",
       llvm=by_kind(integers=llvm.and_constant("xor", -1), bools=llvm.and_constant("xor", True)),
       c=by_kind(integers="({t})~{a}", bools="!{a}"), laws=frozenset(("involution",))),
    Op("abs", 1, "|x|", np.absolute, NUMBER, cost=1, rounding=0, domain=PLAIN, vectors="all",
       llvm=by_kind(floats=llvm.intrinsic("fabs"), signed=llvm.intrinsic("abs", ("i1", "false")),
                    unsigned=llvm.and_constant("or", 0)),
       c=by_kind(floats=c.function("fabs"), signed=c.MAGNITUDE, unsigned="{a}"),
       whole=abs, is_size=True, unchanged=frozenset(("bool",)), derivative=(d.of_abs,)),
    Op("sign", 1, "-1, 0 or 1; NaN stays", np.sign, NUMBER, cost=6, rounding=0, domain=PLAIN,
       expansion=_sign, derivative=()),
    Op("sqrt", 1, "square root", np.sqrt, FLOAT, cost=4, ns=0.05, rounding=ONCE,
       domain=(0.0, 100.0), llvm=by_kind(floats=llvm.intrinsic("sqrt", has_halves=False)),
       c=by_kind(floats=c.function("sqrt")), vectors="all", derivative=(d.of_sqrt,)),
    Op("recip", 1, "1 / x", np.reciprocal, FLOAT, cost=4, ns=0.02, rounding=ONCE, domain=PLAIN,
       llvm=by_kind(floats=llvm.reciprocal), c=by_kind(floats="1.0{f} / {a}"), vectors="all",
       derivative=(d.of_recip,)),
    Op("rsqrt", 1, "1 / sqrt(x)", lambda x: np.reciprocal(np.sqrt(x)), FLOAT, cost=8, rounding=2,
       domain=(0.0, 100.0), expansion=_rsqrt, derivative=(d.of_rsqrt,)),
    Op("square", 1, "x * x", np.square, NUMBER, cost=1, rounding=ONCE, domain=PLAIN,
       expansion=_square, bools_as_int8=True, derivative=(d.of_square,)),
    _elementary("exp", "e to the x", np.exp, 12, 0.12, d.of_exp, (-90.0, 80.0)),
    _elementary("exp2", "2 to the x", np.exp2, 12, 0.1, d.of_exp2, (-120.0, 80.0)),
    _elementary("log", "natural logarithm", np.log, 12, 0.18, d.of_log, (0.0, 1000.0)),
    _elementary("log2", "logarithm to base 2", np.log2, 12, 0.2, d.of_log2, (0.0, 1000.0)),
    _elementary("sin", "sine of x radians", np.sin, 20, 0.7, d.of_sin),
    _elementary("cos", "cosine of x radians", np.cos, 20, 0.7, d.of_cos),
    _elementary("tan", "tangent of x radians", np.tan, 30, 0.75, d.of_tan),
    _elementary("asin", "inverse sine", np.arcsin, 20, 0.09, d.of_asin, (-1.0, 1.0)),
    _elementary("acos", "inverse cosine", np.arccos, 20, 0.12, d.of_acos, (-1.0, 1.0)),
    _elementary("atan", "inverse tangent", np.arctan, 20, 0.15, d.of_atan),
    _elementary("tanh", "hyperbolic tangent", np.tanh, 16, 0.15, d.of_tanh, (-12.0, 12.0)),
    _elementary("erf", "error function", references.error_function, 20, 0.2, d.of_erf, (-5.0, 5.0)),
    _to_whole("trunc", "towards zero", np.trunc),
    _to_whole("floor", "towards -inf", np.floor),
    _to_whole("ceil", "towards +inf", np.ceil),
    _to_whole("round", "to nearest, ties to even", _reference_round, "roundeven", "rint"),
    Op("sigmoid", 1, "1 / (1 + exp(-x))", _reference_sigmoid, FLOAT, cost=18, rounding=COMPOSED,
       domain=PLAIN, expansion=_sigmoid, derivative=(d.of_sigmoid,)),
    Op("silu", 1, "x * sigmoid(x)", lambda x: x / (1 + np.exp(-x)), FLOAT, cost=18,
       rounding=COMPOSED, domain=PLAIN, expansion=_silu, derivative=(d.of_silu,)),
    Op("relu", 1, "max(x, 0)", lambda x: np.maximum(x, x.dtype.type(0)), NUMBER, cost=1,
       rounding=0, domain=PLAIN, expansion=_relu, derivative=(d.of_relu,)),
    Op("gelu", 1, "x times the normal distribution of x, tanh form", _reference_gelu, FLOAT,
       cost=26, rounding=COMPOSED, domain=PLAIN, expansion=_gelu, derivative=(d.of_gelu,)),
    Op("softplus", 1, "log(1 + exp(x))", lambda x: np.logaddexp(x, x.dtype.type(0)), FLOAT,
       cost=28, rounding=COMPOSED, domain=PLAIN, expansion=_softplus, derivative=(d.of_softplus,)),
)  # fmt: skip

_BINARY = (
    Op("add", 2, "a + b; or, for bool", np.add, ANY, cost=1, rounding=ONCE, domain=PLAIN,
       llvm=by_kind(floats=llvm.floating("fadd"), integers=llvm.instruction("add"),
                    bools=llvm.instruction("or")),
       c=by_kind(floats=c.infix("+"), integers=c.wrapped("+"), bools=c.infix("||")),
       vectors="all", bounds=bounds.of_sum, whole=operator.add, is_size=True, laws=FREE,
       identity=_zero, takes_numbers=True, infix=" + ", derivative=(d.unchanged, d.unchanged)),
    Op("sub", 2, "a - b", np.subtract, NUMBER, cost=1, rounding=ONCE, domain=PLAIN,
       llvm=by_kind(floats=llvm.floating("fsub"), integers=llvm.instruction("sub")),
       c=by_kind(floats=c.infix("-"), integers=c.wrapped("-")),
       vectors="all", bounds=bounds.of_difference, whole=operator.sub, is_size=True,
       identity=lambda dtype: 0, takes_numbers=True, infix=" - ",
       bool_hint="use ^ to compare truth values, or cast to an integer type first",
       derivative=(d.unchanged, d.negated)),
    Op("mul", 2, "a * b; and, for bool", np.multiply, ANY, cost=1, rounding=ONCE, domain=PLAIN,
       llvm=by_kind(floats=llvm.floating("fmul"), integers=llvm.instruction("mul"),
                    bools=llvm.instruction("and")),
       c=by_kind(floats=c.infix("*"), integers=c.wrapped("*"), bools=c.infix("&&")),
       vectors="all", bounds=bounds.of_product, whole=operator.mul, is_size=True, laws=FREE,
       identity=lambda dtype: 1, takes_numbers=True, infix="*",
       derivative=(d.by_second, d.by_first)),
    Op("fdiv", 2, "a / b", np.divide, FLOAT, cost=4, ns=0.02, rounding=ONCE, domain=PLAIN,
       llvm=by_kind(floats=llvm.floating("fdiv")), c=by_kind(floats=c.infix("/")),
       vectors="all", identity=lambda dtype: 1, takes_numbers=True, infix=" / ", is_double=True,
       derivative=(d.of_dividend, d.of_divisor)),
    Op("idiv", 2, "a / b towards zero; 0 where b is 0", references.truncated_divide, INTEGER,
       cost=8, ns=1.4, is_alone=True, domain=PLAIN, llvm=by_kind(integers=llvm.quotient),
       c=by_kind(signed=c.QUOTIENT, unsigned=c.QUOTIENT_UNSIGNED),
       vectors="floats and constant divisors", bounds=bounds.of_quotient, whole=bounds.truncate,
       is_size=True, infix="//", bools_as_int8=True),
    Op("mod", 2, "remainder with the sign of a", references.remainder, NUMBER, cost=8, ns=1.4,
       is_alone=True, rounding=ONCE, domain=PLAIN,
       llvm=by_kind(floats=llvm.float_remainder, integers=llvm.remainder),
       c=by_kind(floats=c.function("fmod", 2), signed=c.REMAINDER_SIGNED, unsigned=c.REMAINDER),
       vectors="floats and constant divisors", bounds=bounds.of_remainder,
       whole=bounds.remainder, is_size=True, infix="%", bools_as_int8=True,
       derivative=(d.unchanged, d.of_modulus)),
    Op("pow", 2, "a to the b", references.power, NUMBER, cost=40, ns=1.25, rounding=ELEMENTARY,
       domain=(0.1, 8.0),
       llvm=by_kind(floats=llvm.routine("pow", has_halves=False),
                    integers=llvm.routine("integer_power")),
       c=by_kind(floats=c.function("pow", 2), integers="{helper}({a}, {b})"),
       c_helpers=by_kind(signed=c.POWER_SIGNED, unsigned=c.POWER), vectors="floats",
       bools_as_int8=True, derivative=(d.of_base, d.of_exponent)),
    Op("max", 2, "the greater; NaN propagates", np.maximum, ANY, cost=1, ns=0.02, rounding=0,
       domain=PLAIN,
       llvm=by_kind(floats=llvm.routine("maximum"), signed=llvm.intrinsic("smax"),
                    unsigned=llvm.intrinsic("umax"), bools=llvm.instruction("or")),
       c=by_kind(floats=c.GREATER, integers="{a} > {b} ? {a} : {b}", bools=c.infix("||")),
       vectors="all", bounds=bounds.of_greater, whole=max, is_size=True, laws=KEEPING,
       takes_numbers=True, derivative=(d.of_greater_first, d.of_greater_second)),
    Op("min", 2, "the lesser; NaN propagates", np.minimum, ANY, cost=1, ns=0.02, rounding=0,
       domain=PLAIN,
       llvm=by_kind(floats=llvm.routine("minimum"), signed=llvm.intrinsic("smin"),
                    unsigned=llvm.intrinsic("umin"), bools=llvm.instruction("and")),
       c=by_kind(floats=c.LESSER, integers="{a} < {b} ? {a} : {b}", bools=c.infix("&&")),
       vectors="all", bounds=bounds.of_lesser, whole=min, laws=KEEPING, takes_numbers=True,
       derivative=(d.of_greater_second, d.of_greater_first)),
    Op("hypot", 2, "sqrt(a^2 + b^2); inf with NaN is inf", np.hypot, FLOAT, cost=26,
       rounding=1.5, domain=PLAIN, expansion=_hypot,
       derivative=(d.of_hypot_first, d.of_hypot_second)),
    Op("atan2", 2, "angle of the point (b, a), from -pi to pi", np.arctan2, FLOAT, cost=28,
       rounding=ELEMENTARY, domain=PLAIN, expansion=_atan2,
       derivative=(d.of_atan2_first, d.of_atan2_second)),
    Op("copysign", 2, "|a| with the sign of b, of zeros and NaN too", np.copysign, FLOAT, cost=1,
       rounding=0, domain=PLAIN, llvm=by_kind(floats=llvm.intrinsic("copysign")),
       c=by_kind(floats=c.function("copysign", 2)), vectors="all",
       derivative=(d.of_copysign, d.zero)),
    _compare("lt", "<", np.less, "olt", "lt", bounds.of_less),
    _compare("le", "<=", np.less_equal, "ole", "le"),
    _compare("gt", ">", np.greater, "ogt", "gt"),
    _compare("ge", ">=", np.greater_equal, "oge", "ge", bounds.of_at_least),
    _compare("eq", "==", np.equal, "oeq"),
    _compare("ne", "!=", np.not_equal, "une"),
    _bitwise("xor", "^", np.bitwise_xor, "!=", FREE),
    _bitwise("or", "|", np.bitwise_or, "||", KEEPING),
    _bitwise("and", "&", np.bitwise_and, "&&", KEEPING, bounds.of_both),
    Op("shl", 2, "a << b; 0 past the width", references.shift_left, INTEGER, cost=1,
       domain=AMOUNT, llvm=by_kind(integers=llvm.shift("shl")), c=by_kind(integers=c.LEFT),
       vectors="all", infix=" << ", bools_as_int8=True),
    Op("shr", 2, "a >> b; the sign past the width", references.shift_right, INTEGER, cost=1,
       domain=AMOUNT, llvm=by_kind(signed=llvm.signed_shift, unsigned=llvm.shift("lshr")),
       c=by_kind(signed=c.RIGHT_SIGNED, unsigned=c.RIGHT), vectors="all", infix=" >> ",
       bools_as_int8=True),
)  # fmt: skip

_TERNARY = (
    Op("where", 3, "b where a is true, else c", np.where, ANY, has_condition=True, cost=1,
       rounding=0, domain=PLAIN, llvm=by_kind(llvm.choice), c=by_kind("{a} ? {b} : {c}"),
       vectors="all", bounds=bounds.of_either, takes_numbers=True,
       derivative=(d.of_chosen, d.of_other)),
    Op("mulacc", 3, "a * b + c, rounded once or twice", references.multiply_add, NUMBER, cost=1,
       counts_as=2, rounding=_units_of_multiply_add, domain=PLAIN,
       llvm=by_kind(floats=llvm.multiply_add_floats, integers=llvm.multiply_add),
       c=by_kind(floats="{a} * {b} + {c}",
                 integers="({t})(({u}){a} * ({u}){b} + ({u}){c})"), vectors="all",
       derivative=(d.by_second, d.by_first, d.unchanged)),
)  # fmt: skip

_REDUCTIONS = (
    Reduction("sum", "add", "sum of the elements", np.add.reduce, ANY, lambda dtype: 0, "sum",
              d.of_sum, d.of_running_sum),
    Reduction("prod", "mul", "product of the elements", np.multiply.reduce, ANY, lambda dtype: 1,
              "each", d.of_product, d.of_running_product),
    Reduction("max", "max", "greatest element", np.maximum.reduce, ANY,
              lambda dtype: dtype.minimum, "none", d.of_extreme, has_identity=False,
              better="gt"),
    Reduction("min", "min", "least element", np.minimum.reduce, ANY,
              lambda dtype: dtype.maximum, "none", d.of_extreme, has_identity=False,
              better="lt"),
)  # fmt: skip

OPS: dict[str, Op] = table((*_UNARY, *_BINARY, *_TERNARY), _REDUCTIONS)
REDUCTIONS: dict[str, Reduction] = {row.name: row for row in _REDUCTIONS}
SELECTING: dict[str, float] = {
    row.name: 1.0 if row.better == "gt" else -1.0 for row in REDUCTIONS.values() if row.better
}
"""Reductions, and the operations of these names, whose result is one of the elements: 1.0 for the
greatest, -1.0 for the least."""
COMPARISONS = frozenset(
    row.name for row in OPS.values()
    if row.result == "bool" and row.arity == 2 and "float" in row.accepts
)  # fmt: skip
"""Operations that compare two numbers."""
EXACT = frozenset(row.name for row in OPS.values() if row.rounding == 0)
"""Operations whose results are not rounded."""


def expand(build: Build[T], name: str, *sources: T) -> T:
    """The operation `name` in terms of machine operations, built with `build`.

    Raises `KeyError` for an operation that is a machine operation itself.
    """
    expansion = OPS[name].expansion
    if expansion is None:
        raise KeyError(name)
    result: T = expansion(build, *sources)
    return result
