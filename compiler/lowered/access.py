"""access: instructions for loads and stores of nodes with several registers and lanes.

The stride of an index along the vector range selects the instructions. Stride 1 is a vector load or
store. Stride 0 is a scalar load that is broadcast. Stride 2 is two vector loads, the first from the
first element on, the second up to the last, so that nothing outside the wanted elements is read.
Any other stride is a gather. But if the index has stride 1 along an unrolled range with as many
iterations as there are lanes, rows are loaded as vectors and transposed in registers
(`transpose.py`). Stores do the same, with a mask for lanes without an iteration. If the unrolled
iterations are the elements between those of the lanes, all of them are interleaved into one vector.
The elements of a word are adjacent. All other stores are scalar, lane by lane.
"""

from collections.abc import Iterator
from dataclasses import replace

from compiler.core.dtypes import bool_, int64
from compiler.loops import nodes as loops
from compiler.loops.nodes import Range, ScalarNode
from compiler.lowered.instructions import LINE, PARTS, Alu, Load, Store
from compiler.lowered.machine import Gep, Shuffle
from compiler.lowered.tiles import Iterations, Tile
from compiler.lowered.transpose import transpose
from compiler.lowered.values import Values
from compiler.ops.updates import UPDATES


def is_true(predicate: ScalarNode) -> bool:
    """True if a predicate is the constant true."""
    return isinstance(predicate, loops.Const) and bool(predicate.value)


def load(values: Values, node: loops.Load) -> None:
    """Loads a register for each combination that the element, or its predicate, depends on."""
    tile = values.tiles.of(node)
    if tile.dot is not None:
        _load_words(values, node, tile)
        return
    along = _rows(values, node, tile)
    if along is not None:
        _load_rows(values, node, tile, along)
        return
    for iterations in tile.combinations():
        values.hold(node, _load(values, node, tile, iterations), tile.key(iterations))


def _load(values: Values, node: loops.Load, tile: Tile, iterations: Iterations) -> int:
    """The register that is loaded for one combination."""
    memory, index = values.memory(node), node.sources[1]
    lanes = tile.lanes
    valid = _valid(values, node.predicate, iterations)
    if lanes == 1 or values.tiles.stride(index, tile.vector) == 1:
        start = values.start(index, iterations)
        ahead = node.ahead if lanes > 1 else 0
        return values.write(lambda out: Load(out, memory, start, valid, node.dtype, lanes, ahead))
    if is_every_other(values.tiles.stride(index, tile.vector), lanes):
        rows = values.start(index, iterations), values.start(index, iterations, lanes - 1)
        return _every_other(values, node, rows, valid, lanes)
    pointers = values.pointers(memory, lanes, node.dtype)
    each = values.operand(index, iterations, lanes)
    return values.write(lambda out: Load(out, pointers, each, valid, node.dtype, lanes))


