"""transpose: a transpose of n registers of n lanes, in log2(n) stages of shuffles.

    n = 4   rows a b c d    stage 2:  a0 a1 c0 c1   b0 b1 d0 d1   a2 a3 c2 c3   b2 b3 d2 d3
                            stage 1:  a0 b0 c0 d0   a1 b1 c1 d1   a2 b2 c2 d2   a3 b3 c3 d3

Each stage swaps the off-diagonal blocks of every pair of registers whose distance is the width of
the blocks.
"""

from collections.abc import Sequence

from compiler.core.dtypes import DType
from compiler.lowered.machine import Shuffle
from compiler.lowered.values import Values


def transpose(values: Values, rows: Sequence[int], dtype: DType) -> list[int]:
    """The columns of `rows`; the number of rows and lanes is the same power of two."""
    registers = list(rows)
    lanes = distance = len(registers)
    while distance > 1:
        distance //= 2
        low, high = _squares(lanes, distance)
        for number in range(lanes):
            if number & distance:
                continue
            a, b = registers[number], registers[number + distance]
            for place, indices in ((number, low), (number + distance, high)):
                registers[place] = _shuffle(values, a, b, indices, dtype)
    return registers


def _shuffle(values: Values, a: int, b: int, indices: tuple[int, ...], dtype: DType) -> int:
    return values.write(lambda out: Shuffle(out, a, b, indices, dtype))


def _squares(lanes: int, distance: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The lanes of a pair of registers in the first and in the second result."""
    first = tuple(i if not i & distance else lanes + i - distance for i in range(lanes))
    second = tuple(i + distance if not i & distance else lanes + i for i in range(lanes))
    return first, second
