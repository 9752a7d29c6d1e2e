"""Choices for windows that slide past weights: convolutions, of any step, distance and grouping.

    out[i0, i1, i2, i3] = Σ r4 r5 r6  image[i0, r4, i2 + r5, i3 + r6] * weights[i1, r4, r5, r6]

Nothing is unfolded: accumulators for some channels by some pixels stay in registers for the whole
sum. Where windows begin at each element of a row, pixels are the lanes: a vector of the image
serves all channels of the tile, a weight all its vectors. Otherwise channels are, with the weights
packed so that those of a tile are next to each other; what a pixel gives is then stored lane by
lane. Both are estimated in cycles, over all tiles that fit in registers, and the least is taken.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.loops.accesses import Access, Accesses, accesses
from compiler.loops.choices import (
    Choice,
    Choices,
    Pack,
    Parallelize,
    Reorder,
    Tail,
    Tile,
    Unroll,
    Vectorize,
)
from compiler.loops.lanes import is_worth_threads, lane_count
from compiler.loops.levels import length, obstacle
from compiler.loops.nodes import Alu, Const, Range, Reduce
from compiler.loops.symbolic import as_sum
from compiler.loops.tile import tile
from compiler.machine import MachineModel
from compiler.trace import Provenance

VECTORS = range(1, 5)
"""Of one row of a tile."""
ACCUMULATORS = 16
"""Of one tile: twice what hides how long one takes to be ready, and short code."""
LATENCY = 4
"""Cycles from one addition to an accumulator to the next."""
TURN = 1.0
"""Cycles of the loop itself."""
LOADED = 2
"""Operands that are loaded in one cycle."""
SEEN = 0.1
"""Share of a load's cycles that additions do not hide."""
ACROSS = 1.5
"""How much longer a load takes that may begin anywhere in a line of the cache."""
SCATTERED = 2.0
"""Cycles to store one lane by itself."""
EXCHANGED = 5.0
"""Cycles to store one of the rows that lanes become by an exchange with registers."""
COPIED = 1.0
"""Cycles to pack one element."""
MOST = 16 * 1024 * 1024
"""Bytes of packed weights."""
MANY = 8
"""Turns for each core, of which one more or less does not matter."""
SHORTEST = 4
"""Lanes and turns below which nothing is gained."""


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
        """Turns of the sum."""
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


def windows(seen: Accesses, model: MachineModel) -> Choices | None:
    """Register tiles of channels by pixels; cores over images, lines or channels."""
    cut = _groups(seen)
    if cut is not None:
        return _in_groups(seen, cut, model)
    found = _windows(seen)
    if found is None:
        return None
    best = min(_shapes(seen, found, lane_count(seen, model)), key=_rank, default=None)
    return None if best is None else _chosen(seen, found, best, model)


def _groups(seen: Accesses) -> Tile | None:
    """The cut of an axis of channels into groups, where what is read moves by whole groups."""
    parts = {part for a in seen.loads for part in as_sum(a.node.sources[1]).terms}
    for part in parts:
        match part:
            case Alu(op="idiv", sources=(Range() as axis, Const() as size)):
                turns = int(size.value)
                if axis in seen.ranges and turns > 0 and axis.extent % turns == 0:
                    words = f"{axis.extent // turns} groups of {turns} channels"
                    return Tile(axis.name, turns, "peel", words)
    return None


def _in_groups(seen: Accesses, cut: Tile, model: MachineModel) -> Choices | None:
    """The choices once the groups are an axis of their own."""
    parted = accesses(tile(seen.body, Choices((cut,)), Provenance()))
    rest = None if parted is None else windows(parted, model)
    return None if rest is None else Choices((cut, *rest))


def _windows(seen: Accesses) -> Windows | None:
    """The parts, where the kernel is one sum over operands some of which move with the pixels."""
    if len(seen.reductions) != 1 or len(seen.ranges) < 2:
        return None
    fold, pixels = seen.reductions[0], seen.ranges[-1]
    if seen.store.step(pixels) != 1 or not all(map(length, (*seen.ranges, *fold.ranges))):
        return None
    read = [a for a in seen.loads if set(fold.ranges) & seen.needs[a.node]]
    images = tuple(a for a in read if pixels in seen.needs[a.node])
    weights = tuple(a for a in read if pixels not in seen.needs[a.node])
    if not images or not weights or not all(a.is_affine and not a.gated for a in read):
        return None
    lines = _shared(seen, weights, images)
    channels = _shared(seen, images, weights)
    if lines is None and channels is None:
        return None
    return Windows(pixels, lines, channels, fold, images, weights)


