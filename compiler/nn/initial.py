"""Initial values of parameters: Kaiming-uniform, xavier, normal, constant.

Kaiming-uniform with a = sqrt(5), the default of PyTorch's layers, is uniform within ± 1 /
sqrt(inputs).
"""

import math
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.device.buffers import data
from compiler.graph.interpret import interpret
from compiler.graph.nodes import Buffer
from compiler.tensor import Tensor
from compiler.tensors import watching
from compiler.tensors.shapes import extents

FLOAT = "float32"
FEW = 1 << 16
"""Up to this many elements a parameter is drawn by NumPy, in 8 ms, not by a compiled program, which
would take 30 ms to compile for each shape (EPYC, Zen 4, 2026-11-26)."""


def Parameter(data: Any, requires_grad: bool = True) -> Tensor:
    """A tensor with these data that collects gradients, unless `requires_grad` is false."""
    return Tensor(data).detach().clone().requires_grad_(requires_grad)


def uniform(shape: tuple[int, ...], inputs: int, dtype: object = FLOAT) -> Tensor:
    """A parameter drawn uniformly from ± 1 / sqrt(inputs)."""
    bound = 1 / math.sqrt(inputs) if inputs > 0 else 0.0
    return _settled(Tensor.uniform(*shape, low=-bound, high=bound, dtype=dtype))


def normal(shape: tuple[int, ...], dtype: object = FLOAT) -> Tensor:
    """A parameter drawn from the standard normal distribution."""
    return _settled(Tensor.randn(*shape, dtype=dtype))


def xavier(shape: tuple[int, int], dtype: object = FLOAT) -> Tensor:
    """A parameter drawn uniformly from ± sqrt(6 / (rows + columns)) (Glorot and Bengio, 2010)."""
    bound = math.sqrt(6 / max(sum(shape), 1))
    return _settled(Tensor.uniform(*shape, low=-bound, high=bound, dtype=dtype))


def full(shape: tuple[int, ...], value: float, dtype: object = FLOAT) -> Tensor:
    """A parameter with the same value everywhere."""
    return state(shape, value, dtype).requires_grad_()


def state(shape: tuple[int, ...], value: float, dtype: object = FLOAT) -> Tensor:
    """A tensor with its own memory that is written in place and is not a parameter."""
    return Tensor(np.full(extents("nn", shape), value, dtypes.parse(dtype, "nn").numpy))


def _settled(drawn: Tensor) -> Tensor:
    """A parameter with these random numbers, computed now."""
    if drawn.size <= FEW and not watching.current():
        held = {n: data(n) for n in toposort([drawn.node]) if isinstance(n, Buffer)}
        drawn = Tensor(np.array(interpret([drawn.node], held)[0]))
    return drawn.requires_grad_()
