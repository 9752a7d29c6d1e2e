"""Elementwise primitives."""

import math
from collections.abc import Callable

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.imported.call import Results
from compiler.imported.jax.call import Call, primitive
from compiler.imported.jax.element_types import dtype_of
from compiler.imported.methods import alike, call_method
from compiler.tensor import Tensor

METHODS = alike(
    "abs neg sqrt rsqrt exp exp2 log log1p expm1 sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh erf erfc lgamma cbrt square sign floor ceil add sub mul atan2 eq ne lt "
    "le gt ge nextafter"
) | {
    "erf_inv": "erfinv", "logistic": "sigmoid", "is_finite": "isfinite", "not": "bitwise_not",
    "add_any": "add", "rem": "fmod", "max": "maximum", "min": "minimum", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "shift_left": "lshift",
    "population_count": "popcount", "real": "clone", "conj": "clone",
}  # fmt: skip
"""Primitives that are a method of tensors."""
UNSIGNED = {8: dtypes.uint8, 16: dtypes.uint16, 32: dtypes.uint32, 64: dtypes.uint64}
SIGNED = {8: dtypes.int8, 16: dtypes.int16, 32: dtypes.int32, 64: dtypes.int64}


def _method(name: str) -> Callable[..., Tensor]:
    def method(_call: Call, x: Tensor, *others: Tensor) -> Tensor:
        return call_method(name, x, *others)

    return method


for _op, _name in METHODS.items():
    primitive(_op)(_method(_name))


@primitive("digamma")
def digamma(_call: Call, x: Tensor) -> Tensor:
    """digamma, NaN at 0."""
    return x.eq(0).where(math.nan, x.digamma())


@primitive("copy", "copy_p", "optimization_barrier", "name", "tie", "device_put",
           "sharding_constraint", "reshard", "pvary", "reduce_scatter_done", "layout_constraint",
           "to_edtype", "from_edtype", "random_clone")  # fmt: skip
def same(_call: Call, *values: Tensor) -> Results:
    """The operands unchanged: annotations of places, names and gradients."""
    return values


@primitive("stop_gradient")
def stopped(_call: Call, x: Tensor) -> Tensor:
    """The value without history: gradients stop here."""
    return x.detach() if x.dtype.is_float else x


@primitive("div")
def div(_call: Call, x: Tensor, y: Tensor) -> Tensor:
    """Division; integers are rounded towards 0."""
    return x.div(y) if x.dtype.is_float else x.idiv(y)


@primitive("pow")
def power(_call: Call, x: Tensor, y: Tensor) -> Tensor:
    """The power, in the type of the base."""
    if x.dtype.is_float or not y.dtype.is_float:
        return x.pow(y.cast(x.dtype))
    return x.cast(y.dtype).pow(y).cast(x.dtype)


@primitive("integer_pow")
def integer_power(call: Call, x: Tensor) -> Tensor:
    """An integer power, by repeated squaring."""
    exponent = int(call["y"])
    if exponent == 0:
        return x.ones_like()
    product, square, left = None, x, abs(exponent)
    while left:
        if left & 1:
            product = square if product is None else product.mul(square)
        left >>= 1
        square = square.mul(square) if left else square
    assert product is not None
    return product.reciprocal() if exponent < 0 else product


@primitive("round")
def rounded(call: Call, x: Tensor) -> Tensor:
    """Rounded to integers; halves to even or away from 0."""
    if int(call["rounding_method"]) == 1:
        return x.round()
    whole = x.trunc()
    is_half = x.sub(whole).abs().ge(0.5)
    return is_half.where(whole.add(x.sign()), whole).copysign(x)


@primitive("shift_right_logical")
def shift_logical(_call: Call, x: Tensor, by: Tensor) -> Tensor:
    """Logical right shift."""
    plain = UNSIGNED[x.dtype.bits]
    return x.bitcast(plain).rshift(by.bitcast(plain)).bitcast(x.dtype)


@primitive("shift_right_arithmetic")
def shift_arithmetic(_call: Call, x: Tensor, by: Tensor) -> Tensor:
    """Arithmetic right shift; amounts are not negative."""
    whole = SIGNED[x.dtype.bits]
    amount = by.bitcast(UNSIGNED[x.dtype.bits]).minimum(x.dtype.bits - 1)
    return x.bitcast(whole).rshift(amount.bitcast(whole)).bitcast(x.dtype)


@primitive("clz")
def leading_zeros(_call: Call, x: Tensor) -> Tensor:
    """The number of leading zero bits."""
    bits = x.dtype.bits
    word = x.bitcast(UNSIGNED[bits])
    step = 1
    while step < bits:  # all bits behind the first one are set
        word = word.bitwise_or(word.rshift(step))
        step *= 2
    return word.bitwise_not().popcount().bitcast(x.dtype)


