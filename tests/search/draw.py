"""Distributions for random programs: extents at edge cases, types of each width."""

import math
import random
from collections.abc import Sequence
from typing import TypeVar

from compiler.core import dtypes
from tests.search.terms import Inputs

T = TypeVar("T")
SMALL = (
    1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 12, 13, 15, 16, 16, 17, 20, 24, 25, 26, 28, 31, 32, 33,
)  # fmt: skip
EDGES = (40, 47, 48, 49, 50, 63, 64, 64, 65, 67, 80, 95, 96, 97, 100, 127, 128, 129, 130, 196, 200)
LARGE = (
    225, 255, 256, 257, 300, 384, 511, 512, 513, 676, 768, 784, 1000, 1023, 1024, 1025, 1499, 1500,
    1536, 1537, 2000, 2047, 2048, 2049, 3000, 4095, 4096, 4097, 8192, 10_000, 16_384, 65_536,
)  # fmt: skip
"""Extents: near the lanes and tiles of each width; near the sizes of caches; far above."""
WIDTHS = {
    1: ("int8", "uint8", "bool"), 2: ("float16", "int16", "uint16"),
    4: ("float32", "float32", "float32", "int32", "uint32"),
    8: ("float64", "float64", "int64", "uint64"),
}  # fmt: skip
"""Types by bytes of an element."""
FLOATS = ("float32", "float32", "float16", "float64")
ELEMENTS, WORK = 6_000, 150_000
"""Of a program that is run: of one value, and products of all its loops."""


class Draw:
    """Random draws for one program, and its inputs."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.inputs = Inputs()
        self.is_small = self.random.random() < 0.6
        width = self.random.choice((1, 2, 4, 4, 8))
        self.dtype = self.random.choice(WIDTHS[width])

    @property
    def is_float(self) -> bool:
        """True if the program's type is a float type."""
        return dtypes.parse(self.dtype).is_float

    def chance(self, share: float) -> bool:
        """True in so many of all cases."""
        return self.random.random() < share

    def pick(self, options: Sequence[T]) -> T:
        """One of several."""
        return self.random.choice(options)

    def extent(self) -> int:
        """How long an axis is."""
        kind = self.random.random()
        if kind < 0.15:
            return self.random.randint(1, 70)
        if kind < 0.7:
            return self.pick(SMALL)
        return self.pick(EDGES if kind < 0.9 or self.is_small else LARGE)

    def extents(self, count: int, most: int | None = None) -> tuple[int, ...]:
        """Of several axes, `most` elements together."""
        limit = most or (ELEMENTS if self.is_small else 10**9)
        return self.within([self.extent() for _ in range(count)], limit)

    def within(self, extents: list[int], limit: int) -> tuple[int, ...]:
        """These extents, the longest ones shorter until no more than `limit` elements are left."""
        while math.prod(extents) > limit:
            longest = extents.index(max(extents))
            extents[longest] = min(self.extent(), extents[longest] - 1)
        return tuple(extents)

    def order(self, count: int) -> tuple[int, ...]:
        """Axes in some order."""
        return tuple(self.random.sample(range(count), count))

    def axes(self, count: int) -> tuple[int, ...]:
        """One or more of so many axes, in order."""
        return tuple(sorted(self.random.sample(range(count), self.random.randint(1, count))))
