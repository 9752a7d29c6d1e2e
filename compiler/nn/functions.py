"""Activation functions and losses as functions: tensor methods under the names that networks
use."""

from typing import Any, Literal

from compiler.core.keywords import public
from compiler.tensor import Tensor
from compiler.tensors.losses import Fold


def relu(x: Tensor) -> Tensor:
    """max(x, 0)."""
    return x.relu()


def gelu(x: Tensor, approximate: Literal["tanh", "none"] = "tanh") -> Tensor:
    """x times the normal cumulative distribution at x, in its tanh form; "none" uses erf."""
    return x.gelu(approximate)


def silu(x: Tensor) -> Tensor:
    """x times sigmoid(x)."""
    return x.silu()


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return x.sigmoid()


def tanh(x: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return x.tanh()


@public
def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x), divided by its sum along an axis."""
    return x.softmax(axis)


def cross_entropy(
    logits: Tensor, target: Any, weight: Any = None, ignore_index: int = -100,
    reduction: Fold = "mean", label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Cross entropy of logits [n, classes, …] with classes [n, …] or probabilities:
    `Tensor.cross_entropy`."""
    return logits.cross_entropy(target, weight, ignore_index, reduction, label_smoothing)


def nll_loss(
    logs: Tensor, target: Any, weight: Any = None, ignore_index: int = -100,
    reduction: Fold = "mean",
) -> Tensor:  # fmt: skip
    """Negative log likelihood of log probabilities [n, classes, …] for classes [n, …]:
    `Tensor.nll_loss`."""
    return logs.nll_loss(target, weight, ignore_index, reduction)


def mse_loss(x: Tensor, target: Any, reduction: Fold = "mean") -> Tensor:
    """Squared error, (x - target)², reduced."""
    return x.mse_loss(target, reduction)


def l1_loss(x: Tensor, target: Any, reduction: Fold = "mean") -> Tensor:
    """Absolute error, |x - target|, reduced."""
    return x.l1_loss(target, reduction)


def huber_loss(x: Tensor, target: Any, delta: float = 1.0, reduction: Fold = "mean") -> Tensor:
    """Huber loss: quadratic up to a distance of `delta`, linear beyond; reduced."""
    return x.huber_loss(target, delta, reduction)


def smooth_l1_loss(x: Tensor, target: Any, beta: float = 1.0, reduction: Fold = "mean") -> Tensor:
    """`huber_loss` divided by `beta`."""
    return x.smooth_l1_loss(target, beta, reduction)


def binary_cross_entropy(x: Tensor, target: Any, reduction: Fold = "mean") -> Tensor:
    """Binary cross entropy of probabilities x with the target."""
    return x.binary_cross_entropy(target, reduction)


def binary_cross_entropy_with_logits(x: Tensor, target: Any, reduction: Fold = "mean") -> Tensor:
    """Binary cross entropy of logits x with the target."""
    return x.binary_cross_entropy_with_logits(target, reduction)
