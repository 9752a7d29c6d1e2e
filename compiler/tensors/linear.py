"""Linear algebra built from products: outer, kron, cross, norm, …"""

import math
from collections.abc import Sequence
from typing import Self

from compiler.core.errors import DataError, ShapeError
from compiler.graph.kinds.composite import checked
from compiler.graph.kinds.gradient import ruled
from compiler.graph.kinds.joins import Contract
from compiler.ops.composed import of_root, unchanged
from compiler.tensors.arrangement import Arrangement
from compiler.tensors.products import Products
from compiler.tensors.shapes import Axes, axes_of, axis_of, integers, one_of, written
from compiler.tensors.value import Operand, cast_to, common_type, traced


@traced
class Linear(Arrangement, Products):
    """Products of vectors and matrices, norms and angles."""

    __slots__ = ()

    def outer(self, other: Operand) -> Self:
        """The outer product [m, n] of [m] and [n]; operands of higher rank are flattened
        (NumPy's)."""
        return self.ravel().unsqueeze(1).mul(self._lift(other).ravel())

    def inner(self, other: Operand) -> Self:
        """The inner product over the last axes of both operands, for every pair of their other
        axes."""
        return self.tensordot(other, ((-1,), (-1,))) if self.ndim else self.mul(other)

    def vdot(self, other: Operand) -> Self:
        """The dot product of both operands, flattened; rank 0."""
        return self.ravel().dot(self._lift(other).ravel())

    def tensordot(self, other: Operand, axes: int | Sequence[Sequence[int]] = 2) -> Self:
        """The sum of products over `axes`: a number n contracts the last n axes of self with the
        first n of `other`; two lists contract those pairs of axes. The result has the other axes,
        those of self first."""
        right = self._lift(other)
        if isinstance(axes, int):
            mine, others = range(self.ndim - axes, self.ndim), range(axes)
        else:
            mine, others = (integers("tensordot", (a,)) for a in axes)  # type: ignore[assignment]
        first = [axis_of("tensordot", a, self.ndim) for a in mine]
        second = [axis_of("tensordot", a, right.ndim) for a in others]
        shapes = [self.shape[a] for a in first], [right.shape[a] for a in second]
        if shapes[0] != shapes[1]:
            raise ShapeError(
                "tensordot", "the axes to sum over differ",
                got=f"{written(tuple(shapes[0]))} and {written(tuple(shapes[1]))}",
                expected="as many axes, of equal extents",
            )  # fmt: skip
        dtype = common_type([self.node, right.node])
        operands = cast_to(self.node, dtype), cast_to(right.node, dtype)
        pairs = tuple(zip(first, second, strict=True))
        return self._new(checked(Contract(operands, pairs), ShapeError))

    def kron(self, other: Operand) -> Self:
        """The Kronecker product: blocks of `other`, each times one element of self."""
        right = self._lift(other)
        rank = max(self.ndim, right.ndim)
        left = self.reshape((1,) * (rank - self.ndim) + self.shape)
        right = right.reshape((1,) * (rank - right.ndim) + right.shape)
        pairs = list(zip(left.shape, right.shape, strict=True))
        apart = left.reshape(tuple(n for m, _ in pairs for n in (m, 1)))
        blocks = right.reshape(tuple(n for _, m in pairs for n in (1, m)))
        return apart.mul(blocks).reshape(tuple(m * n for m, n in pairs))

    def cross(self, other: Operand, axis: int = -1, *, dim: int | None = None) -> Self:
        """The cross product along `axis`, which has extent 3 in both operands."""
        right = self._lift(other)
        given = axis if dim is None else dim
        first, second = (axis_of("cross", given, t.ndim) for t in (self, right))
        if (self.shape[first], right.shape[second]) != (3, 3):
            raise ShapeError(
                "cross", "needs vectors of three elements",
                got=f"{written(self.shape)} and {written(right.shape)}, axis {given}",
                expected="extent 3 on the axis",
            )  # fmt: skip
        ahead = self.roll(-1, first).mul(right.roll(-2, second))
        return ahead.sub(self.roll(-2, first).mul(right.roll(-1, second)))

    def norm(
        self, ord: float | str = 2, axis: Axes = None, keepdim: bool = False, *, dim: Axes = None
    ) -> Self:
        """The vector norm (Σ |x|^ord)^(1/ord) over `axis`. ord=inf is the greatest |x|, -inf the
        least, 0 the number of elements that are not 0, "fro" is 2. Over two axes it is the norm of
        all their elements, as in PyTorch."""
        axes = axes_of("norm", one_of("norm", axis, dim), self.ndim)
        power = 2.0 if ord == "fro" else ord
        if not isinstance(power, int | float) or math.isnan(power):
            raise DataError("norm", "no such norm", got=repr(ord), expected="a number or 'fro'")
        exact = self._as_wide()
        if power == 2:
            total = exact.square().sum(axes, keepdim)
            length = self._new(ruled(total.sqrt().node, (of_root,), total.node))
        else:
            length = exact.abs()._length(float(power), axes, keepdim)
        return length.cast(self._statistic_type())

    def _length_of_at_least(self, least: float, axis: int) -> Self:
        length = self.norm(2, axis, keepdim=True)
        return self._new(ruled(length.maximum(least).node, (unchanged,), length.node))

    def _length(self, power: float, axes: tuple[int, ...], keepdim: bool) -> Self:
        match power:
            case math.inf:
                return self.max(axes, keepdim)
            case float() if power == -math.inf:
                return self.min(axes, keepdim)
            case 0.0:
                return self.ne(0).cast(self.dtype).sum(axes, keepdim)
            case 1.0:
                return self.sum(axes, keepdim)
        return self.pow(power).sum(axes, keepdim).pow(1 / power)

    def normalize(
        self, ord: float = 2, axis: Axes = 1, eps: float = 1e-12, *, dim: Axes = None
    ) -> Self:
        """self / max(norm, eps) along `axis`. As in PyTorch."""
        exact = self._as_wide()
        length = exact.norm(ord, axis if dim is None else dim, keepdim=True)
        return exact.div(length.maximum(eps)).cast(self._statistic_type())

    def cosine_similarity(
        self, other: Operand, axis: int = 1, eps: float = 1e-8, *, dim: int | None = None
    ) -> Self:
        """The cosine of the angle between vectors along `axis`. Norms below `eps` count as `eps`,
        but keep their derivatives (PyTorch's)."""
        given = axis if dim is None else dim
        right = self._lift(other)
        dtype = self.mul(right)._statistic_type()
        units = [t.div(t._length_of_at_least(eps, given))
                 for t in (self._as_wide(), right._as_wide())]  # fmt: skip
        return units[0].mul(units[1]).sum(given).cast(dtype)
