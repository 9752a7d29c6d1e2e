"""Choices for transposes: copies whose input and output are contiguous along different axes.

A square tile, with as many rows as a vector has lanes, is loaded along the input's axis, transposed
in registers, and stored along the output's: both sides use whole cache lines. The input is read in
order, a block of rows at a time, so that the hardware prefetches; in each row of the output the
whole width of the block is written before the next row.

    for i1.0 in 64             a block of 64 rows of the input
      for i0.0 in 256          16 columns of it
        for i1.1.0 in 4        a tile of 16 by 16, transposed

Where rows of the input share a set of the first cache, the block is two lines of the output.
"""

from compiler.core.reason import Number, Reason
from compiler.loops.axis_names import AxisName
from compiler.loops.choices import (
    Choices,
    Parallelize,
    Prefetch,
    Refused,
    Reorder,
    Row,
    Tile,
    Unroll,
    Vectorize,
    chosen,
)
from compiler.loops.choosing.accesses import Access, Accesses
from compiler.loops.choosing.lanes import (
    LINE,
    against_lanes,
    is_worth_threads,
    lane_count,
    shared_out,
    streamed,
    trip_count,
    way_bytes,
)
from compiler.loops.nodes import Range
from compiler.loops.transforms.levels import length
from compiler.machines.model import MachineModel

TILES = 4
"""Adjacent tiles in a row of the output, which are written together. With 4 for 8, and columns
fetched ahead, 4000×4160 went from 4.7 to 3.6 ms on two cores (EPYC, AVX-512, 2026-11-22). It takes
8.7, 11.9, 15.4 and 15.3 ms with 1, 2, 4 and 8, but 1000² 0.63, 0.64, 0.59 and 0.50 (EPYC, AVX2,
2026-11-23)."""
LINES = 2
"""Lines of a row of the output that are written together if rows of the input share a set of the
first cache, and evict each other. 4096² went from 5.0 to 3.9 ms on two cores with 1 (EPYC,
AVX-512, 2026-11-22); it takes 6.4, 4.3 and 5.2 ms with 1, 2 and 4, with AVX2 7.0, 5.1 and 6.5
(EPYC, Zen 5, one core, 2026-11-24)."""
LARGEST = 2
"""The share of the registers, 1/n, for one tile: as many again hold the transposed ones. With 16
registers 1000² takes 845, 600, 889 and 928 µs in tiles of 4, 8, 16 and 32, of int8 191, 142, 172
and 175 (EPYC, AVX2, 2026-11-23)."""
SMALLEST_TILE = 4
"""The fewest rows of a tile that pay: 1000×3 takes 1.31 µs with 2 and 0.86 with 4 (EPYC,
AVX2, 2026-11-23)."""


