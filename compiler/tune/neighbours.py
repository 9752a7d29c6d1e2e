"""neighbours: the neighbours of choices in the search: those that differ from them by one move.

    tile i0 64 → 128             a similar size, for all tiles that have the same reason
    tile i1 48 → 64, i0 8 → 6    one register tile wider, another lower
    without stream 0             a choice removed
    with pack 2 i1.0             a choice added
    vectors along i1, 2 at a time
    blocks of 64 along i0        an axis split first of all, with the loop over blocks outermost

The passes decide which of them are legal.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from compiler.core.node import toposort
from compiler.loops.axis_names import AxisName
from compiler.loops.choices import (
    Accumulate,
    CacheRow,
    Choice,
    Choices,
    Dot,
    Pack,
    Parallelize,
    Prefetch,
    Reorder,
    Stream,
    Tile,
    Unroll,
    Vectorize,
    show,
    text,
)
from compiler.loops.choosing.lanes import in_vectors
from compiler.loops.nodes import Argument, Body, Load, Range, Store
from compiler.machines.model import MachineModel
from compiler.tune.search import Move

Rows = tuple[Choice, ...]
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""Iterations of a tile, or of vectors in it. Chosen, not measured."""
STEPS = 2
"""The number of sizes that are near, up and down. Chosen, not measured."""
BLOCKS = (32, 64, 128, 256, 512)
"""Elements of a block of an axis of the output. Chosen, not measured."""
SIDES = (1, 2, 4, 8)
"""Vectors of an axis at a time. Chosen, not measured."""
FEW = 8
"""Iterations that may stand side by side. No figure on record."""
MOST_CHOICES = 32
"""Choices for one kernel, unless there are more by default. Chosen, not measured."""
WHY = "measured"


@dataclass(frozen=True, slots=True)
class Space:
    """The search space of a kernel: its axes before any choice, its arguments, and the machine."""

    axes: tuple[Range, ...]
    loaded: tuple[int, ...]
    stored: tuple[int, ...]
    cores: int
    lanes: int


