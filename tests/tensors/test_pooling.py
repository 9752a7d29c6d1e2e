"""Pooling over one to three axes, against NumPy window by window, on every engine."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from compiler import ShapeError, Tensor
from tests.evaluate import assert_same, evaluate, every_engine

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
RNG = np.random.default_rng(5)
IMAGE = RNG.standard_normal((2, 3, 5, 7, 6)).astype(np.float32)


def counts(image: Shape, size: Shape, step: Shape, gap: Shape, border: Shape, ceil: bool) -> Shape:
    """How many windows there are along each axis."""
    found = []
    for n, k, s, g, p in zip(image, size, step, gap, border, strict=True):
        room = n + 2 * p - g * (k - 1) - 1
        count = (-(-room // s) if ceil else room // s) + 1
        found.append(count - (ceil and (count - 1) * s >= n + p))
    return tuple(found)


def pooled(
    x: Array, size: Shape, step: Shape, border: Shape, gap: Shape, ceil: bool,
    take: Callable[[list[tuple[Any, Array]], Shape, int], Any],
) -> Array:  # fmt: skip
    """Each window of the last axes through `take`: where its elements are, their values; how large
    the window is, the part of a border included that is no more than asked for."""
    axes = len(size)
    lead, image = x.shape[:-axes], x.shape[-axes:]
    shape = counts(image, size, step, gap, border, ceil)
    flat = x.reshape(-1, *image)
    out = np.empty((len(flat), *shape), object)
    for place in itertools.product(*map(range, shape)):
        begin = [i * s - p for i, s, p in zip(place, step, border, strict=True)]
        reach = [range(b, b + k * g, g) for b, k, g in zip(begin, size, gap, strict=True)]
        inside = [
            at for at in itertools.product(*reach)
            if all(0 <= i < n for i, n in zip(at, image, strict=True))
        ]  # fmt: skip
        whole = 1
        for b, k, n, p in zip(begin, size, image, border, strict=True):
            whole *= min(b + k, n + p) - b
        found = [(np.ravel_multi_index(at, image), flat[(slice(None), *at)]) for at in inside]
        out[(slice(None), *place)] = take(found, image, whole)
    return out.reshape(*lead, *shape)


def greatest(found: list[tuple[Any, Array]], _image: Shape, _whole: int) -> Any:
    return np.max([values for _, values in found], axis=0)


def place_of_greatest(found: list[tuple[Any, Array]], _image: Shape, _whole: int) -> Any:
    return np.array([at for at, _ in found])[np.argmax([values for _, values in found], axis=0)]


def mean_with(found: list[tuple[Any, Array]], _image: Shape, whole: int) -> Any:
    return np.sum([values for _, values in found], axis=0, dtype=np.float64) / whole


def mean_without(found: list[tuple[Any, Array]], _image: Shape, _whole: int) -> Any:
    return np.mean([values for _, values in found], axis=0, dtype=np.float64)


def cases() -> Iterator[Any]:
    """Axes, size, step, border, gap, ceil_mode."""
    rows: tuple[tuple[int, Any, Any, Any, Any, bool], ...] = (
        (1, 3, 2, 1, 1, False), (1, 3, 2, 1, 1, True), (1, 2, 3, 0, 2, True),
        (2, 2, None, 0, 1, False), (2, (3, 2), (2, 3), (1, 0), (1, 2), False),
        (2, (3, 2), (2, 3), (1, 1), 1, True), (2, 3, 1, 1, 1, True),
        (3, 2, 2, 0, 1, True), (3, (2, 3, 2), (1, 2, 3), (1, 1, 0), 1, False),
    )  # fmt: skip
    for axes, size, step, border, gap, ceil in rows:
        sizes = np.broadcast_to(size, axes).tolist()
        steps = sizes if step is None else np.broadcast_to(step, axes).tolist()
        more = (np.broadcast_to(v, axes).tolist() for v in (border, gap))
        given = tuple(map(tuple, (sizes, steps, *more)))
        yield pytest.param(axes, *given, ceil, id=f"{axes}-{size}-{step}-{border}-{gap}-{ceil}")


@every_engine
@pytest.mark.parametrize(("axes", "size", "step", "border", "gap", "ceil"), [*cases()])
def test_greatest(
    axes: int, size: Shape, step: Shape, border: Shape, gap: Shape, ceil: bool, engine: str
) -> None:
    pool = getattr(Tensor(IMAGE), f"max_pool{axes}d")
    expected = pooled(IMAGE, size, step, border, gap, ceil, greatest).astype(np.float32)
    assert_same(evaluate(pool(size, step, border, gap, ceil), engine), expected)
    values, places = pool(size, step, border, gap, ceil, return_indices=True)
    assert_same(evaluate(values, engine), expected)
    where = pooled(IMAGE, size, step, border, gap, ceil, place_of_greatest).astype(np.int64)
    assert_same(evaluate(places, engine), where)


@every_engine
@pytest.mark.parametrize("counts_border", [True, False])
@pytest.mark.parametrize(("axes", "size", "step", "border", "gap", "ceil"), [*cases()])
def test_means(
    axes: int, size: Shape, step: Shape, border: Shape, gap: Shape, ceil: bool,
    counts_border: bool, engine: str,
) -> None:  # fmt: skip
    if set(gap) != {1}:
        pytest.skip("means have no dilation")
    pool = getattr(Tensor(IMAGE), f"avg_pool{axes}d")
    take = mean_with if counts_border else mean_without
    expected = pooled(IMAGE, size, step, border, gap, ceil, take).astype(np.float32)
    got = pool(size, step, border, ceil, count_include_pad=counts_border)
    assert_same(evaluate(got, engine), expected, rtol=1e-5)


def test_a_divisor_of_ones_own() -> None:
    x = Tensor(IMAGE)
    total = x.avg_pool2d(2, divisor_override=1).numpy()
    np.testing.assert_allclose(total, x.avg_pool2d(2).numpy() * 4, rtol=1e-6)


def test_half_precision_and_integers() -> None:
    half = IMAGE.astype(np.float16)
    got = Tensor(half).avg_pool2d(3, 2, 1, count_include_pad=False)
    assert got.dtype == np.float16
    whole = Tensor(np.arange(12).reshape(1, 3, 4)).max_pool2d(2, 1)
    assert whole.tolist() == [[[5, 6, 7], [9, 10, 11]]]


def test_where_nothing_is_greater_than_the_border() -> None:
    x = Tensor(np.full((1, 2, 2), -np.inf, np.float32))
    values, places = x.max_pool2d(2, 1, 1, return_indices=True)
    assert np.isneginf(values.numpy()).all()
    assert ((places.numpy() >= 0) & (places.numpy() < 4)).all()


@every_engine
@pytest.mark.parametrize("size", [1, 2, 4, (5, 7), (3, 1), (10, 9)], ids=str)
def test_adaptive(size: Any, engine: str) -> None:
    image = IMAGE[0, 0]
    rows, columns = np.broadcast_to(size, 2)
    folds = {"adaptive_avg_pool2d": np.mean, "adaptive_max_pool2d": np.max}
    h, w = image.shape[-2:]
    for name, fold in folds.items():
        expected = np.empty((len(image), rows, columns), np.float32)
        for i, j in itertools.product(range(rows), range(columns)):
            part = image[:, i * h // rows : -(-(i + 1) * h // rows),
                         j * w // columns : -(-(j + 1) * w // columns)]  # fmt: skip
            expected[:, i, j] = fold(part, axis=(1, 2))
        got = evaluate(getattr(Tensor(image), name)(size), engine)
        assert_same(got, expected, name, rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.max_pool2d(0), "max_pool2d: needs one number or two"),
        (lambda x: x.max_pool1d((2, 2)), "max_pool1d: needs one number"),
        (lambda x: x.avg_pool3d((2, 2)), "avg_pool3d: needs one number or three"),
        (lambda x: x.avg_pool2d(9), "avg_pool2d: the window is larger than the image"),
        (lambda x: x.max_pool2d(2, padding=-1), "needs one number or two, or pairs of them"),
        (lambda x: x.adaptive_avg_pool2d(0), "adaptive_avg_pool2d: needs one number or two"),
        (lambda x: x[0, 0, 0, 0].avg_pool2d(1), "avg_pool2d: there are too few axes"),
    ],
)
def test_refusals(call: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        call(Tensor(IMAGE))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_means_of_halves_are_summed_in_a_wider_type(dtype: str) -> None:
    x = Tensor.full((1, 1, 32, 32), 100.0, dtype=dtype)
    for mean in (
        x.avg_pool2d(32), x.adaptive_avg_pool2d(1), x.avg_pool2d(3, 1, 1, True, False),
        x.flatten(2).avg_pool1d(1024), x.avg_pool2d(32, divisor_override=1024),
    ):  # fmt: skip
        assert mean.dtype == x.dtype
        assert (mean.float().numpy() == 100.0).all()


def test_ties_beyond_the_count_of_a_half() -> None:
    x = Tensor.ones(70_000, dtype="float16").realize()
    x.requires_grad_()
    (x.max() * 60_000.0).backward()
    assert x.grad is not None
    np.testing.assert_allclose(x.grad.float().numpy(), 60_000 / 70_000, rtol=1e-3)
