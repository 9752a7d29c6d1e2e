"""Tensor methods composed of elementary operations: lerp, expm1, isclose, logaddexp, elu, …

Names and meanings are NumPy's or PyTorch's. Operations of the table are in `unary.py` and
`binary.py`; the methods here need no row of their own.
"""

import math
from collections.abc import Callable
from typing import Any, Self

from compiler.core.dtypes import Scalar, float_limits, int16, int32, int64, to_float
from compiler.graph.kinds.gradient import ruled
from compiler.graph.kinds.markers import Detach
from compiler.graph.kinds.scan import Scan
from compiler.graph.kinds.shaping import shifted
from compiler.graph.nodes import Bitcast, Contiguous, TensorNode, const, elementwise
from compiler.ops import composed as rule
from compiler.tensors.apply import common_shape
from compiler.tensors.normalizations import Normalizations
from compiler.tensors.rank_zero import of_rank_zero
from compiler.tensors.shapes import Axes, axis_of
from compiler.tensors.value import Operand, as_node, broadcast_node, common_type, operand_of, traced

_FAR = 2.0**28
"""Beyond this x and sqrt(x * x ± 1) are the same number; its square is representable in every
type."""
_INSIDE = (rule.of_inside, None, None)
_SAME_BITS = {16: int16, 32: int32, 64: int64}