def space(body: Body, model: MachineModel) -> Space:
    """The space of a body without choices."""
    order = toposort([body])
    widest = max((n.element.itemsize for n in order if isinstance(n, Argument)), default=8)
    return Space(
        tuple(n for n in order if isinstance(n, Range)),
        _slots(n.sources[0] for n in order if isinstance(n, Load)),
        _slots(n.sources[0] for n in order if isinstance(n, Store)),
        model.cores,
        max(model.vector_bytes // widest, 1),
    )


def _slots(memories: Iterator[object]) -> tuple[int, ...]:
    return tuple(sorted({m.slot for m in memories if isinstance(m, Argument)}))


def neighbours(choices: Choices, options: Space) -> list[Move]:
    """All neighbours, each once, in a fixed order."""
    rows = choices.rows
    kinds = (
        _sizes, _pairs, _tails, _orders, _without, _moved, _shared, _vectors, _blocks, _unrolled,
        _staged,
    )  # fmt: skip
    moves: dict[str, Move] = {}
    for kind in kinds:
        for change, new in kind(rows, options):
            if len(new) > max(MOST_CHOICES, len(rows)):
                continue
            changed = Choices(new)
            moves.setdefault(text(changed), Move(change, changed, kind.__name__.strip("_")))
    moves.pop(text(choices), None)
    return list(moves.values())


Changes = Iterator[tuple[str, Rows]]


def _groups(rows: Rows) -> list[tuple[Tile, ...]]:
    """Tiles that are one decision: of one size, for one reason, of parts of one axis."""
    groups: dict[tuple[str, int, str], list[Tile]] = {}
    for row in rows:
        if isinstance(row, Tile):
            groups.setdefault((AxisName(row.axis).root, row.size, row.because), []).append(row)
    return [tuple(group) for group in groups.values()]


def _resized(rows: Rows, group: tuple[Tile, ...], size: int) -> Rows:
    new = {id(tile): replace(tile, size=size) for tile in group}
    return tuple(new.get(id(row), row) for row in rows)


def _near(rows: Rows, group: tuple[Tile, ...], above: bool, below: bool) -> list[int]:
    """Sizes near that of a group; in multiples of the tile inside it, where there is one."""
    size, inside = group[0].size, group[0].inner
    if any(isinstance(row, Vectorize) and row.axis == inside for row in rows):
        return [n for n in (*[size * 2] * above, *[size // 2] * below) if n > 1]
    unit = next((row.size for row in rows if isinstance(row, Tile) and row.axis == inside), 1)
    unit = unit if size % unit == 0 else 1
    multiples = [n * unit for n in SIZES]
    more = [n for n in multiples if n > size][:STEPS] * above
    less = [n for n in multiples if n < size][-STEPS:] * below
    ends = [size * 2] * above + [size // 2 // unit * unit] * below
    return [n for n in dict.fromkeys((*more, *less, *ends)) if n > 1 or unit > 1]


def _sizes(rows: Rows, options: Space) -> Changes:
    for group in _groups(rows):
        for size in _near(rows, group, True, True):
            yield f"tile {group[0].axis} {group[0].size} → {size}", _resized(rows, group, size)


def _pairs(rows: Rows, options: Space) -> Changes:
    """One tile larger, another smaller: what is in registers stays about as much."""
    sides = {row.axis for row in rows if isinstance(row, Unroll | Vectorize)}
    groups = [
        group for group in _groups(rows)
        if not sides.isdisjoint((group[0].inner, group[0].inner.outer))
    ]  # fmt: skip
    for wide in groups:
        for low in groups:
            if AxisName(wide[0].axis).root == AxisName(low[0].axis).root:
                continue
            for more in _near(rows, wide, True, False):
                for less in _near(rows, low, False, True):
                    resized = _resized(_resized(rows, wide, more), low, less)
                    one = f"{wide[0].axis} {wide[0].size} → {more}"
                    yield f"tile {one}, {low[0].axis} {low[0].size} → {less}", resized


def _tails(rows: Rows, options: Space) -> Changes:
    """Tails peeled off instead of masked, or masked."""
    for number, row in enumerate(rows):
        if isinstance(row, Tile):
            other = replace(row, tail="mask" if row.tail == "peel" else "peel")
            change = f"tile {row.axis} {row.tail} → {other.tail}"
            yield change, (*rows[:number], other, *rows[number + 1 :])


def _orders(rows: Rows, options: Space) -> Changes:
    """Two axes that are next to each other the other way round, unless that changes nothing."""
    sides = {row.axis for row in rows if isinstance(row, Unroll | Vectorize)}
    fixed = {row.axis for row in rows if isinstance(row, Parallelize)}
    for number, row in enumerate(rows):
        if not isinstance(row, Reorder):
            continue
        for place in range(len(row.axes) - 1):
            axes = list(row.axes)
            if axes[place] in fixed or {axes[place], axes[place + 1]} <= sides:
                continue
            axes[place : place + 2] = reversed(axes[place : place + 2])
            change = f"{axes[place]} outside of {axes[place + 1]}"
            yield change, (*rows[:number], Reorder(tuple(axes), WHY), *rows[number + 1 :])
    normal = [r.name for r in options.axes if r.role == "normal"]
    if not any(isinstance(row, Reorder) for row in rows):
        for one in normal:
            for two in normal:
                if one < two:
                    yield f"{two} outside of {one}", (*rows, Reorder((two, one), WHY))


def _without(rows: Rows, options: Space) -> Changes:
    for number, row in enumerate(rows):
        if not isinstance(row, Tile):
            yield f"without {show(row)}", (*rows[:number], *rows[number + 1 :])


def _moved(rows: Rows, options: Space) -> Changes:
    """A tile packed at another loop, more or fewer rows added together, other streams."""
    for number, row in enumerate(rows):
        before, after = rows[:number], rows[number + 1 :]
        match row:
            case Pack():
                for at in _loops(rows, options):
                    if at != row.at:
                        other = replace(row, at=at, because=WHY)
                        yield f"pack {row.slot} at {at or 'all'}", (*before, other, *after)
            case Accumulate():
                for count in (row.rows // 2, row.rows * 2):
                    if count:
                        fold = replace(row, rows=count, because=WHY)
                        yield f"{count} rows at a time", (*before, fold, *after)
            case _:
                pass
    streamed = {row.slot for row in rows if isinstance(row, Stream)}
    for slot in set(options.stored) - streamed:
        yield f"with stream {slot}", (*rows, Stream(slot, WHY))


def _loops(rows: Rows, options: Space) -> list[str]:
    """Axes whose iterations may be loops: whole ones, and the outer parts of cut ones."""
    cut = {AxisName(row.axis) for row in rows if isinstance(row, Tile)}
    whole = [r.name for r in options.axes if r.role == "normal" and r.name not in cut]
    return ["", *whole, *(axis.outer for axis in sorted(cut))]


def _shared(rows: Rows, options: Space) -> Changes:
    """Iterations over cores; more tasks than cores, for iterations that differ."""
    held = [row for row in rows if isinstance(row, Parallelize)]
    rest = tuple(row for row in rows if not isinstance(row, Parallelize))
    for at in _loops(rows, options)[1:] if options.cores > 1 else []:
        if not any(row.axis == at for row in held):
            yield f"parallelize {at}", (*rest, Parallelize(at, options.cores, WHY))
    for row in held:
        twice = Parallelize(row.axis, row.tasks * 2, WHY)
        yield f"{twice.tasks} tasks", (*rest, twice)


def _vectors(rows: Rows, options: Space) -> Changes:
    """An axis as lanes of vectors, several at a time, instead of all that was done with it."""
    for axis in options.axes:
        if axis.role == "serial" or axis.extent < options.lanes or options.lanes < 2:
            continue
        kept = tuple(row for row in rows if not _concerns(row, axis.name))
        alone = tuple(row for row in kept if not isinstance(row, Vectorize | Reorder))
        for side in SIDES:
            vectors = in_vectors(axis.name, axis.extent, options.lanes, side, WHY)
            words = f"vectors along {axis.name}, {side} at a time"
            yield words, (*vectors, *(kept if axis.role == "reduction" else alone))


def _concerns(row: Choice, axis: str) -> bool:
    """True if a choice names an axis or a part of it."""
    names = row.axes if isinstance(row, Reorder) else (getattr(row, "axis", ""),)
    return any(AxisName(name).root == axis for name in names)


def _blocks(rows: Rows, options: Space) -> Changes:
    """An axis of the output cut into blocks; the choices that were for it are for each block."""
    normal = [r for r in options.axes if r.role == "normal"]
    for axis in normal:
        for size in BLOCKS:
            if size * 2 > axis.extent:
                continue
            name = axis.name
            inner = tuple(_renamed(row, name, name.inner) for row in rows)
            rest = () if axis.extent % size == 0 else _rest(rows, name)
            others = tuple(r.name for r in normal if r is not axis)
            blocks: Rows = (Tile(name, size, "peel", WHY), *inner, *rest)
            yield f"blocks of {size} along {name}", blocks
            if others or any(isinstance(row, Reorder) for row in rows):
                outside = _outside(blocks, name, others)
                yield f"blocks of {size} along {name} outside", outside


def _rest(rows: Rows, name: AxisName) -> Rows:
    """The cuts and levels of an axis, for what its blocks leave over."""
    kinds = Tile | Unroll | Vectorize
    concerned = (row for row in rows if isinstance(row, kinds) and _concerns(row, name))
    return tuple(_renamed(row, name, name.rest) for row in concerned)


def _outside(rows: Rows, name: AxisName, others: tuple[str, ...]) -> Rows:
    """The blocks of an axis outside of everything but what is shared out over cores."""
    shared = [row.axis for row in rows if isinstance(row, Parallelize)]
    shared = [axis for axis in shared if AxisName(axis).root != name]

    def order(axes: tuple[str, ...]) -> Reorder:
        rest = (axis for axis in axes if axis not in shared)
        return Reorder((*shared, name.outer, *rest), WHY)

    if not any(isinstance(row, Reorder) for row in rows):
        rows = (*rows, Reorder(others, WHY))
    outer_rows = (order(row.axes) if isinstance(row, Reorder) else row for row in rows)
    return tuple(
        Parallelize(name.outer, row.tasks, WHY)
        if isinstance(row, Parallelize) and AxisName(row.axis).root == name else row
        for row in outer_rows
    )  # fmt: skip


def _renamed(row: Choice, old: str, new: str) -> Choice:
    """The choice with another name for an axis and for its parts."""

    def name(axis: str) -> AxisName:
        return AxisName(axis).moved(old, new)

    match row:
        case Reorder():
            return replace(row, axes=tuple(map(name, row.axes)))
        case Pack():
            return replace(row, at=name(row.at))
        case CacheRow():
            return replace(row, axis=name(row.axis), into=name(row.into))
        case Accumulate():
            return replace(row, axis=name(row.axis), at=name(row.at))
        case Tile() | Unroll() | Vectorize() | Dot() | Parallelize():
            return replace(row, axis=name(row.axis))
        case Prefetch():
            return replace(row, axis=name(row.axis), next=name(row.next))
        case Stream():
            return row


def _unrolled(rows: Rows, options: Space) -> Changes:
    """Iterations side by side: of an axis that is short, or a few of a long one."""
    levels = {row.axis for row in rows if isinstance(row, Unroll | Vectorize)}
    cut = {row.axis: row for row in rows if isinstance(row, Tile)}
    for tile in cut.values():
        inner = tile.inner
        if tile.size <= FEW and inner not in levels and inner not in cut:
            yield f"unroll {inner}", (*rows, Unroll(inner, WHY))
    for axis in options.axes:
        if axis.name in cut or axis.name in levels or axis.role == "serial":
            continue
        if axis.extent <= FEW:
            yield f"unroll {axis.name}", (*rows, Unroll(axis.name, WHY))
        for size in (2, 4, 8):
            if axis.extent >= 2 * size:
                unrolled = (Tile(axis.name, size, "peel", WHY), *rows, Unroll(axis.name.inner, WHY))
                yield f"{size} iterations of {axis.name} side by side", unrolled


def _staged(rows: Rows, options: Space) -> Changes:
    """Scratch memory for what is read or computed again and again."""
    yield from _packings(rows, options)
    if not any(isinstance(row, CacheRow) for row in rows):
        yield from _cached_rows(rows, options)
    if not any(isinstance(row, Accumulate) for row in rows):
        yield from _accumulated(rows, options)


def _packings(rows: Rows, options: Space) -> Changes:
    """Arguments packed, at any loop."""
    packed = {row.slot for row in rows if isinstance(row, Pack)}
    for slot in options.loaded:
        for at in _loops(rows, options) if slot not in packed else []:
            yield f"pack {slot} at {at or 'all'}", (*rows, Pack(slot, at, WHY))


def _cached_rows(rows: Rows, options: Space) -> Changes:
    """Values along a reduction cached for another axis of the same extent."""
    for one, two in itertools.permutations(options.axes, 2):
        if one.extent == two.extent and one.role == "reduction":
            cached = CacheRow(one.name, two.name, WHY)
            yield f"cache_row {one.name} {two.name}", (cached, *rows)


def _accumulated(rows: Rows, options: Space) -> Changes:
    """Reductions that add to scratch memory, inside any loop."""
    for axis in options.axes:
        for at in _loops(rows, options) if axis.role == "reduction" else []:
            sums = Accumulate(axis.name, FEW, at, WHY)
            yield f"accumulate {axis.name} inside {at or 'all'}", (*rows, sums)
