"""With a seed, captured functions draw the numbers that they draw without `jit`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, jit, nn


def _uniform(x: Tensor) -> Any:
    return x + Tensor.rand(3), Tensor.randn(2)


def _integers(x: Tensor) -> Any:
    return Tensor.randint(4, high=100), Tensor.rand(2)


def _seeded(x: Tensor) -> Any:
    first = Tensor.rand(2)
    Tensor.manual_seed(7)
    return first, Tensor.rand(2)


def _dropped(x: Tensor) -> Any:
    return nn.Dropout(0.5)(Tensor.ones(20) * x.sum())


def _layer(x: Tensor) -> Any:
    return nn.Linear(3, 2)(x.cast("float32"))


@pytest.mark.parametrize("function", [_uniform, _integers, _seeded, _dropped, _layer])
def test_equal_numbers(function: Callable[[Tensor], Any]) -> None:
    found = []
    for wrap in (lambda f: f, jit):
        Tensor.manual_seed(1)
        f = wrap(function)
        rows = []
        for n in (1.0, 2.0, 3.0):
            result = f(Tensor(np.full(3, n)))
            result = result if isinstance(result, tuple) else (result,)
            rows += [each.numpy() for each in result]
            rows.append(Tensor.rand(2).numpy())  # drawn between the calls
        found.append(rows)
    for one, other in zip(*found, strict=True):
        if function is _layer:  # a product, which may be added up in another order
            np.testing.assert_allclose(one, other, rtol=1e-5)
        else:
            np.testing.assert_array_equal(one, other)


def test_a_capture_draws_nothing() -> None:
    @jit
    def broken(x: Tensor) -> Tensor:
        made = Tensor.rand(5)
        raise ValueError(made.shape)

    @jit
    def looking(x: Tensor) -> Any:
        return Tensor.rand(5).item()

    Tensor.manual_seed(3)
    right = Tensor.rand(2).numpy()
    Tensor.manual_seed(3)
    with pytest.raises(ValueError, match="5"):
        broken(np.ones(1))
    with pytest.raises(Exception, match="item"):
        looking(np.ones(1))
    np.testing.assert_array_equal(Tensor.rand(2).numpy(), right)


def test_captured_functions_inside_others_and_captured_again() -> None:
    inner = jit(lambda x: x + Tensor.rand(2))
    outer = jit(lambda x: inner(x) + Tensor.rand(x.shape[0]))

    def plain(x: Tensor) -> Tensor:
        return x + Tensor.rand(2) + Tensor.rand(x.shape[0])

    found = []
    for f in (plain, outer):
        Tensor.manual_seed(5)
        found.append([f(Tensor(np.ones(n))).numpy() for n in (2, 1, 2, 1)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
