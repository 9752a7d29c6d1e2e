"""pack: packing. A tile that inner loops reuse is copied to scratch memory, in the order of use.

    Choice:  pack 2 i1.0
    Before:  for i1.0 in 2
               for i0 in 64
                 for i1.1 in 16
                   acc %0 = 0.0
                   for r2 in 100   reduction
                     %1 = in1[i0*100 + r2]
                     %2 = in2[r2*32 + i1.0*16 + i1.1]
                     %0 = sum(%0, %1 * %2)
                   out[i0*32 + i1.0*16 + i1.1] = %0
    After:   local0 f32[1600]   scratch
             for i1.0 in 2
               for i3 in 100
                 for i4 in 16
                   %0 = in2[i3*32 + i1.0*16 + i4]
                   local0[i3*16 + i4] = %0
               for i0 in 64
                 for i1.1 in 16
                   acc %1 = 0.0
                   for r2 in 100   reduction
                     %2 = in1[i0*100 + r2]
                     %3 = local0[r2*16 + i1.1]
                     %1 = sum(%1, %2 * %3)
                   out[i0*32 + i1.0*16 + i1.1] = %1

The tile is read by one iteration of the named axis. It has an axis for each inner loop that the
index depends on: those of the reduction first, then those of the store, in the order of the loops.
The copy is contiguous; the original, read with a large stride, would use little of each page, and
few sets of a cache. Predicates move into the copy: elements outside are 0 in scratch memory, and
the inner loops need no predicate. The elements of a word (`dot.py`) are adjacent there. If lanes
are strided in the original but the reduction is contiguous, square blocks are loaded row by row
and transposed in registers. A nest that is not inside the named axis reads the original. If an
argument is read twice, as in `a @ a`, `pack 1[i1]` selects the loads whose index depends on i1.

Relies on: `reorder` has run: the named axis is outside the loops that reuse the tile.
Ensures: the same values.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from compiler.core.dtypes import DType
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops import nodes
from compiler.loops.choices import Choices, Dot, Pack, Vectorize
from compiler.loops.invariants import MOST_SIDE_BY_SIDE
from compiler.loops.nodes import Body, ScalarNode, alu, index, linear
from compiler.loops.placement import dependencies
from compiler.loops.simplify import simplified
from compiler.loops.symbolic import as_sum
from compiler.loops.transforms.axes import axes, copied, find, record, refuse, swapped, swapped_body
from compiler.loops.transforms.staging import (
    axes_inside,
    free_numbers,
    levels_of,
    local_numbers,
    own_loops,
    own_memory,
    variable_axis,
)

MOST_PACKED = 16 * 1024 * 1024
"""The most bytes of a tile: more would be a second copy of the argument. A round number, not
measured."""
ELEMENT = 8
"""The most bytes that an element counts for: those of the widest types."""


def pack(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with the tile of every Pack read from scratch memory."""
    for choice in choices.of(Pack):
        at = find(axes(body), choice.at, choice, choices) if choice.at else None
        if choice.at and at is None:
            continue
        before = body
        for load, dims in _tiles(body, choice, at, choices).items():
            body = _staged(body, load, dims, at, choices, provenance)
        record(matches, choice, before, body)
    return simplified(body, provenance, matches) if choices.of(Pack) else body


def _tiles(
    body: Body, choice: Pack, at: nodes.Range | None, choices: Choices
) -> dict[nodes.Load, tuple[nodes.Range, ...]]:
    """The loads to pack, each with the axes of its tile, outermost first."""
    order: list[ScalarNode] = toposort([body])
    needs = dependencies(body)
    loads = [n for n in order if isinstance(n, nodes.Load) and _is_of(n, choice.slot)]
    if not loads or choice.slot == 0:
        refuse(choice, f"argument {choice.slot} is not read", "the slot of an input")
    loads = [n for n in loads if _is_moved(needs[n.sources[1]], choice.along)]
    if not loads:
        what = f"no load of argument {choice.slot} depends on {choice.along}"
        refuse(choice, what, "an axis of its index")
    inner = _inside(body, at)
    result: dict[nodes.Load, tuple[nodes.Range, ...]] = {}
    for load in loads:
        dims = _dims(inner, load, at, needs, order) if inner is not None else ()
        if dims:
            result[load] = _words_last(dims, choices)
    if not result:
        where = choice.at or "the whole kernel"
        refuse(choice, f"no reduction in {where} reads argument {choice.slot}", "one that is")
    for load, dims in result.items():
        _check(choice, dims, counted(load.dtype))
    return result


