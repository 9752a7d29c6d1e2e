"""Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from compiler.core.keywords import constructor
from compiler.optim.optimizer import Optimizer
from compiler.tensor import Tensor


class Adam(Optimizer):
    """Adam: p - lr * m / (sqrt(v) + eps), with running means m of gradients and v of their squares,
    each divided by 1 - beta^count (bias correction). Weight decay adds `weight_decay` times p to
    the gradient."""

    names = ("mean", "square")
    decays_apart: ClassVar[bool] = False
    """True if weight decay is decoupled from the gradient."""

    @constructor
    def __init__(
        self, parameters: Iterable[Tensor] | Sequence[Mapping[str, Any]], lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(parameters, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

    def update(
        self, p: Tensor, grad: Tensor, kept: dict[str, Tensor], rate: Tensor, count: Tensor,
        **options: Any,
    ) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
        """The next value of p and of its state, by the rule of the class."""
        (first, second), decay = options["betas"], options["weight_decay"]
        if decay and self.decays_apart:
            p = p * (1 - rate * decay).cast(p.dtype)
        elif decay:
            grad = grad + p * decay
        mean = kept["mean"] * first + grad * (1 - first)
        square = kept["square"] * second + grad.square() * (1 - second)
        ones = Tensor.ones((), dtype="float64")
        length = (rate / (1 - (ones * first) ** count)).cast(p.dtype)
        spread = (1 - (ones * second) ** count).sqrt().cast(p.dtype)
        step = mean / (square.sqrt() / spread + options["eps"])
        return p - step * length, {"mean": mean, "square": square}


class AdamW(Adam):
    """Adam with decoupled weight decay: p is first multiplied by
    1 - lr * weight_decay."""

    decays_apart = True

    @constructor
    def __init__(
        self, parameters: Iterable[Tensor] | Sequence[Mapping[str, Any]], lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
    ) -> None:  # fmt: skip
        super().__init__(parameters, lr, betas, eps, weight_decay)
