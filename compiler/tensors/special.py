"""Special functions: erfc, erfinv, lgamma, digamma, cbrt; and operations on bits.

Names are PyTorch's and NumPy's. Floats of 32 bits or fewer are computed in float64 where terms
cancel, and rounded once.
"""

import math
from collections.abc import Sequence
from typing import Self

from compiler.core.dtypes import DType, float32, float64, uint8, uint16, uint32, uint64
from compiler.core.errors import DTypeError
from compiler.graph.nodes import TensorNode
from compiler.ops import composed as rule
from compiler.ops.row import Build
from compiler.tensors.elementary import Elementary
from compiler.tensors.value import traced

_UNSIGNED = {8: uint8, 16: uint16, 32: uint32, 64: uint64}

_SCALED_ERFC = (
    8.393713146922437e-10, 9.862522852638077e-10, -8.2175823255842e-09, -1.3312913497047596e-08,
    4.106398119025062e-08, 1.0183619060093353e-07, -1.4047649590658978e-07,
    -6.166011241162324e-07, 3.557608236258433e-07, 3.472370925555579e-06, -7.30828121036336e-07,
    -2.0100542257398872e-05, 4.949196639781322e-06, 0.00012509934245423488,
    -0.00010515971958187254, -0.0007798322696533534, 0.0018886903449987548, 0.0025293918156938304,
    -0.023770514917171297, 0.06830802734400991, -0.11927366341538638, 0.1296451587027594,
    -0.0475622943534492, -0.13562110612458117, 1.2530080582697296,
)  # fmt: skip
"""(1 + 2 x) exp(x²) erfc(x) as a polynomial in (x - 3) / (x + 3), the highest power first: its
Chebyshev expansion, with an error of at most 1e-16. The substitution is that of Shepherd and
Laframboise (1981)."""

_NEAR = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
         -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
_FAR = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
        -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)  # fmt: skip
"""Giles' polynomials for erfinv in float32 ("Approximating the erfinv function", 2010): of
w - 2.5 and of sqrt(w) - 3, where w = -log(1 - x²)."""

_STIRLING = (-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360,
             1 / 12)  # fmt: skip
