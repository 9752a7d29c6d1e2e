"""Elementwise operators."""

from collections.abc import Callable
from typing import Any

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.imported.call import Number, Results
from compiler.imported.methods import alike, call_method
from compiler.imported.torch.call import Call, as_tensor, operator
from compiler.imported.torch.element_types import dtype_of
from compiler.tensor import Tensor

METHODS = alike(
    "abs neg sign square floor ceil trunc logical_not bitwise_not isnan isinf isfinite signbit "
    "relu relu6 silu mish"
) | {
    "sgn": "sign", "positive": "clone",
}  # fmt: skip
"""Operators that are a method of tensors, in the tensor's own type."""
FLOATING = alike(
    "sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh asinh "
    "acosh atanh tanh sigmoid erf reciprocal"
)
"""Operators that return floats: integers are converted before."""
BINARY = alike(
    "mul maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor atan2 copysign hypot "
    "logaddexp fmod"
) | {
    "remainder": "mod", "floor_divide": "floordiv", "bitwise_left_shift": "lshift",
    "bitwise_right_shift": "rshift", "__lshift__": "lshift", "__rshift__": "rshift",
}  # fmt: skip
"""Operators with two operands, both in the type of the result."""
COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")
LOGICAL = ("logical_and", "logical_or", "logical_xor")


Method = Callable[..., Tensor]


def _unary(name: str) -> Method:
    def method(_call: Call, x: Tensor, /) -> Tensor:
        return call_method(name, x)

    return method


def _floating(name: str) -> Method:
    def method(call: Call, x: Tensor, /) -> Tensor:
        return call_method(name, as_tensor(x, call.dtype))

    return method


def _binary(name: str) -> Method:
    def method(call: Call, x: Number, y: Number, /) -> Tensor:
        return call_method(name, as_tensor(x, call.dtype), as_tensor(y, call.dtype))

    return method


def _compared(name: str) -> Method:
    def method(call: Call, x: Number, y: Number, /) -> Tensor:
        dtype = call.result_type()
        return call_method(name, as_tensor(x, dtype), as_tensor(y, dtype))

    return method


def _logical(name: str) -> Method:
    def method(_call: Call, x: Tensor, y: Tensor, /) -> Tensor:
        return call_method(name, x.ne(0), y.ne(0))

    return method


for _names, _kind in ((METHODS, _unary), (FLOATING, _floating), (BINARY, _binary)):
    for _op, _name in _names.items():
        operator(_op)(_kind(_name))
for _op in COMPARED:
    operator(_op)(_compared(_op))
for _op in LOGICAL:
    operator(_op)(_logical(_op))


@operator("add", "sub")
def add(call: Call, x: Number, y: Number, /, alpha: Number = 1) -> Tensor:
    """The sum or difference, the second operand times `alpha`."""
    a, b = (as_tensor(each, call.dtype) for each in (x, y))
    if alpha != 1:
        b = b.mul(as_tensor(alpha, call.dtype))
    if call.dtype.kind == "bool":
        return a.logical_or(b)
    return a.add(b) if call.name.startswith("add") else a.sub(b)


@operator("div")
def div(call: Call, x: Number, y: Number, /, rounding_mode: str | None = None) -> Results:
    """The quotient, exact or rounded down or towards 0."""
    a, b = (as_tensor(each, call.dtype) for each in (x, y))
    if rounding_mode is None:
        return a.div(b)
    if rounding_mode == "floor":
        return a.floordiv(b)
    return a.div(b).trunc() if call.dtype.is_float else a.idiv(b)


@operator("pow")
def power(call: Call, x: Number, y: Number, /) -> Results:
    """x to the power y; special cases for ½ and small integers."""
    if isinstance(y, int | float) and call.dtype.is_float:
        base = as_tensor(x, call.dtype)
        if y in (1, 2, 3):
            return {1: base, 2: base.square(), 3: base.square().mul(base)}[int(y)]
        if y in (0.5, -0.5):
            return base.sqrt() if y > 0 else base.rsqrt()
        if y == -1:
            return base.reciprocal()
    a, b = (as_tensor(each, call.dtype) for each in (x, y))
    return a.pow(b)


@operator("round")
def rounded(_call: Call, x: Tensor, /, decimals: int = 0) -> Tensor:
    """Rounded to a number of decimals, halves to even."""
    return x.round(decimals)


@operator("where.self")
def where(call: Call, condition: Tensor, yes: Number, no: Number, /) -> Results:
    """One operand where the condition is true, the other elsewhere."""
    return condition.ne(0).where(as_tensor(yes, call.dtype), as_tensor(no, call.dtype))


@operator("clamp")
def clamp(call: Call, x: Tensor, /, min: Number | None = None, max: Number | None = None) -> Tensor:
    """Clamped between two numbers or tensors."""
    limited = as_tensor(x, call.dtype)
    limited = limited if min is None else limited.maximum(as_tensor(min, call.dtype))
    return limited if max is None else limited.minimum(as_tensor(max, call.dtype))


@operator("lerp")
def lerp(call: Call, x: Tensor, end: Tensor, weight: Number, /) -> Tensor:
    """Linear interpolation between two tensors."""
    return x.add(end.sub(x).mul(as_tensor(weight, call.dtype)))


@operator("_to_copy", "to", "_autocast_to_reduced_precision",
          "_autocast_to_full_precision")  # fmt: skip
def converted(call: Call, x: Tensor, /) -> Results:
    """Converted to another type."""
    return as_tensor(x, call.dtype)


@operator("view.dtype", "view_copy.dtype")
def bits(_call: Call, x: Tensor, /, dtype: Any) -> Tensor:
    """The same bits reinterpreted as another type."""
    return x.bitcast(_parsed(dtype))


def _parsed(dtype: Any) -> DType:
    return dtype_of(dtype, "view")


@operator("erfc")
def erfc(call: Call, x: Tensor, /) -> Tensor:
    """1 - erf(x)."""
    wide = as_tensor(x, dtypes.float64 if call.dtype == dtypes.float64 else dtypes.float32)
    return wide.erf().neg().add(1.0)
