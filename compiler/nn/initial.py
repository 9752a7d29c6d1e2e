"""Initial values of parameters: uniform between bounds that follow from how many inputs a sum has.

Kaiming-uniform with a = sqrt(5), as PyTorch's layers begin: within ± 1 / sqrt(inputs).
"""

import math

from compiler.tensor import Tensor

FLOAT = "float32"


def uniform(shape: tuple[int, ...], inputs: int, dtype: object = FLOAT) -> Tensor:
    """A parameter within ± 1 / sqrt(inputs)."""
    bound = 1 / math.sqrt(inputs) if inputs else 0.0
    made = Tensor.uniform(*shape, low=-bound, high=bound, dtype=dtype)
    return made.requires_grad_()


def full(shape: tuple[int, ...], value: float, dtype: object = FLOAT) -> Tensor:
    """A parameter that is `value` everywhere."""
    return Tensor.full(shape, value, dtype=dtype).requires_grad_()


def normal(shape: tuple[int, ...], dtype: object = FLOAT) -> Tensor:
    """A parameter of the standard normal distribution."""
    return Tensor.randn(*shape, dtype=dtype).requires_grad_()


def xavier(shape: tuple[int, int], dtype: object = FLOAT) -> Tensor:
    """A parameter within ± sqrt(6 / (rows + columns)) (Glorot and Bengio, 2010)."""
    bound = math.sqrt(6 / sum(shape))
    return Tensor.uniform(*shape, low=-bound, high=bound, dtype=dtype).requires_grad_()


def state(shape: tuple[int, ...], value: float, dtype: object = FLOAT) -> Tensor:
    """A tensor of its own memory that is written in place, and is no parameter."""
    return Tensor.full(shape, value, dtype=dtype).clone().realize()
