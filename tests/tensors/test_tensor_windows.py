"""Unfold against windows that NumPy slides, on every engine; windows are index arithmetic."""

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from compiler import ShapeError, Tensor, compile
from tests.evaluate import assert_same, evaluate, every_engine

RNG = np.random.default_rng(3)
IMAGE = RNG.standard_normal((2, 4, 7, 9)).astype(np.float32)
Array = np.ndarray[Any, Any]


@every_engine
@pytest.mark.parametrize(("size", "step"), [(1, 1), (3, 1), (3, 2), (2, 3), (7, 1), (5, 4)])
def test_unfold(size: int, step: int, engine: str) -> None:
    expected = sliding_window_view(IMAGE, size, axis=2)[:, :, ::step]
    assert_same(evaluate(Tensor(IMAGE).unfold(2, size, step), engine), expected)
    flat = IMAGE[0, 0, :, 0]
    assert_same(evaluate(Tensor(flat).unfold(0, size, step), engine),
                sliding_window_view(flat, size)[::step])  # fmt: skip


def test_windows_are_index_arithmetic_without_division() -> None:
    weight = Tensor(RNG.standard_normal((6, 4, 3, 3)).astype(np.float32))
    program = compile(Tensor(IMAGE).conv2d(weight, stride=2, padding=1).relu())
    # the image with its zeros, then the sums: no window is copied
    written = [b.shape for i in program.schedule.items for b in i.operation.writes]
    assert written == [(2, 4, 9, 11), (2, 6, 4, 5)]
    operations = {getattr(i, "op", "") for low in program.lowered for i in low.instructions}
    assert not operations & {"idiv", "mod"}
    assert program.check().ok


def test_refusals() -> None:
    with pytest.raises(ShapeError, match="unfold: no window fits"):
        Tensor(IMAGE).unfold(2, 8)