@traced
class Elementary(Normalizations):
    """Elementwise functions composed of operations of the table."""

    __slots__ = ()

    def _floating(self) -> Self:
        return self.cast(to_float(self.dtype))

    def _ruled(self, rule: Callable[..., Any], x: Self, *others: Self) -> Self:
        """This tensor as a function of `x` with derivative rule `rule`."""
        rules = (rule, *(None for _ in others))
        return self._new(ruled(self.node, rules, x.node, *(other.node for other in others)))

    def _ruled_by_both(self, rules: tuple[Callable[..., Any], ...], x: Self, y: Self) -> Self:
        return self._new(ruled(self.node, rules, x.node, y.node))

    def _paired(self, method: str, other: Operand, floating: bool = True) -> tuple[Self, Self]:
        """Both operands converted to their common type and shape."""
        parts = [operand_of(method, v) for v in (self, other)]
        common = common_type(parts)
        dtype = to_float(common) if floating else common
        shape = common_shape(method, parts)
        nodes = (broadcast_node(as_node(method, part, dtype), shape) for part in parts)
        first, second = (self._new(node) for node in nodes)
        return first, second

    # Arithmetic.

    def fmax(self, other: Operand) -> Self:
        """The greater of two elements. NaN only where both are NaN."""
        first, second = self._paired("fmax", other, floating=False)
        made = first.isnan().where(second, second.isnan().where(first, first.maximum(second)))
        return made._ruled_by_both((rule.of_fmax_first, rule.of_fmax_second), first, second)

    def fmin(self, other: Operand) -> Self:
        """The lesser of two elements. NaN only where both are NaN."""
        first, second = self._paired("fmin", other, floating=False)
        made = first.isnan().where(second, second.isnan().where(first, first.minimum(second)))
        return made._ruled_by_both((rule.of_fmin_first, rule.of_fmin_second), first, second)

    def lerp(self, end: Operand, weight: Operand) -> Self:
        """Linear interpolation, self + weight * (end - self). It is computed from `end` where
        weight is ½ or more, so weight 1 gives `end` exactly (PyTorch's)."""
        start, stop = self._paired("lerp", end)
        share = self._lift(weight).cast(start.dtype)
        way = stop.sub(start)
        near, far = start.add(share.mul(way)), stop.sub(way.mul(share.neg().add(1)))
        return share.abs().lt(0.5).where(near, far)

    def signbit(self) -> Self:
        """True where the sign bit is set, also for -0.0."""
        if not self.dtype.is_float:
            return self.lt(0)
        if self.dtype.is_storage:
            return self.cast(self.dtype.arithmetic).signbit()
        bits = self._new(Bitcast((self.node,), _SAME_BITS[self.dtype.bits]))
        return bits.lt(0)

    def nextafter(self, other: Operand) -> Self:
        """The next representable number towards `other`; `other` itself where they are equal.

        Read as integers, the bits of floats of one sign count the floats from 0 upwards.
        """
        x, to = self._paired("nextafter", other)
        bits = x.bitcast(_SAME_BITS[x.dtype.bits])
        least = self._new(const(1, bits.dtype)).bitcast(x.dtype).copysign(to)
        is_outward = x.lt(to).eq(x.gt(0))
        moved = bits.add(is_outward.where(1, -1).cast(bits.dtype)).bitcast(x.dtype)
        moved = x.eq(0).where(least, moved)
        return x.isnan().logical_or(to.isnan()).where(math.nan, x.eq(to).where(to, moved))

    def logaddexp(self, other: Operand) -> Self:
        """log(exp(x) + exp(y)) without overflow."""
        first, second = self._paired("logaddexp", other)
        made = self._new(_log_of_sum(first.node, second.node))
        rules = rule.of_logaddexp_first, rule.of_logaddexp_second
        return made._ruled_by_both(rules, first, second)

    @of_rank_zero
    def logcumsumexp(self, axis: int = 0, *, dim: int | None = None) -> Self:
        """log of the cumulative sum of exp(x) along `axis`, without overflow. As in PyTorch."""
        place = axis_of("logcumsumexp", axis if dim is None else dim, self.ndim)
        wide = self._as_wide()
        made = wide._new(_running_log_of_sums(wide.node, place))
        return made.cast(self._statistic_type())

    def log10(self) -> Self:
        """Logarithm to base 10; within 4 units in the last place."""
        x = self._floating()
        return x.log().mul(1 / math.log(10)).cast(x.dtype)

    def log1p(self) -> Self:
        """log(1 + x), accurate where x is small."""
        x = self._floating()
        u = x.add(1)
        # log(u) x / (u - 1) corrects the rounding of u = 1 + x; log(u) x alone would overflow.
        corrected = x.div(u.sub(1)).mul(u.log())
        is_plain = u.eq(1).logical_or(u.eq(math.inf))
        return is_plain.where(x, corrected)._ruled(rule.of_log1p, x)

    def expm1(self) -> Self:
        """exp(x) - 1, accurate where x is small."""
        x = self._floating()
        u = x.exp()
        # (u - 1) x / log(u) corrects the rounding of u = exp(x), as long as u - 1 is not -1.
        corrected = u.sub(1).mul(x).div(u.log())
        is_far = x.abs().gt(1)
        made = u.eq(1).where(x, is_far.where(u.sub(1), corrected))
        return made._ruled(rule.of_expm1, x)

    def sinh(self) -> Self:
        """Hyperbolic sine."""
        x = self._floating()
        grown = x.abs().expm1()
        value = grown.add(grown.div(grown.add(1))).div(2.0)
        made = x.abs().gt(20).where(x._half_of_exp(), value).copysign(x)
        return made._ruled(rule.of_sinh, x)

    def cosh(self) -> Self:
        """Hyperbolic cosine."""
        x = self._floating()
        half = x._half_of_exp()
        return half.add(half.reciprocal().mul(0.25))._ruled(rule.of_cosh, x)

    def asinh(self) -> Self:
        """Inverse hyperbolic sine."""
        x = self._floating()
        size = x.cast(x.dtype.accumulator).abs()
        square = size.square()
        near = size.add(square.div(square.add(1).sqrt().add(1))).log1p()
        made = size.gt(_FAR).where(size._log_of_double(), near).cast(x.dtype).copysign(x)
        return made._ruled(rule.of_asinh, x)

    def acosh(self) -> Self:
        """Inverse hyperbolic cosine; NaN below 1."""
        x = self._floating()
        wide = x.cast(x.dtype.accumulator)
        more = wide.sub(1)
        near = more.add(more.mul(wide.add(1)).sqrt()).log1p()
        value = wide.gt(_FAR).where(wide._log_of_double(), near)
        made = wide.lt(1).where(math.nan, value)
        return made._ruled(rule.of_acosh, wide).cast(x.dtype)

    def atanh(self) -> Self:
        """Inverse hyperbolic tangent; NaN outside of -1 … 1."""
        x = self._floating()
        size = x.cast(x.dtype.accumulator).abs()
        value = size.add(size).div(size.neg().add(1)).log1p().mul(0.5)
        return value.cast(x.dtype).copysign(x)._ruled(rule.of_atanh, x)

    arcsinh, arccosh, arctanh = asinh, acosh, atanh  # NumPy's names

    def _log_of_double(self) -> Self:
        """log(2 x), where 2 x may overflow."""
        return self.log().add(math.log(2))

    def _half_of_exp(self) -> Self:
        """exp(|x|) / 2, without overflow of exp(|x|). Halving is exact; subtracting log(2) in the
        exponent would not be."""
        root = self.abs().mul(0.5).exp()
        return root.mul(0.5).mul(root)

    # Tests.

    def isclose(
        self, other: Operand, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
    ) -> Self:
        """True where |x - y| <= atol + rtol |y|. Infinities are close only to themselves."""
        first, second = self._paired("isclose", other)
        near = first.sub(second).abs().le(second.abs().mul(rtol).add(atol))
        close = first.isfinite().logical_and(second.isfinite()).logical_and(near)
        same = close.logical_or(first.eq(second))
        both = first.isnan().logical_and(second.isnan())
        return same.logical_or(both) if equal_nan else same

    def allclose(
        self, other: Operand, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
    ) -> Self:
        """True if all elements are close, as a tensor of rank 0. See `isclose`."""
        return self.isclose(other, rtol, atol, equal_nan).all()

    def count_nonzero(self, axis: Axes = None, keepdim: bool = False, *, dim: Axes = None) -> Self:
        """The number of elements that are not 0, int64."""
        axes = self._axes("count_nonzero", axis, dim)
        return self.cast("bool").sum(axes, keepdim)

    def nan_to_num(
        self, nan: Scalar = 0.0, posinf: Scalar | None = None, neginf: Scalar | None = None
    ) -> Self:
        """NaN replaced by `nan`, and infinities by the given numbers, by default the greatest and
        least finite values of the type."""
        if not self.dtype.is_float:
            return self._same()
        limit = float(float_limits(self.dtype.numpy).max)
        high, low = limit if posinf is None else posinf, -limit if neginf is None else neginf
        finite = self.eq(math.inf).where(high, self.eq(-math.inf).where(low, self))
        return self.isnan().where(nan, finite)

    # Activations.

    def leaky_relu(self, negative_slope: float = 0.01) -> Self:
        """Activation function: x where it is positive, else negative_slope * x."""
        x = self._floating()
        return x.gt(0).where(x, x.mul(negative_slope))

    def elu(self, alpha: float = 1.0) -> Self:
        """Activation function: x where it is positive, else alpha * (exp(x) - 1)."""
        x = self._floating()
        made = x.lt(0).where(x.minimum(0).expm1().mul(alpha), x)
        return made._ruled(rule.of_elu, x, x._new(const(alpha, x.dtype, x.shape)))

    def relu6(self) -> Self:
        """Activation function: x limited to 0 … 6."""
        return self._limited(0, 6, _INSIDE)

    def hardtanh(self, low: float = -1.0, high: float = 1.0) -> Self:
        """Activation function: x limited to `low` … `high`."""
        return self._limited(low, high, _INSIDE)

    def softsign(self) -> Self:
        """Activation function: x / (1 + |x|)."""
        x = self._floating()
        return x.div(x.abs().add(1))

    def mish(self) -> Self:
        """Activation function: x tanh(softplus(x))."""
        x = self._floating()
        return x.mul(x.softplus().tanh())

    def softmin(self, axis: Axes = -1, *, dim: Axes = None) -> Self:
        """`softmax` of -x."""
        return self._floating().neg().softmax(axis if dim is None else dim)


