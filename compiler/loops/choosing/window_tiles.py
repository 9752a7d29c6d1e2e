"""The tiles of a convolution that fit in registers, and about how many cycles each takes.

    2 vectors of 16 pixels by 6 channels: 12 accumulators, about 1,431 cycles for a line

A tile is some vectors of pixels by a few channels, or else of channels by a few pixels. Its cycles
are those of one line of all channels: additions or loads, whatever takes longer, what is left over
by whole tiles, and where channels are lanes the copy of their weights and the stores.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.loops.choosing.accesses import Access, Accesses
from compiler.loops.choosing.lanes import IN_VECTORS
from compiler.loops.nodes import Range, Reduce
from compiler.loops.transforms.levels import obstacle

VECTORS = (1, 2, 3, 4)
"""Vectors of one row of a tile: all that are tried."""
HEIGHTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
"""Rows of a tile: all that are tried."""
ACCUMULATORS = 16
"""Accumulators of one tile: twice what hides how long one takes to be ready, and short code, where
there are 32 registers. With 16 of half the size fewer are better: 8 images of 64 channels by 32²,
3×3, take 10, 18, 26, 28 and 29 ms with 4, 8, 12, 16 and 24 (EPYC, AVX2, 2026-11-23)."""
LINES = 2
"""Lines of one tile, where no channels share an image: their windows overlap. 32 channels of 56²,
3×3 each, take 930, 890 and 869 µs with 1, 2 and 4, one image of 500² 369, 528 and 533 (EPYC, AVX2,
2026-11-23)."""
LATENCY = 4
"""Cycles from one addition to an accumulator to the next, four on Zen 3 and 4. With 1 and 8 seven
convolutions took as long, within 3 % (EPYC, AVX2, 2026-11-23)."""
OVERHEAD = 1.0
"""Cycles of the loop itself: an estimate. With 0 and 3 seven convolutions took about as long (EPYC,
AVX2, 2026-11-23)."""
LOADED = 2
"""Operands that are loaded in one cycle: an estimate. With 1 and 4 seven convolutions took as long,
within 5 % (EPYC, AVX2, 2026-11-23)."""
SEEN = 0.1
"""Share of a load's cycles that additions do not hide: an estimate, so that of tiles alike those
with fewer loads are taken. With 0 smaller ones are, which 16 registers hold: 8 images of 64
channels by 32² then take 18 ms rather than 27 (EPYC, AVX2, 2026-11-23)."""
ACROSS = 1.5
"""How much longer a load takes that may begin anywhere in a line of the cache: an estimate. With 1
and 3 seven convolutions took as long, within 4 % (EPYC, AVX2, 2026-11-23)."""
JOINED = 1.0
"""Cycles to join two vectors to every other element of theirs, by a unit that adds as well: an
estimate. 64 windows of 7×7 on 3 channels of 224², every second, take 776 µs with channels as lanes
and would take 907 with pixels, which are chosen with 0 (Xeon, AVX-512, 2026-11-23)."""
SCATTERED = 2.0
"""Cycles to store one lane by itself: an estimate. With 0.5 and 8 seven convolutions took as long,
within 5 % (EPYC, AVX2, 2026-11-23)."""
EXCHANGED = 5.0
"""Cycles to store one of the rows that lanes become by an exchange with registers: an estimate. 1×1
windows, every second, take 68 µs with 1 and 49 with 5; with 20, 33 channels of 9² take 101 µs
rather than 177, and others less too, as exchanges are dear there (EPYC, AVX2, 2026-11-23)."""
COPIED = 1.0
"""Cycles to pack one element: an estimate. With 0.25 seven convolutions took about as long; with 4,
33 channels of 9² took 100 µs rather than 165 (EPYC, AVX2, 2026-11-23)."""
MOST_WEIGHTS = 1024 * 1024
"""Weights that are packed at a time. 512 channels by 512 of 7², 3×3, take 21 ms with 2¹⁴ or 2¹⁷ and
12 with 2²⁰ (EPYC, AVX2, 2026-11-23)."""
APART = 32
"""Lanes that change places to be stored, at most: with 64 of one byte LLVM took 25 s for one
kernel, with 32 it took 2 s (EPYC, AVX2, 2026-11-23)."""
SHORTEST = 4
"""Lanes and iterations below which nothing is gained. 3 channels by 9×3 take 10.6 µs with 2 and 5.7
with 4; 5 by 5² 57 with 4 and 135 with 8 (EPYC, AVX2, 2026-11-23)."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The parts of such a sum: `pixels` is the axis along which the results are in a row."""

    pixels: Range
    lines: Range | None
    """An axis along which the same weights are used again."""
    channels: Range | None
    """An axis along which the same elements of the image are."""
    fold: Reduce
    images: tuple[Access, ...]
    weights: tuple[Access, ...]

    @property
    def taps(self) -> int:
        """Iterations of the sum."""
        return math.prod(r.extent for r in self.fold.ranges)


