"""Random shape trackers against NumPy's own strided views, on the graph and in machine code."""

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler import GraphBuilder, Strided, Tensor
from tests.evaluate import ENGINES

Array = np.ndarray[Any, Any]
g = GraphBuilder()


@st.composite
def strided(draw: st.DrawFn, below: int) -> Strided:
    """A view inside `below` elements, perhaps of no element, perhaps under a mask."""
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.integers(0, 4)) for _ in range(rank))
    strides = tuple(draw(st.integers(-4, 6)) for _ in range(rank))
    mask = None
    if draw(st.booleans()):
        ends = [draw(st.integers(0, n)) for n in shape]
        mask = tuple((draw(st.integers(0, end)), end) for end in ends)
    trial = Strided(shape, strides, 0, mask)
    if 0 in trial.valid_shape:
        return trial
    low, high = trial.reach()
    if high - low >= below:
        return Strided(shape, (0,) * rank, draw(st.integers(0, below - 1)), mask)
    return Strided(shape, strides, draw(st.integers(-low, below - 1 - high)), mask)


@st.composite
def trackers(draw: st.DrawFn) -> tuple[int, tuple[Strided, ...]]:
    """The size of a source and one or two views of it."""
    size = draw(st.integers(1, 30))
    first = draw(strided(size))
    inner = math.prod(first.shape)
    if not inner or draw(st.booleans()):
        return size, (first,)
    return size, (first, draw(strided(inner)))


def through(flat: Array, view: Strided) -> Array:
    """The view by NumPy: only what is inside the mask is looked at."""
    values = np.zeros(view.shape, flat.dtype)
    if 0 not in view.valid_shape:
        strides = [s * flat.itemsize for s in view.strides]
        first = flat[view.valid_offset :]
        inside = np.lib.stride_tricks.as_strided(first, view.valid_shape, strides)
        values[tuple(slice(*pair) for pair in view.bounds)] = inside
    return values


@settings(max_examples=60, deadline=None)
@given(trackers())
def test_a_view_is_what_numpy_sees(tracker: tuple[int, tuple[Strided, ...]]) -> None:
    size, views = tracker
    data = np.arange(1, size + 1, dtype=np.int32)
    expected = data
    for view in views:
        expected = through(np.ascontiguousarray(expected).reshape(-1), view)
    x = Tensor(data)
    node = g.view(x, *views)
    whole = g.valid(Tensor(np.ones(node.shape, np.int32)), size, *views)
    for engine in ("graph", "machine"):
        got, valid = ENGINES[engine]([node, whole])
        np.testing.assert_array_equal(got, expected, strict=True)
        np.testing.assert_array_equal(valid, (expected != 0).astype(np.int32))