"""B2k / (2k (2k - 1)): of the series of log Γ(z) in 1 / z², from k = 8 down to 1."""
_BERNOULLI = (-3617 / 8160, 1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
"""B2k / 2k: of the series of the logarithmic derivative, in the same order."""
_SHIFT = 8
"""From here on the series have an error of at most 1e-16; smaller arguments are shifted up."""


@traced
class Special(Elementary):
    """Special functions of each element."""

    __slots__ = ()

    def erfc(self) -> Self:
        """1 - erf(x), accurate also where erf(x) is close to 1."""
        x = self._floating()
        wide = x._wider()
        return wide._erfc()._ruled(rule.of_erfc, wide).cast(x.dtype)

    def erfinv(self) -> Self:
        """The inverse of erf: infinite at -1 and 1, NaN outside."""
        x = self._floating()
        inner = x if x.dtype == float64 else x.cast(float32)
        logarithm = inner.mul(inner).neg().log1p().neg()
        near = inner._polynomial(logarithm.sub(2.5), _NEAR)
        far = inner._polynomial(logarithm.sqrt().sub(3.0), _FAR)
        made = logarithm.lt(5).where(near, far).mul(inner)
        if inner.dtype == float64:
            made = made._refined(inner)
        made = inner.abs().eq(1).where(inner.mul(math.inf), made)
        made = inner.eq(0).where(inner, made)
        return made._ruled(rule.of_erfinv, inner).cast(x.dtype)

    def lgamma(self) -> Self:
        """log |Γ(x)|: infinite at 0 and negative integers. The absolute or relative error is at
        most 1e-14."""
        x = self._floating()
        wide = x._wider()
        is_left = wide.lt(0.5)
        value = is_left.where(wide.neg().add(1), wide)._log_gamma()
        turn = wide.sub(wide.round()).mul(math.pi).sin().abs()  # |sin πx|
        value = is_left.where(turn.log().neg().add(math.log(math.pi)).sub(value), value)
        value = wide.eq(1).bitwise_or(wide.eq(2)).where(0, value)
        value = wide.isinf().where(math.inf, value)
        return value._ruled(_of_lgamma, wide).cast(x.dtype)

    def digamma(self) -> Self:
        """The derivative of log Γ(x): NaN at negative integers, infinite at 0."""
        x = self._floating()
        return x._wider()._digamma().cast(x.dtype)

    def _digamma(self) -> Self:
        wide, is_left = self, self.lt(0.5)
        value = is_left.where(wide.neg().add(1), wide)._derivative_of_log_gamma()
        part = wide.sub(wide.round())
        # The branch that is not taken has a pole there: its derivative would be 0 times inf.
        inside = is_left.where(part, 0.25)
        turned = value.sub(inside.mul(math.pi).tan().reciprocal().mul(math.pi))
        value = is_left.where(turned, value)
        value = part.eq(0).bitwise_and(wide.lt(0)).where(math.nan, value)
        return wide.eq(0).where(wide.reciprocal().neg(), value)

    def cbrt(self) -> Self:
        """The cube root, with the sign of the element."""
        x = self._floating()
        wide = x._wider()
        size = wide.abs()
        root = size.log2().div(3.0).exp2()
        root = root.sub(root.sub(size.div(root.mul(root))).div(3.0))
        is_plain = size.eq(0).bitwise_or(size.isfinite().logical_not())
        made = is_plain.where(wide, root.copysign(wide))
        return made._ruled(rule.of_cbrt, wide).cast(x.dtype)

    def popcount(self) -> Self:
        """The number of bits set in each element, in the tensor's type. Integers only."""
        if not self.dtype.is_integer:
            raise DTypeError("popcount", "only integers have bits to count", got=str(self.dtype),
                             expected="an integer type")  # fmt: skip
        plain = _UNSIGNED[self.dtype.bits]
        word, width = self.bitcast(plain), 1
        while width < plain.bits:  # the sums of neighbours, then of neighbours of these
            mask = _every_other(plain, width)
            word = word.bitwise_and(mask).add(word.rshift(width).bitwise_and(mask))
            width *= 2
        return word.bitcast(self.dtype)

    def _wider(self) -> Self:
        return self.cast(float64)

    def _polynomial(self, x: Self, coefficients: Sequence[float]) -> Self:
        """A polynomial in `x`, coefficients from the highest power down."""
        first, second, *others = coefficients
        made = x.mul(first).add(second)
        for each in others:
            made = made.mul(x).add(each)
        return made

    def _erfc(self) -> Self:
        """exp(-x²) is computed as a product of two factors, the first with an exact square."""
        size = self.abs().minimum(40)
        scaled = self._polynomial(size.sub(3).div(size.add(3)), _SCALED_ERFC)
        upper = size.cast(float32).cast(float64)
        rest = size.sub(upper).mul(size.add(upper)).neg().exp()
        value = scaled.div(size.mul(2).add(1)).mul(upper.mul(upper).neg().exp()).mul(rest)
        return self.lt(0).where(value.neg().add(2), value)

    def _refined(self, wanted: Self) -> Self:
        """One step of Halley's method towards erf(x) = `wanted`; beyond ½ it uses the difference of
        erfc."""
        size, goal = self.abs(), wanted.abs()
        middle = size.erf().sub(goal)
        tail = goal.neg().add(1).sub(size._erfc())
        slope = size.mul(size).neg().exp().mul(2 / math.sqrt(math.pi))
        step = goal.lt(0.5).where(middle, tail).div(slope)
        return size.sub(step.div(size.mul(step).add(1))).copysign(wanted)

    def _moved_up(self) -> tuple[Self, Self]:
        """Arguments of ½ or more, shifted up by `_SHIFT` where they are small; and a mask of the
        shifted ones."""
        is_small = self.lt(_SHIFT)
        return is_small.where(self.add(_SHIFT), self), is_small

    def _log_gamma(self) -> Self:
        """log Γ(x) for x of ½ or more: log Γ(x + 8) minus log(x (x + 1) … (x + 7))."""
        z, is_small = self._moved_up()
        inverse = z.reciprocal()
        series = self._polynomial(inverse.mul(inverse), _STIRLING).mul(inverse)
        value = z.sub(0.5).mul(z.log()).sub(z).add(series.add(0.5 * math.log(2 * math.pi)))
        product = self
        for more in range(1, _SHIFT):
            product = product.mul(self.add(more))
        return is_small.where(value.sub(product.log()), value)

    def _derivative_of_log_gamma(self) -> Self:
        """The derivative for x of ½ or more: that at x + 8 minus (1 / x + … + 1 / (x + 7))."""
        z, is_small = self._moved_up()
        inverse = z.reciprocal()
        square = inverse.mul(inverse)
        value = z.log().sub(inverse.mul(0.5)).sub(self._polynomial(square, _BERNOULLI).mul(square))
        total = self.reciprocal()
        for more in range(1, _SHIFT):
            total = total.add(self.add(more).reciprocal())
        return is_small.where(value.sub(total), value)


def _of_lgamma(b: Build[TensorNode], g: TensorNode, y: TensorNode, x: TensorNode) -> TensorNode:
    """d log |Γ(x)| = digamma(x) dx"""
    made = Special.__new__(Special)
    made.node = x
    return b.op("mul", g, made._digamma().node)


def _every_other(dtype: DType, width: int) -> int:
    """A bit pattern: runs of `width` bits that are set, with runs of `width` zeros between them."""
    ones = (1 << width) - 1
    return sum(ones << at for at in range(0, dtype.bits, 2 * width))