def _log_of_sum(first: TensorNode, second: TensorNode) -> TensorNode:
    """log(exp(x) + exp(y)) = max + softplus(min - max). Equal operands give x + log(2), also
    infinite ones."""
    high, low = elementwise("max", first, second), elementwise("min", first, second)
    rest = elementwise("softplus", elementwise("sub", low, high))
    two = const(math.log(2), first.dtype, first.shape)
    same = elementwise("add", first, two)
    return elementwise("where", elementwise("eq", first, second), same,
                       elementwise("add", high, rest))  # fmt: skip


def _running_log_of_sums(node: TensorNode, axis: int) -> TensorNode:
    """log of the cumulative sums of exp(x): m + log(s), where m is the running maximum and s the
    sum of exp(x - m).

    The sums are computed in doubling steps, as in `scan.stepped`. A partial sum was scaled by exp
    of an earlier, smaller maximum, so each step multiplies it by exp of their difference, at most
    1. Every step is stored: recomputing it would double the code at each step.
    """
    if not node.size:
        return node
    zero, extent = const(0, node.dtype, node.shape), node.shape[axis]
    distances = [1 << step for step in range((extent - 1).bit_length())]
    greatest = Scan((node,), "max", axis)
    infinite = const(math.inf, node.dtype, node.shape)
    is_infinite = elementwise("eq", elementwise("abs", greatest), infinite)
    chosen = elementwise("where", is_infinite, zero, greatest)  # inf - inf is NaN
    base = Contiguous((Detach((chosen,)),))  # the result is the same whatever is subtracted
    total: TensorNode = elementwise("exp", elementwise("sub", node, base))
    for distance in distances:
        fall = elementwise("sub", shifted(base, axis, distance, 0), base)
        share = elementwise("exp", elementwise("min", fall, zero))
        before = elementwise("mul", shifted(total, axis, distance, 0), share)
        total = Contiguous((elementwise("add", total, before),))
    return elementwise("add", base, elementwise("log", total))