def _inside(body: Body, at: nodes.Range | None) -> Body | None:
    """The body with only the stores inside `at`; None if there are none."""
    if at is None:
        return body
    stores = tuple(n for n in body.sources if isinstance(n, nodes.Store) and at in n.ranges)
    return Body(stores) if stores else None


def _is_of(load: nodes.Load, slot: int) -> bool:
    return isinstance(load.sources[0], nodes.Argument) and load.sources[0].slot == slot


def _is_moved(needed: frozenset[nodes.Range], along: str) -> bool:
    """True if an index depends on the axis `along` or a part of it; "" is any."""
    return not along or any(r.name.is_in(along) for r in needed)


def _dims(
    body: Body,
    load: nodes.Load,
    at: nodes.Range | None,
    needs: Mapping[ScalarNode, frozenset[nodes.Range]],
    order: list[ScalarNode],
) -> tuple[nodes.Range, ...]:
    """The axes of the tile that `load` reads in one iteration of `at`; none without a load."""
    inside = axes_inside(body, load, at, needs[load])
    folded = [r for n in order if isinstance(n, nodes.Reduce) for r in n.ranges if r in needs[load]]
    return () if inside is None or not folded else tuple(dict.fromkeys((*folded, *inside)))


def _words_last(dims: tuple[nodes.Range, ...], choices: Choices) -> tuple[nodes.Range, ...]:
    """The axes, with the elements of words last."""
    words = {choice.axis for choice in choices.of(Dot)}
    return tuple(sorted(dims, key=lambda r: r.name in words))


def counted(dtype: DType) -> int:
    """The bytes that an element counts for in a tile."""
    return min(ELEMENT, 2 * dtype.itemsize)


def _check(choice: Pack, dims: tuple[nodes.Range, ...], each: int) -> None:
    """Refuse a tile that is too large or has no constant size."""
    variable = variable_axis(dims)
    if variable is not None:
        refuse(choice, f"{variable.name} has a variable trip count", "a fixed one")
    if math.prod(r.extent for r in dims) * each > MOST_PACKED:
        axes = ", ".join(f"{r.name} {r.extent}" for r in dims)
        refuse(choice, f"the tile is too large: {axes}", f"at most {MOST_PACKED:,} bytes")


def _staged(
    body: Body,
    load: nodes.Load,
    dims: tuple[nodes.Range, ...],
    at: nodes.Range | None,
    choices: Choices,
    provenance: Provenance[Any],
) -> Body:
    """`body` with `load` replaced, inside `at`, by a load from a copy of its tile."""
    memories = local_numbers(body)
    local = nodes.Local((), next(memories), load.dtype, math.prod(r.extent for r in dims))
    square = _square(load, dims, choices)
    fill = _in_rows if square is None else partial(_in_squares, square=square)
    filled = [
        _filled(
            local, load, dims, places, loops, own_memory(body, dims, memories), provenance
        )
        for places, loops in fill(body, load, dims, choices, provenance)
    ]
    loaded = nodes.Load((nodes.After((local, *filled)), linear(dims, local_shape(dims))))
    inner = _inside(body, at)
    if inner is None or len(inner.sources) == len(body.sources):
        return swapped_body(body, {load: loaded}, provenance)
    provenance.made(loaded, provenance.of(load))
    changed = swapped(inner, {load: loaded}, provenance, True)
    stores = dict(zip(inner.sources, changed.sources, strict=True))
    result = Body(tuple(stores.get(n, n) for n in body.sources))
    provenance.rebuilt(result, body)
    return result


def local_shape(dims: Iterable[nodes.Range]) -> tuple[int, ...]:
    """The extents of a tile."""
    return tuple(r.extent for r in dims)


Part: TypeAlias = tuple[tuple[ScalarNode, ...], tuple[nodes.Range, ...]]
"""The positions along each axis of the tile in one nest of the copy, and its loops."""
Cut: TypeAlias = tuple[int, tuple[int, int], tuple[nodes.Level, nodes.Level], nodes.Level]
"""The start of a part of a row, trip counts and levels of its two loops, the level across."""


