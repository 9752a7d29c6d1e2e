"""Zeros around a tensor, in vectors under masks: the values, and what is chosen."""

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from tests.evaluate import assert_same, evaluate

SHAPES = ((3, 5, 30), (2, 3, 32), (4, 31), (7, 7), (1, 14), (2, 62), (3, 4, 126))


@pytest.mark.parametrize("engine", ["loops", "lowered", "machine"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("shape", SHAPES)
def test_borders(shape: tuple[int, ...], dtype: type, engine: str) -> None:
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(dtype)
    widths = [(1, 1)] * len(shape)
    got = evaluate((Tensor(x) * 2).pad(widths), engine)
    assert_same(got, np.pad(x * 2, widths).astype(dtype))


def chosen(*shape: int) -> list[str]:
    """The choices for a tensor of ones with zeros around it, over two cores."""
    made = compile(Tensor(np.ones(shape, np.float32)).pad(1), Options(threads=2))
    kinds = ("tile", "vectorize", "unroll", "parallelize", "stream")
    return [d.reason for d in made.decisions if d.taken and d.kind in kinds]


def test_vectors_where_little_is_left_of_a_row() -> None:
    assert chosen(8, 32)[0].startswith("tile i1 32 peel: rows with borders: 34 iterations")
    assert chosen(8, 29) == []


def test_cores_for_many_rows() -> None:
    (shared,) = chosen(4096, 125)
    assert shared.startswith("parallelize i0 2: about ")
