"""Choices for convolutions of any stride, dilation and number of groups.

    out[i0, i1, i2, i3] = Σ r4 r5 r6  image[i0, r4, i2 + r5, i3 + r6] * weights[i1, r4, r5, r6]

There is no im2col: accumulators for some channels by some pixels stay in registers for the whole
sum. With stride 1 along a row, pixels can be the lanes: a vector of the image serves all channels
of the tile, a weight all its vectors. Otherwise the channels are the lanes, with packed weights,
and the results of a pixel are stored lane by lane. The cycles of all tiles that fit in registers
are estimated for both, and the least is chosen.
"""

import math
from collections.abc import Sequence

from compiler.core.reason import Number, Reason
from compiler.loops.choices import (
    Choices,
    Pack,
    Parallelize,
    Refused,
    Reorder,
    Row,
    Tail,
    Tile,
    Unroll,
    Vectorize,
    chosen,
)
from compiler.loops.choosing.accesses import Access, Accesses
from compiler.loops.choosing.lanes import is_worth_threads, kept_on_one_core, lane_count, trip_count
from compiler.loops.choosing.window_tiles import (
    MOST_WEIGHTS,
    SHORTEST,
    Shape,
    Windows,
    rank,
    registers,
    shapes,
    side,
)
from compiler.loops.nodes import Range
from compiler.loops.transforms.levels import length
from compiler.machines.model import MachineModel

TERMS = 128
"""The most unrolled iterations of sums in one tile. Windows of 3×3 on each of 32 channels of 56²
take 1.21, 0.98, 0.57, 0.66 and 0.72 ms with 0, 16, 64, 128 and 512 (EPYC, AVX2, 2026-11-23)."""
MANY = 8
"""Iterations per core from which an uneven division does not matter: at most an eighth of the
time. Not measured."""


