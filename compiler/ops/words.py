"""Words: which small types are multiplied several at a time and summed in 32 bits.

Two factors of 8 bits are 4 in a word of 32, and are summed in an integer of 32 bits; so are 2 of 16
bits; two of bfloat16 are summed in float32.
"""

from compiler.core.dtypes import DType, bfloat16, float32, int8, int16, int32, uint8, uint32

BYTES = int8, uint8
WORD = 4
"""Bytes of a word."""


def are_small(a: DType, b: DType, total: DType) -> bool:
    """Whether there are instructions that sum products of these types in `total`."""
    if total == float32:
        return a == b == bfloat16
    if total not in (int32, uint32):
        return False
    return a == b == int16 or (a in BYTES and b in BYTES)


def in_a_word(dtype: DType) -> int:
    """How many elements a word has."""
    return WORD // dtype.itemsize
