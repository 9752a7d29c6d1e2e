"""Gradient descent with momentum (Sutskever et al., 2013)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compiler.core.errors import DataError
from compiler.core.keywords import constructor
from compiler.optim.optimizer import Optimizer
from compiler.tensor import Tensor


class SGD(Optimizer):
    """Gradient descent: p - lr * d, where d is the gradient plus `weight_decay` times p. With
    `momentum` m the step is the velocity v = m v + (1 - dampening) d, which starts as d; with
    `nesterov` it is d + m v."""

    @constructor
    def __init__(
        self, parameters: Iterable[Tensor] | Sequence[Mapping[str, Any]], lr: float = 1e-3,
        momentum: float = 0.0, dampening: float = 0.0, weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:  # fmt: skip
        if nesterov and (not momentum or dampening):
            raise DataError("SGD", "Nesterov's needs momentum, and no dampening",
                            got=f"momentum {momentum}, dampening {dampening}",
                            expected="momentum above 0, dampening 0")  # fmt: skip
        self.names = ("velocity",) if momentum else ()  # type: ignore[misc]
        super().__init__(parameters, lr=lr, momentum=momentum, dampening=dampening,
                         weight_decay=weight_decay, nesterov=nesterov)  # fmt: skip

    def update(
        self, p: Tensor, grad: Tensor, kept: dict[str, Tensor], rate: Tensor, count: Tensor,
        **options: Any,
    ) -> tuple[Tensor, dict[str, Tensor]]:  # fmt: skip
        """The next value of p and of its state, by the rule of the class."""
        momentum, dampening = options["momentum"], options["dampening"]
        step = grad + p * options["weight_decay"] if options["weight_decay"] else grad
        state = {}
        if momentum:
            velocity = kept["velocity"] * momentum + step * (1 - dampening)
            if dampening:
                velocity = (count == 1).where(step, velocity)
            state["velocity"] = velocity
            step = step + velocity * momentum if options["nesterov"] else velocity
        return p - step * rate.cast(p.dtype), state
