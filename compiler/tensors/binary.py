"""Tensor methods of two and three operands, and the operators of Python that call them.

There is one method per binary and ternary row of `ops.OPS`. Operands broadcast and are promoted as
in NumPy 2: a Python number takes the tensor's type, unless it is of a higher kind (bool, int,
float).
"""

from collections.abc import Callable
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from compiler.core.errors import DataError, DTypeError
from compiler.graph.kinds.gradient import ruled
from compiler.graph.nodes import TensorNode
from compiler.ops import composed
from compiler.tensors.apply import aligned, apply, compare, power, select, truth
from compiler.tensors.division import floor_divide, floor_remainder
from compiler.tensors.value import (
    Operand,
    TensorValue,
    broadcast_node,
    common_type,
    operand_of,
    traced,
)
from compiler.tensors.variables import Variable

Rounding: TypeAlias = Literal["trunc", "floor"] | None

Rules: TypeAlias = tuple[Callable[..., Any] | None, ...]
_CLIPPED: Rules = (composed.of_clipped, composed.of_low, composed.of_high)
_RAISED: Rules = (composed.of_raised, composed.of_raising)
_LOWERED: Rules = (composed.of_lowered, composed.of_lowering)
_COMPARABLE = (TensorValue, Variable, np.ndarray, np.generic, bool, int, float, list, tuple)


