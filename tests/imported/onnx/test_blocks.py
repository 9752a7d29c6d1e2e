"""Block-quantised weights: unpacked with NumPy, and multiplied in float64."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from compiler.core.errors import DataError
from tests.imported.onnx.test_runtime import RNG, Array, run, scale

ROWS, DEPTH, BLOCK = 6, 40, 16
BLOCKS = 3
X = RNG.normal(size=(2, 5, DEPTH)).astype("f4")


def packed(numbers: Array, bits: int) -> Array:
    """Rows of numbers in bytes, the lowest first; rows are filled up to a whole byte."""
    each = 8 // bits
    whole = np.pad(numbers, ((0, 0), (0, -numbers.shape[1] % each))).reshape(len(numbers), -1, each)
    shifts = np.arange(each) * bits
    return np.asarray((whole.astype(int) << shifts).sum(-1), np.uint8)


@pytest.mark.parametrize("zeros", ["none", "packed", "real"])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_products(bits: int, zeros: str) -> None:
    numbers = RNG.integers(0, 1 << bits, (ROWS, BLOCKS * BLOCK))
    scales = RNG.uniform(0.01, 0.02, (ROWS, BLOCKS)).astype("f4")
    middle: Array = np.full((ROWS, BLOCKS), 1 << (bits - 1))
    given: Any = None
    if zeros == "packed":
        middle = RNG.integers(0, 1 << bits, (ROWS, BLOCKS))
        given = packed(middle, bits).reshape(-1)
    elif zeros == "real":
        middle = given = RNG.uniform(0, 1 << bits, (ROWS, BLOCKS)).astype("f4")
    b = packed(numbers, bits).reshape(ROWS, BLOCKS, -1)
    bias = RNG.normal(size=ROWS).astype("f4")
    (made,) = run("MatMulNBits", X, b, scales.reshape(-1), given, None, bias, N=ROWS, K=DEPTH,
                  bits=bits, block_size=BLOCK, output=TensorProto.FLOAT)  # fmt: skip
    real = (numbers - np.repeat(middle, BLOCK, 1)) * np.repeat(scales, BLOCK, 1).astype("f8")
    expected = X.astype("f8") @ real[:, :DEPTH].T + bias
    np.testing.assert_allclose(made, expected, atol=1e-5 * np.abs(expected).max())


def test_an_order_of_columns_is_refused() -> None:
    b, scales = np.zeros((ROWS, BLOCKS, 8), np.uint8), np.ones((ROWS, BLOCKS), np.float32)
    with pytest.raises(DataError, match="blocks in an order of their own are not supported"):
        run("MatMulNBits", X, b, scales, None, np.zeros(DEPTH, np.int32), N=ROWS, K=DEPTH, bits=4,
            block_size=BLOCK, output=TensorProto.FLOAT)  # fmt: skip


@pytest.mark.parametrize("has_zeros", [False, True])
def test_picked(has_zeros: bool) -> None:
    numbers = RNG.integers(0, 16, (9, BLOCKS * BLOCK))
    scales = RNG.uniform(0.01, 0.02, (9, BLOCKS)).astype("f4")
    middle = RNG.integers(0, 16, (9, BLOCKS)) if has_zeros else np.full((9, BLOCKS), 8)
    places = np.array([[1, 8, -1], [0, 0, 4]])
    (made,) = run("GatherBlockQuantized", packed(numbers, 4), places, scales,
                  packed(middle, 4) if has_zeros else None, inputs=(1,), bits=4, block_size=BLOCK,
                  quantize_axis=1, gather_axis=0, output=TensorProto.FLOAT)  # fmt: skip
    real = (numbers - np.repeat(middle, BLOCK, 1)) * np.repeat(scales, BLOCK, 1).astype("f8")
    np.testing.assert_allclose(made, real[places], 1e-5)
    assert made.dtype == scale(1).dtype