def transposes(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Tiles of lanes by lanes, transposed in registers."""
    if seen.reductions:
        return Reason("it folds")
    if len(seen.ranges) < 2:
        return Reason("one loop has nothing to transpose")
    inner = seen.ranges[-1]
    if seen.store.step(inner) != 1:
        return Reason("the output is not written one element after the other")
    across = _across(seen, inner)
    if across is None:
        return Reason("its input does not run along one other loop")
    lanes = _lanes(seen, across, inner, model)
    if lanes < SMALLEST_TILE:
        words = f"tiles of {lanes} by {lanes} are too small"
        return Reason(words, Number("lanes of a tile", lanes, "", "at least", SMALLEST_TILE))
    against = against_lanes(seen, inner, lanes) or against_lanes(seen, across, lanes)
    if against:
        return against
    choices = _tiles(seen, across, inner, lanes, model)
    return chosen((*choices, *streamed(seen, inner, lanes, model)))


def _lanes(seen: Accesses, across: Range, inner: Range, model: MachineModel) -> int:
    """The rows and columns of a tile: a power of two that fits both axes."""
    most = min(lane_count(seen, model), model.registers // LARGEST, across.extent, inner.extent)
    return 1 << (most.bit_length() - 1)


def _tiles(
    seen: Accesses, across: Range, inner: Range, lanes: int, model: MachineModel
) -> list[Row]:
    """The tiling, the order of the loops, and their levels."""
    words = Reason(
        f"input runs along {across.name}, output along {inner.name}: {lanes} by {lanes}",
        trip_count(across.name, across.extent, "rows of a tile", lanes),
        trip_count(inner.name, inner.extent, "columns of a tile", lanes),
    )
    one, outside = across.name, seen.ranges[0]
    cuts, pieces, loops = _rows(seen, inner, lanes, model)
    middle = [r.name for r in seen.ranges if r not in (across, inner)]
    if outside not in (across, inner):
        cuts += shared_out(seen, outside.name, outside.extent, model)
    elif not chosen(cuts).of(Parallelize) and _is_long(seen, across, lanes, model):
        block = across.extent // model.cores // lanes * lanes
        part = _parts(f"{across.extent} rows of the output", across, lanes, model)
        cuts.append(Tile(one, block, "peel", part))
        cuts += shared_out(seen, one.outer, model.cores, model)
        middle.insert(0, one.outer)
        one = one.inner
    outers, rests = [piece.outer for piece in pieces], [piece.rest for piece in pieces]
    tiles = [piece.inner for piece in pieces]
    around = [one.outer, one.rest, *outers] if loops else [*outers, one.outer, one.rest]
    order = tuple(dict.fromkeys((*middle, *loops, *around, *rests, one.inner, *tiles)))
    return [
        *cuts,
        Tile(one, lanes, "peel", words),
        *(Tile(piece, lanes, "peel", words) for piece in pieces),
        Reorder(order, _in_order(seen, across, inner, lanes, model)),
        Unroll(one.inner, words),
        *(Vectorize(tile, words) for tile in tiles),
        *_fetched(seen, inner, one.outer, model),
    ]


def _in_order(
    seen: Accesses, across: Range, inner: Range, lanes: int, model: MachineModel
) -> Reason:
    """The reason for the order of tiles: the strides of both loops, on both sides."""
    numbers = [_moves(seen.store, inner, across)]
    numbers += [_moves(a, across, inner) for a in seen.loads if a.step(inner) not in (0, 1)]
    row = lanes * seen.store.argument.element.itemsize
    numbers.append(Number("a row of a tile", row, "bytes", "a line of memory", LINE))
    words = "rows of the input in order, tile by tile"
    if _is_evicting(seen, inner, model):
        words += f"; few of each, as they are a multiple of {way_bytes(model):,} bytes apart"
    return Reason(words, *dict.fromkeys(numbers))


def _moves(access: Access, near: Range, far: Range) -> Number:
    """The strides of two loops in an argument, in bytes."""
    name, size = access.argument.name, access.argument.element.itemsize
    steps = [abs(access.step(loop) or 0) * size for loop in (near, far)]
    return Number(f"{near.name} moves in {name}", steps[0], "bytes", far.name, steps[1])


def _rows(
    seen: Accesses, inner: Range, lanes: int, model: MachineModel
) -> tuple[list[Row], list[AxisName], list[AxisName]]:
    """Rows of the input, divided among cores and into blocks: tilings, axes of tiles, loops."""
    cuts, pieces, loops = list[Row](), list[AxisName](), list[AxisName]()
    name, trips, width = inner.name, inner.extent, _width(seen, inner, lanes, model)
    if len(seen.ranges) == 2 and _is_long(seen, inner, lanes, model):
        block = trips // model.cores // lanes * lanes
        words = _parts(f"{trips} rows of the input", inner, lanes, model)
        cuts.append(Tile(name, block, "peel", words))
        cuts += shared_out(seen, name.outer, model.cores, model)
        pieces += [name.rest] * (trips - model.cores * block >= lanes)
        loops.append(name.outer)
        name, trips = name.inner, block
    if width == lanes:
        loops.append(name.outer)  # a block of one tile
    elif trips >= 2 * width:
        words = Reason(
            f"{width} elements of a row of the output are written together",
            trip_count(name, trips, "two blocks", 2 * width),
        )
        cuts.append(Tile(name, width, "peel", words))
        pieces += [name.rest] * (trips % width >= lanes)
        loops.append(name.outer)
        name = name.inner
    return cuts, [name, *pieces], loops


def _width(seen: Accesses, inner: Range, lanes: int, model: MachineModel) -> int:
    """The rows of a block of the input: of a few tiles, or of few lines if they evict each
    other."""
    if not _is_evicting(seen, inner, model):
        return TILES * lanes
    return max(lanes, LINES * LINE // seen.store.argument.element.itemsize)


def _parts(what: str, axis: Range, lanes: int, model: MachineModel) -> Reason:
    """The reason for dividing an axis among cores."""
    least = trip_count(axis.name, axis.extent, "a tile for each core", lanes * model.cores)
    return Reason(f"{what}, a part for each core", least)


def _is_evicting(seen: Accesses, inner: Range, model: MachineModel) -> bool:
    """True if the rows of a block of the input share a set of the first cache."""
    return all(
        step * a.argument.element.itemsize % way_bytes(model) == 0
        for a in seen.loads
        if (step := a.step(inner) or 0) > 1
    )


def _fetched(seen: Accesses, inner: Range, columns: str, model: MachineModel) -> list[Row]:
    """The prefetch of the next columns of a block that has more rows than hardware streams."""
    touched = Number("bytes touched", seen.nbytes, "bytes", "level-2 cache", model.cache_bytes[1])
    if _is_evicting(seen, inner, model):
        words = f"rows of the input are a multiple of {way_bytes(model):,} bytes apart: few of each"
        return [Refused("prefetch", Reason(words))]
    if seen.nbytes < model.cache_bytes[1]:
        return [Refused("prefetch", Reason("what is touched stays in the level-2 cache", touched))]
    slots = sorted({a.argument.slot for a in seen.loads if a.step(inner) not in (0, 1)})
    words = Reason("a block has more rows than the hardware prefetches", touched)
    return [Prefetch(slot, inner.name, columns, words) for slot in slots]


def _is_long(seen: Accesses, axis: Range, lanes: int, model: MachineModel) -> bool:
    """True if an axis has tiles for all cores, and the kernel enough work."""
    return is_worth_threads(seen, model) and axis.extent >= lanes * model.cores


def _across(seen: Accesses, inner: Range) -> Range | None:
    """The one axis along which the loads that are not contiguous along `inner` are."""
    across: set[Range] = set()
    for load in seen.loads:
        if load.step(inner) in (0, 1):
            continue
        along = [r for r in seen.ranges if load.step(r) == 1]
        if len(along) != 1 or load.step(inner) is None:
            return None
        across.add(along[0])
    axis = across.pop() if len(across) == 1 else None
    return axis if axis is not None and length(axis) is not None else None
