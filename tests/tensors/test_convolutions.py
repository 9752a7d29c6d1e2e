"""Convolution and transposed convolution over 1 to 3 axes, against sums that NumPy takes window by
window, on every engine."""

import itertools
from typing import Any

import numpy as np
import pytest

from compiler import ShapeError, Tensor, compile
from tests.evaluate import assert_same, evaluate, every_engine

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(4)


def made(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


IMAGES = {1: made(2, 4, 9), 2: made(2, 4, 7, 9), 3: made(1, 4, 4, 5, 6)}


def convolved(
    x: Array, w: Array, step: Any, borders: Any, gap: Any, groups: int, is_transposed: bool = False,
    behind: Any = 0,
) -> Array:  # fmt: skip
    """Tap by tap: of the image to the result, or for the transpose of the result to the image."""
    axes = x.ndim - 2
    steps, gaps, behinds = (np.broadcast_to(v, axes).tolist() for v in (step, gap, behind))
    pairs = np.broadcast_to(borders, (2, axes)).T.tolist() if np.ndim(borders) < 2 else borders
    sizes, image = w.shape[2:], x.shape[2:]
    reach = [g * (k - 1) + 1 for g, k in zip(gaps, sizes, strict=True)]
    if is_transposed:
        whole = [(n - 1) * s + r + more
                 for n, s, r, more in zip(image, steps, reach, behinds, strict=True)]  # fmt: skip
        small, o = image, w.shape[1] * groups
        out = np.zeros((len(x), o, *whole))
        source = x.astype(np.float64)
    else:
        source = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *pairs])
        small = tuple((n - r) // s + 1
                      for n, r, s in zip(source.shape[2:], reach, steps, strict=True))  # fmt: skip
        out = np.zeros((len(x), len(w), *small))
    for tap in itertools.product(*map(range, sizes)):
        along = tuple(
            slice(t * g, t * g + (n - 1) * s + 1, s)
            for t, g, n, s in zip(tap, gaps, small, steps, strict=True)
        )
        for group in range(groups):
            part = slice(group * len(w) // groups, (group + 1) * len(w) // groups)
            weight = w[(part, slice(None), *tap)].astype(np.float64)
            other = slice(group * w.shape[1], (group + 1) * w.shape[1])
            if is_transposed:
                out[(slice(None), other, *along)] += np.einsum("nc...,co->no...", source[:, part],
                                                               weight)  # fmt: skip
            else:
                view = source[(slice(None), other, *along)]
                out[:, part] += np.einsum("nc...,oc->no...", view, weight)
    if is_transposed:
        ends = tuple(slice(a, n - b) for n, (a, b) in zip(out.shape[2:], pairs, strict=True))
        out = out[(slice(None), slice(None), *ends)]
    return out.astype(np.float32)


CASES: tuple[tuple[int, Any, Any, Any, Any, int, int], ...] = (
    (1, 3, 1, 1, 1, 1, 6), (1, 2, 3, 0, 2, 2, 4), (1, 1, 1, 0, 1, 4, 8),
    (2, (3, 3), 1, 1, 1, 1, 6), (2, (3, 2), (2, 3), (1, 0), (1, 2), 1, 6),
    (2, (2, 3), 2, 1, 1, 4, 8), (3, (2, 3, 2), (1, 2, 2), (1, 0, 1), 1, 1, 3),
    (3, 2, 1, 0, (1, 2, 1), 2, 4),
)  # fmt: skip
"""Axes, size, stride, padding, dilation, groups, channels of the result."""


@every_engine
@pytest.mark.parametrize(("axes", "size", "step", "border", "gap", "groups", "out"), CASES)
def test_convolution(
    axes: int, size: Any, step: Any, border: Any, gap: Any, groups: int, out: int, engine: str
) -> None:
    image, bias = IMAGES[axes], made(out)
    weight = made(out, 4 // groups, *np.broadcast_to(size, axes).tolist())
    convolve = getattr(Tensor(image), f"conv{axes}d")
    expected = convolved(image, weight, step, border, gap, groups)
    got = convolve(Tensor(weight), bias, step, border, gap, groups)
    expected = expected + bias.reshape(-1, *(1,) * axes)
    assert_same(evaluate(got, engine), expected, rtol=1e-4)


@every_engine
@pytest.mark.parametrize("behind", [0, 1])
@pytest.mark.parametrize(("axes", "size", "step", "border", "gap", "groups", "out"), CASES)
def test_transpose(
    axes: int, size: Any, step: Any, border: Any, gap: Any, groups: int, out: int, behind: int,
    engine: str,
) -> None:  # fmt: skip
    image, bias = IMAGES[axes], made(out)
    weight = made(4, out // groups, *np.broadcast_to(size, axes).tolist())
    spread = getattr(Tensor(image), f"conv_transpose{axes}d")
    expected = convolved(image, weight, step, border, gap, groups, True, behind)
    got = spread(Tensor(weight), bias, step, border, behind, groups, gap)
    expected = expected + bias.reshape(-1, *(1,) * axes)
    assert_same(evaluate(got, engine), expected, rtol=1e-4)


def test_padding_of_each_side_and_by_name() -> None:
    image, weight = IMAGES[2], made(3, 4, 4, 3)
    pairs = [(2, 0), (1, 3)]
    got = Tensor(image).conv2d(weight, padding=pairs)
    assert_same(got.numpy(), convolved(image, weight, 1, pairs, 1, 1), rtol=1e-4)
    same = Tensor(image).conv2d(weight, padding="same", dilation=(1, 2))
    assert same.shape == (2, 3, 7, 9)
    expected = convolved(image, weight, 1, [(1, 2), (2, 2)], (1, 2), 1)
    assert_same(same.numpy(), expected, rtol=1e-4)
    valid = Tensor(image).conv2d(weight, padding="valid")
    assert_same(valid.numpy(), Tensor(image).conv2d(weight).numpy())


def test_one_image_alone() -> None:
    image, weight, back = IMAGES[2][0], made(3, 4, 3, 3), made(4, 2, 2, 2)
    whole = Tensor(image[None])
    assert_same(Tensor(image).conv2d(weight).numpy(), whole.conv2d(weight).numpy()[0])
    got = Tensor(image).conv_transpose2d(back, stride=2).numpy()
    assert_same(got, whole.conv_transpose2d(back, stride=2).numpy()[0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32"])
def test_types(dtype: str) -> None:
    image, weight = (np.round(a * 3) for a in (IMAGES[1], made(2, 4, 3)))
    expected = convolved(image, weight, 2, 1, 1, 1)
    got = Tensor(image, dtype=dtype).conv1d(Tensor(weight, dtype=dtype), stride=2, padding=1)
    assert got.dtype == dtype
    assert_same(got.numpy().astype(np.float32), expected, rtol=1e-2)


def test_the_transpose_is_one_kernel_and_checked() -> None:
    made_of = Tensor(IMAGES[2]).conv_transpose2d(made(4, 3, 3, 3), stride=2, padding=1).relu()
    assert compile(made_of).check().ok


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.conv2d(Tensor.zeros(6, 3, 3, 3)), "conv2d: the channels do not fit"),
        (lambda x: x.conv1d(Tensor.zeros(6, 4, 3)), "conv1d: the channels do not fit"),
        (lambda x: x.conv2d(Tensor.zeros(6, 4, 8, 3)), "the window is larger than the image"),
        (lambda x: x.conv2d(Tensor.zeros(6, 4, 3, 3), padding="full"), "unknown padding"),
        (lambda x: x.conv2d(Tensor.zeros(6, 4, 3, 3), stride=2, padding="same"),
         "this padding needs a stride of 1"),
        (lambda x: x.conv_transpose2d(Tensor.zeros(3, 4, 3, 3)), "the channels do not fit"),
        (lambda x: x.conv_transpose2d(Tensor.zeros(4, 2, 1, 1), padding=4),
         "conv_transpose2d: the padding leaves nothing"),
    ],
)  # fmt: skip
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        call(Tensor(IMAGES[2]))
