"""A network: a program, written once for all libraries, and its inputs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.networks.library import Array, Library, Value
from benchmarks.networks.on_numpy import Numpy


@dataclass(frozen=True, slots=True)
class Network:
    """`program(library, *inputs)` is one tensor.

    `tolerance` is how far a result may be from NumPy in float64, as a share of the greatest
    magnitude of the result. Weights are random: only the shapes are those of the network.
    """

    name: str
    about: str
    program: Callable[..., Value]
    inputs: Callable[[], Mapping[str, Array]]
    tolerance: float = 1e-4

    def on(self, library: Library) -> tuple[Callable[..., Any], list[Value]]:
        """The program in a library's words, and the inputs as its tensors."""
        given = [library.input(array, name) for name, array in self.inputs().items()]
        return (lambda *inputs: self.program(library, *inputs)), given

    def expected(self) -> Array:
        """The results of NumPy in float64."""
        program, inputs = self.on(Numpy())
        return np.asarray(program(*inputs))


def normal(*shape: int) -> Array:
    """An input of normally distributed numbers, float32."""
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32)
