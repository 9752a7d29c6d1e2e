"""Reductions, scans and normalisations."""

import math
from collections.abc import Callable
from typing import Any

from compiler.core import dtypes
from compiler.imported.call import Results
from compiler.imported.methods import call_method
from compiler.imported.onnx.call import Call, fixed, operator
from compiler.imported.onnx.element_types import dtype_of, wide
from compiler.tensor import Tensor
from compiler.tensors.variables import Variable

Axes = tuple[int, ...]
REDUCED: dict[str, Callable[[Tensor, Axes, bool], Tensor]] = {
    "ReduceSum": lambda x, axes, keep: x.sum(axes, keep),
    "ReduceMean": lambda x, axes, keep: x.mean(axes, keep),
    "ReduceMax": lambda x, axes, keep: x.max(axes, keep),
    "ReduceMin": lambda x, axes, keep: x.min(axes, keep),
    "ReduceProd": lambda x, axes, keep: x.prod(axes, keep),
    "ReduceL1": lambda x, axes, keep: wide(x).abs().sum(axes, keep),
    "ReduceL2": lambda x, axes, keep: wide(x).square().sum(axes, keep).sqrt(),
    "ReduceLogSum": lambda x, axes, keep: wide(x).sum(axes, keep).log(),
    "ReduceLogSumExp": lambda x, axes, keep: _log_sum_exp(x, axes, keep),
    "ReduceSumSquare": lambda x, axes, keep: wide(x).square().sum(axes, keep),
}
"""Reductions of a tensor over axes, which are kept or not."""


@operator(*REDUCED)
def reduced(call: Call, x: Tensor, _axes: Tensor | None = None) -> Tensor:
    """Some axes reduced, by default all."""
    axes, is_each = call.numbers(1, "axes"), call.get("noop_with_empty_axes", 0)
    keep = bool(call.get("keepdims", 1))
    if is_each and not axes:
        return _of_each(call.op, x)
    chosen = tuple(call.axis(a, x.ndim) for a in axes) if axes else tuple(range(x.ndim))
    if call.op in ("ReduceMax", "ReduceMin") and _is_empty(x, chosen):
        return _extreme_of_none(call, x, chosen, keep)
    return REDUCED[call.op](x, chosen, keep).cast(x.dtype)


def _is_empty(x: Tensor, axes: Axes) -> bool:
    return 0 in (x.shape[a] for a in axes)


def _extreme_of_none(call: Call, x: Tensor, axes: Axes, keep: bool) -> Tensor:
    """The maximum or minimum of no elements: the least or greatest value of the type."""
    least = x.dtype.minimum if call.op == "ReduceMax" else x.dtype.maximum
    extents = enumerate(call.extents(x))
    shape = [1 if a in axes else n for a, n in extents if keep or a not in axes]
    return Tensor(least, dtype=x.dtype).expand(*shape) if shape else Tensor(least, dtype=x.dtype)


def _log_sum_exp(x: Tensor, axes: Axes, keep: bool) -> Tensor:
    if _is_empty(x, axes):
        return wide(x).exp().sum(axes, keep).log()
    return x.logsumexp(axes, keep)


def _of_each(op: str, x: Tensor) -> Tensor:
    """The result of a reduction over no axes, for each element."""
    result = {
        "ReduceL1": x.abs, "ReduceL2": x.abs, "ReduceLogSum": x.log, "ReduceSumSquare": x.square,
    }.get(op, x.clone)()  # fmt: skip
    return result.cast(x.dtype)


@operator("ArgMax", "ArgMin")
def place_of(call: Call, x: Tensor) -> Tensor:
    """The index of the maximum or minimum, the first or the last of equal ones."""
    axis, keep = call.axis(call.get("axis", 0), x.ndim), bool(call.get("keepdims", 1))
    name = "argmax" if call.op == "ArgMax" else "argmin"
    if not call.get("select_last_index", 0):
        return call_method(name, x, axis, keep)
    turned = call_method(name, x.flip(axis), axis, keep)
    last: Any = x.symbolic_shape[axis]
    return turned.neg().add(last - 1)


@operator("CumSum", "CumProd")
def scan(call: Call, x: Tensor, _axis: Tensor) -> Tensor:
    """Cumulative sums or products; optionally backwards, or exclusive."""
    axis = call.axis(int(call.known(1, "the axis").item()), x.ndim)
    totals = x.flip(axis) if call.get("reverse", 0) else x
    totals = totals.cumsum(axis) if call.op == "CumSum" else totals.cumprod(axis)
    totals = totals.cast(x.dtype)
    if call.get("exclusive", 0):
        pairs = [(0, 0)] * x.ndim
        pairs[axis] = 1, 0
        first = totals[(*(slice(None),) * axis, slice(None, -1))]
        totals = first.pad(pairs, x.dtype.numpy.type(call.op == "CumProd").item())
    return totals.flip(axis) if call.get("reverse", 0) else totals


@operator("Softmax", "LogSoftmax", "Hardmax")
def softmax(call: Call, x: Tensor) -> Tensor:
    """Softmax along one axis; before version 13 along all axes from one on."""
    axis = call.get("axis", -1 if call.version >= 13 else 1)
    axis = call.axis(axis, x.ndim)
    if call.version < 13:
        extents: Any = x.symbolic_shape
        flat = x.reshape(math.prod(extents[:axis]), math.prod(extents[axis:]))
        return _softmax(call.op, flat, 1).reshape(*extents)
    return _softmax(call.op, x, axis)


