"""Elementwise operators."""

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from compiler.imported.call import Results
from compiler.imported.methods import call_method
from compiler.imported.onnx.call import Call, operator
from compiler.imported.onnx.element_types import dtype_of, wide
from compiler.tensor import Tensor
from compiler.tensors.variables import Variable

METHODS = {
    "Abs": "abs", "Neg": "neg", "Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Sin": "sin",
    "Cos": "cos", "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh",
    "Cosh": "cosh", "Tanh": "tanh", "Asinh": "asinh", "Acosh": "acosh", "Atanh": "atanh",
    "Erf": "erf", "Sigmoid": "sigmoid", "Relu": "relu", "Softsign": "softsign", "Mish": "mish",
    "Floor": "floor", "Ceil": "ceil", "Round": "round", "Sign": "sign", "Not": "logical_not",
    "IsNaN": "isnan", "Reciprocal": "reciprocal", "Softplus": "softplus",
    "BitwiseNot": "bitwise_not", "Add": "add", "Sub": "sub", "Mul": "mul",
    "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor", "Equal": "eq",
    "Greater": "gt", "GreaterOrEqual": "ge", "Less": "lt", "LessOrEqual": "le",
    "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
}  # fmt: skip
"""Operators that are a method of tensors."""


def _method(name: str) -> Callable[..., Tensor]:
    def method(call: Call, x: Tensor, *others: Tensor) -> Tensor:
        return call_method(name, x, *(_aligned(call, x, other) for other in others))

    return method


def _aligned(call: Call, x: Tensor, other: Tensor) -> Tensor:
    """The second operand by the rules before version 7: aligned from axis `axis` of the first
    on."""
    if call.version >= 7 or not call.get("broadcast"):
        return other
    axis = call.get("axis", x.ndim - other.ndim)
    return other.reshape(*other.symbolic_shape, *(1,) * (x.ndim - other.ndim - axis))


for _op, _name in METHODS.items():
    operator(_op)(_method(_name))


@operator("Identity", "Dropout")
def identity(call: Call, x: Tensor, *_known: Any) -> Results:
    """The value itself; dropout applies in training only."""
    is_training = call.has(2) and bool(call.known(2, "the mode").item())
    if call.op == "Dropout" and (is_training or _learns(call)):
        raise call.refused("it is in training mode", "training_mode", "inference")
    return (x, x.isnan().logical_or(True)) if call.outputs > 1 else x


def _learns(call: Call) -> bool:
    """True if a version before 7 is in training mode."""
    return call.version < 7 and not call.get("is_test", 0)


@operator("Div")
def div(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """Division; integers are rounded towards 0."""
    y = _aligned(call, x, y)
    return x.div(y) if x.dtype.is_float else x.idiv(y)


@operator("Mod")
def mod(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """The remainder with the sign of the divisor; with `fmod`, of the dividend."""
    return x.fmod(y) if call.get("fmod", 0) else x.mod(y)


@operator("Pow")
def power(call: Call, x: Tensor, y: Tensor) -> Tensor:
    """In the type of the base."""
    y = _aligned(call, x, y)
    both = x.pow(y) if x.dtype.is_float or not y.dtype.is_float else x.double().pow(y)
    return both.cast(x.dtype)


@operator("Max", "Min", "Sum", "Mean")
def of_several(call: Call, *values: Tensor) -> Tensor:
    """An elementwise operation over all operands."""
    name = {"Max": "maximum", "Min": "minimum"}.get(call.op, "add")
    dtype = values[0].dtype
    if call.op in ("Sum", "Mean"):  # floats of 16 bits are summed in 32 and rounded once
        values = tuple(map(wide, values))
    total = reduce(lambda a, b: getattr(a, name)(b), values)
    return (total.div(float(len(values))) if call.op == "Mean" else total).cast(dtype)


@operator("BitShift")
def shift(call: Call, x: Tensor, by: Tensor) -> Tensor:
    """To the left or to the right."""
    return x.lshift(by) if call["direction"] == "LEFT" else x.rshift(by)


@operator("Where")
def where(_call: Call, condition: Tensor, yes: Tensor, no: Tensor) -> Tensor:
    """One operand where the condition is true, the other elsewhere."""
    return condition.where(yes, no)


@operator("IsInf")
def is_inf(call: Call, x: Tensor) -> Tensor:
    """True for infinities of both signs, or of one."""
    wanted = [sign for sign, name in ((1, "detect_positive"), (-1, "detect_negative"))
              if call.get(name, 1)]  # fmt: skip
    truth = x.isnan().logical_and(False)
    for sign in wanted:
        truth = truth.logical_or(x.eq(sign * math.inf))
    return truth


@operator("EyeLike")
def eye_like(call: Call, x: Tensor) -> Tensor:
    """Ones on a diagonal."""
    dtype = dtype_of(call["dtype"], call.op) if "dtype" in call.attributes else x.dtype
    rows, columns = call.extents(x)
    if isinstance(rows, int) and isinstance(columns, int):
        return Tensor(np.eye(rows, columns, call.get("k", 0), dtype=dtype.numpy))
    ones = Tensor.ones(*x.shape)[tuple(slice(n if isinstance(n, Variable) else None)
                                       for n in (rows, columns))]  # fmt: skip
    return ones.tril(call.get("k", 0)).triu(call.get("k", 0)).cast(dtype)
