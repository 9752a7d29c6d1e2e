"""Elements of 4 and 2 bits, several in a byte."""

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.device.packing import elements_in_a_byte, packed, unpacked


def test_the_first_element_is_the_lowest_part_of_a_byte() -> None:
    bits = np.array([0x1, 0xF, 0x7], np.uint8)
    assert packed(bits, dtypes.int4).tolist() == [0xF1, 0x07]
    assert packed(np.array([1, 2, 3, 0, 2], np.uint8), dtypes.uint2).tolist() == [0b00111001, 2]
    assert unpacked(np.array([0xF1, 0x07], np.uint8), dtypes.int4, 3).tolist() == [1, -1, 7]


@pytest.mark.parametrize("dtype", dtypes.STORED, ids=str)
@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_there_and_back(dtype: dtypes.DType, count: int) -> None:
    bits = np.arange(count, dtype=np.uint8) & (2**dtype.width - 1)
    whole = packed(bits, dtype)
    assert whole.size == -(-count // elements_in_a_byte(dtype))
    got = unpacked(whole, dtype, count)
    assert got.dtype == dtype.numpy and got.view(np.uint8).tolist() == bits.tolist()


def test_what_has_bytes_for_itself() -> None:
    assert all(elements_in_a_byte(dtype) == 1 for dtype in dtypes.ALL)
