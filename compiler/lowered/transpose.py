"""transpose: n registers of n lanes, lanes and registers exchanged, in log2(n) stages.

    n = 4   rows a b c d    stage 2:  a0 a1 c0 c1   b0 b1 d0 d1   a2 a3 c2 c3   b2 b3 d2 d3
                            stage 1:  a0 b0 c0 d0   a1 b1 c1 d1   a2 b2 c2 d2   a3 b3 c3 d3

A stage exchanges a square off the diagonal for the one opposite, in each pair of registers that
are as far apart as the squares are wide.
"""

from collections.abc import Sequence

from compiler.core.dtypes import DType
from compiler.lowered.machine import Shuffle
from compiler.lowered.values import Values


def transpose(values: Values, rows: Sequence[int], dtype: DType) -> list[int]:
    """The columns of `rows`, whose number is a power of two and that of their lanes."""
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
    """The lanes of a pair that stay in or come to its first register, and its second."""
    first = tuple(i if not i & distance else lanes + i - distance for i in range(lanes))
    second = tuple(i + distance if not i & distance else lanes + i for i in range(lanes))
    return first, second
