"""pack: what the inner loops read again and again is copied to scratch memory, in their order.

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

The tile is what one turn of the axis named reads: it has an axis for each loop further inside that
the index depends on, those of the reduction first, then those of the store, as the loops have them.
The copy is one element after the other; where the original is read in large steps, each page and
each set of a cache would hold little of it. A gate goes with the copy: what is outside is 0 in
scratch memory, and the inner loops ask no more.

Relies on: `reorder` has run: the axis named is outside of those that read the tile again.
Ensures: the same values.
"""

import math
from typing import Any

from compiler.loops.axes import axes, find, record, refuse, swapped, swapped_body
from compiler.loops.choices import Choices, Pack
from compiler.loops.nodes import (
    After,
    Argument,
    Body,
    Load,
    Local,
    Range,
    Reduce,
    ScalarNode,
    Store,
    linear,
)
from compiler.loops.placement import dependencies
from compiler.loops.simplify import simplify
from compiler.loops.staging import (
    axes_inside,
    free_numbers,
    levels_of,
    local_numbers,
    own_loops,
    own_memory,
    variable_axis,
)
from compiler.loops.symbolic import as_sum
from compiler.node import toposort
from compiler.trace import Match, Provenance

MOST = 16 * 1024 * 1024
"""Bytes of one tile: more would be a second copy of the argument, not a tile."""


def pack(
    body: Body,
    choices: Choices,
    provenance: Provenance[Any],
    matches: list[Match] | None = None,
) -> Body:
    """`body` with the tiles that Packs name read from scratch memory."""
    for choice in choices.of(Pack):
        at = find(axes(body), choice.at, choice, choices) if choice.at else None
        if choice.at and at is None:
            continue
        before = body
        for load, dims in _tiles(body, choice, at).items():
            body = _staged(body, load, dims, choices, provenance)
        record(matches, choice, before, body)
    return simplify(body, provenance, matches) if choices.of(Pack) else body


def _tiles(body: Body, choice: Pack, at: Range | None) -> dict[Load, tuple[Range, ...]]:
    """The loads to stage, each with the axes of its tile, outermost first."""
    order: list[ScalarNode] = toposort([body])
    needs = dependencies(body)
    loads = [n for n in order if isinstance(n, Load) and _is_of(n, choice.slot)]
    if not loads or choice.slot == 0:
        refuse(choice, f"argument {choice.slot} is not read", "the slot of an input")
    result: dict[Load, tuple[Range, ...]] = {}
    for load in loads:
        dims = _dims(body, load, at, needs, order)
        if dims:
            result[load] = dims
    if not result:
        where = choice.at or "the whole kernel"
        refuse(choice, f"no reduction in {where} reads argument {choice.slot}", "one that is")
    for dims in result.values():
        _check(choice, dims)
    return result


def _is_of(load: Load, slot: int) -> bool:
    return isinstance(load.sources[0], Argument) and load.sources[0].slot == slot


def _dims(
    body: Body,
    load: Load,
    at: Range | None,
    needs: dict[ScalarNode, frozenset[Range]],
    order: list[ScalarNode],
) -> tuple[Range, ...]:
    """The axes of the tile that `load` reads in one turn of `at`; none where `at` has no load."""
    inside = axes_inside(body, load, at, needs[load])
    folded = [r for n in order if isinstance(n, Reduce) for r in n.ranges if r in needs[load]]
    return () if inside is None or not folded else tuple(dict.fromkeys((*folded, *inside)))


def _check(choice: Pack, dims: tuple[Range, ...]) -> None:
    """Refuse a tile whose size is not known or that is no tile."""
    variable = variable_axis(dims)
    if variable is not None:
        refuse(choice, f"{variable.name} has a variable number of turns", "a fixed one")
    if math.prod(r.extent for r in dims) * 8 > MOST:
        axes = ", ".join(f"{r.name} {r.extent}" for r in dims)
        refuse(choice, f"the tile is too large: {axes}", f"at most {MOST:,} bytes")


def _staged(
    body: Body,
    load: Load,
    dims: tuple[Range, ...],
    choices: Choices,
    provenance: Provenance[Any],
) -> Body:
    """`body` with `load` reading a copy of its tile."""
    shape = tuple(r.extent for r in dims)
    memories = local_numbers(body)
    local = Local((), next(memories), load.dtype, math.prod(shape))
    steps = as_sum(load.sources[1]).terms
    levels = levels_of(dims, [steps.get(r) == 1 for r in dims], choices)
    copies = own_loops(free_numbers(body), dims, levels, provenance)
    moved = own_memory(body, dims, memories)
    moved.update(zip(dims, copies, strict=True))
    value = swapped(load, moved, provenance, True)
    filled = Store((local, linear(copies, shape), value, *copies))
    made = Load((After((local, filled)), linear(dims, shape)))
    return swapped_body(body, {load: made}, provenance)
