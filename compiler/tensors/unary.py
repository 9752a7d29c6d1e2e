"""Tensor methods of one operand: mathematics, rounding, activation functions, tests.

There is one method per unary row of `ops.OPS`. Integers and truth values become floats, as in
NumPy's functions (8 bits → float16, 16 → float32, wider → float64), unless stated otherwise.
"""

import math
from typing import Literal, Self

from compiler.core import dtypes
from compiler.core.errors import DTypeError
from compiler.graph.nodes import TensorNode, const, elementwise
from compiler.tensors.apply import apply
from compiler.tensors.shapes import integers
from compiler.tensors.value import TensorValue, cast_to, traced


def _gelu_by_erf(x: TensorNode) -> TensorNode:
    """x/2 * (1 + erf(x / sqrt(2)))"""
    half, one = const(0.5, x.dtype, x.shape), const(1, x.dtype, x.shape)
    scaled = elementwise("mul", x, const(math.sqrt(0.5), x.dtype, x.shape))
    bend = elementwise("add", elementwise("erf", scaled), one)
    return elementwise("mul", elementwise("mul", half, x), bend)


@traced
class Unary(TensorValue):
    """Elementwise functions of one operand."""

    __slots__ = ()

    def _unary(self, row: str, method: str = "") -> Self:
        return self._new(apply(row, method or row, self.node))

    def _of_float(self, row: str, method: str) -> Self:
        return self._new(apply(row, method, cast_to(self.node, dtypes.to_float(self.dtype))))

    def neg(self) -> Self:
        """-x; integers wrap; not defined for bool."""
        return self._unary("neg")

    def abs(self) -> Self:
        """|x|. The least integer stays as it is, because its absolute value overflows."""
        return self._unary("abs")

    def sign(self) -> Self:
        """The sign: -1, 0 or 1. NaN stays NaN; not defined for bool."""
        return self._unary("sign")

    def bitwise_not(self) -> Self:
        """All bits inverted; logical not for bool."""
        return self._unary("not", "bitwise_not")

    def logical_not(self) -> Self:
        """True where an element is 0."""
        return self._new(elementwise("not", cast_to(self.node, dtypes.bool_)))

    def sqrt(self) -> Self:
        """Square root; NaN below 0."""
        return self._unary("sqrt")

    def rsqrt(self) -> Self:
        """1 / sqrt(x)."""
        return self._unary("rsqrt")

    def reciprocal(self) -> Self:
        """1 / x. Integers become floats (in NumPy they stay integers)."""
        return self._unary("recip", "reciprocal")

    def square(self) -> Self:
        """x * x; integers stay integers."""
        return self._unary("square")

    def exp(self) -> Self:
        """e to the power x."""
        return self._unary("exp")

    def exp2(self) -> Self:
        """2 to the power x."""
        return self._unary("exp2")

    def log(self) -> Self:
        """Natural logarithm."""
        return self._unary("log")

    def log2(self) -> Self:
        """Logarithm to base 2."""
        return self._unary("log2")

    def sin(self) -> Self:
        """Sine of x radians."""
        return self._unary("sin")

    def cos(self) -> Self:
        """Cosine of x radians."""
        return self._unary("cos")

    def tan(self) -> Self:
        """Tangent of x radians."""
        return self._unary("tan")

    def asin(self) -> Self:
        """Inverse sine, in radians from -pi/2 to pi/2; NaN outside of -1 … 1."""
        return self._unary("asin")

    def acos(self) -> Self:
        """Inverse cosine, in radians from 0 to pi; NaN outside of -1 … 1."""
        return self._unary("acos")

    def atan(self) -> Self:
        """Inverse tangent, in radians from -pi/2 to pi/2."""
        return self._unary("atan")

    def tanh(self) -> Self:
        """Hyperbolic tangent."""
        return self._unary("tanh")

    def erf(self) -> Self:
        """Error function."""
        return self._unary("erf")

    def trunc(self) -> Self:
        """Rounded towards 0. Integers and truth values stay unchanged."""
        return self._unary("trunc")

    def floor(self) -> Self:
        """Rounded down. Integers and truth values stay unchanged."""
        return self._unary("floor")

    def ceil(self) -> Self:
        """Rounded up. Integers and truth values stay unchanged."""
        return self._unary("ceil")

    def round(self, decimals: int = 0) -> Self:
        """Rounded to the given number of decimals, ties to even. Integers and truth values stay
        unchanged; for negative `decimals` they raise `DTypeError`. As in NumPy, x * 10^decimals is
        rounded."""
        (decimals,) = integers("round", (decimals,))
        if decimals < 0 and not self.dtype.is_float:
            raise DTypeError("round", "integers are not rounded to tens", got=str(self.dtype),
                             expected="floats, or decimals of 0 or more",
                             hint="cast(float64) first")  # fmt: skip
        if not decimals or not self.dtype.is_float:
            return self._unary("round")
        scale = const(10.0 ** abs(decimals), self.dtype, self.shape)
        there, back = ("mul", "fdiv") if decimals > 0 else ("fdiv", "mul")
        whole = elementwise("round", elementwise(there, self.node, scale))
        return self._new(elementwise(back, whole, scale))

    def sigmoid(self) -> Self:
        """Activation function: 1 / (1 + exp(-x))."""
        return self._unary("sigmoid")

    def silu(self) -> Self:
        """Activation function: x * sigmoid(x)."""
        return self._unary("silu")

    def relu(self) -> Self:
        """Activation function: max(x, 0). Integers stay integers; not defined for bool."""
        return self._unary("relu")

    def softplus(self) -> Self:
        """Activation function: log(1 + exp(x))."""
        return self._unary("softplus")

    def gelu(self, approximate: Literal["tanh", "none"] = "tanh") -> Self:
        """Activation function: x times the normal cumulative distribution at x. The default is the
        tanh approximation; "none", PyTorch's default, uses erf. They differ by up to 5e-4."""
        if approximate == "tanh":
            return self._unary("gelu")
        if approximate != "none":
            raise DTypeError(
                "gelu", "unknown approximation", got=repr(approximate), expected="'tanh' or 'none'"
            )
        dtype = dtypes.to_float(self.dtype)
        return self._new(_gelu_by_erf(cast_to(self.node, dtype)))

    def isnan(self) -> Self:
        """True where an element is NaN."""
        return self._new(elementwise("ne", self.node, self.node))

    def isinf(self) -> Self:
        """True where an element is inf or -inf."""
        if not self.dtype.is_float:
            return self._new(const(False, dtypes.bool_, self.shape))
        infinity = const(math.inf, self.dtype, self.shape)
        return self._new(elementwise("eq", elementwise("abs", self.node), infinity))

    def isfinite(self) -> Self:
        """True where an element is neither infinite nor NaN."""
        if not self.dtype.is_float:
            return self._new(const(True, dtypes.bool_, self.shape))
        infinity = const(math.inf, self.dtype, self.shape)
        return self._new(elementwise("lt", elementwise("abs", self.node), infinity))

    # NumPy's names, and its functions that make floats of integers.

    def fabs(self) -> Self:
        """|x| as a float."""
        return self._of_float("abs", "fabs")

    def rint(self) -> Self:
        """The nearest integer as a float, the even one of two."""
        return self._of_float("round", "rint")

    absolute = abs
    negative = neg
    invert = bitwise_invert = bitwise_not
    arcsin, arccos, arctan = asin, acos, atan

    # Operators.

    __round__ = round
    __neg__ = neg
    __abs__ = abs
    __invert__ = bitwise_not

    def __pos__(self) -> Self:
        return self._same()