def _softmax(op: str, x: Tensor, axis: int) -> Tensor:
    if op == "Softmax":
        return x.softmax(axis)
    if op == "LogSoftmax":
        return x.log_softmax(axis)
    hot = x.argmax(axis).one_hot(x.shape[axis], x.dtype)
    if isinstance(extent := x.symbolic_shape[axis], Variable):
        hot = hot[..., :extent]
    return hot.moveaxis(-1, axis)


@operator("LayerNormalization", "RMSNormalization")
def layer_normalization(
    call: Call, x: Tensor, scale: Tensor, bias: Tensor | None = None
) -> Results:
    """Layer normalisation over the axes from one on."""
    if call.op == "RMSNormalization":
        return rms_normalised(call, x, scale)
    results = normalised(call, x, scale, bias)
    return results[: call.outputs] if call.outputs > 1 else results[0]


def rms_normalised(call: Call, x: Tensor, scale: Tensor) -> Tensor:
    """x divided by its root mean square."""
    wide, axes = _stashed(call, x)
    return wide.rms_norm(axes, eps=call.get("epsilon", 1e-5)).cast(x.dtype).mul(scale)


def _stashed(call: Call, x: Tensor) -> tuple[Tensor, Axes]:
    """x in the type to compute in, and the axes to normalise."""
    axis, stash = call.axis(call.get("axis", -1), x.ndim), call.get("stash_type", 1)
    return x.cast(dtype_of(stash, call.op)) if stash else x, tuple(range(axis, x.ndim))


def normalised(
    call: Call, x: Tensor, scale: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """x minus its mean, divided by its deviation; the mean, and the reciprocal of the deviation."""
    (wide, axes), eps = _stashed(call, x), call.get("epsilon", 1e-5)
    mean = wide.mean(axes, keepdim=True)
    centred = wide.sub(mean)
    inverse = centred.square().mean(axes, keepdim=True).add(eps).rsqrt()
    result = centred.mul(inverse).cast(x.dtype).mul(scale)
    result = result if bias is None else result.add(bias)
    return result, mean, inverse


@operator("BatchNormalization")
def batch_normalization(
    call: Call, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor
) -> Tensor:
    """Batch normalisation with the statistics of the model."""
    if call.get("training_mode", 0) or call.outputs > 1:
        raise call.refused("it is in training mode", "training_mode", "inference")
    result = x.batch_norm(mean, variance, scale, bias, call.get("epsilon", 1e-5))
    return result.cast(x.dtype)


@operator("InstanceNormalization")
def instance_normalization(call: Call, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Instance normalisation."""
    return x.instance_norm(scale, bias, call.get("epsilon", 1e-5))


@operator("GroupNormalization")
def group_normalization(call: Call, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Group normalisation; before version 21 scale and bias are per group."""
    groups, eps = call["num_groups"], call.get("epsilon", 1e-5)
    if call.version >= 21:
        return x.group_norm(groups, scale, bias, eps)
    size = fixed(x, 1)[0] // groups
    wide, more = (each.repeat_interleave(size, 0) for each in (scale, bias))
    return x.group_norm(groups, wide, more, eps)


@operator("MeanVarianceNormalization")
def mean_variance_normalization(call: Call, x: Tensor) -> Tensor:
    """(x - mean) / deviation."""
    axes = tuple(call.get("axes", (0, 2, 3)))
    exact = wide(x)
    centred = exact.sub(exact.mean(axes, keepdim=True))
    deviation = centred.square().mean(axes, keepdim=True).sqrt()
    return centred.div(deviation.add(1e-9)).cast(x.dtype)


@operator("LpNormalization")
def lp_normalization(call: Call, x: Tensor) -> Tensor:
    """Divided by the norm along an axis; 0 stays 0."""
    axis, exact = call.get("axis", -1), wide(x)
    size = exact.abs().sum(axis, keepdim=True) if call.get("p", 2) == 1 else (
        exact.square().sum(axis, keepdim=True).sqrt())  # fmt: skip
    return size.eq(0).where(0, exact.div(size)).cast(x.dtype)


@operator("LRN")
def local_response(call: Call, x: Tensor) -> Tensor:
    """Divided by a power of the sum of squares over neighbouring channels."""
    size, alpha = call["size"], call.get("alpha", 1e-4)
    low = (size - 1) // 2
    pairs = [(0, 0), (low, size - 1 - low), *[(0, 0)] * (x.ndim - 2)]
    exact = wide(x)
    near = exact.square().pad(pairs).unfold(1, size).sum(-1).mul(alpha / size)
    share = near.add(call.get("bias", 1.0)).pow(call.get("beta", 0.75))
    return exact.div(share).cast(x.dtype)


@operator("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def likelihood(call: Call, x: Tensor, target: Tensor, weight: Tensor | None = None) -> Results:
    """The negative log likelihood of classes along axis 1."""
    exact = wide(x)
    logs = exact.log_softmax(1) if call.op == "SoftmaxCrossEntropyLoss" else exact
    ignored, how = call.get("ignore_index"), call.get("reduction", "mean")
    is_left = target.eq(ignored) if ignored is not None else target.ne(target)
    safe = is_left.where(0, target.cast(dtypes.int64))
    losses = logs.gather(1, safe.unsqueeze(1)).squeeze(1).neg()
    share = wide(weight.take(safe)) if weight is not None else losses.full_like(1.0)
    share = is_left.where(0, share)
    loss = losses.mul(share)
    if how == "mean":
        loss = loss.sum().div(share.sum())
    elif how == "sum":
        loss = loss.sum()
    loss = loss.cast(x.dtype)
    return (loss, logs.cast(x.dtype)) if call.outputs > 1 else loss
