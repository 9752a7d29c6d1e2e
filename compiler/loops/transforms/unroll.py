"""unroll: full unrolling of an axis; unroll-and-jam where the axis has loops inside it.

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

A value that depends on the axis has one register per iteration; any other is computed once for all
of them. So a tile of accumulators shares its loads: with `tile` and `reorder` this is register
blocking.

Relies on: `tile` has split the axis, so that it has few iterations.
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
"""The most unrolled iterations of one axis; more only enlarges the code. gelu takes 0.1, 0.4, 1.0,
2.6 and 9.8 s to compile with 16, 64, 128, 256 and 512 unrolled vectors, and is no faster than with
4 (EPYC, AVX2, 2026-11-23)."""
MOST_COPIES = 512
"""The most copies of one value, along all axes. A product takes 0.5, 0.9, 2.3 and 7.6 s to compile
with 256, 512, 1,024 and 2,048, and is fastest with 64 and 512 (EPYC, AVX2, 2026-11-23)."""


def unroll(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with every axis that an Unroll names fully unrolled."""
    by_name, needs, replaced = axes(body), dependencies(body), dict[ScalarNode, ScalarNode]()
    filling = filled_by(body, needs)
    for choice in choices.of(Unroll):
        axis = find(by_name, choice.axis, choice, choices)
        if axis is None:
            continue
        _check(axis, choice, filling, replaced)
        copies = max(_copies(node, needs, {axis, *replaced}) for node in needs)
        if copies > MOST_COPIES:
            refuse(choice, f"{copies} copies of a value", f"{MOST_COPIES} at most: tile an axis")
        replaced[axis] = at_level(axis, "unroll")
        record(matches, choice, axis, replaced[axis])
    return swapped_body(body, replaced, provenance)


def _copies(
    node: ScalarNode, needs: Mapping[ScalarNode, frozenset[Range]], unrolled: set[ScalarNode]
) -> int:
    """The number of unrolled copies of a node."""
    ranges = node.ranges if isinstance(node, Nest) else ()
    return math.prod(r.extent for r in needs[node].union(ranges) if r in unrolled)


def _check(
    axis: Range, choice: Unroll, filling: frozenset[Range], built: Mapping[ScalarNode, ScalarNode]
) -> None:
    """Refuse an axis that cannot be unrolled."""
    trips = length(axis)
    if trips is None or not 1 <= trips <= MOST_UNROLLED:
        got = "a variable trip count" if trips is None else f"{trips} iterations"
        refuse(choice, f"{axis.name} has {got}", f"1 to {MOST_UNROLLED}: tile it")
    check_is_free(axis, choice, filling, built)