@primitive("mulhi")
def high_product(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """The upper half of a product."""
    if x.dtype.bits == 64:
        raise call.refused("products of 128 bits are not supported", x.dtype, "32 bits or fewer")
    wide = (SIGNED if x.dtype.kind == "int" else UNSIGNED)[2 * x.dtype.bits]
    return x.cast(wide).mul(y.cast(wide)).rshift(x.dtype.bits).cast(x.dtype)


@primitive("clamp")
def clamp(_call: Call, low: Tensor, x: Tensor, high: Tensor) -> Tensor:
    """Clamped between two values."""
    return x.maximum(low).minimum(high)


@primitive("select_n")
def select(_call: Call, which: Tensor, *cases: Tensor) -> Tensor:
    """The case with the number `which`; a truth value counts as 0 or 1."""
    if which.dtype == dtypes.bool_:
        return which.where(cases[1], cases[0]) if len(cases) > 1 else cases[0]
    chosen = cases[-1]
    for number in reversed(range(len(cases) - 1)):
        chosen = which.le(number).where(cases[number], chosen)
    return chosen


@primitive("convert_element_type")
def convert(call: Call, x: Tensor) -> Tensor:
    """Converted to another type."""
    return x.cast(dtype_of(call["new_dtype"], call.op))


@primitive("bitcast_convert_type")
def same_bits(call: Call, x: Tensor) -> Tensor:
    """The same bits reinterpreted as another type; a different width adds or removes an axis."""
    target = dtype_of(call["new_dtype"], call.op)
    if target.bits == x.dtype.bits or dtypes.bool_ in (target, x.dtype):
        return x.bitcast(target)
    return _narrower(x, target) if target.bits < x.dtype.bits else _wider(x, target)


def _narrower(x: Tensor, target: DType) -> Tensor:
    """The parts of each element along a new last axis, low bits first."""
    word = x.bitcast(UNSIGNED[x.dtype.bits])
    parts = [
        word.rshift(at).cast(UNSIGNED[target.bits]).bitcast(target)
        for at in range(0, x.dtype.bits, target.bits)
    ]
    return parts[0].stack(*parts[1:], dim=-1)


def _wider(x: Tensor, target: DType) -> Tensor:
    """The last axis combined into one element, low bits first."""
    wide = UNSIGNED[target.bits]
    word = x.bitcast(UNSIGNED[x.dtype.bits]).cast(wide)
    joined = word[..., 0]
    for place in range(1, word.shape[-1]):
        joined = joined.bitwise_or(word[..., place].lshift(place * x.dtype.bits))
    return joined.bitcast(target)


@primitive("reduce_precision")
def less_precise(call: Call, x: Tensor) -> Tensor:
    """Rounded to fewer bits of exponent and mantissa."""
    exponent, mantissa = int(call["exponent_bits"]), int(call["mantissa_bits"])
    bits = {16: (5, 10), 32: (8, 23), 64: (11, 52)}[x.dtype.bits]
    bits = (8, 7) if x.dtype == dtypes.bfloat16 else bits
    rounded = x if mantissa >= bits[1] else _rounded_bits(x, bits[1] - mantissa)
    if exponent >= bits[0]:
        return rounded
    bias = 2 ** (exponent - 1) - 1
    greatest = 2.0**bias * (2 - 2.0**-mantissa)
    size = rounded.abs()
    size = size.gt(greatest).where(size.isnan().where(rounded, math.inf), size)
    return size.lt(2.0 ** (1 - bias)).where(0, size).copysign(x)


def _rounded_bits(x: Tensor, gone: int) -> Tensor:
    """The low bits of the mantissa rounded away, halves to even."""
    plain = UNSIGNED[x.dtype.bits]
    word = x.bitcast(plain)
    odd = word.rshift(gone).bitwise_and(1)
    kept = word.add(odd).add((1 << (gone - 1)) - 1).rshift(gone).lshift(gone)
    return x.isnan().where(x, kept.bitcast(x.dtype))


@primitive("eq_to", "lt_to", "le_to")
def in_total_order(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """Comparison in the total order of bits: -NaN < -inf < … < -0 < 0 < … < inf < NaN."""
    return call_method(call.op.removesuffix("_to"), _ranked(x), _ranked(y))


def _ranked(x: Tensor) -> Tensor:
    """Integers in the total order of floats."""
    if not x.dtype.is_float:
        return x
    whole = SIGNED[x.dtype.bits]
    word = x.bitcast(whole)
    return word.lt(0).where(word.bitwise_xor(int(whole.maximum)), word)