@dataclass(frozen=True, slots=True)
class Shape:
    """A tile: `vectors` of `lanes` by `height`; along pixels, or else along channels."""

    cycles: float
    is_along_pixels: bool
    lanes: int
    vectors: int
    height: int

    @property
    def width(self) -> int:
        """Lanes of all vectors."""
        return self.lanes * self.vectors


def rank(shape: Shape) -> tuple[float, int]:
    """The fewest cycles first, of equal ones the smallest tile."""
    return shape.cycles, shape.vectors * shape.height


def shapes(seen: Accesses, found: Windows, most: int) -> Iterator[Shape]:
    """Every tile that fits in registers, with the cycles of one line of all channels."""
    is_in_row, is_apart = _has_pixels(seen, found), _has_channels(seen, found, most)
    widths = [n for n in (most, most // 2, most // 4) if n >= SHORTEST]
    for lanes in widths:
        for vectors in VECTORS:
            for height in (n for n in HEIGHTS if n * vectors <= ACCUMULATORS):
                if is_in_row and _is_useful(found, vectors, height):
                    yield _along_pixels(found, lanes, vectors, height)
                if is_apart and lanes <= APART and height <= found.pixels.extent:
                    yield _along_channels(seen, found, lanes, vectors, height)


def _is_useful(found: Windows, vectors: int, height: int) -> bool:
    """Whether a tile along pixels shares what it loads: few lines do, as many channels as fit."""
    most = ACCUMULATORS if found.channels else LINES
    return height <= min(side(found).extent, most) and (vectors <= 2 or bool(found.channels))


def _has_pixels(seen: Accesses, found: Windows) -> bool:
    """Whether pixels can be lanes: what is read along them is in a row."""
    moved = [a for a in seen.loads if found.pixels in seen.needs[a.node]]
    is_long = found.pixels.extent >= SHORTEST
    is_in_row = is_long and all(a.step(found.pixels) in IN_VECTORS for a in moved)
    return is_in_row and not obstacle(seen.order, found.pixels, seen.needs)


def _has_channels(seen: Accesses, found: Windows, most: int) -> bool:
    """Whether channels can be lanes: there are enough, and few enough weights to copy."""
    axis = found.channels
    if axis is None or axis.extent < SHORTEST or len(found.weights) != 1:
        return False
    is_small = found.taps * max(VECTORS) * most <= MOST_WEIGHTS
    return is_small and not obstacle(seen.order, axis, seen.needs)


def _along_pixels(found: Windows, lanes: int, vectors: int, height: int) -> Shape:
    """Pixels as lanes; `height` channels, or lines where there are none."""
    axis = side(found)
    rows = -(-found.pixels.extent // (lanes * vectors))
    apart = max(a.step(found.pixels) or 1 for a in found.images)
    loads, joined = vectors * ACROSS * apart, vectors * JOINED * (apart - 1)
    if axis is found.channels:
        trips = _cycles(axis.extent, height, loads, 1.0, vectors, joined)
    else:
        trips = _cycles(axis.extent, height, 1.0, loads, vectors, height * joined) / axis.extent
    return Shape(rows * trips * found.taps, True, lanes, vectors, height)


def _along_channels(seen: Accesses, found: Windows, lanes: int, vectors: int, height: int) -> Shape:
    """Channels as lanes, their weights packed; `height` pixels."""
    assert found.channels is not None
    channels, pixels = found.channels.extent, found.pixels.extent
    columns = -(-channels // (lanes * vectors))
    trips = _cycles(pixels, height, vectors, 1.0, vectors) * found.taps
    blocks = pixels // height * _stored(height, lanes) + _stored(pixels % height, lanes)
    lines = math.prod(r.extent for r in seen.ranges) // (channels * pixels)
    packed = channels * found.taps * COPIED / lines
    cycles = columns * (trips + blocks * vectors) + packed
    return Shape(cycles, False, lanes, vectors, height)


def _stored(height: int, lanes: int) -> float:
    """Cycles to store `height` registers whose lanes belong into rows of their own."""
    squares = -(-height // lanes) if height > 1 else 0
    return squares * lanes * EXCHANGED if squares else height * lanes * SCATTERED


def side(found: Windows) -> Range:
    """The axis of a tile across the pixels."""
    axis = found.channels or found.lines
    assert axis is not None
    return axis


def _cycles(
    extent: int, height: int, fixed: float, each: float, vectors: int, more: float = 0.0
) -> float:
    """Cycles of one iteration of the sum for a whole axis, cut by `height`: additions or loads.

    `fixed` loads serve a tile, `each` one of its rows; a tile takes `more` cycles besides.
    """
    whole, rest = divmod(extent, height)
    cycles = whole * (_iteration(height, vectors, fixed + height * each) + more)
    left = _iteration(rest, vectors, fixed + rest * each) + more + OVERHEAD
    return cycles + (left if rest else 0.0)


def _iteration(rows: int, vectors: int, loads: float) -> float:
    return max(rows * vectors, loads / LOADED, LATENCY) + loads * SEEN + OVERHEAD
