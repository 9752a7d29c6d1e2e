"""Functions of elements in which a sum and a product could become one instruction, and linear maps
of rows, whose sums could be added up in another order."""

from collections.abc import Callable
from typing import Any

import numpy as np

from compiler import Tensor

Array = np.ndarray[Any, Any]


def _by(name: str) -> Callable[[Any], Any]:
    """The function of this name, of a tensor or of an array."""

    def of(value: Any) -> Any:
        return getattr(value, name)() if isinstance(value, Tensor) else getattr(np, name)(value)

    return of


exp, tanh, sin, sqrt = map(_by, ("exp", "tanh", "sin", "sqrt"))

BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "x*c + c": lambda x, c: x * c + c,
    "c - x*c": lambda x, c: c - x * c,
    "x*c - c*c": lambda x, c: x * c - c * c,
    "x*x + x": lambda x, c: x * x + x,
    "x*0.7 + 0.3": lambda x, c: x * 0.7 + 0.3,
    "x/(x*x + 0.7)": lambda x, c: x / (x * x + 0.7),
    "1/(x*x + 1) + c*c": lambda x, c: 1.0 / (x * x + 1.0) + c * c,
    "polynomial": lambda x, c: ((x * 0.3 + c) * x - 0.7) * x + 0.1,
    "(x + c)*(x - c) + x": lambda x, c: (x + c) * (x - c) + x,
    "x*c + x*0.5 + c*0.25": lambda x, c: x * c + x * 0.5 + c * 0.25,
    "exp(0.3*x*c + c)": lambda x, c: exp(x * c * 0.3 + c),
    "tanh(x)*c + x*c": lambda x, c: tanh(x) * c + x * c,
    "sqrt(x*x + 1)*c - x": lambda x, c: sqrt(x * x + 1.0) * c - x,
    "sin(x)*x + c": lambda x, c: sin(x) * x + c,
    "tanh(x*c + c)*x + c": lambda x, c: tanh(x * c + c) * x + c,
}
"""Functions of x and of a constant, for tensors and for arrays, complex ones too."""


def _identity(n: int, draw: np.random.Generator) -> Array:
    return np.eye(n)


def _product(n: int, draw: np.random.Generator) -> Array:
    return draw.integers(-2, 3, (n, n)).astype(np.float64)


MAPS: dict[str, tuple[Callable[[int, np.random.Generator], Array], Callable[..., Tensor]]] = {
    "x": (_identity, lambda x, matrix: x),
    "x @ m": (_product, lambda x, matrix: x @ matrix),
    "x - mean": (lambda n, draw: np.eye(n) - 1 / n, lambda x, matrix: x - x.mean(1, keepdim=True)),
    "x + sum": (lambda n, draw: np.eye(n) + 1.0, lambda x, matrix: x + x.sum(1, keepdim=True)),
    "running sum": (lambda n, draw: np.triu(np.ones((n, n))), lambda x, matrix: x.cumsum(1)),
}
"""Linear maps of rows: a matrix to the right of them, and the map of tensors."""