def _filled(
    local: nodes.Local,
    load: nodes.Load,
    dims: tuple[nodes.Range, ...],
    places: tuple[ScalarNode, ...],
    loops: tuple[nodes.Range, ...],
    memory: dict[ScalarNode, ScalarNode],
    provenance: Provenance[Any],
) -> nodes.Store:
    """One nest of the copy; `memory` has scratch memory of its own for values in it."""
    moved = memory | dict(zip(dims, places, strict=True))
    value = swapped(load, moved, provenance, True)
    return nodes.Store((local, linear(places, local_shape(dims)), value, *loops))


def _in_rows(
    body: Body,
    load: nodes.Load,
    dims: tuple[nodes.Range, ...],
    choices: Choices,
    provenance: Provenance[Any],
) -> list[Part]:
    """One nest over the whole tile, vectorised where the original is contiguous."""
    steps = as_sum(load.sources[1]).terms
    if dims[-1].name in {choice.axis for choice in choices.of(Dot)}:
        levels = _word_levels(dims, steps.get(dims[-1]) == 1, choices)
    else:
        levels = levels_of(dims, [steps.get(r) == 1 for r in dims], choices)
    loops = own_loops(free_numbers(body), dims, levels, provenance)
    return [(loops, loops)]


def _word_levels(
    dims: tuple[nodes.Range, ...], is_in_order: bool, choices: Choices
) -> list[nodes.Level]:
    """The levels for copying words: each is a vector where its elements are adjacent; else lanes
    of as many rows as a word has elements are interleaved."""
    others = dims[:-1]
    lanes = {choice.axis for choice in choices.of(Vectorize)}
    if is_in_order:
        return ["unroll" if r.name in lanes else "loop" for r in others] + ["vector"]
    return [*levels_of(others, [True] * len(others), choices), "unroll"]


@dataclass(frozen=True, slots=True)
class Square:
    """A block to transpose: lanes along one axis of the tile, contiguous along another."""

    lanes: nodes.Range
    along: nodes.Range


def _square(load: nodes.Load, dims: tuple[nodes.Range, ...], choices: Choices) -> Square | None:
    """The axes to transpose, where the lanes of the tile are strided in the original."""
    steps = as_sum(load.sources[1]).terms
    names = {choice.axis for choice in choices.of(Vectorize)}
    lanes = [r for r in dims if r.name in names and r.role == "normal" and steps.get(r) != 1]
    along = [r for r in dims if r.role == "reduction" and steps.get(r) == 1]
    if len(lanes) != 1 or len(along) != 1 or steps.get(lanes[0]) is None:
        return None
    trips = lanes[0].extent
    is_vector = 2 <= trips <= MOST_SIDE_BY_SIDE and trips & (trips - 1) == 0
    return Square(lanes[0], along[0]) if is_vector and along[0].extent >= trips else None


def _in_squares(
    body: Body,
    load: nodes.Load,
    dims: tuple[nodes.Range, ...],
    choices: Choices,
    provenance: Provenance[Any],
    square: Square,
) -> list[Part]:
    """A nest over whole square blocks, and one over the remainder of the original's rows."""
    size, numbers = square.lanes.extent, free_numbers(body)
    whole, rest = divmod(square.along.extent, size)
    parts: list[Part] = []
    # what is left goes one by one: lanes that are far apart have indices that stay in registers
    cuts: tuple[Cut, ...] = (
        (0, (whole, size), ("loop", "unroll"), "vector"),
        (whole * size, (1, rest), ("loop", "loop"), "loop"),
    )
    for begin, extents, levels, across in cuts:
        if not extents[1]:
            continue
        others = [r for r in dims if r is not square.along]
        kinds: Sequence[nodes.Level] = [across if r is square.lanes else "loop" for r in others]
        loops = own_loops(numbers, others, kinds, provenance)
        outer, inner = (
            nodes.Range((index(count),), next(numbers), "normal", 0, level)
            for count, level in zip(extents, levels, strict=True)
        )
        for part in (outer, inner):
            copied(part, square.along, provenance)
        at = alu("add", alu("add", index(begin), alu("mul", outer, index(size))), inner)
        places = dict(zip(others, loops, strict=True)) | {square.along: at}
        parts.append((tuple(places[r] for r in dims), (*loops, outer, inner)))
    return parts
