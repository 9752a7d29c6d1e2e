"""Arithmetic on variable extents: values that models compute from the shapes of variable axes.

    Shape(x)                      [n, 12, 64]       of x f32[n,12,64]
    Gather, Concat, Mul, …        [n, 768]          whole numbers and `Variable`s, not tensors

A model that computes n × 768 is then compiled once, for every n. Questions that the bounds of
variables do not decide (is n equal to 5?) are computed when the program runs.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.imported.call import adding_to
from compiler.imported.onnx.call import Call
from compiler.imported.onnx.element_types import NUMBERS
from compiler.tensor import Tensor
from compiler.tensors.variables import Variable

Rule: TypeAlias = Callable[..., Any]
RULES: dict[str, Rule] = {}
"""The rules by the name of the operator."""

rule = adding_to(RULES)
"""Decorator: the function implements the operators of these names on numbers."""


def rule_of(op: str) -> Callable[..., Any] | None:
    """The function that computes an operator on numbers; None if there is none."""
    return RULES.get(op)


def of_numbers(call: Call, arrays: Sequence[Array | None]) -> Array | None:
    """The result of a node whose inputs are numbers; None if no rule applies."""
    function = RULES.get(call.op)
    if function is None:
        return None
    try:
        numbers = function(call, *arrays)
    except TypeError:  # no whole number, as n / 2 may be
        return None
    return None if numbers is None else tidied(np.asarray(numbers, object))


def tidied(numbers: Array) -> Array:
    """Numbers as objects if some of them are variables, else as int64 or bool."""
    flat = numbers.reshape(-1).tolist()
    if any(isinstance(each, Variable) for each in flat):
        return numbers
    is_truth = bool(flat) and all(isinstance(each, bool | np.bool_) for each in flat)
    return numbers.astype(bool if is_truth else np.int64)


def tensor_of(numbers: Array) -> Tensor:
    """Numbers as a tensor of int64."""
    parts = [
        Tensor(each) if isinstance(each, Variable) else Tensor(np.array(each, np.int64))
        for each in numbers.reshape(-1).tolist()
    ]
    rows = [part.reshape(1) for part in parts]
    flat = rows[0].cat(*rows[1:]) if rows[1:] else rows[0]
    return flat.reshape(*numbers.shape) if numbers.shape != (1,) else flat


def shape_numbers(call: Call, x: Tensor) -> Array | None:
    """The result of `Shape` or `Size` for a tensor with a variable axis."""
    extents = call.extents(x)
    numbers: Any
    if call.op == "Size":
        numbers = 1
        for extent in extents:
            numbers = numbers * extent
        return np.array(numbers, object)
    numbers = np.empty(len(extents), object)
    numbers[:] = extents
    return tidied(numbers[call.get("start", 0) : call.get("end", x.ndim)])


@rule("Add", "Sub", "Mul")
def arithmetic(call: Call, a: Array, b: Array) -> Any:
    """Element by element."""
    x, y = a.astype(object), b.astype(object)
    return x + y if call.op == "Add" else x - y if call.op == "Sub" else x * y


@rule("Div")
def division(_call: Call, a: Array, b: Array) -> Any:
    """Integer quotients; of a variable only if every value is divisible."""
    x, y = np.broadcast_arrays(a.astype(object), b.astype(object))
    quotients = np.empty(x.shape, object)
    for place in np.ndindex(x.shape):
        quotients[place] = _quotient(x[place], y[place])
    return quotients


def _quotient(a: Any, b: Any) -> Any:
    whole: Any = a.extent if isinstance(a, Variable) else a
    if isinstance(b, Variable) or not b or b < 0:
        raise TypeError("no whole number")
    if not isinstance(a, Variable):
        return int(whole / b)
    if any(factor % b for _, factor in whole.terms or (((), 1),)):
        raise TypeError("no whole number")
    return a // b


@rule("Gather")
def gather(call: Call, a: Array, index: Array) -> Any:
    """Some of them."""
    return np.take(a, index.astype(np.int64), call.axis(call.get("axis", 0), a.ndim))


@rule("Concat")
def concat(call: Call, *arrays: Array) -> Any:
    """One after the other."""
    return np.concatenate([a.astype(object) for a in arrays], call.get("axis", 0))


@rule("Slice")
def slice_of(call: Call, a: Array, *_known: Array) -> Any:
    """A part of a row."""
    steps, axes = call.numbers(4, "steps", [1]), call.numbers(3, "axes", [0])
    if a.ndim != 1 or len(axes) != 1:
        return None
    starts, ends = call.numbers(1, "starts"), call.numbers(2, "ends")
    return a[slice(int(starts[0]), int(ends[0]), int(steps[0]))] if steps[0] > 0 else None


@rule("Unsqueeze", "Squeeze", "Reshape", "Flatten")
def reshaped(call: Call, a: Array, *_known: Array) -> Any:
    """The same numbers under another shape."""
    if call.op == "Reshape":
        shape, is_empty = call.numbers(1, "shape"), call.get("allowzero", 0)
        return None if is_empty or 0 in shape else a.reshape(shape)
    axes = call.numbers(1, "axes")
    if call.op == "Flatten" or (axes is None and call.op == "Unsqueeze"):
        return None
    if call.op == "Unsqueeze":
        return np.expand_dims(a, tuple(axes))
    return a.squeeze(None if axes is None else tuple(axes))


@rule("Identity")
def same(_call: Call, a: Array) -> Any:
    """The operand itself."""
    return a


@rule("Cast")
def cast(call: Call, a: Array) -> Any:
    """To another integer type; no other."""
    return a if NUMBERS[call["to"]].kind in ("int", "uint") else None


@rule("ReduceProd", "ReduceSum")
def folded(call: Call, a: Array, *_known: Array) -> Any:
    """The product or the sum of a row."""
    axes, is_each = call.numbers(1, "axes"), call.get("noop_with_empty_axes", 0)
    if a.ndim != 1 or (is_each and not axes):
        return None
    total: Any = 1 if call.op == "ReduceProd" else 0
    for each in a.tolist():
        total = total * each if call.op == "ReduceProd" else total + each
    return np.array([total], object) if call.get("keepdims", 1) else np.array(total, object)


@rule("Equal", "Less", "Greater")
def compared(call: Call, a: Array, b: Array) -> Any:
    """A comparison that the bounds decide."""
    x, y = np.broadcast_arrays(a.astype(object), b.astype(object))
    truths = np.empty(x.shape, object)
    for place in np.ndindex(x.shape):
        truths[place] = _compared(call.op, x[place], y[place])
    return None if any(each is None for each in truths.reshape(-1)) else truths


def _compared(op: str, a: Any, b: Any) -> bool | None:
    if op == "Greater":
        return _compared("Less", b, a)
    (low, high), (least, most) = _bounds(a), _bounds(b)
    if op == "Less":
        return True if high < least else False if low >= most else None
    if isinstance(a, Variable) and isinstance(b, Variable) and a.extent == b.extent:
        return True
    if high < least or most < low:
        return False
    return True if low == high == least == most else None


def _bounds(number: Any) -> tuple[int, int]:
    return (number.low, number.high) if isinstance(number, Variable) else (number, number)


@rule("Where")
def chosen(_call: Call, condition: Array, a: Array, b: Array) -> Any:
    """One or the other."""
    if condition.dtype == object:
        return None
    return np.where(condition, a.astype(object), b.astype(object))
