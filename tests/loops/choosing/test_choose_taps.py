"""A few sums that share their loads are unrolled: gradients of the taps of filters."""

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.loops.choices import Choices, Unroll, Vectorize
from tests.evaluate import ENGINES


def _by_weights(channels: int, size: int, taps: int, step: int, images: int = 2) -> Tensor:
    """The gradient by the weights of a filter on each channel."""
    numbers = np.random.default_rng(8)
    x = Tensor(numbers.standard_normal((images, channels, size, size)).astype("f"))
    w = Tensor(numbers.standard_normal((channels, 1, taps, taps)).astype("f"))
    y = x.conv2d(w, stride=step, padding=taps // 2, groups=channels)
    g = Tensor(numbers.standard_normal(y.shape).astype("f"))
    gradients: Tensor = y.gradient(w, gradient=g)
    return gradients


def _chosen(tensor: Tensor, machine: str) -> Choices:
    compilation = compile(tensor, Options(machine=machine))
    return list(compilation.choices.values())[-1]


@pytest.mark.parametrize("machine", ["amd-zen3", "x86-avx512", "apple-m1"])
@pytest.mark.parametrize(("size", "taps", "step", "axes"), [
    (28, 3, 1, {"i1", "i2"}), (28, 3, 2, {"i1", "i2"}), (28, 2, 1, {"i1", "i2"}),
])  # fmt: skip
def test_all_taps_are_side_by_side(
    machine: str, size: int, taps: int, step: int, axes: set[str]
) -> None:
    found = _chosen(_by_weights(8, size, taps, step), machine)
    unrolled = [row for row in found.of(Unroll) if row.axis in axes]
    assert {row.axis for row in unrolled} == axes
    assert f"{taps * taps} sums share their loads" in str(unrolled[0].because)
    assert bool(found.of(Vectorize)) == (step == 1)


def test_results_that_share_nothing_are_left() -> None:
    x = Tensor(np.ones((64, 3, 28, 28), "f"))
    found = _chosen(x.sum((2, 3)), "amd-zen3")
    assert not any(row.axis.startswith("i") for row in found.of(Unroll))
    large = Tensor(np.ones((8, 3000), "f"))[:, None] * Tensor(np.ones((8, 40, 3000), "f"))
    assert not any(row.axis.startswith("i") for row in _chosen(large.sum(2), "amd-zen3").of(Unroll))


@pytest.mark.parametrize("machine", ["amd-zen3", "x86-avx512"])
def test_other_shapes_are_right_and_never_refused(machine: str) -> None:
    numbers = np.random.default_rng(5)
    for _ in range(25):
        channels, size, taps, step = (int(numbers.integers(1, high)) for high in (20, 34, 6, 4))
        if size + 2 * (taps // 2) < taps:
            continue
        tensor = _by_weights(channels, size, taps, step, images=int(numbers.integers(1, 4)))
        (got,) = compile(tensor, Options(machine=machine)).run()
        (expected,) = ENGINES["graph"]([tensor.node])
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-4)