@traced
class Binary(TensorValue):
    """Arithmetic, comparisons, bits, and choices between operands."""

    __slots__ = ()

    def add(self, other: Operand) -> Self:
        """self + other; `or` for bool."""
        return self._new(apply("add", "add", self, other))

    def sub(self, other: Operand) -> Self:
        """self - other; not defined for bool."""
        return self._new(apply("sub", "sub", self, other))

    def mul(self, other: Operand) -> Self:
        """self * other; `and` for bool."""
        return self._new(apply("mul", "mul", self, other))

    def div(self, other: Operand, rounding_mode: Rounding = None) -> Self:
        """self / other, in a float type. `rounding_mode` "floor" rounds down like `//`, "trunc"
        towards 0."""
        match rounding_mode:
            case None:
                return self._new(apply("fdiv", "div", self, other))
            case "floor":
                return self.floordiv(other)
            case "trunc":
                return self.idiv(other)
        raise DTypeError(
            "div", "unknown rounding", got=repr(rounding_mode),
            expected="None, 'floor' or 'trunc'",
        )  # fmt: skip

    def idiv(self, other: Operand) -> Self:
        """self / other, rounded towards 0. Integer division by 0 gives 0."""
        parts = [operand_of("idiv", v) for v in (self, other)]
        if common_type(parts).is_float:
            return self._new(apply("trunc", "idiv", apply("fdiv", "idiv", *parts)))
        return self._new(apply("idiv", "idiv", *parts))

    def floordiv(self, other: Operand) -> Self:
        """self // other, rounded down. Integer division by 0 gives 0."""
        return self._new(floor_divide("floordiv", self, other))

    def mod(self, other: Operand) -> Self:
        """self % other: the remainder, with the sign of `other`. For integers 0 where `other` is
        0."""
        return self._new(floor_remainder("mod", self, other))

    def fmod(self, other: Operand) -> Self:
        """The remainder of self / other, with the sign of self. For integers 0 where `other` is
        0."""
        return self._new(apply("mod", "fmod", self, other))

    def pow(self, other: Operand) -> Self:
        """self ** other. An integer to a negative power is truncated, to 1, ±1 or 0."""
        return self._new(power(self, other))

    def hypot(self, other: Operand) -> Self:
        """sqrt(x² + y²), without overflow of the squares. Infinite where one operand is, even if
        the other is NaN."""
        return self._new(apply("hypot", "hypot", self, other))

    def atan2(self, other: Operand) -> Self:
        """The angle of the point (x=other, y=self), in radians from -pi to pi."""
        return self._new(apply("atan2", "atan2", self, other))

    def copysign(self, other: Operand) -> Self:
        """|x| with the sign of `other`; the signs of -0.0 and NaN count too."""
        return self._new(apply("copysign", "copysign", self, other))

    def maximum(self, other: Operand) -> Self:
        """The greater of two elements. NaN propagates."""
        return self._new(apply("max", "maximum", self, other))

    def minimum(self, other: Operand) -> Self:
        """The lesser of two elements. NaN propagates."""
        return self._new(apply("min", "minimum", self, other))

    def lt(self, other: Operand) -> Self:
        """self < other, as bool."""
        return self._new(compare("lt", "lt", self, other))

    def le(self, other: Operand) -> Self:
        """self <= other, as bool."""
        return self._new(compare("le", "le", self, other))

    def gt(self, other: Operand) -> Self:
        """self > other, as bool."""
        return self._new(compare("gt", "gt", self, other))

    def ge(self, other: Operand) -> Self:
        """self >= other, as bool."""
        return self._new(compare("ge", "ge", self, other))

    def eq(self, other: Operand) -> Self:
        """self == other, as bool."""
        return self._new(compare("eq", "eq", self, other))

    def ne(self, other: Operand) -> Self:
        """self != other, as bool."""
        return self._new(compare("ne", "ne", self, other))

    def bitwise_and(self, other: Operand) -> Self:
        """self & other, bit by bit; bool or integers."""
        return self._new(apply("and", "bitwise_and", self, other))

    def bitwise_or(self, other: Operand) -> Self:
        """self | other, bit by bit; bool or integers."""
        return self._new(apply("or", "bitwise_or", self, other))

    def bitwise_xor(self, other: Operand) -> Self:
        """self ^ other, bit by bit; bool or integers."""
        return self._new(apply("xor", "bitwise_xor", self, other))

    def lshift(self, other: Operand) -> Self:
        """self << other, for integers. 0 if the shift is the type's width or more."""
        return self._new(apply("shl", "lshift", self, other))

    def rshift(self, other: Operand) -> Self:
        """self >> other, for integers, arithmetic. Shifts of the type's width or more give 0 or
        -1."""
        return self._new(apply("shr", "rshift", self, other))

    def logical_and(self, other: Operand) -> Self:
        """True where both elements are not 0."""
        return self._new(apply("and", "logical_and", *self._truths("logical_and", other)))

    def logical_or(self, other: Operand) -> Self:
        """True where at least one element is not 0."""
        return self._new(apply("or", "logical_or", *self._truths("logical_or", other)))

    def logical_xor(self, other: Operand) -> Self:
        """True where exactly one element is not 0."""
        return self._new(apply("xor", "logical_xor", *self._truths("logical_xor", other)))

    def _truths(self, method: str, other: Operand) -> list[TensorNode]:
        return [truth(operand_of(method, v)) for v in (self, other)]

    def where(self, yes: Operand, no: Operand) -> Self:
        """`yes` where this tensor is true (not 0), else `no`: `(x > 0).where(x, 0)`. Broadcasts.

        PyTorch's form `x.where(x > 0, 0)`, where numbers would be the condition for a choice
        between truth values, raises `DTypeError`. `Tensor.where(condition, yes, no)` also accepts
        an array as condition.
        """
        if not isinstance(self, Binary):
            return _where_array(self, yes, no)
        if self.dtype.kind != "bool" and str(getattr(yes, "dtype", "")) == "bool":
            raise DTypeError(
                "where", "the tensor is the condition", got=f"{self.dtype} to choose bool by",
                expected="mask.where(x, other)",
                hint="x.where(mask, other) is PyTorch's way; for truth values cast x to bool first",
            )  # fmt: skip
        return self._new(select("where", self, yes, no))

    def masked_fill(self, mask: Operand, value: Operand) -> Self:
        """`value` where `mask` is true, else this tensor's element."""
        return self._new(select("masked_fill", mask, value, self))

    def mulacc(self, factor: Operand, addend: Operand) -> Self:
        """self * factor + addend. Machine code may use a fused multiply-add, which rounds once."""
        return self._new(apply("mulacc", "mulacc", self, factor, addend))

    def clip(self, min: Operand | None = None, max: Operand | None = None) -> Self:
        """Elements limited to `min` … `max`; either may be None. Where min > max, the result is
        `max`."""
        return self._limited(min, max)

    def _limited(
        self, low: Operand | None, high: Operand | None, rules: Rules | None = None
    ) -> Self:
        """The limits as one function. As two functions the derivative at a bound would differ,
        because their operands are equal there."""
        made = self.node if low is None else apply("max", "clip", self, low)
        made = made if high is None else apply("min", "clip", self._new(made), high)
        bounds = [each for each in (low, high) if each is not None]
        if not bounds or not made.dtype.is_float:
            return self._new(made) if bounds else self._same()
        parts = [operand_of("clip", each) for each in (self, *bounds)]
        operands = (broadcast_node(n, made.shape) for n in aligned("clip", parts, made.dtype))
        usual = _CLIPPED if len(bounds) > 1 else _RAISED if high is None else _LOWERED
        return self._new(ruled(made, rules or usual, *operands))

    # NumPy's and PyTorch's names.

    subtract, multiply, power = sub, mul, pow
    divide = true_divide = div
    floor_divide, remainder = floordiv, mod
    arctan2 = atan2
    less, less_equal, greater, greater_equal, equal, not_equal = lt, le, gt, ge, eq, ne
    left_shift = bitwise_left_shift = lshift
    right_shift = bitwise_right_shift = rshift
    clamp, clamp_min, clamp_max = clip, maximum, minimum

    # Operators. A reflected one has its operands swapped.

    __add__ = add
    __sub__ = sub
    __mul__ = mul
    __floordiv__ = floordiv
    __mod__ = mod
    __pow__ = pow
    __and__ = bitwise_and
    __or__ = bitwise_or
    __xor__ = bitwise_xor
    __lshift__ = lshift
    __rshift__ = rshift
    __lt__ = lt
    __le__ = le
    __gt__ = gt
    __ge__ = ge

    def __truediv__(self, other: Operand) -> Self:
        return self.div(other)

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        if not isinstance(other, _COMPARABLE):
            return NotImplemented
        return self._new(compare("eq", "eq", self, other))

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        if not isinstance(other, _COMPARABLE):
            return NotImplemented
        return self._new(compare("ne", "ne", self, other))

    def __hash__(self) -> int:
        return id(self)

    def __radd__(self, other: Operand) -> Self:
        return self._new(apply("add", "add", other, self))

    def __rsub__(self, other: Operand) -> Self:
        return self._new(apply("sub", "sub", other, self))

    def __rmul__(self, other: Operand) -> Self:
        return self._new(apply("mul", "mul", other, self))

    def __rtruediv__(self, other: Operand) -> Self:
        return self._new(apply("fdiv", "div", other, self))

    def __rand__(self, other: Operand) -> Self:
        return self._new(apply("and", "bitwise_and", other, self))

    def __ror__(self, other: Operand) -> Self:
        return self._new(apply("or", "bitwise_or", other, self))

    def __rxor__(self, other: Operand) -> Self:
        return self._new(apply("xor", "bitwise_xor", other, self))

    def __rlshift__(self, other: Operand) -> Self:
        return self._new(apply("shl", "lshift", other, self))

    def __rrshift__(self, other: Operand) -> Self:
        return self._new(apply("shr", "rshift", other, self))

    def __rfloordiv__(self, other: Operand) -> Self:
        return self._new(floor_divide("floordiv", other, self))

    def __rmod__(self, other: Operand) -> Self:
        return self._new(floor_remainder("mod", other, self))

    def __rpow__(self, other: Operand) -> Self:
        return self._new(power(other, self))


def _where_array(condition: object, yes: Operand, no: Operand) -> Any:
    """`Tensor.where` with a condition that is not a tensor; `yes` or `no` has to be one."""
    lifted = next((value for value in (yes, no) if isinstance(value, Binary)), None)
    if lifted is None:
        what, got = "where needs a tensor", type(condition).__name__
        raise DataError("where", what, got=got, expected="Tensor.where(condition, yes, no)")
    return lifted._new(select("where", condition, yes, no))
