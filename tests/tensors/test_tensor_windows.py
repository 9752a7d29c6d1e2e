"""Unfold, pooling and convolution against windows that NumPy slides, on every engine."""

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from compiler import ShapeError, Tensor, compile
from tests.evaluate import assert_same, evaluate, every_engine

RNG = np.random.default_rng(3)
IMAGE = RNG.standard_normal((2, 4, 7, 9)).astype(np.float32)
Array = np.ndarray[Any, Any]


def slid(x: Array, size: Any, stride: Any, dilation: Any = (1, 1)) -> Array:
    """[…, rows, columns, kh, kw]: every window of the last two axes."""
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, size, strict=True)]
    every = sliding_window_view(x, reach, axis=(-2, -1))
    return every[..., :: stride[0], :: stride[1], :: dilation[0], :: dilation[1]]


def bordered(x: Array, padding: Any, value: float = 0.0) -> Array:
    widths = [(0, 0)] * (x.ndim - 2) + [(n, n) for n in padding]
    return np.pad(x, widths, constant_values=value)


@every_engine
@pytest.mark.parametrize(("size", "step"), [(1, 1), (3, 1), (3, 2), (2, 3), (7, 1), (5, 4)])
def test_unfold(size: int, step: int, engine: str) -> None:
    expected = sliding_window_view(IMAGE, size, axis=2)[:, :, ::step]
    assert_same(evaluate(Tensor(IMAGE).unfold(2, size, step), engine), expected)
    flat = IMAGE[0, 0, :, 0]
    assert_same(evaluate(Tensor(flat).unfold(0, size, step), engine),
                sliding_window_view(flat, size)[::step])  # fmt: skip


POOLS = (((2, 2), None, 0, 1), ((3, 2), (2, 3), (1, 0), (1, 2)), ((3, 3), 1, 1, 1))


@every_engine
@pytest.mark.parametrize(("size", "stride", "padding", "dilation"), POOLS)
def test_max_pool2d(size: Any, stride: Any, padding: Any, dilation: Any, engine: str) -> None:
    steps = size if stride is None else np.broadcast_to(stride, 2)
    border, gaps = np.broadcast_to(padding, 2), np.broadcast_to(dilation, 2)
    expected = slid(bordered(IMAGE, border, -np.inf), size, steps, gaps).max((-2, -1))
    got = Tensor(IMAGE).max_pool2d(size, stride, padding, dilation)
    assert_same(evaluate(got, engine), expected)


@every_engine
@pytest.mark.parametrize(("size", "stride", "padding"), [(2, None, 0), ((3, 2), (2, 1), (1, 0))])
def test_avg_pool2d(size: Any, stride: Any, padding: Any, engine: str) -> None:
    sizes = tuple(int(n) for n in np.broadcast_to(size, 2))
    steps = sizes if stride is None else np.broadcast_to(stride, 2)
    expected = slid(bordered(IMAGE, np.broadcast_to(padding, 2)), sizes, steps).mean((-2, -1))
    got = Tensor(IMAGE).avg_pool2d(size, stride, padding)
    assert_same(evaluate(got, engine), expected, rtol=1e-5)


CONVOLUTIONS = (
    (6, (3, 3), 1, 1, 1, 1), (6, (3, 2), (2, 3), (1, 0), (1, 2), 1),
    (6, (1, 1), 1, 0, 1, 2), (8, (2, 3), 2, 1, 1, 4),
)  # fmt: skip


def convolved(x: Array, w: Array, stride: Any, padding: Any, dilation: Any, groups: int) -> Array:
    stride, padding, dilation = (np.broadcast_to(v, 2) for v in (stride, padding, dilation))
    view = slid(bordered(x, padding), w.shape[2:], stride, dilation).astype(np.float64)
    parts = zip(np.split(view, groups, 1), np.split(w, groups), strict=True)
    return np.concatenate([np.einsum("nchwyx,ocyx->nohw", v, k) for v, k in parts], 1)


@every_engine
@pytest.mark.parametrize(
    ("out", "size", "stride", "padding", "dilation", "groups"), CONVOLUTIONS
)
def test_conv2d(
    out: int, size: Any, stride: Any, padding: Any, dilation: Any, groups: int, engine: str
) -> None:
    weight = RNG.standard_normal((out, 4 // groups, *size)).astype(np.float32)
    bias = RNG.standard_normal(out).astype(np.float32)
    got = Tensor(IMAGE).conv2d(Tensor(weight), bias, stride, padding, dilation, groups)
    expected = convolved(IMAGE, weight, stride, padding, dilation, groups)
    expected = (expected + bias[:, None, None]).astype(np.float32)
    assert_same(evaluate(got, engine), expected, rtol=1e-4)


def test_windows_are_index_arithmetic_without_division() -> None:
    weight = Tensor(RNG.standard_normal((6, 4, 3, 3)).astype(np.float32))
    program = compile(Tensor(IMAGE).conv2d(weight, stride=2, padding=1).relu())
    assert len(program.schedule.items) == 1, "one kernel: no window is copied"
    operations = {getattr(i, "op", "") for i in program.lowered[0].instructions}
    assert not operations & {"idiv", "mod"}
    assert program.check().ok


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.conv2d(Tensor.zeros(6, 3, 3, 3)), "conv2d: the channels do not fit"),
        (lambda x: x.conv2d(Tensor.zeros(6, 4, 8, 3)), "the window is larger than the image"),
        (lambda x: x.max_pool2d(0), "needs one number or two"),
        (lambda x: x.avg_pool2d((2, 2, 2)), "needs one number or two"),
        (lambda x: x.unfold(2, 8), "unfold: no window fits"),
    ],
)
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        call(Tensor(IMAGE))
