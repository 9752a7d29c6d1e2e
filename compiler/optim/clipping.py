"""Gradient clipping."""

from collections.abc import Iterable

from compiler.core.keywords import public
from compiler.tensor import Tensor
from compiler.tensors.gradients import no_grad


@public
@no_grad()
def clip_grad_norm(parameters: Iterable[Tensor], max_norm: float) -> Tensor:
    """Scale all gradients by one factor so that their joint 2-norm is at most `max_norm`;
    returns the original norm, lazy."""
    found = [(p, p.grad) for p in parameters if p.grad is not None]
    total = Tensor.zeros((), dtype="float32")
    for _, grad in found:
        total = total + grad.cast("float32").square().sum()
    norm = total.sqrt()
    factor = (max_norm / (norm + 1e-6)).minimum(1.0)
    for p, grad in found:
        p.grad = grad * factor.cast(grad.dtype)
    return norm


@public
@no_grad()
def clip_grad_value(parameters: Iterable[Tensor], clip_value: float) -> None:
    """Clip each element of each gradient to ± `clip_value`."""
    for p in parameters:
        if p.grad is not None:
            p.grad = p.grad.clip(-clip_value, clip_value)
