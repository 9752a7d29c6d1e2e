"""`interpolate` against sums over all old elements, one by one, on every engine."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from compiler import DataError, ShapeError, Tensor, compile
from tests.evaluate import assert_same, evaluate, every_engine

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(6)
IMAGE = RNG.standard_normal((2, 2, 5, 6)).astype(np.float32)


def linear(x: float, _a: float) -> float:
    return max(1 - abs(x), 0.0)


def cubic(x: float, a: float) -> float:
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def row(kind: str, n: int, count: int, scale: float, i: int, aligned: bool, anti: bool) -> Array:
    """The weight of each of n elements in element i of `count`."""
    weights = np.zeros(n)
    if kind.startswith("nearest"):
        at = np.float32(i + (0.5 if kind == "nearest-exact" else 0)) * np.float32(scale)
        weights[min(math.floor(at), n - 1)] = 1
        return weights
    kernel, reach = (linear, 1) if kind == "linear" else (cubic, 2)
    if aligned:
        scale = (n - 1) / (count - 1) if count > 1 else 0.0
    if anti:
        wide = max(scale, 1.0)
        middle = scale * (i + 0.5)
        low, high = int(middle - reach * wide + 0.5), int(middle + reach * wide + 0.5)
        for at in range(max(low, 0), min(high, n)):
            weights[at] = kernel((at - middle + 0.5) / wide, -0.5)
        return weights / weights.sum()
    where = i * scale if aligned else (i + 0.5) * scale - 0.5
    where = max(where, 0) if kind == "linear" else where
    begin = math.floor(where)
    for at in range(begin - reach + 1, begin + reach + 1):
        weights[min(max(at, 0), n - 1)] += kernel(where - at, -0.75)
    return weights


def resampled(x: Array, kind: str, sizes: Any, scales: Any, aligned: bool, anti: bool) -> Array:
    values = x.astype(np.float64)
    for axis, (count, scale) in enumerate(zip(sizes, scales, strict=True), 2):
        n = values.shape[axis]
        rows = [row(kind, n, count, scale, i, aligned, anti) for i in range(count)]
        values = np.moveaxis(np.tensordot(values, np.array(rows).T, (axis, 0)), -1, axis)
    return values.astype(np.float32)


MODES = {"nearest": "nearest", "nearest-exact": "nearest-exact", "bilinear": "linear",
         "bicubic": "cubic"}  # fmt: skip
CASES = [
    (mode, aligned, anti)
    for mode, aligned, anti in itertools.product(MODES, (False, True), (False, True))
    if not mode.startswith("nearest") or not (aligned or anti)
]


@every_engine
@pytest.mark.parametrize(("mode", "aligned", "anti"), CASES)
@pytest.mark.parametrize("size", [(5, 6), (3, 2), (10, 9), (1, 13)], ids=str)
def test_sizes(size: Any, mode: str, aligned: bool, anti: bool, engine: str) -> None:
    got = Tensor(IMAGE).interpolate(size, mode=mode, align_corners=aligned, antialias=anti)
    scales = [n / count for n, count in zip(IMAGE.shape[2:], size, strict=True)]
    expected = resampled(IMAGE, MODES[mode], size, scales, aligned, anti)
    assert_same(evaluate(got, engine), expected, rtol=1e-4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("by", [2, 1.7, 0.4, (2, 0.5)], ids=str)
def test_scales(by: Any, mode: str) -> None:
    bys = np.broadcast_to(by, 2).tolist()
    size = [math.floor(n * each) for n, each in zip(IMAGE.shape[2:], bys, strict=True)]
    got = Tensor(IMAGE).interpolate(scale_factor=by, mode=mode).numpy()
    scales = [1 / each for each in bys]
    assert_same(got, resampled(IMAGE, MODES[mode], size, scales, False, False), rtol=1e-4)


@pytest.mark.parametrize(("mode", "rank"), [("linear", 1), ("trilinear", 3), ("nearest", 3)])
def test_other_numbers_of_axes(mode: str, rank: int) -> None:
    image = RNG.standard_normal((1, 2, 4, 5, 3)[: 2 + rank]).astype(np.float32)
    got = Tensor(image).interpolate(7, mode=mode).numpy()
    kind = "nearest" if mode == "nearest" else "linear"
    scales = [n / 7 for n in image.shape[2:]]
    assert_same(got, resampled(image, kind, [7] * rank, scales, False, False), rtol=1e-4)


def test_area_is_means() -> None:
    got = Tensor(IMAGE).interpolate((5, 3), mode="area").numpy()
    assert_same(got, IMAGE.reshape(2, 2, 5, 3, 2).mean(-1), rtol=1e-6)


def test_types_and_one_kernel() -> None:
    whole = Tensor(np.arange(4, dtype=np.uint8).reshape(1, 1, 2, 2)).interpolate(scale_factor=2)
    assert whole.dtype == "uint8" and whole.numpy()[0, 0, 1].tolist() == [0, 0, 1, 1]
    half = Tensor(IMAGE.astype(np.float16)).interpolate((7, 8), mode="bilinear")
    assert half.dtype == "float16"
    program = compile(Tensor(IMAGE).interpolate((10, 12), mode="bilinear"))
    assert program.check().ok


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: x.interpolate(), DataError, "give one of size and scale_factor"),
        (lambda x: x.interpolate(2, 2), DataError, "give one of size and scale_factor"),
        (lambda x: x.interpolate(2, mode="sinc"), DataError, "unknown mode"),
        (lambda x: x.interpolate(2, align_corners=True), DataError, "linear and cubic"),
        (lambda x: x.interpolate((1, 2, 3)), ShapeError, "the size does not fit"),
        (lambda x: x.interpolate(scale_factor=0.1), ShapeError, "nothing is left"),
        (lambda x: x[0, 0].interpolate(2), ShapeError, "this is not an image"),
    ],
)
def test_refusals(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(Tensor(IMAGE))
