"""Strides, bytes and live ranges of buffers."""

import math

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.core import dtypes
from compiler.core.errors import ScheduleError
from compiler.schedule.analysis.buffer_layout import (
    Allocation,
    BufferLayout,
    contiguous_strides,
    row_major,
)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4), (1, 7), (4, 1, 2)])
def test_strides_are_those_of_numpy(shape: tuple[int, ...]) -> None:
    strides = np.empty(shape, np.int8).strides
    assert contiguous_strides(shape) == strides
    assert row_major(shape).nbytes(dtypes.float32) == 4 * math.prod(shape)
    assert row_major(shape).contiguous_axes == tuple(reversed(range(len(shape))))


def test_a_zero_extent_counts_as_one_for_strides_and_as_nothing_for_bytes() -> None:
    assert contiguous_strides((2, 0, 3)) == (3, 3, 1)
    assert row_major((2, 0, 3)).nbytes(dtypes.float64) == 0
    assert row_major(()).nbytes(dtypes.float64) == 8, "rank 0 is one element"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (((2, 3), (3,)), "one stride per axis"),
        (((2,), (1,), 48), "a power of two"),
        (((2,), (1,), 0), "a power of two"),
        (((2,), (1,), 64, 0), "a vector has a lane"),
        (((2,), (1,), 64, 1, (1,)), "axes of the layout"),
        (((2, 2), (2, 1), 64, 1, (1, 1)), "axes of the layout"),
    ],
)
def test_a_wrong_layout_is_refused(arguments: tuple[object, ...], problem: str) -> None:
    with pytest.raises(ScheduleError, match=problem):
        BufferLayout(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(("nbytes", "life"), [(-1, (0, 0)), (4, (2, 1)), (4, (-1, 0))])
def test_a_wrong_allocation_is_refused(nbytes: int, life: tuple[int, int]) -> None:
    with pytest.raises(ScheduleError):
        Allocation("global", nbytes, life)


def test_a_schedule_knows_its_buffers() -> None:
    x = Tensor(np.ones((8, 32), np.float32), name="x")
    y = x
    for _ in range(4):
        y = (y @ Tensor(np.ones((32, 32), np.float32))).relu()
    schedule = compiler.compile(y).schedule
    infos = {info.buffer.name: info for info in schedule.buffers if info.buffer.name}
    assert infos["x"].is_input and not infos["x"].is_output
    assert infos["x"].allocation.lifetime == (0, 3)
    assert infos["tmp3"].is_output and infos["tmp3"].allocation.alias_group is None
    assert infos["tmp0"].allocation.lifetime == (0, 1)
    groups = [infos[f"tmp{n}"].allocation.alias_group for n in range(3)]
    assert groups[0] == groups[2] is not None and groups[1] is None
    assert infos["tmp0"].layout == row_major((8, 32)) and infos["tmp0"].dtype is dtypes.float32
