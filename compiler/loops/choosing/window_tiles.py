"""The tiles of a convolution that fit in registers, and about how many cycles each takes.

    2 vectors of 16 pixels by 6 channels: 12 accumulators, about 1,431 cycles for a line

A tile is some vectors of pixels by a few channels, or else of channels by a few pixels. All of it
is in registers: the accumulators, the operands on its shorter side, one at a time of those on the
longer side, or all of them, and masks where registers hold them. Its cycles are those of one line
of all channels: multiply-adds or loads, whatever takes longer, what is left over by whole tiles,
and where channels are lanes the copy of their weights and the stores.
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
"""Vectors of one row of a tile: all that are tried."""
HEIGHTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
"""Rows of a tile: all that are tried."""
ENOUGH = 2
"""Accumulators of one tile, as a multiple of those that hide how long one takes to be ready: more
make the code longer. 8 images of 64 channels by 32², 3×3, take 2.26, 2.28 and 2.26 ms with tiles of
16, 24 and 28, one image of 64 by 56² 0.89, 0.88 and 0.89 (EPYC, Zen 5, AVX-512, 2026-11-24)."""
LINES, BESIDE = {True: 2, False: 3}, {True: 2, False: 1}
"""Lines of one tile, and vectors of each, by whether registers hold the weights as well, where no
channels share an image: the windows of lines overlap. With 16 registers 32 channels of 112², 3×3
each, take 145, 148, 129 and 152 µs with 1 to 4 lines of one vector, 145 with 3 of two; 64 channels
of 28², 5×5, 54, 59, 48 and 55, and 53 (EPYC, Zen 5, AVX2, 2026-11-24). With 32 they take 95, 84, 81
and 86 µs, and 87 with 2 of two; 24, 23, 24 and 19, and 21 (the same machine, AVX-512)."""
HOLDING = 32
"""Registers from which weights of 3×3 stay in them beside the accumulators."""
OVERHEAD = 0.5
"""Cycles of the loop itself: an estimate. With 0 and 1.5 seven convolutions took about as long
(EPYC, AVX2, 2026-11-23)."""
SEEN = 0.05
"""Cycles of a load that multiply-adds do not hide: an estimate, so that of tiles alike those with
fewer loads are taken."""
ACROSS = 1.5
"""How much longer a load takes that may begin anywhere in a line of the cache: an estimate. With 1
and 3 seven convolutions took as long, within 4 % (EPYC, AVX2, 2026-11-23)."""
MASKED = 2.5
"""Cycles of a load under a mask that is kept in vectors: LLVM makes the mask anew in each
iteration. 8 images of 61 channels by 27×29, 3×3, whose lines leave 5 pixels over, take 8.9 ms with
tiles of 2 vectors of pixels by 4 channels, 4.1 with 3 vectors of channels by 4 pixels (EPYC, Zen 5,
AVX2, 2026-11-24)."""
MASKS = 3
"""Registers that such masks take for each vector of a row, beside it: an estimate."""
JOINED = 0.5
"""Cycles to join two vectors to every other element of theirs, by a unit that adds as well: an
estimate. 64 windows of 7×7 on 3 channels of 224², every second, take 776 µs with channels as lanes
and would take 907 with pixels, which are chosen with 0 (Xeon, AVX-512, 2026-11-23)."""
SCATTERED = 1.0
"""Cycles to store one lane by itself: an estimate. With 0.25 and 4 seven convolutions took as long,
within 5 % (EPYC, AVX2, 2026-11-23)."""
EXCHANGED = 2.5
"""Cycles to store one of the rows that lanes become by an exchange with registers: an estimate. 1×1
windows, every second, take 68 µs with 0.5 and 49 with 2.5; with 10, 33 channels of 9² take 101 µs
rather than 177, and others less too, as exchanges are dear there (EPYC, AVX2, 2026-11-23)."""
COPIED = 0.5
"""Cycles to pack one element: an estimate. With 0.12 seven convolutions took about as long; with 2,
33 channels of 9² took 100 µs rather than 165 (EPYC, AVX2, 2026-11-23)."""
MOST_WEIGHTS = 1024 * 1024
"""Weights that are packed at a time. 512 channels by 512 of 7², 3×3, take 21 ms with 2¹⁴ or 2¹⁷ and
12 with 2²⁰ (EPYC, AVX2, 2026-11-23)."""
KEPT = 2
"""Bytes of L2 for each byte of packed weights that are to stay there: what they are copied from,
and the image, go through it too. 256 channels by 256 of 14², 3×3, take 2.17, 2.26 and 2.77 ms with
blocks of 16, 32 and 64 channels, of 147, 295 and 590 kB, 512 by 512 of 7² 2.85 and 4.09 with 295
and 590 (EPYC, Zen 4, AVX-512, L2 of 1 MB, 2026-11-24)."""
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


def registers(shape: Shape, model: MachineModel, masks: int = 0) -> int:
    """The registers of a tile: accumulators, and operands that are there at the same time.

    LLVM loads all of them first where there are many registers and instructions do not read memory.
    """
    sums, sides = shape.vectors * shape.height, (shape.vectors, shape.height)
    is_early = model.registers >= HOLDING and not model.broadcasts
    return sums + (sum(sides) if is_early else min(sides) + 1) + masks


def shapes(seen: Accesses, found: Windows, most: int, model: MachineModel) -> Iterator[Shape]:
    """Every tile that fits in registers, with the cycles of one line of all channels."""
    is_in_row, is_apart = _has_pixels(seen, found), _has_channels(seen, found, most)
    enough = ENOUGH * model.latency * model.multiply_adds
    widths = [n for n in (most, most // 2, most // 4) if n >= SHORTEST]
    for lanes in widths:
        for vectors in VECTORS:
            for height in (n for n in HEIGHTS if n * vectors <= enough):
                if is_in_row and _is_useful(found, vectors, height, model):
                    made = _along_pixels(found, lanes, vectors, height, model)
                    if registers(made, model, _masks(found, made, model)) <= model.registers:
                        yield made
                if is_apart and lanes <= APART and height <= found.pixels.extent:
                    made = _along_channels(seen, found, lanes, vectors, height, model)
                    if registers(made, model) <= model.registers:
                        yield made


def _is_useful(found: Windows, vectors: int, height: int, model: MachineModel) -> bool:
    """Whether a tile along pixels shares what it loads: few lines do, as many channels as fit."""
    if found.channels:
        return height <= found.channels.extent
    is_holding = model.registers >= HOLDING
    most = min(side(found).extent, LINES[is_holding])
    return height <= most and vectors <= BESIDE[is_holding]


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


def _masks(found: Windows, shape: Shape, model: MachineModel) -> int:
    """The registers of masks, where vectors leave pixels over."""
    is_whole = found.pixels.extent % shape.width == 0
    return 0 if is_whole or has_masks(model) else MASKS * shape.vectors


def _along_pixels(
    found: Windows, lanes: int, vectors: int, height: int, model: MachineModel
) -> Shape:
    """Pixels as lanes; `height` channels, or lines where there are none."""
    axis, made = side(found), Shape(0.0, True, lanes, vectors, height)
    rows = -(-found.pixels.extent // made.width)
    apart = max(a.step(found.pixels) or 1 for a in found.images)
    loads, more = vectors * ACROSS * apart, vectors * JOINED * (apart - 1)
    more += vectors * MASKED * bool(_masks(found, made, model))
    if axis is found.channels:
        trips = _cycles(axis.extent, made, loads, 1.0, model, more)
    else:
        trips = _cycles(axis.extent, made, 1.0, loads, model, height * more) / axis.extent
    return replace(made, cycles=rows * trips * found.taps)


def _along_channels(
    seen: Accesses, found: Windows, lanes: int, vectors: int, height: int, model: MachineModel
) -> Shape:
    """Channels as lanes, their weights packed; `height` pixels."""
    assert found.channels is not None
    made = Shape(0.0, False, lanes, vectors, height)
    channels, pixels = found.channels.extent, found.pixels.extent
    columns = -(-channels // made.width)
    waited = vectors * _waited(found, made, model)
    trips = _cycles(pixels, made, vectors, 1.0, model, waited=waited) * found.taps
    blocks = pixels // height * _stored(height, lanes) + _stored(pixels % height, lanes)
    lines = math.prod(r.extent for r in seen.ranges) // (channels * pixels)
    packed = channels * found.taps * COPIED / lines
    return replace(made, cycles=columns * (trips + blocks * vectors) + packed)


def _waited(found: Windows, shape: Shape, model: MachineModel) -> float:
    """Cycles until a vector of packed weights is there; 0 where L2 keeps them for all lines."""
    itemsize = found.weights[0].argument.element.itemsize
    level = model.level(KEPT * found.taps * shape.width * itemsize)
    return shape.lanes * itemsize / model.read[level] / model.cycle_ns if level > 1 else 0.0


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
    extent: int, tile: Shape, fixed: float, each: float, model: MachineModel, more: float = 0.0,
    waited: float = 0.0,
) -> float:  # fmt: skip
    """Cycles of one iteration of the sum for a whole axis, cut by the tile's height.

    `fixed` loads serve a tile, `each` one of its rows; a tile takes `more` cycles besides, and its
    operands are there after `waited`.
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
