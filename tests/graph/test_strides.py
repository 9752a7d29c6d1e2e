"""Strides of views equal those of NumPy's views; computed values are row-major."""

import numpy as np
import pytest

from compiler import Tensor
from compiler.graph.strides import strides

X = Tensor(np.zeros((6, 4), np.float32))
ROW = Tensor(np.zeros((1, 4), np.float32))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (X, (4, 1)),
        (X.permute(1, 0), (1, 4)),
        (X.flip(0), (-4, 1)),
        (X.reshape(2, 3, 4), (12, 4, 1)),
        (X.permute(1, 0).reshape(24), None),
        (ROW.expand(6, 4), (0, 1)),
        (X[1:3], (4, 1)),
        (X * 2, (4, 1)),
        ((X * 2).permute(1, 0), (6, 1)),
        (X.sum(), ()),
    ],
)
def test_strides(value: Tensor, expected: tuple[int, ...] | None) -> None:
    assert strides(value.node) == expected


def test_a_large_buffer_takes_no_memory() -> None:
    big = Tensor(np.broadcast_to(np.float32(0), (1, 1))).expand(1 << 20, 1 << 20)
    assert strides(big.node) == (0, 0)
