"""Gradient clipping."""

from collections.abc import Iterable

from compiler.core.keywords import public
from compiler.tensor import Tensor
from compiler.tensors.gradients import no_grad


@public
@no_grad()
def clip_grad_norm(parameters: Iterable[Tensor], most: float) -> Tensor:
    """Scale all gradients by one factor so that their joint 2-norm is at most `most`; returns the
    original norm, lazy."""
    found = [(p, p.grad) for p in parameters if p.grad is not None]
    total = Tensor.zeros((), dtype="float32")
    for _, grad in found:
        total = total + grad.cast("float32").square().sum()
    norm = total.sqrt()
    factor = (most / (norm + 1e-6)).minimum(1.0)
    for p, grad in found:
        p.grad = grad * factor.cast(grad.dtype)
    return norm


@public
@no_grad()
def clip_grad_value(parameters: Iterable[Tensor], most: float) -> None:
    """Clip each element of each gradient to ± `most`."""
    for p in parameters:
        if p.grad is not None:
            p.grad = p.grad.clip(-most, most)
