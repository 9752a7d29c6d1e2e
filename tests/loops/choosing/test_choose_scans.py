"""Scans: unrolled rows, vectors of columns."""

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.loops.choices import Choices, Parallelize, Tile, Unroll, Vectorize

TWO = Options(threads=2)
SHAPES = [(2, 40), (3, 1000), (5, 33), (9, 64), (64, 5), (70, 49), (1000, 3), (300, 130),
          (3, 7, 5), (4, 30, 40), (40, 3, 7), (2, 100, 1), (1, 50, 64)]  # fmt: skip


def chosen(tensor: Tensor) -> Choices:
    return compiler.compile(tensor, TWO).choices["k0"]


def data(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


@pytest.mark.parametrize("shape", SHAPES)
def test_same_values(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).integers(-99, 99, shape).astype(np.float32)
    for axis in range(len(shape)):
        compilation = compiler.compile(Tensor(x).cumsum(axis), TWO)
        np.testing.assert_array_equal(compilation.run()[0], x.cumsum(axis))
        assert compilation.check().first_difference is None


def test_rows_stand_side_by_side() -> None:
    choices = chosen(data(1000, 900).cumsum(1))
    assert [row.axis for row in choices.of(Unroll)] == ["i0.1"]
    assert choices.of(Parallelize)[0].axis == "i0.0" and not choices.of(Vectorize)


def test_columns_are_vectors_in_blocks_for_each_core() -> None:
    choices = chosen(data(900, 1000).cumsum(0))
    assert choices.of(Tile)[0].size == 496 and choices.of(Vectorize)
    assert choices.of(Parallelize)[0].axis.endswith(".0")
    assert chosen(data(50, 900, 64).cumsum(1)).of(Parallelize)[0].axis == "i0"


def test_one_row_is_a_plain_loop() -> None:
    choices = chosen(data(100_000).cumsum())
    assert not choices.rows and "waits for the one before" in str(choices.refused[0].because)
