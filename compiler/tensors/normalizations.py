"""Tensor methods that normalise along axes: softmax, logsumexp, layernorm.

Integers are computed in float64; float16 is computed in float32 and rounded once, at the end.
"""

from typing import Self

from compiler.graph.kinds.markers import Detach
from compiler.tensors.rank_zero import of_rank_zero
from compiler.tensors.reductions import Reductions, refuse_empty
from compiler.tensors.shapes import Axes, axes_of
from compiler.tensors.value import traced


@traced
class Normalizations(Reductions):
    """Softmax and standardisation."""

    __slots__ = ()

    @of_rank_zero
    def softmax(self, axis: Axes = -1, *, dim: Axes = None) -> Self:
        """exp(x) divided by its sum over `axis`. The maximum is subtracted first, so nothing
        overflows."""
        axes = axes_of("softmax", axis if dim is None else dim, self.ndim)
        if not self.size:
            return self.cast(self._statistic_type())
        powers = self._as_wide()._centred(axes).exp()
        return powers.div(powers.sum(axes, keepdim=True)).cast(self._statistic_type())

    @of_rank_zero
    def log_softmax(self, axis: Axes = -1, *, dim: Axes = None) -> Self:
        """The logarithm of `softmax`, computed without underflow of small probabilities."""
        axes = axes_of("log_softmax", axis if dim is None else dim, self.ndim)
        if not self.size:
            return self.cast(self._statistic_type())
        centred = self._as_wide()._centred(axes)
        total = centred.exp().sum(axes, keepdim=True)
        return centred.sub(total.log()).cast(self._statistic_type())

    @of_rank_zero
    def logsumexp(self, axis: Axes = -1, keepdim: bool = False, *, dim: Axes = None) -> Self:
        """log(sum(exp(x))) over `axis`, without overflow. Raises `ShapeError` over an empty
        axis."""
        axes = axes_of("logsumexp", axis if dim is None else dim, self.ndim)
        refuse_empty("logsumexp", self.shape, axes)
        x = self._as_wide()
        greatest = x.max(axes, keepdim=True)
        # An infinite maximum cannot be subtracted: inf - inf is NaN.
        shift = greatest.isfinite().where(greatest, 0.0)._detached()
        result = x.sub(shift).exp().sum(axes, keepdim=True).log().add(shift)
        kept = result if keepdim else result.squeeze(axes)
        return kept.cast(self._statistic_type())

    @of_rank_zero
    def layernorm(self, axis: Axes = -1, eps: float = 1e-5, *, dim: Axes = None) -> Self:
        """Layer normalisation, (x - mean) / sqrt(variance + eps) over `axis`. The variance divides
        by the number of elements."""
        axes = axes_of("layernorm", axis if dim is None else dim, self.ndim)
        x = self._as_wide()
        centred = x.sub(x._mean(axes, keepdim=True))
        variance = centred.square()._mean(axes, keepdim=True)
        return centred.mul(variance.add(eps).rsqrt()).cast(self._statistic_type())

    def _centred(self, axes: tuple[int, ...]) -> Self:
        """x minus its maximum over `axes`."""
        return self.sub(self.max(axes, keepdim=True))

    def _detached(self) -> Self:
        return self._new(Detach((self.node,)))