def _shared(
    seen: Accesses, still: tuple[Access, ...], moved: tuple[Access, ...]
) -> Range | None:
    """The innermost axis that moves what is read in `moved` and nothing in `still`."""
    for axis in reversed(seen.ranges[:-1]):
        is_used = all(axis in seen.needs[a.node] for a in moved)
        if is_used and not any(axis in seen.needs[a.node] for a in still):
            return axis
    return None


def _rank(shape: Shape) -> tuple[float, int]:
    return shape.cycles, shape.vectors * shape.height


def _shapes(seen: Accesses, found: Windows, most: int) -> Iterator[Shape]:
    """Every tile that fits in registers, with the cycles of one line of all channels."""
    is_in_row, is_apart = _has_pixels(seen, found), _has_channels(seen, found)
    widths = [n for n in (most, most // 2, most // 4) if n >= SHORTEST]
    for lanes in widths:
        for vectors in VECTORS:
            for height in range(1, ACCUMULATORS // vectors + 1):
                if is_in_row and height <= _side(found).extent:
                    yield _along_pixels(found, lanes, vectors, height)
                if is_apart and height <= found.pixels.extent:
                    yield _along_channels(seen, found, lanes, vectors, height)


def _has_pixels(seen: Accesses, found: Windows) -> bool:
    """Whether pixels can be lanes: what is read along them is in a row."""
    moved = [a for a in seen.loads if found.pixels in seen.needs[a.node]]
    is_long = found.pixels.extent >= SHORTEST
    is_in_row = is_long and all(a.step(found.pixels) in (0, 1) for a in moved)
    return is_in_row and not obstacle(seen.order, found.pixels, seen.needs)


def _has_channels(seen: Accesses, found: Windows) -> bool:
    """Whether channels can be lanes: there are enough, and their weights may be copied."""
    axis = found.channels
    if axis is None or axis.extent < SHORTEST or len(found.weights) != 1:
        return False
    weights = found.weights[0].argument
    is_other = all(a.argument is not weights for a in found.images)
    is_small = found.taps * axis.extent * weights.element.itemsize <= MOST
    return is_other and is_small and not obstacle(seen.order, axis, seen.needs)


def _along_pixels(found: Windows, lanes: int, vectors: int, height: int) -> Shape:
    """Pixels as lanes; `height` channels, or lines where there are none."""
    axis = _side(found)
    rows = -(-found.pixels.extent // (lanes * vectors))
    if axis is found.channels:
        turns = _cycles(axis.extent, height, vectors * ACROSS, 1.0, vectors)
    else:
        turns = _cycles(axis.extent, height, 1.0, vectors * ACROSS, vectors) / axis.extent
    return Shape(rows * turns * found.taps, True, lanes, vectors, height)


def _along_channels(
    seen: Accesses, found: Windows, lanes: int, vectors: int, height: int
) -> Shape:
    """Channels as lanes, their weights packed; `height` pixels."""
    assert found.channels is not None
    channels, pixels = found.channels.extent, found.pixels.extent
    columns = -(-channels // (lanes * vectors))
    turns = _cycles(pixels, height, vectors, 1.0, vectors) * found.taps
    blocks = pixels // height * _stored(height, lanes) + _stored(pixels % height, lanes)
    lines = math.prod(r.extent for r in seen.ranges) // (channels * pixels)
    packed = channels * found.taps * COPIED / lines
    cycles = columns * (turns + blocks * vectors) + packed
    return Shape(cycles, False, lanes, vectors, height)


def _stored(height: int, lanes: int) -> float:
    """Cycles to store `height` registers whose lanes belong into rows of their own."""
    squares = -(-height // lanes) if height > 1 else 0
    return squares * lanes * EXCHANGED if squares else height * lanes * SCATTERED


def _side(found: Windows) -> Range:
    """The axis of a tile across the pixels."""
    axis = found.channels or found.lines
    assert axis is not None
    return axis


def _cycles(extent: int, height: int, fixed: float, each: float, vectors: int) -> float:
    """Cycles of one turn of the sum for a whole axis, cut by `height`: additions or loads.

    `fixed` loads serve a tile, `each` one of its rows.
    """
    whole, rest = divmod(extent, height)

    def turn(rows: int) -> float:
        loads = fixed + rows * each
        return max(rows * vectors, loads / LOADED, LATENCY) + loads * SEEN + TURN

    return whole * turn(height) + (turn(rest) if rest else 0.0)


def _chosen(seen: Accesses, found: Windows, best: Shape, model: MachineModel) -> Choices:
    """The cuts, the order of the loops, and their levels."""
    across = _side(found) if best.is_along_pixels else found.pixels
    along = found.pixels if best.is_along_pixels else found.channels
    assert along is not None
    why = _reason(found, best, across, along)
    tail: Tail = "mask" if along.extent % best.width else "peel"
    choices: list[Choice] = [
        Tile(across.name, best.height, "peel", why),
        Tile(along.name, best.width, tail, why),
        Tile(f"{along.name}.1", best.lanes, "peel", why),
    ]
    blocks = _blocks(seen, found, best, across, along, model)
    shared = _shared_out(seen, blocks, model)
    names = sorted(blocks, key=lambda name: name != shared)
    sides = [f"{across.name}.1", f"{across.name}.2"]
    lanes = [f"{along.name}.1.0", f"{along.name}.1.1"]
    choices.append(Reorder((*names, *sides, *lanes), "the tile inside, what is read again near it"))
    if not best.is_along_pixels:
        words = f"weights of {best.width} channels next to each other, for all pixels"
        choices.append(Pack(found.weights[0].argument.slot, "", words))
    choices += [Unroll(each, why) for each in (*sides, lanes[0])]
    choices.append(Vectorize(lanes[1], why))
    if shared:
        words = f"{blocks[shared]} turns of {shared} for {model.cores} cores"
        choices.append(Parallelize(shared, model.cores, words))
    return Choices(tuple(choices))


def _reason(found: Windows, best: Shape, across: Range, along: Range) -> str:
    """What was looked at, in words."""
    kind = "pixels" if best.is_along_pixels else "channels"
    words = {found.lines: "lines", found.channels: "channels", found.pixels: "pixels"}
    rows = words[across]
    return (
        f"{best.vectors} vectors of {best.lanes} {kind} by {best.height} {rows}, of "
        f"{along.extent} {kind}, {across.extent} {rows}, sums of {found.taps}: "
        f"about {best.cycles:,.0f} cycles a line, the least of the tiles that fit in registers"
    )


def _blocks(
    seen: Accesses, found: Windows, best: Shape, across: Range, along: Range, model: MachineModel
) -> dict[str, int]:
    """The loops around a tile, outermost first, with their turns."""
    outside = [r for r in seen.ranges if r is not across and r is not along]
    tall = f"{across.name}.0", across.extent // best.height
    wide = f"{along.name}.0", -(-along.extent // best.width)
    lines = [(r.name, r.extent) for r in outside if r is found.lines]
    images = [(r.name, r.extent) for r in outside if r is not found.lines]
    channels, pixels = (tall, wide) if best.is_along_pixels else (wide, tall)
    if across is found.lines:
        return dict([*images, tall, wide])
    if _image_bytes(found) > model.cache_bytes[1] // 2:
        return dict([*images, *lines, pixels, channels])
    return dict([*images, channels, *lines, pixels])


def _image_bytes(found: Windows) -> int:
    """Bytes from the first to the last element that all channels of one image read."""
    inside = {*found.fold.ranges, found.pixels, found.lines}
    reach = [
        1 + sum(step * (r.extent - 1) for r, step in a.steps.items() if r in inside)
        for a in found.images
    ]
    return sum(n * a.argument.element.itemsize for n, a in zip(reach, found.images, strict=True))


def _shared_out(seen: Accesses, blocks: dict[str, int], model: MachineModel) -> str:
    """The outermost loop whose turns come out even, or that has many; "" for one core."""
    if not is_worth_threads(seen, model):
        return ""
    even = [name for name, turns in blocks.items() if turns and turns % model.cores == 0]
    many = [name for name, turns in blocks.items() if turns >= MANY * model.cores]
    return next(iter(even + many), "")
