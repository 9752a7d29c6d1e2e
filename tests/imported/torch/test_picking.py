"""Slices put and taken at positions, without PyTorch: rank 0, and one position as a number."""

from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from compiler.imported.torch.picking import index_copy, index_select


@pytest.mark.parametrize(
    ("x", "axis", "index", "source", "wanted"),
    [
        (1.0, 0, [0], [5.0], 5.0),
        (1.0, -1, 0, 5.0, 5.0),
        ([1.0, 2.0, 3.0], 0, 1, 5.0, [1.0, 5.0, 3.0]),
        ([1.0, 2.0, 3.0], -1, [2, 0], [5.0, 6.0], [6.0, 2.0, 5.0]),
        ([[1.0, 2.0], [3.0, 4.0]], 1, 1, [[5.0], [6.0]], [[1.0, 5.0], [3.0, 6.0]]),
        ([[1.0, 2.0]], 1, [], [[]], [[1.0, 2.0]]),
    ],
)
def test_index_copy(x: Any, axis: int, index: Any, source: Any, wanted: Any) -> None:
    """The shape of `x`; the right value is PyTorch's."""
    call: Any = None
    tensors = Tensor(np.float32(x)), Tensor(np.int64(index)), Tensor(np.float32(source))
    got = index_copy(call, tensors[0], axis, *tensors[1:])
    np.testing.assert_array_equal(got.numpy(), np.float32(wanted))
    assert got.shape == np.shape(wanted)


def test_index_copy_of_rank_0_has_gradients() -> None:
    """The element is the source's: its gradient is 1, and 0 by what it replaces."""
    call: Any = None
    x, source = (Tensor(np.float32(n), requires_grad=True) for n in (1.0, 5.0))
    result = index_copy(call, x, 0, Tensor(np.int64(0)), source)
    assert [float(each.numpy()) for each in result.gradient(x, source)] == [0.0, 1.0]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_index_select_at_a_number_keeps_the_axis(axis: int) -> None:
    """One position as a number is a vector of one."""
    call: Any = None
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    got = index_select(call, Tensor(x), axis, Tensor(np.int64(1)))
    np.testing.assert_array_equal(got.numpy(), x.take([1], axis))
