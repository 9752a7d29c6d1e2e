"""Small types with packed dot-product instructions, which accumulate in 32 bits.

A 32-bit word holds 4 elements of 8 bits, whose products are summed in an int32; or 2 of 16 bits;
products of two bfloat16 are summed in float32.
"""

from compiler.core.dtypes import DType, bfloat16, float32, int8, int16, int32, uint8, uint32

BYTES = int8, uint8
WORD = 4
"""Bytes of a word."""


def are_small(a: DType, b: DType, total: DType) -> bool:
    """True if there are instructions that sum products of these types in `total`."""
    if total == float32:
        return a == b == bfloat16
    if total not in (int32, uint32):
        return False
    return a == b == int16 or (a in BYTES and b in BYTES)


def in_a_word(dtype: DType) -> int:
    """The number of elements in a word."""
    return WORD // dtype.itemsize
