"""Parts of data that are there are copied: no program is compiled for a place in a tensor."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.graph.nodes import Buffer
from compiler.run.realize import LONG, SMALL

Array = np.ndarray[Any, Any]
MATRIX = np.arange(30 * 400, dtype=np.float32).reshape(30, 400)
PARTS: dict[str, Callable[[Any], Any]] = {
    "an element": lambda x: x[3, 7],
    "an element from the end": lambda x: x[-1, -2],
    "a row": lambda x: x[5],
    "a column": lambda x: x[:, 5],
    "every third": lambda x: x[::3, ::8],
    "backwards": lambda x: x[4, ::-1],
    "turned": lambda x: x[:9, :8].swapaxes(0, 1),
    "a new axis": lambda x: x[2, None, :5],
    "rows as they are": lambda x: x[3:20],
    "no element": lambda x: x[4:4],
    "another shape": lambda x: x.reshape(120, 100)[7],
}


def programs() -> int:
    """How many programs were compiled or found."""
    counts = compiler.cache_info().schedules
    return counts.hits + counts.misses


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_parts_need_no_program(part: Callable[[Any], Any]) -> None:
    x, before = Tensor(MATRIX), programs()
    taken = part(x)
    np.testing.assert_array_equal(taken.numpy(), part(MATRIX))
    assert programs() == before
    assert isinstance(taken.node, Buffer) and taken.recipe is not taken.node


@pytest.mark.parametrize("dtype", compiler.core.dtypes.ALL, ids=str)
def test_every_type(dtype: compiler.DType) -> None:
    x, before = Tensor(np.arange(12).reshape(3, 4).astype(dtype.numpy)), programs()
    taken = x[1, 2]
    assert taken.item() == x.numpy()[1, 2] and taken.dtype is dtype
    assert programs() == before


def test_each_element_of_a_loop() -> None:
    x = (Tensor(MATRIX) * 2).realize()
    before = programs()
    assert sum(float(x[i, i]) for i in range(30)) == 2 * np.trace(MATRIX)
    assert programs() == before


def test_what_is_read_has_memory_of_its_own() -> None:
    x = Tensor(MATRIX.copy())
    row, same = x[0], x[0]
    row.realize()
    x.assign(x * 0)
    x.realize()
    np.testing.assert_array_equal(row.numpy(), MATRIX[0])
    np.testing.assert_array_equal(same.numpy(), MATRIX[0])
    row.assign(row + 1)
    row.realize()
    assert not x.numpy().any()


def test_what_is_large_or_computed_is_a_program() -> None:
    side = 2 + int(SMALL**0.5)
    large = Tensor(np.arange(side * side, dtype=np.float32).reshape(side, side))
    long = Tensor(np.zeros(2 * LONG, np.float32))
    for value in (large.swapaxes(0, 1), long[: LONG + 1], large[0] + 1, large[0].contiguous()):
        before = programs()
        value.numpy()
        assert programs() == before + 1


def test_beside_what_is_computed_it_is_part_of_that_program() -> None:
    x, before = Tensor(MATRIX), programs()
    row, twice = x[3], x[3] * 2
    row.realize(twice)
    np.testing.assert_array_equal(twice.numpy(), 2 * row.numpy())
    assert programs() == before + 1
