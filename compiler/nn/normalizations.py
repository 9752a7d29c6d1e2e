"""Layer, group and batch normalisation."""

from collections.abc import Sequence
from typing import ClassVar

from compiler.core.errors import ShapeError
from compiler.core.keywords import constructor
from compiler.graph.words import short
from compiler.nn import initial
from compiler.nn.module import Module, refuse_rank
from compiler.tensor import Tensor
from compiler.tensors.gradients import no_grad
from compiler.tensors.writing import assign_together


class _Norm(Module):
    def _refuse_misfit(self, x: Tensor, extents: tuple[int, ...], first: int) -> None:
        """Raise `ShapeError` unless `x` has `extents` on its axes from `first` on."""
        if x.shape[first:][: len(extents)] != extents:
            expected = f"{', '.join(map(str, extents))} on the axes from {first} on"
            raise ShapeError(type(self).__name__, "the input does not fit the layer",
                             got=short(x.node), expected=expected)  # fmt: skip


class LayerNorm(_Norm):
    """Layer normalisation over the last axes, of `normalized_shape`: (x - mean) / sqrt(variance +
    eps) * `weight` + `bias`, both of that shape."""

    @constructor
    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5,
        elementwise_affine: bool = True, bias: bool = True, dtype: object = initial.FLOAT,
    ) -> None:  # fmt: skip
        extents = [normalized_shape] if isinstance(normalized_shape, int) else normalized_shape
        self.shape = tuple(extents)
        self.eps = eps
        self.weight = initial.full(self.shape, 1.0, dtype) if elementwise_affine else None
        self.bias = initial.full(self.shape, 0.0, dtype) if elementwise_affine and bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The normalised input, with its shape."""
        self._refuse_misfit(x, self.shape, -len(self.shape))
        made = x.layernorm(tuple(range(-len(self.shape), 0)), self.eps)
        made = made if self.weight is None else made * self.weight
        return made if self.bias is None else made + self.bias


class RMSNorm(_Norm):
    """Root-mean-square normalisation: x / sqrt(mean of x² + eps) over the last axis, times `weight`
    [normalized_shape]."""

    @constructor
    def __init__(
        self, normalized_shape: int, eps: float = 1e-6, dtype: object = initial.FLOAT
    ) -> None:
        self.eps = eps
        self.weight = initial.full((normalized_shape,), 1.0, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """The normalised input, with its shape."""
        self._refuse_misfit(x, self.weight.shape, -1)
        return x.rms_norm(-1, self.weight, self.eps)


class GroupNorm(_Norm):
    """Group normalisation: [n, num_channels, …] with the channels of each of `num_groups` groups
    normalised together."""

    @constructor
    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
        dtype: object = initial.FLOAT,
    ) -> None:  # fmt: skip
        if num_groups < 1 or num_channels % num_groups:
            raise ShapeError("GroupNorm", "the channels do not fit into groups",
                             got=f"{num_channels} channels, {num_groups} groups",
                             expected="a multiple of the groups")  # fmt: skip
        self.groups, self.channels, self.eps = num_groups, num_channels, eps
        self.weight = initial.full((num_channels,), 1.0, dtype) if affine else None
        self.bias = initial.full((num_channels,), 0.0, dtype) if affine else None

    def forward(self, x: Tensor) -> Tensor:
        """The normalised input, with its shape."""
        self._refuse_misfit(x, (self.channels,), 1)
        return x.group_norm(self.groups, self.weight, self.bias, self.eps)


class _BatchNorm(_Norm):
    ranks: ClassVar[tuple[int, ...]]

    @constructor
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True,
        dtype: object = initial.FLOAT,
    ) -> None:  # fmt: skip
        self.eps, self.momentum = eps, momentum
        self.weight = initial.full((num_features,), 1.0, dtype) if affine else None
        self.bias = initial.full((num_features,), 0.0, dtype) if affine else None
        self.running_mean = initial.state((num_features,), 0.0, dtype)
        self.running_var = initial.state((num_features,), 1.0, dtype)

    def forward(self, x: Tensor) -> Tensor:
        """The normalised input. In training mode it uses the statistics of the batch, and the
        running statistics move towards them by the share `momentum`; otherwise it uses the running
        ones."""
        refuse_rank(self, x, *self.ranks)
        mean, variance = self.running_mean, self.running_var
        self._refuse_misfit(x, mean.shape, 1)
        if self.training:
            axes = tuple(axis for axis in range(x.ndim) if axis != 1)
            exact = x._as_wide()  # statistics of 16-bit floats are rounded once, on use
            mean, variance = exact.mean(axes), exact.var(axes, correction=0)
            self._follow(mean, variance, x.size // x.shape[1])
        return x.batch_norm(mean, variance, self.weight, self.bias, self.eps)

    @no_grad()
    def _follow(self, mean: Tensor, variance: Tensor, count: int) -> None:
        """Update the running statistics. The running variance is that of a sample: divided by count
        - 1."""
        share = self.momentum
        sample = variance.detach() * (count / max(count - 1, 1))
        assign_together([
            (self.running_mean, self.running_mean * (1 - share) + mean.detach() * share),
            (self.running_var, self.running_var * (1 - share) + sample * share),
        ])  # fmt: skip


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of [n, channels] or [n, channels, l], per channel."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of [n, channels, h, w], per channel."""

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of [n, channels, d, h, w], per channel."""

    ranks = (5,)
