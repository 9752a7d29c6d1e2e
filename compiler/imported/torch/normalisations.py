"""Layer, batch and group normalisation.

Gradients do not pass through the statistics that are returned with a result, except those of
groups.
"""

import math

from compiler.imported.call import Results, VariableShape
from compiler.imported.torch.call import Call, half_or_wide, operator
from compiler.tensor import Tensor

Statistics = tuple[Tensor, Tensor, Tensor]


@operator("layer_norm")
def layer_norm(
    _call: Call, x: Tensor, shape: VariableShape, /, weight: Tensor | None = None,
    bias: Tensor | None = None, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Layer normalisation over the last axes."""
    result = x.layernorm(tuple(range(x.ndim - len(shape), x.ndim)), eps)
    result = result if weight is None else result.mul(weight)
    return result if bias is None else result.add(bias)


@operator("native_layer_norm")
def native_layer_norm(
    call: Call, x: Tensor, shape: VariableShape, /, weight: Tensor | None, bias: Tensor | None,
    eps: float,
) -> Statistics:  # fmt: skip
    """The same, with the mean and the reciprocal of the deviation."""
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    wide = half_or_wide(x)
    mean = wide.mean(axes, True)
    inverse = wide.var(axes, keepdim=True, correction=0).add(eps).rsqrt()
    return layer_norm(call, x, shape, weight, bias, eps), mean.detach(), inverse.detach()


@operator("rms_norm", "_fused_rms_norm")
def rms_norm(
    call: Call, x: Tensor, shape: VariableShape, /, weight: Tensor | None = None,
    eps: float | None = None,
) -> Results:  # fmt: skip
    """RMS normalisation over the last axes."""
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    small = call.epsilon if eps is None else eps
    result = x.rms_norm(axes, eps=small)
    result = result if weight is None else result.mul(weight)
    return (result, None) if call.name.startswith("_fused") else result


@operator("group_norm")
def group_norm(
    _call: Call, x: Tensor, groups: int, /, weight: Tensor | None = None,
    bias: Tensor | None = None, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Group normalisation."""
    return x.group_norm(groups, weight, bias, eps)


@operator("native_group_norm")
def native_group_norm(
    _call: Call, x: Tensor, weight: Tensor | None, bias: Tensor | None, n: int, c: int, area: int,
    groups: int, eps: float, /,
) -> Statistics:  # fmt: skip
    """The same, with the mean and the reciprocal of the deviation of each group."""
    cut = half_or_wide(x).reshape(n, groups, c // groups * area)
    inverse = cut.var(2, correction=0).add(eps).rsqrt()
    return x.group_norm(groups, weight, bias, eps), cut.mean(2), inverse


def _of_batch(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float) -> Statistics:
    """Normalised by the mean and variance of each channel, and these two."""
    wide = half_or_wide(x)
    axes = (0, *range(2, x.ndim))
    mean, variance = wide.mean(axes), wide.var(axes, correction=0)
    result = x.batch_norm(mean, variance, weight, bias, eps)
    return result, mean.detach(), variance.detach()


@operator("_native_batch_norm_legit_no_training")
def no_training(
    _call: Call, x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor,
    variance: Tensor, /, eps: float,
) -> Results:  # fmt: skip
    """Batch normalisation with the statistics of the model."""
    return x.batch_norm(mean, variance, weight, bias, eps), *_no_statistics(x)


def _no_statistics(x: Tensor) -> tuple[Tensor, Tensor]:
    """Two empty tensors in place of the batch statistics."""
    none = Tensor.zeros(0, dtype=half_or_wide(x).dtype)
    return none, none


@operator("_native_batch_norm_legit.no_stats")
def no_statistics(
    _call: Call, x: Tensor, weight: Tensor | None, bias: Tensor | None, /, eps: float
) -> Results:
    """Batch normalisation with the statistics of the batch, which are not stored."""
    result, mean, variance = _of_batch(x, weight, bias, eps)
    return result, mean, variance.add(eps).rsqrt()


@operator("_native_batch_norm_legit_functional")
def with_statistics(
    _call: Call, x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor,
    variance: Tensor, /, training: bool, momentum: float, eps: float,
) -> Results:  # fmt: skip
    """In training mode, batch normalisation with the statistics of the batch, which also update
    those of the model."""
    if not training:
        result = x.batch_norm(mean, variance, weight, bias, eps)
        return result, *_no_statistics(x), mean, variance
    result, average, spread = _of_batch(x, weight, bias, eps)
    count = math.prod(x.shape) // x.shape[1]
    unbiased = spread.mul(count / (count - 1) if count > 1 else math.nan)
    new = (old.mul(1 - momentum).add(now.mul(momentum))
           for old, now in ((mean, average), (variance, unbiased)))  # fmt: skip
    return result, average, spread.add(eps).rsqrt(), *new
