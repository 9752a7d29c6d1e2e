"""Choices for machines other than the default: none is refused, and results are right.

Where a choice is refused, the tests' environment makes that an error (`pipeline/dropped.py`).
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

from compiler import Options, Tensor, compile

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
MACHINES = ("x86-avx2", "arm-neon", "apple-m1", "amd-zen5")
TYPES = (np.float32, np.float64)
WINDOWS = [
    # images, channels read and made, lines, pixels, window, step, border, groups
    (2, 16, 24, 16, 32, 3, 1, 1, 1), (1, 13, 17, 9, 29, 3, 1, 1, 1), (1, 3, 16, 30, 30, 7, 2, 3, 1),
    (1, 64, 8, 14, 14, 1, 1, 0, 1), (2, 8, 40, 13, 11, 1, 2, 0, 1), (1, 5, 5, 5, 5, 3, 1, 1, 1),
    (1, 24, 24, 14, 28, 3, 1, 1, 24), (1, 12, 12, 15, 37, 3, 2, 1, 12),
    (1, 8, 8, 20, 20, 5, 1, 2, 8), (2, 16, 32, 12, 20, 3, 1, 1, 4), (1, 3, 16, 9, 3, 3, 1, 1, 1),
    (1, 1, 1, 60, 50, 3, 1, 1, 1), (1, 33, 7, 9, 9, 3, 1, 0, 1), (1, 20, 48, 7, 7, 3, 1, 1, 1),
]  # fmt: skip
SHAPES = [(7, 5), (40, 9), (33, 64), (8, 300), (16, 1027), (130, 12), (64, 64), (1, 70), (257, 31)]


def softmax(x: Array) -> Array:
    values = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(values / values.sum(-1, keepdims=True))


def layernorm(x: Array) -> Array:
    apart = x - x.mean(-1, keepdims=True)
    return np.asarray(apart / np.sqrt((apart * apart).mean(-1, keepdims=True) + 1e-5))


PROGRAMS: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Array], Array]]] = {
    "softmax": (lambda x: x.softmax(-1), softmax),
    "layernorm": (lambda x: x.layernorm(-1), layernorm),
    "sigmoid": (lambda x: x.sigmoid(), lambda x: np.asarray(1 / (1 + np.exp(-x)))),
    "chain": (
        lambda x: ((x * 2 + x * x) * (x - 1) - x).relu() * 0.5 + x,
        lambda x: np.asarray(np.maximum((x * 2 + x * x) * (x - 1) - x, 0) * 0.5 + x),
    ),
    "sum": (lambda x: x.sum(), lambda x: np.asarray(x.sum())),
    "rows": (lambda x: x.sum(1), lambda x: np.asarray(x.sum(1))),
    "largest": (lambda x: x.max(1), lambda x: np.asarray(x.max(1))),
    "columns": (lambda x: x.sum(0), lambda x: np.asarray(x.sum(0))),
    "transposed": (lambda x: x.permute(1, 0).contiguous(), lambda x: x.T),
    "running": (lambda x: x.cumsum(0), lambda x: np.asarray(np.cumsum(x, 0))),
    "along": (lambda x: x.cumsum(1), lambda x: np.asarray(np.cumsum(x, 1))),
    "border": (lambda x: x.pad(((1, 1), (2, 1))), lambda x: np.pad(x, ((1, 1), (2, 1)))),
}  # fmt: skip


def run(made: Tensor, machine: str) -> Array:
    return compile(made, Options(machine=machine, threads=2)).run()[0]


def data(*shape: int, dtype: type = np.float32) -> Array:
    return np.asarray(np.random.default_rng(sum(shape)).uniform(-1, 1, shape), dtype)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("shape", WINDOWS, ids=lambda shape: "-".join(map(str, shape)))
def test_windows(shape: tuple[int, ...], machine: str) -> None:
    n, read, made, lines, pixels, size, step, border, groups = shape
    for dtype in TYPES:
        x = data(n, read, lines, pixels, dtype=dtype)
        w = data(made, read // groups, size, size, dtype=dtype)
        y = Tensor(x).conv2d(Tensor(w), stride=step, padding=border, groups=groups)
        wide = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (border,) * 2, (border,) * 2))
        seen = np.lib.stride_tricks.sliding_window_view(wide, (size, size), (2, 3))
        seen = seen[:, :, ::step, ::step].reshape(n, groups, -1, *_places(seen, step), size, size)
        weights = w.reshape(groups, made // groups, -1, size, size).astype(np.float64)
        expected = np.einsum("ngchwkl,gockl->ngohw", seen, weights).reshape(y.shape)
        np.testing.assert_allclose(run(y, machine), expected, atol=1e-4)


def _places(seen: Array, step: int) -> tuple[int, int]:
    """Lines and pixels of the result."""
    return -(-seen.shape[2] // step), -(-seen.shape[3] // step)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_rows_and_columns(name: str, machine: str) -> None:
    ours, expected = PROGRAMS[name]
    for shape in SHAPES:
        for dtype in TYPES:
            x = data(*shape, dtype=dtype)
            found = run(ours(Tensor(x)), machine)
            np.testing.assert_allclose(found, expected(x.astype(np.float64)), atol=2e-4)


@pytest.mark.parametrize("machine", MACHINES)
def test_large_ones_are_streamed_and_cut_for_cores(machine: str) -> None:
    x = data(2048, 4096)
    np.testing.assert_array_equal(run(Tensor(x).permute(1, 0).contiguous(), machine), x.T)
    found = run((Tensor(x) * 2 + 1).relu(), machine)
    np.testing.assert_allclose(found, np.maximum(x * 2 + 1, 0), rtol=1e-6)