def windows(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Register tiles of channels by pixels; cores over images, lines or channels."""
    if len(seen.reductions) != 1 or len(seen.ranges) < 2:
        return Reason("it is not one sum for each of several rows")
    windows = _windows(seen)
    if windows is None:
        return Reason("no windows slide past weights in it")
    fitting = sorted(shapes(seen, windows, lane_count(seen, model), model), key=rank)
    if fitting:
        return _chosen(seen, windows, fitting, model)
    name, pixels = windows.pixels.name, windows.pixels.extent
    return Reason("no tile of its windows fits", trip_count(name, pixels, "at least", SHORTEST))


def _windows(seen: Accesses) -> Windows | None:
    """The parts of a sum over operands, some of which move with the pixels."""
    fold, pixels = seen.reductions[0], seen.ranges[-1]
    if seen.store.step(pixels) != 1 or not all(map(length, (pixels, *fold.ranges))):
        return None
    read = [a for a in seen.loads if set(fold.ranges) & seen.needs[a.node]]
    images = tuple(a for a in read if pixels in seen.needs[a.node])
    weights = tuple(a for a in read if pixels not in seen.needs[a.node])
    if not images or not all(a.is_affine and not a.predicated for a in read):
        return None
    if not weights and not any(a.step(r) == 1 for a in images for r in fold.ranges):
        return None
    lines = _shared(seen, weights, images)
    channels = _shared(seen, images, weights)
    if lines is None and channels is None:
        return None
    return Windows(pixels, lines, channels, fold, images, weights)


def _shared(seen: Accesses, still: tuple[Access, ...], moved: tuple[Access, ...]) -> Range | None:
    """The innermost axis on which the loads in `moved` depend and those in `still` do not."""
    for axis in reversed(seen.ranges[:-1]):
        is_used = all(axis in seen.needs[a.node] for a in moved)
        if is_used and length(axis) and not any(axis in seen.needs[a.node] for a in still):
            return axis
    return None


def _chosen(
    seen: Accesses, windows: Windows, fitting: Sequence[Shape], model: MachineModel
) -> Choices:
    """The tiling, the order of the loops, and their levels; the first of `fitting` tiles is
    best."""
    best = fitting[0]
    across = side(windows) if best.is_along_pixels else windows.pixels
    along = windows.pixels if best.is_along_pixels else windows.channels
    assert along is not None
    why = _reason(windows, best, across, along, model)
    tail: Tail = "mask" if along.extent % best.width else "peel"
    choices: list[Row] = [
        Tile(across.name, best.height, "peel", why),
        Tile(along.name, best.width, tail, why),
        Tile(along.name.inner, best.lanes, "peel", why),
    ]
    blocks = _blocks(seen, windows, best, across, along, model)
    shared = _shared_out(seen, blocks, model)
    names = sorted(blocks, key=lambda name: name != shared)
    sides = [across.name.inner, across.name.rest]
    lanes = [along.name.inner.outer, along.name.inner.inner]
    choices.append(Reorder((*names, *sides, *lanes), _order(windows, fitting, model)))
    if not best.is_along_pixels:
        choices.append(_packed(windows, best, blocks, names))
    choices += [Unroll(each, why) for each in (*sides, lanes[0])]
    if across is windows.lines:
        choices += _written_out(windows, best)
    choices.append(Vectorize(lanes[1], why))
    if shared:
        words = f"{blocks[shared]} iterations of {shared} for {model.cores} cores"
        trips = trip_count(shared, blocks[shared], "cores", model.cores)
        choices.append(Parallelize(shared, model.cores, Reason(words, trips)))
    else:
        choices += kept_on_one_core(seen, model) or [_uneven(blocks, model)]
    return chosen(choices)


def _uneven(blocks: dict[str, int], model: MachineModel) -> Row:
    """The rejected parallelisation: no outer loop has iterations for all cores."""
    name = max(blocks, key=lambda each: blocks[each])
    most = trip_count(name, blocks[name], f"{MANY} for each core", MANY * model.cores)
    words = f"no loop around the tiles comes out even for {model.cores} cores"
    return Refused("parallelize", Reason(f"{words}, or has many iterations", most))


def _written_out(windows: Windows, best: Shape) -> list[Row]:
    """The unrolling of the innermost iterations of a short sum: lines then share their loads."""
    choices: list[Row] = []
    terms = best.vectors * best.height
    for axis in reversed(windows.fold.ranges):
        terms *= axis.extent
        if terms <= TERMS:
            words = f"{windows.taps} taps, {terms} terms unrolled, at most {TERMS}"
            most = Number("unrolled terms", terms, "", "at most", TERMS)
            choices.append(Unroll(axis.name, Reason(words, most)))
    return choices


def _packed(windows: Windows, best: Shape, blocks: dict[str, int], names: list[str]) -> Pack:
    """The packing of weights: of a block of channels if that is outermost, or if they are too
    many."""
    (weights,) = windows.weights
    assert windows.channels is not None
    block = windows.channels.name.outer
    moving = {block, *(r.name for r in weights.steps)}
    moved = [name for name in names if name in moving and blocks[name] > 1]
    # not from the size of the argument: where weights overlap, copies of them are more than that
    trips = math.prod(r.extent for r in windows.fold.ranges if weights.step(r))
    whole = trips * best.width * math.prod(blocks[name] for name in moved)
    words = f"weights of {best.width} channels next to each other, for all pixels"
    is_own = bool(moved) and (names[0] == block or whole > MOST_WEIGHTS)
    most = Number("weights of all blocks", whole, "", "packed at a time", MOST_WEIGHTS)
    why = Reason(words, most)
    is_image = any(a.argument is weights.argument for a in windows.images)
    along = windows.channels.name if is_image else ""
    return Pack(weights.argument.slot, moved[-1] if is_own else "", why, along=along)


def _reason(
    windows: Windows, best: Shape, across: Range, along: Range, model: MachineModel
) -> Reason:
    """The tile and its cycles, in words."""
    kind = "pixels" if best.is_along_pixels else "channels"
    words = {windows.lines: "lines", windows.channels: "channels", windows.pixels: "pixels"}
    rows = words[across]
    return Reason(
        f"{best.vectors} vectors of {best.lanes} {kind} by {best.height} {rows}, of "
        f"{along.extent} {kind}, {across.extent} {rows}, sums of {windows.taps}: "
        f"about {best.cycles:,.0f} cycles a line, the least of the tiles that fit in registers",
        Number("accumulators", best.vectors * best.height),
        Number("registers", registers(best, model), "", "at most", model.registers),
        trip_count(along.name, along.extent, f"{kind} of a tile", best.width),
        trip_count(across.name, across.extent, f"{rows} of a tile", best.height),
        Number("a line of tiles", best.cycles, "cycles"),
    )


def _order(windows: Windows, fitting: Sequence[Shape], model: MachineModel) -> Reason:
    """The order of the loops around a tile, and the reason."""
    words, best = "the tile inside, what is read again near it", fitting[0]
    if not best.is_along_pixels:
        why = Reason(f"{words}: the packed weights of a block of channels serve all pixels")
        other = next((shape.cycles for shape in fitting if shape.is_along_pixels), None)
        if other is None:
            return Reason(why, *_steps(windows))
        cycles = "cycles", "along pixels", other
        return Reason(why, Number("a line of tiles along channels", best.cycles, *cycles))
    if windows.channels is None:
        none = Number("loops over channels that share an image", 0, "", "at least", 1)
        return Reason(f"{words}: weights serve all lines", none, *_steps(windows))
    nbytes, held = _image_bytes(windows), model.cache_bytes[1] // 2
    image = Number("what all channels read of an image", nbytes, "bytes", "half of L2", held)
    if nbytes > held:
        return Reason(f"{words}: all channels for a few pixels, as the image is large", image)
    return Reason(f"{words}: the whole image for a few channels, as it stays in L2", image)


def _steps(windows: Windows) -> list[Number]:
    """The stride of each image along the pixels."""
    name, steps = windows.pixels.name, [(a, a.step(windows.pixels)) for a in windows.images]
    return [
        Number(f"step of {name} in {a.argument.name}", step, "", "one after another", 1)
        for a, step in steps
        if step is not None
    ]


def _blocks(
    seen: Accesses, windows: Windows, best: Shape, across: Range, along: Range, model: MachineModel
) -> dict[str, int]:
    """The loops around a tile, outermost first, with their trip counts."""
    outside = [r for r in seen.ranges if r is not across and r is not along]
    tall = across.name.outer, across.extent // best.height
    wide = along.name.outer, -(-along.extent // best.width)
    lines = [(r.name, r.extent) for r in outside if r is windows.lines]
    images = [(r.name, r.extent) for r in outside if r is not windows.lines]
    channels, pixels = (tall, wide) if best.is_along_pixels else (wide, tall)
    if across is windows.lines:
        return dict([*images, tall, wide])
    if not best.is_along_pixels:
        return dict([channels, *images, *lines, pixels])
    if _image_bytes(windows) > model.cache_bytes[1] // 2:
        return dict([*images, *lines, pixels, channels])
    return dict([*images, channels, *lines, pixels])


def _image_bytes(windows: Windows) -> int:
    """The bytes from the first to the last element that all channels of one image read."""
    inside = {*windows.fold.ranges, windows.pixels, windows.lines}
    reach = [
        1 + sum(step * (r.extent - 1) for r, step in a.steps.items() if r in inside)
        for a in windows.images
    ]
    return sum(n * a.argument.element.itemsize for n, a in zip(reach, windows.images, strict=True))


def _shared_out(seen: Accesses, blocks: dict[str, int], model: MachineModel) -> str:
    """The outermost loop that divides evenly among cores, or has many iterations; "" for one
    core."""
    if not is_worth_threads(seen, model):
        return ""
    even = [name for name, trips in blocks.items() if trips and trips % model.cores == 0]
    many = [name for name, trips in blocks.items() if trips >= MANY * model.cores]
    return next(iter(even + many), "")
