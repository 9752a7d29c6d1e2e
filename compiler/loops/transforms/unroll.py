"""unroll: the iterations of an axis stand side by side in the code.

    Choice:  unroll i0.1
    Before:  for i0.0 in 16
               for i0.1 in 4
                 %0 = in1[i0.0*4 + i0.1]
                 %1 = exp(%0)
                 out[i0.0*4 + i0.1] = %1
    After:   i0.1 in 4   unrolled
             for i0.0 in 16
               %0 = in1[i0.0*4 + i0.1]
               %1 = exp(%0)
               out[i0.0*4 + i0.1] = %1

A value that depends on the axis is a register per iteration, any other is computed once for all
of them: so a tile of accumulators shares its loads. Elsewhere, with reordering, "register
blocking".

Relies on: `tile` has cut the axis to a few iterations.
Ensures: the same values; sums over the axis are added in another order.
"""

import math
from collections.abc import Mapping
from typing import Any

from compiler.core.trace import Match, Provenance
from compiler.loops.choices import Choices, Unroll
from compiler.loops.nodes import Body, Range, ScalarNode
from compiler.loops.placement import Nest, dependencies
from compiler.loops.transforms.axes import axes, find, record, refuse, swapped_body
from compiler.loops.transforms.levels import at_level, check_is_free, filled_by, length

MOST_UNROLLED = 64
"""Iterations of one axis side by side; more only makes code. gelu takes 0.1, 0.4, 1.0, 2.6 and 9.8
s to compile with 16, 64, 128, 256 and 512 vectors side by side, and is no faster than with 4 (EPYC,
AVX2, 2026-11-23)."""
MOST_COPIES = 512
"""Copies of one value, along all axes. A product takes 0.5, 0.9, 2.3 and 7.6 s to compile with 256,
512, 1,024 and 2,048, and is fastest with 64 and 512 (EPYC, AVX2, 2026-11-23)."""


def unroll(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with the iterations of every axis that an Unroll names side by side."""
    known, needs, made = axes(body), dependencies(body), dict[ScalarNode, ScalarNode]()
    filling = filled_by(body, needs)
    for choice in choices.of(Unroll):
        axis = find(known, choice.axis, choice, choices)
        if axis is None:
            continue
        _check(axis, choice, filling, made)
        copies = max(_copies(node, needs, {axis, *made}) for node in needs)
        if copies > MOST_COPIES:
            refuse(choice, f"{copies} copies of a value", f"{MOST_COPIES} at most: tile an axis")
        made[axis] = at_level(axis, "unroll")
        record(matches, choice, axis, made[axis])
    return swapped_body(body, made, provenance)


def _copies(
    node: ScalarNode, needs: Mapping[ScalarNode, frozenset[Range]], unrolled: set[ScalarNode]
) -> int:
    """How often the code of a node is there."""
    own = node.ranges if isinstance(node, Nest) else ()
    return math.prod(r.extent for r in needs[node].union(own) if r in unrolled)


def _check(
    axis: Range, choice: Unroll, filling: frozenset[Range], made: Mapping[ScalarNode, ScalarNode]
) -> None:
    """Refuse an axis whose iterations cannot stand side by side."""
    trips = length(axis)
    if trips is None or not 1 <= trips <= MOST_UNROLLED:
        got = "a variable trip count" if trips is None else f"{trips} iterations"
        refuse(choice, f"{axis.name} has {got}", f"1 to {MOST_UNROLLED}: tile it")
    check_is_free(axis, choice, filling, made)
