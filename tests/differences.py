"""Gradients against central differences, in float64."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from compiler import Tensor
from compiler.core.node import toposort
from compiler.device.buffers import data
from compiler.graph.interpret import interpret
from compiler.graph.nodes import Buffer, TensorNode

Array = np.ndarray[Any, Any]
STEP = 1e-6


def values(*tensors: Tensor) -> list[Array]:
    """The values of tensors by the graph interpreter: no compiler is between."""
    roots: list[TensorNode] = [tensor.node for tensor in tensors]
    held = {node: data(node) for node in toposort(roots) if isinstance(node, Buffer)}
    return interpret(roots, held)


def by_differences(f: Callable[..., Tensor], arrays: Sequence[Array], weight: Array) -> list[Array]:
    """For each array the gradient of sum(f * weight), by central differences."""

    def value(*given: Array) -> float:
        return float(np.sum(values(f(*map(Tensor, given)))[0] * weight))

    found = []
    for place, array in enumerate(arrays):
        slope = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = array.copy()
                moved[index] += sign * STEP
                ends.append(value(*arrays[:place], moved, *arrays[place + 1 :]))
            slope[index] = (ends[0] - ends[1]) / (2 * STEP)
        found.append(slope)
    return found


def assert_gradients(
    f: Callable[..., Tensor], *arrays: Array, rtol: float = 1e-5, orders: int = 2
) -> None:
    """The gradients of `f`, and with two orders those of its gradients, are what differences say;
    machine code gives what the interpreter does."""
    generator = np.random.default_rng(sum(array.size for array in arrays))
    inputs = [Tensor(array) for array in arrays]
    y = f(*inputs)
    weight = generator.uniform(0.5, 1.5, y.shape)
    found = y.gradient(*inputs, gradient=Tensor(weight))
    slopes = found if isinstance(found, list) else [found]
    got = values(*slopes)
    for one, expected in zip(got, by_differences(f, arrays, weight), strict=True):
        np.testing.assert_allclose(one, expected, rtol=rtol, atol=rtol)
    slopes[0].realize(*slopes[1:])
    for one, slope in zip(got, slopes, strict=True):
        np.testing.assert_allclose(slope.numpy(), one, rtol=1e-12, atol=1e-12)
    if orders > 1:
        for place in range(len(arrays)):

            def slope_of(*given: Tensor, place: int = place) -> Tensor:
                made: Any = f(*given).gradient(*given, gradient=Tensor(weight))
                chosen: Tensor = made[place] if isinstance(made, list) else made
                return chosen

            assert_gradients(slope_of, *arrays, rtol=10 * rtol, orders=orders - 1)
