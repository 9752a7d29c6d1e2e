"""The tiles of a convolution that fit in registers, and the estimated cycles of each.

    2 vectors of 16 pixels by 6 channels: 12 accumulators, about 1,431 cycles for a line

A tile is some vectors of pixels by a few channels, or some vectors of channels by a few pixels. All
of it is in registers: the accumulators, the operands of its shorter side, one of the longer side at
a time or all of them, and masks if registers hold them. The estimate is for one line of all
channels: multiply-adds or loads, whichever takes longer, the remainder after whole tiles, and, if
channels are lanes, the packing of their weights and the stores.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from compiler.loops.choosing.accesses import Access, Accesses
from compiler.loops.choosing.lanes import IN_VECTORS, has_masks
from compiler.loops.nodes import Range, Reduce
from compiler.loops.transforms.levels import obstacle
from compiler.machines.model import MachineModel

VECTORS = (1, 2, 3, 4)
"""The candidate numbers of vectors of one row of a tile."""
HEIGHTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
"""The candidate numbers of rows of a tile."""
ENOUGH = 2
"""The most accumulators of one tile, as a multiple of those that hide the latency: more make the
code longer. 8 images of 64 channels by 32², 3×3, take 2.26, 2.28 and 2.26 ms with tiles of 16, 24
and 28, one image of 64 by 56² 0.89, 0.88 and 0.89 (EPYC, Zen 5, AVX-512, 2026-11-24)."""
LINES, BESIDE = {True: 2, False: 3}, {True: 2, False: 1}
"""Lines of one tile, and vectors of each, without and with registers for all weights, if no
channels share an image: the windows of lines overlap. With 16 registers 32 channels of 112², 3×3
each, take 145, 148, 129 and 152 µs with 1 to 4 lines of one vector, 145 with 3 of two; 64 channels
of 28², 5×5, 54, 59, 48 and 55, and 53 (EPYC, Zen 5, AVX2, 2026-11-24). With 32 they take 95, 84, 81
and 86 µs, and 87 with 2 of two; 24, 23, 24 and 19, and 21 (the same machine, AVX-512)."""
HOLDING = 32
"""The number of registers from which weights of 3×3 fit in them with the accumulators."""
OVERHEAD = 0.5
"""Cycles of loop overhead: an estimate. With 0 and 1.5 seven convolutions took about as long
(EPYC, AVX2, 2026-11-23)."""
SEEN = 0.05
"""Cycles of a load that multiply-adds do not hide: an estimate, so that of equal tiles one with
fewer loads is chosen."""
ACROSS = 1.5
"""The relative cost of an unaligned load: an estimate. With 1 and 3 seven convolutions took as
long, within 4 % (EPYC, AVX2, 2026-11-23)."""
MASKED = 2.5
"""Cycles of a masked load without mask registers: LLVM computes the mask in each iteration. 8
images of 61 channels by 27×29, 3×3, whose lines have a remainder of 5 pixels, take 8.9 ms with
tiles of 2 vectors of pixels by 4 channels, 4.1 with 3 vectors of channels by 4 pixels (EPYC, Zen 5,
AVX2, 2026-11-24)."""
MASKS = 3
"""Registers of such masks for each vector of a row: an estimate."""
JOINED = 0.5
"""Cycles to shuffle two vectors into every other element, on a unit that adds as well: an estimate.
64 windows of 7×7 on 3 channels of 224², every second, take 776 µs with channels as lanes and would
take 907 with pixels, which are chosen with 0 (Xeon, AVX-512, 2026-11-23)."""
SCATTERED = 1.0
"""Cycles to store one lane by itself: an estimate. With 0.25 and 4 seven convolutions took as long,
within 5 % (EPYC, AVX2, 2026-11-23)."""
EXCHANGED = 2.5
"""Cycles to store one row after a transpose in registers: an estimate. 1×1 windows at stride 2 take
68 µs with 0.5 and 49 with 2.5; with 10, 33 channels of 9² take 101 µs rather than 177, and others
less too, as transposes are expensive there (EPYC, AVX2, 2026-11-23)."""
COPIED = 0.5
"""Cycles to pack one element: an estimate. With 0.12 seven convolutions took about as long; with 2,
33 channels of 9² took 100 µs rather than 165 (EPYC, AVX2, 2026-11-23)."""
MOST_WEIGHTS = 1024 * 1024
"""The most weights that are packed at a time. 512 channels by 512 of 7², 3×3, take 21 ms with 2¹⁴
or 2¹⁷ and 12 with 2²⁰ (EPYC, AVX2, 2026-11-23)."""
KEPT = 2
"""Bytes of L2 per byte of packed weights that stay there: the original weights and the image pass
through it too. 256 channels by 256 of 14², 3×3, take 2.17, 2.26 and 2.77 ms with blocks of 16, 32
and 64 channels, of 147, 295 and 590 kB, 512 by 512 of 7² 2.85 and 4.09 with 295 and 590 (EPYC, Zen
4, AVX-512, L2 of 1 MB, 2026-11-24)."""
APART = 32
"""The most lanes that are transposed to be stored: with 64 of one byte LLVM took 25 s for one
kernel, with 32 it took 2 s (EPYC, AVX2, 2026-11-23)."""
SHORTEST = 4
"""The fewest lanes and iterations that pay. 3 channels by 9×3 take 10.6 µs with 2 and 5.7
with 4; 5 by 5² 57 with 4 and 135 with 8 (EPYC, AVX2, 2026-11-23)."""


@dataclass(frozen=True, slots=True)
class Windows:
    """The parts of a convolution: `pixels` is the axis along which the results are contiguous."""

    pixels: Range
    lines: Range | None
    """An axis along which weights are reused."""
    channels: Range | None
    """An axis along which elements of the image are reused."""
    fold: Reduce
    images: tuple[Access, ...]
    weights: tuple[Access, ...]

    @property
    def taps(self) -> int:
        """The iterations of the sum."""
        return math.prod(r.extent for r in self.fold.ranges)


@dataclass(frozen=True, slots=True)
class Shape:
    """A tile: `vectors` of `lanes` by `height`; the lanes are pixels, or else channels."""

    cycles: float
    is_along_pixels: bool
    lanes: int
    vectors: int
    height: int

    @property
    def width(self) -> int:
        """The lanes of all vectors."""
        return self.lanes * self.vectors


def rank(shape: Shape) -> tuple[float, int]:
    """The sort key: the fewest cycles first, then the smallest tile."""
    return shape.cycles, shape.vectors * shape.height


def registers(shape: Shape, model: MachineModel, masks: int = 0) -> int:
    """The registers of a tile: accumulators, and operands that are live at the same time.

    LLVM loads all operands first if there are many registers and no memory operands.
    """
    sums, sides = shape.vectors * shape.height, (shape.vectors, shape.height)
    is_early = model.registers >= HOLDING and not model.broadcasts
    return sums + (sum(sides) if is_early else min(sides) + 1) + masks


def shapes(seen: Accesses, windows: Windows, most: int, model: MachineModel) -> Iterator[Shape]:
    """Every tile that fits in registers, with the cycles of one line of all channels."""
    is_in_row, is_apart = _has_pixels(seen, windows), _has_channels(seen, windows, most)
    enough = ENOUGH * model.latency * model.multiply_adds
    widths = [n for n in (most, most // 2, most // 4) if n >= SHORTEST]
    for lanes in widths:
        for vectors in VECTORS:
            for height in (n for n in HEIGHTS if n * vectors <= enough):
                if is_in_row and _is_useful(windows, vectors, height, model):
                    tried = _along_pixels(windows, lanes, vectors, height, model)
                    if registers(tried, model, _masks(windows, tried, model)) <= model.registers:
                        yield tried
                if is_apart and lanes <= APART and height <= windows.pixels.extent:
                    tried = _along_channels(seen, windows, lanes, vectors, height, model)
                    if registers(tried, model) <= model.registers:
                        yield tried


def _is_useful(windows: Windows, vectors: int, height: int, model: MachineModel) -> bool:
    """True if a tile along pixels shares its loads: between a few lines, or as many channels as
    fit."""
    if windows.channels:
        return height <= windows.channels.extent
    is_holding = model.registers >= HOLDING
    most = min(side(windows).extent, LINES[is_holding])
    return height <= most and vectors <= BESIDE[is_holding]


def _has_pixels(seen: Accesses, windows: Windows) -> bool:
    """True if pixels can be lanes: loads are contiguous along them."""
    moved = [a for a in seen.loads if windows.pixels in seen.needs[a.node]]
    is_long = windows.pixels.extent >= SHORTEST
    is_in_row = is_long and all(a.step(windows.pixels) in IN_VECTORS for a in moved)
    return is_in_row and not obstacle(seen.order, windows.pixels, seen.needs)


def _has_channels(seen: Accesses, windows: Windows, most: int) -> bool:
    """True if channels can be lanes: there are enough, and few enough weights to pack."""
    axis = windows.channels
    if axis is None or axis.extent < SHORTEST or len(windows.weights) != 1:
        return False
    is_small = windows.taps * max(VECTORS) * most <= MOST_WEIGHTS
    return is_small and not obstacle(seen.order, axis, seen.needs)


def _masks(windows: Windows, shape: Shape, model: MachineModel) -> int:
    """The registers for masks, if the pixels have a remainder."""
    is_whole = windows.pixels.extent % shape.width == 0
    return 0 if is_whole or has_masks(model) else MASKS * shape.vectors


def _along_pixels(
    windows: Windows, lanes: int, vectors: int, height: int, model: MachineModel
) -> Shape:
    """Pixels as lanes; `height` channels, or lines if there are no channels."""
    axis, shape = side(windows), Shape(0.0, True, lanes, vectors, height)
    rows = -(-windows.pixels.extent // shape.width)
    apart = max(a.step(windows.pixels) or 1 for a in windows.images)
    loads, more = vectors * ACROSS * apart, vectors * JOINED * (apart - 1)
    more += vectors * MASKED * bool(_masks(windows, shape, model))
    if axis is windows.channels:
        trips = _cycles(axis.extent, shape, loads, 1.0, model, more)
    else:
        trips = _cycles(axis.extent, shape, 1.0, loads, model, height * more) / axis.extent
    return replace(shape, cycles=rows * trips * windows.taps)


def _along_channels(
    seen: Accesses, windows: Windows, lanes: int, vectors: int, height: int, model: MachineModel
) -> Shape:
    """Channels as lanes, their weights packed; `height` pixels."""
    assert windows.channels is not None
    shape = Shape(0.0, False, lanes, vectors, height)
    channels, pixels = windows.channels.extent, windows.pixels.extent
    columns = -(-channels // shape.width)
    waited = vectors * _waited(windows, shape, model)
    trips = _cycles(pixels, shape, vectors, 1.0, model, waited=waited) * windows.taps
    blocks = pixels // height * _stored(height, lanes) + _stored(pixels % height, lanes)
    lines = math.prod(r.extent for r in seen.ranges) // (channels * pixels)
    packed = channels * windows.taps * COPIED / lines
    return replace(shape, cycles=columns * (trips + blocks * vectors) + packed)


def _waited(windows: Windows, shape: Shape, model: MachineModel) -> float:
    """Cycles to wait for a vector of packed weights; 0 if L2 holds them for all lines."""
    itemsize = windows.weights[0].argument.element.itemsize
    level = model.level(KEPT * windows.taps * shape.width * itemsize)
    return shape.lanes * itemsize / model.read[level] / model.cycle_ns if level > 1 else 0.0


def _stored(height: int, lanes: int) -> float:
    """Cycles to store `height` registers whose lanes belong to different rows."""
    squares = -(-height // lanes) if height > 1 else 0
    return squares * lanes * EXCHANGED if squares else height * lanes * SCATTERED


def side(windows: Windows) -> Range:
    """The axis of a tile across the pixels."""
    axis = windows.channels or windows.lines
    assert axis is not None
    return axis


def _cycles(
    extent: int, tile: Shape, fixed: float, each: float, model: MachineModel, more: float = 0.0,
    waited: float = 0.0,
) -> float:  # fmt: skip
    """Cycles of one iteration of the sum for a whole axis, tiled by the tile's height.

    `fixed` loads serve a tile, `each` one of its rows; a tile takes `more` cycles in addition, and
    waits `waited` for its operands.
    """
    whole, rest = divmod(extent, tile.height)
    least = max(model.latency, waited)
    cycles = whole * _iteration(tile.height, tile, fixed + tile.height * each, least, model)
    left = _iteration(rest, tile, fixed + rest * each, least, model) + OVERHEAD
    return cycles + whole * more + (left + more if rest else 0.0)


def _iteration(rows: int, tile: Shape, loads: float, least: float, model: MachineModel) -> float:
    """Cycles of one iteration of the sum for some rows of a tile: multiply-adds or loads."""
    added = rows * tile.vectors / model.multiply_adds
    return max(added, loads / model.loads, least) + loads * SEEN + OVERHEAD
