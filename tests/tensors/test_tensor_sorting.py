"""Sorting and methods based on it, against NumPy, on every engine."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from compiler import AxisError, DataError, ShapeError, Tensor, compile
from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.tensors.ordering import key_of, order_of
from tests.evaluate import assert_same, evaluate, every_engine, samples

RNG = np.random.default_rng(11)
CUBE = RNG.integers(-3, 4, (3, 4, 5)).astype(np.float32)
SHAPES = ((0,), (1,), (3, 0), (0, 3), (1, 4), (4, 1), (2, 3, 1))


def backwards(array: Any, axis: int = -1) -> Any:
    """The stable order with the greatest first; NaN counts as the greatest."""
    turned = np.flip(array, axis)
    order = np.flip(np.argsort(turned, axis, kind="stable"), axis)
    return array.shape[axis] - 1 - order


@every_engine
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_every_type(dtype: DType, engine: str) -> None:
    array = samples(dtype, 14)
    x = Tensor(array)
    if dtype.computed_as:
        array = array.astype(dtype.arithmetic.numpy)  # of others NumPy does not know where NaN goes
    order = np.argsort(array, kind="stable")
    assert_same(evaluate(x.sort(), engine).astype(array.dtype), array[order])
    assert_same(evaluate(x.argsort(), engine), order)
    assert_same(evaluate(x.argsort(descending=True), engine), backwards(array))


@every_engine
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_every_axis(axis: int, engine: str) -> None:
    x = Tensor(CUBE)
    assert_same(evaluate(x.sort(axis), engine), np.sort(CUBE, axis, kind="stable"))
    assert_same(evaluate(x.argsort(dim=axis), engine), np.argsort(CUBE, axis, kind="stable"))
    values, places = x.flip(0).exp().topk(2, axis)
    order = np.take(backwards(CUBE[::-1], axis), [0, 1], axis)
    assert_same(evaluate(places, engine), order)
    expected = np.exp(np.take_along_axis(CUBE[::-1], order, axis))
    assert_same(evaluate(values, engine), expected, ulps=4)


@every_engine
@pytest.mark.parametrize("count", [3, 4, 5, 8, 11])
def test_merging(count: int, engine: str) -> None:
    """The way of long rows, for short ones: blocks of two, merged."""
    array = RNG.integers(0, 4, (2, count)).astype(np.float32)
    array[1, 1] = np.nan
    key = Tensor(array)._new(key_of(Tensor(array).node, False))
    order = order_of(key, counted=2, block=2)
    assert_same(evaluate(order, engine), np.argsort(array, kind="stable"))


def test_long_rows() -> None:
    array = RNG.integers(-500, 500, (2, 6000)).astype(np.float32)
    array[0, ::97], array[1, 5000:5010] = np.nan, -0.0
    x = Tensor(array)
    np.testing.assert_array_equal(x.argsort().numpy(), np.argsort(array, kind="stable"))
    expected = np.take_along_axis(array, backwards(array), -1)
    np.testing.assert_array_equal(x.sort(descending=True).numpy(), expected)


@settings(max_examples=40, deadline=None)
@given(arrays(np.float16, st.integers(0, 9)), st.booleans())
def test_any_floats(array: Any, descending: bool) -> None:
    expected = backwards(array) if descending else np.argsort(array, kind="stable")
    got = evaluate(Tensor(array).argsort(descending=descending))
    assert_same(got, expected.astype(np.int64))


@every_engine
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_short_axes(shape: tuple[int, ...], engine: str) -> None:
    array = RNG.standard_normal(shape)
    for axis in range(len(shape)):
        assert_same(evaluate(Tensor(array).sort(axis), engine), np.sort(array, axis))
        values, places = Tensor(array).topk(min(shape[axis], 1), axis, largest=False)
        assert_same(evaluate(places, engine), np.argsort(array, axis).take(
            range(min(shape[axis], 1)), axis))  # fmt: skip
        assert values.shape == places.shape


@every_engine
def test_median_and_quantile(engine: str) -> None:
    x = Tensor(CUBE)
    for axis in (None, 0, (0, 2), -1):
        assert_same(evaluate(x.median(axis), engine), np.median(CUBE, axis))
        kept = evaluate(x.quantile(0.3, axis, keepdim=True), engine)
        assert_same(kept, np.quantile(CUBE, 0.3, axis, keepdims=True), rtol=1e-6)
    several = evaluate(x.quantile([0.0, 0.25, 0.9, 1.0], 1), engine)
    expected = np.quantile(CUBE, [0.0, 0.25, 0.9, 1.0], 1)
    assert_same(several, expected.astype(np.float32), rtol=1e-6)
    odd = np.array([[1, np.nan, 2], [np.inf, np.inf, 3], [-np.inf, 0, np.inf]])
    assert_same(evaluate(Tensor(odd).median(1), engine), np.median(odd, 1))
    assert_same(evaluate(Tensor([3, 1, 2, 5]).median(), engine), np.median([3, 1, 2, 5]))
    half = np.array([1, 2, 40000, 60000], np.float16)
    assert_same(evaluate(Tensor(half).median(), engine), np.float16(20000))


@every_engine
def test_places_in_what_is_sorted(engine: str) -> None:
    table = np.array([-np.inf, -1, 0, 0, 2, 2, 2, 7, np.nan])
    values = np.array([[-0.0, 2, 7.5], [-np.inf, np.nan, -1]])
    for side in ("left", "right"):
        is_right = side == "right"
        expected = np.searchsorted(table, values, side)
        assert_same(evaluate(Tensor(table).searchsorted(values, is_right), engine), expected)
        assert_same(evaluate(Tensor(values).bucketize(table, is_right), engine), expected)
    whole = np.array([1, 5, 9], np.uint8)
    found = evaluate(Tensor(whole).searchsorted([0, 9, 300]), engine)
    assert_same(found, np.searchsorted(whole, [0, 9, 300]))
    assert_same(evaluate(Tensor(whole[:0]).searchsorted(3), engine), np.int64(0))


def test_unique() -> None:
    array = np.array([3, np.nan, 1, -0.0, 0.0, np.nan, 3, np.inf])
    assert_same(Tensor(array).unique().numpy(), np.unique(array), has_signed_zeros=False)
    assert_same(Tensor(CUBE).unique().numpy(), np.unique(CUBE))
    assert_same(Tensor([True, True]).unique().numpy(), np.array([True]))
    assert_same(Tensor(np.zeros((0, 2))).unique().numpy(), np.zeros(0))


def test_kthvalue() -> None:
    value, place = Tensor(CUBE).kthvalue(2, 1)
    assert_same(value.numpy(), np.sort(CUBE, 1)[:, 1])
    assert_same(place.numpy(), np.argsort(CUBE, 1, kind="stable")[:, 1])


def test_the_number_of_kernels() -> None:
    """Counting is three kernels; merging runs the same programs for each doubling."""
    assert len(compile(Tensor(RNG.standard_normal(1000)).argsort()).schedule.items) == 3
    long, longer = (compile(Tensor(RNG.standard_normal(n)).argsort()) for n in (9_000, 18_000))
    assert len(longer.schedule.items) - len(long.schedule.items) == 3
    assert len(longer._scheduled.outlined.bodies) == len(long._scheduled.outlined.bodies) == 7
    assert long.check().ok


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda x: x.sort(3), AxisError, "sort: axis 3 is out of range"),
        (lambda x: x.sum().sort(1), AxisError, "sort: axis 1 is out of range"),
        (lambda x: x.topk(6), ShapeError, "topk: axis 2 has not so many elements"),
        (lambda x: x.kthvalue(0), ShapeError, "kthvalue: axis 2 has no such element"),
        (lambda x: x.quantile(1.5), DataError, "quantile: no such part"),
        (lambda x: x[:0].median(), ShapeError, "median: axis 0 is empty"),
        (lambda x: x.searchsorted(1), ShapeError, "searchsorted: the sorted tensor has one axis"),
    ],
)
def test_refusals(use: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        use(Tensor(CUBE))
    assert "test_tensor_sorting.py" in str(caught.value)
