"""Means and long sums of 16-bit floats: as in float64, rounded once."""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor, float16

Function = Callable[[Tensor], Tensor]

HALVES = {"float16": (2.0**-11, 65504.0), "bfloat16": (2.0**-8, 3.3e38)}
"""Relative rounding, and the greatest number."""
KINDS = ("even", "large", "close")
SHAPES = ((70_001,), (70_000, 2), (3, 5_000), (300, 300))
IMAGES = ((2, 4, 41, 37),)


def _classes(x: Tensor) -> "np.ndarray[Any, Any]":
    return np.arange(x.shape[0]) % x.shape[-1]


def _numpy(name: str, *args: Any, **named: Any) -> Any:
    return getattr(np, name)(*args, **named)


def _scattered(x: Tensor, include_self: bool) -> Tensor:
    places = np.arange(x.shape[0]) % 3
    base = x[:3].mul(0) if x.ndim == 1 else x[:3, :1].mul(0)
    updates = x if x.ndim == 1 else x[:, :1]
    index = places if x.ndim == 1 else places[:, None]
    return base.scatter_reduce(0, index, updates, "mean", include_self)


ROWS: dict[str, Function] = {
    "mean": lambda x: x.mean(), "mean of rows": lambda x: x.mean(0), "var": lambda x: x.var(),
    "std of rows": lambda x: x.std(0), "norm": lambda x: x.norm(), "norm 3": lambda x: x.norm(3.0),
    "normalize": lambda x: x.normalize(axis=0), "logsumexp": lambda x: x.logsumexp(0),
    "cosine": lambda x: x.cosine_similarity(x.flip(0), 0), "rms_norm": lambda x: x.rms_norm(0),
    "average": lambda x: _numpy("average", x, weights=x.mul(0).add(2)),
    "nanmean": lambda x: _numpy("nanmean", x),
    "mse": lambda x: x.mse_loss(x.mul(0)), "l1": lambda x: x.l1_loss(x.mul(0)),
    "huber": lambda x: x.huber_loss(x.mul(0)), "smooth": lambda x: x.smooth_l1_loss(x.mul(0), 0.5),
    "logits": lambda x: x.binary_cross_entropy_with_logits(x.mul(0)),
    "kl": lambda x: x.kl_div(x.mul(0).add(0.5), "batchmean"),
    "scatter mean": lambda x: _scattered(x, False), "and self": lambda x: _scattered(x, True),
    "index_add": lambda x: x[:3].mul(0).index_add(0, np.arange(x.shape[0]) % 3, x),
    "gather's gradient": lambda x: _gradient(lambda y: y[:3].take(np.arange(x.shape[0]) % 3, 0), x),
    "ties": lambda x: _gradient(lambda y: y.max(), x.mul(0)),
    "ties of a scatter": lambda x: _gradient(
        lambda y: y[0].mul(0).scatter_reduce(0, np.zeros(len(x), int), y, "amax"),
        x.mul(0).add(1)) if x.ndim == 1 else x,
}  # fmt: skip
CLASSES: dict[str, Function] = {
    "cross entropy": lambda x: x.cross_entropy(_classes(x)),
    "smoothed": lambda x: x.cross_entropy(_classes(x), label_smoothing=0.1),
    "weighted": lambda x: x.cross_entropy(_classes(x), np.arange(x.shape[-1]) + 1.0),
    "probabilities": lambda x: x.cross_entropy(x.mul(0).add(0.5)),
    "nll": lambda x: x.nll_loss(_classes(x)),
}
POOLS: dict[str, Function] = {
    "avg_pool2d": lambda x: x.avg_pool2d(32, 1), "borders": lambda x: x.avg_pool2d(
        7, 2, 1, True, False),
    "adaptive": lambda x: x.adaptive_avg_pool2d((5, 3)), "one": lambda x: x.adaptive_avg_pool2d(1),
    "area": lambda x: x.interpolate((5, 5), mode="area"),
    "bilinear": lambda x: x.interpolate((17, 50), mode="bilinear", antialias=True),
    "group_norm": lambda x: x.group_norm(2), "instance_norm": lambda x: x.instance_norm(),
}  # fmt: skip
CASES = [
    *((name, f, shape) for name, f in ROWS.items() for shape in SHAPES),
    *((name, f, shape) for name, f in CLASSES.items() for shape in SHAPES[1:3]),
    *((name, f, shape) for name, f in POOLS.items() for shape in IMAGES),
]


def _gradient(f: Function, x: Tensor) -> Tensor:
    x.requires_grad_()
    f(x).sum().backward()
    assert x.grad is not None
    return x.grad


def _numbers(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    noise = rng.standard_normal(shape)
    return {"even": np.full(shape, 100.0), "large": np.abs(noise) * 1000 + 10,
            "close": noise * 4 + 50}[kind]  # fmt: skip


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(("name", "f", "shape"), CASES, ids=[f"{n} {s}" for n, _, s in CASES])
def test_is_float64_rounded_once(
    name: str, f: Function, shape: tuple[int, ...], dtype: str
) -> None:
    rounding, most = HALVES[dtype]
    rng = np.random.default_rng(zlib.crc32(f"{name}{shape}".encode()))
    for kind in KINDS:
        x = Tensor(_numbers(kind, shape, rng)).cast(dtype)
        exact = x.cast("float64").numpy()
        found = f(Tensor(exact).cast(dtype))
        assert found.dtype == dtype
        got, right = found.cast("float64").numpy(), f(Tensor(exact)).numpy()
        scale = np.abs(exact).max() * 2.0**-20  # what sums of such numbers lose in float32
        is_beyond = np.abs(right) > most * (1 - rounding)
        assert np.isfinite(got[~is_beyond]).all()
        near = np.abs(got - right) <= 2.02 * rounding * np.abs(right) + scale + 2.0**-24
        assert (near | (is_beyond & (np.abs(got) > most * 0.99))).all(), (kind, got, right)


def test_integers_are_counted_in_their_widest_type() -> None:
    for dtype in ("int8", "uint8", "int16"):
        x = np.full(1000, 100, dtype)
        made = Tensor(np.zeros(2, dtype)).scatter_reduce(0, np.zeros(1000, int), x, "mean", False)
        assert made.dtype == dtype and made.tolist() == [100, 0]
    below = Tensor(np.zeros(1, np.int8)).scatter_reduce(
        0, np.zeros(2, int), np.array([-3, -4], np.int8), "mean", False)  # fmt: skip
    assert below.tolist() == [-4]


def test_scatters_of_halves_add_in_float32_at_every_stage() -> None:
    ones = Tensor.ones(3000, dtype=float16)
    sums = Tensor.zeros(2, dtype=float16).index_add(0, np.zeros(3000, int), ones)
    assert sums.tolist() == [3000, 0]
    assert "✗" not in str(compiler.compile(sums).check())
