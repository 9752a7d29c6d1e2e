"""Values and indices along one axis."""

import numpy as np

from compiler import Tensor
from compiler.imported.axes import along, indices_along


def test_values_along_an_axis() -> None:
    whole = np.ones((2, 3, 4), np.float32) * along(Tensor([1.0, 2.0, 3.0]), 1, 3).numpy()
    np.testing.assert_array_equal(whole[0, :, 0], [1, 2, 3])


def test_indices_have_all_axes() -> None:
    index = indices_along((2, 3, 4), 1)
    assert index.shape == (1, 3, 1)
    np.testing.assert_array_equal(index.numpy().reshape(-1), [0, 1, 2])