def _load_words(values: Values, node: loops.Load, tile: Tile) -> None:
    """A word, or one for each lane; its elements are adjacent and share its predicate."""
    assert tile.dot is not None
    parts, predicate = tile.dot.extent, node.predicate
    for iterations in tile.combinations():
        memory, start = values.memory(node), values.start(node.sources[1], iterations)
        valid = _valid(values, predicate, iterations)
        if predicate is not None and valid is not None and values.tiles.of(predicate).lanes > 1:
            own = tuple(n // parts for n in range(tile.lanes))
            valid = _taken(values, valid, own)
        values.hold(
            node, _row(values, node, memory, start, valid, tile.lanes), tile.key(iterations)
        )


def _taken(values: Values, register: int, lanes: tuple[int, ...]) -> int:
    """The predicates of lanes, repeated for the elements of their words."""
    return values.write(lambda out: Gep(out, register, lanes, bool_))


def is_every_other(stride: int | None, lanes: int) -> bool:
    """True if lanes have stride 2, within two vectors."""
    return stride == 2 and lanes % 2 == 0


def _every_other(
    values: Values, node: loops.Load, rows: tuple[int, int], valid: int | None, lanes: int
) -> int:
    """The even elements of one row, then the odd ones of the row that ends with the last lane.

    With a predicate per lane, the elements between two lanes are not read.
    """
    memory, half = values.memory(node), lanes // 2
    first = tuple(n // 2 if n % 2 == 0 else lanes for n in range(lanes))
    second = tuple(half + n // 2 if n % 2 else lanes for n in range(lanes))
    read = []
    for start, order in zip(rows, (first, second), strict=True):
        predicate = valid
        is_wide = node.predicate is not None and values.tiles.of(node.predicate).lanes > 1
        if valid is not None and is_wide:
            predicate = _spread(values, valid, order, lanes)
        read.append(_row(values, node, memory, start, predicate, lanes))
    taken = (*range(0, lanes, 2), *range(lanes + 1, 2 * lanes, 2))
    return values.write(lambda out: Shuffle(out, read[0], read[1], taken, node.dtype))


def _spread(values: Values, valid: int, order: tuple[int, ...], lanes: int) -> int:
    """The predicates of lanes in another order; lane `lanes` stands for false."""
    shut = values.vector_constant((0,) * lanes, bool_)
    return values.write(lambda out: Shuffle(out, valid, shut, order, bool_))


def _rows(values: Values, node: loops.Load, tile: Tile) -> Range | None:
    """The unrolled range along which the elements are contiguous, if a transpose pays."""
    tiles, lanes = values.tiles, tile.lanes
    stride = tiles.stride(node.sources[1], tile.vector)
    if stride in (None, 0, 1) or lanes & (lanes - 1):
        return None
    for each in tile.ranges:
        is_row = tiles.stride(node.sources[1], each) == 1 and each.extent % lanes == 0
        if is_row and (node.predicate is None or each not in tiles.needs[node.predicate]):
            return each
    return None


def _load_rows(values: Values, node: loops.Load, tile: Tile, along: Range) -> None:
    """Loads rows along an unrolled range, then transposes them in registers."""
    index, lanes = node.sources[1], tile.lanes
    stride = values.tiles.stride(index, tile.vector)
    assert stride is not None
    for iterations in tile.combinations():
        if iterations[along] % lanes:
            continue
        memory = values.memory(node)
        valid = _valid(values, node.predicate, iterations)
        rows = []
        for lane in range(lanes):
            is_there = _of_lane(values, node.predicate, valid, lane)
            start = values.start(index, iterations, lane * stride)
            rows.append(_row(values, node, memory, start, is_there, lanes))
        for iteration, register in enumerate(transpose(values, rows, node.dtype)):
            own = iterations | {along: iterations[along] + iteration}
            values.hold(node, register, tile.key(own))


def _row(
    values: Values, node: loops.Load, memory: int, start: int, valid: int | None, lanes: int
) -> int:
    ahead = node.ahead
    return values.write(lambda out: Load(out, memory, start, valid, node.dtype, lanes, ahead))


def _of_lane(
    values: Values, predicate: ScalarNode | None, valid: int | None, lane: int
) -> int | None:
    """The predicate of one lane, which holds for the whole row that this lane reads."""
    if predicate is None or valid is None or values.tiles.of(predicate).lanes == 1:
        return valid
    return values.lane(valid, lane, predicate.dtype)


def _valid(values: Values, predicate: ScalarNode | None, iterations: Iterations) -> int | None:
    """The register of a predicate, with a lane or with several; None where it is always true."""
    if predicate is None or is_true(predicate):
        return None
    return values.operand(predicate, iterations, values.tiles.of(predicate).lanes)


def store(values: Values, node: loops.Store) -> None:
    """Stores each register of the value, or each of its lanes."""
    index, value = node.sources[1:3]
    tile = _written(values, node, node.ranges)
    is_row = tile.lanes == 1 or values.tiles.stride(index, tile.vector) == 1
    interleaved = None if is_row else _interleaved(values, node, tile)
    if interleaved is not None:
        _store_interleaved(values, node, tile, interleaved)
        return
    along = None if is_row else _columns(values, node, tile)
    if along is not None:
        _store_columns(values, node, tile, along)
        return
    for iterations in tile.combinations():
        held = values.operand(value, iterations, tile.lanes)
        plain = Store(values.memory(node), -1, held, None, tile.lanes)
        if is_row:
            valid = _valid(values, node.predicate, iterations)
            start = values.start(index, iterations)
            is_whole = node.is_streamed and valid is None and _is_aligned(values, node, tile)
            row = replace(plain, index=start, valid=valid, is_streamed=is_whole)
            values.append(row)
            continue
        for lane, at, valid in _places(values, index, node.predicate, tile, iterations):
            source = values.lane(held, lane, value.dtype)
            values.append(replace(plain, index=at, source=source, valid=valid, lanes=1))


def _columns(values: Values, node: loops.Store, tile: Tile) -> Range | None:
    """The unrolled range along which elements are contiguous while lanes are strided."""
    tiles, (index, predicate) = values.tiles, (node.sources[1], node.predicate)
    stride, lanes = tiles.stride(index, tile.vector), tile.lanes
    if stride in (None, 0, 1) or lanes & (lanes - 1):
        return None
    for each in tile.ranges:
        is_predicated = predicate is not None and each in tiles.needs[predicate]
        if tiles.stride(index, each) == 1 and each.extent > 1 and not is_predicated:
            return each
    return None


def _interleaved(values: Values, node: loops.Store, tile: Tile) -> Range | None:
    """The unrolled range whose iterations lie between the lanes, so that all are contiguous."""
    tiles, index, size = values.tiles, node.sources[1], tile.lanes * node.dtype.itemsize
    for each in tile.ranges:
        count = each.extent
        is_power = count in (2, 4) and not tile.lanes & (tile.lanes - 1)
        is_row = tiles.stride(index, each) == 1 and tiles.stride(index, tile.vector) == count
        if is_power and is_row and size * count <= LINE and node.predicate is None:
            return each
    return None


def _store_interleaved(values: Values, node: loops.Store, tile: Tile, along: Range) -> None:
    """Stores the registers of iterations interleaved into one vector."""
    index, value = node.sources[1:3]
    for iterations in tile.combinations():
        if iterations[along]:
            continue
        each = [dict(iterations) | {along: n} for n in range(along.extent)]
        rows, lanes = [values.operand(value, own, tile.lanes) for own in each], tile.lanes
        while len(rows) > 1:
            half = len(rows) // 2
            order = tuple(n // 2 + (n % 2) * lanes for n in range(2 * lanes))
            rows = [
                values.shuffled(a, b, order, value.dtype)
                for a, b in zip(rows[:half], rows[half:], strict=True)
            ]
            lanes *= 2
        start = values.start(index, iterations)
        values.append(Store(values.memory(node), start, rows[0], None, lanes))


def _store_columns(values: Values, node: loops.Store, tile: Tile, along: Range) -> None:
    """Transposes registers, then stores a row for each former lane."""
    index, value = node.sources[1:3]
    lanes, dtype = tile.lanes, value.dtype
    for iterations in tile.combinations():
        if iterations[along] % lanes:
            continue
        count = min(lanes, along.extent - iterations[along])
        each = [dict(iterations) | {along: iterations[along] + n} for n in range(count)]
        held = [values.operand(value, own, lanes) for own in each]
        rows = transpose(values, held + held[-1:] * (lanes - count), dtype)
        places = _places(values, index, node.predicate, tile, iterations)
        for row, (_, at, valid) in zip(rows, places, strict=True):
            mask = _first_lanes(values, count, lanes, valid)
            values.append(Store(values.memory(node), at, row, mask, lanes))


def _first_lanes(values: Values, count: int, lanes: int, valid: int | None) -> int | None:
    """The predicate of the first `count` lanes where `valid` is true; None: always all."""
    if count == lanes:
        return valid
    first = values.vector_constant(tuple(int(n < count) for n in range(lanes)), bool_)
    if valid is None:
        return first
    both = (first, values.broadcast(valid, lanes, bool_))
    return values.write(lambda out: Alu(out, "and", both, bool_, lanes=lanes))


def _written(values: Values, node: loops.Store | loops.Update, ranges: tuple[Range, ...]) -> Tile:
    """The combinations of iterations that a store writes."""
    operands = [s for s in node.sources if not isinstance(s, Range)]
    needs = frozenset(ranges).union(*(values.tiles.needs[s] for s in operands))
    return values.tiles.over(needs)


def _places(
    values: Values, index: ScalarNode, predicate: ScalarNode | None, tile: Tile,
    iterations: Iterations,
) -> Iterator[tuple[int, int, int | None]]:
    """For each lane its number, the element it belongs to, and its predicate."""
    valid = _valid(values, predicate, iterations)
    is_wide = predicate is not None and valid is not None and values.tiles.of(predicate).lanes > 1
    stride = values.tiles.stride(index, tile.vector)
    for lane in range(tile.lanes):
        if stride is None:
            whole = values.operand(index, iterations, tile.lanes)
            at = values.lane(whole, lane, int64)
        else:
            at = values.start(index, iterations, lane * stride)
        if is_wide and valid is not None and predicate is not None:
            yield lane, at, values.lane(valid, lane, predicate.dtype)
        else:
            yield lane, at, valid


def update(values: Values, node: loops.Update) -> None:
    """Load each element, combine it, store it back; all of it predicated."""
    index, value, predicate = node.sources[1:4]
    tile = _written(values, node, node.ranges)
    is_row = tile.lanes == 1 or values.tiles.stride(index, tile.vector) == 1
    for iterations in tile.combinations():
        joined, target = values.operand(value, iterations, tile.lanes), values.memory(node)
        if is_row:
            valid, start = _valid(values, predicate, iterations), values.start(index, iterations)
            _join(values, node, Store(target, start, joined, valid, tile.lanes))
            continue
        for lane, at, valid in _places(values, index, predicate, tile, iterations):
            source = values.lane(joined, lane, value.dtype)
            _join(values, node, Store(target, at, source, valid))


def _join(values: Values, node: loops.Update, plain: Store) -> None:
    """One update: `plain` stores the value that is combined with the element."""
    combine, value = UPDATES[node.op].combine, plain.source
    if combine is not None:
        lanes, dtype = plain.lanes, node.dtype
        held = values.write(
            lambda out: Load(out, plain.buffer, plain.index, plain.valid, dtype, lanes)
        )
        both = (held, plain.source)
        value = values.write(lambda out: Alu(out, combine, both, dtype, lanes=lanes))
    values.append(replace(plain, source=value))


def _is_aligned(values: Values, node: loops.Store, tile: Tile) -> bool:
    """True if every store is aligned to whole lines or parts of one, if the memory is."""
    size = tile.lanes * node.dtype.itemsize
    is_even = not size % LINE or size in PARTS
    if not is_even or node.predicate is not None or isinstance(loops.memory(node), loops.Local):
        return False
    begin = values.tiles.divisor(node.sources[1], tile.vector) * node.dtype.itemsize
    return begin % min(size, LINE) == 0
