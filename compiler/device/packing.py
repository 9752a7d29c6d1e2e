"""Elements of 4 and 2 bits in the packed form of files and other programs: several in a byte.

The first element is the lowest part of the first byte; the unused part of the last byte is 0.
"""


import numpy as np

from compiler.core.dtypes import Array, DType


def elements_in_a_byte(dtype: DType) -> int:
    """The number of elements in a byte: 2 of int4, 4 of int2; 1 of types of a byte or more."""
    return 8 // dtype.width if dtype.width else 1


def packed(bits: Array, dtype: DType) -> Array:
    """Pack n elements, one in the lower bits of each byte, into full bytes."""
    width, each = dtype.width, elements_in_a_byte(dtype)
    whole = np.zeros(-(-bits.size // each) * each, np.uint8)
    whole[: bits.size] = bits & ((1 << width) - 1)
    full = np.zeros(whole.size // each, np.uint8)
    for place in range(each):
        full |= whole[place::each] << (place * width)
    return full


def unpacked(data: Array, dtype: DType, count: int) -> Array:
    """Unpack `count` elements of a type of 4 or 2 bits from full bytes, one in each byte."""
    width, each = dtype.width, elements_in_a_byte(dtype)
    single = np.empty((data.size, each), np.uint8)
    for place in range(each):
        single[:, place] = (data >> (place * width)) & ((1 << width) - 1)
    return single.reshape(-1)[:count].view(dtype.numpy)
