"""vectorize: vectorisation. The iterations of an axis become the lanes of vector registers.

    Choice:  vectorize i0.1
    Before:  for i0.0 in 4
               for i0.1 in 16
                 %0 = in1[i0.0*16 + i0.1]
                 %1 = exp(%0)
                 out[i0.0*16 + i0.1] = %1
    After:   i0.1 in 16   lanes
             for i0.0 in 4
               %0 = in1[i0.0*16 + i0.1]
               %1 = exp(%0)
               out[i0.0*16 + i0.1] = %1

Every value that depends on the axis becomes a vector; an expression depends on one such axis only.
A reduction over the axis accumulates vectors and combines their lanes at the end.

Relies on: `tile` has split the axis to the length of a vector, or a multiple of it.
Ensures: the same values; sums over the axis are added in another order.
"""

from collections.abc import Mapping
from typing import Any

from compiler.core.trace import Match, Provenance
from compiler.loops.choices import Choices, Vectorize
from compiler.loops.nodes import Body, Range, ScalarNode
from compiler.loops.placement import dependencies
from compiler.loops.transforms.axes import axes, find, record, refuse, swapped_body
from compiler.loops.transforms.levels import at_level, check_is_free, filled_by, length, obstacle

MOST_LANES = 64
"""The most lanes: those of the narrowest type in a register of 64 bytes."""


def vectorize(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with the iterations of every axis that a Vectorize names as lanes."""
    by_name, needs, replaced = axes(body), dependencies(body), dict[ScalarNode, ScalarNode]()
    filling = filled_by(body, needs)
    for choice in choices.of(Vectorize):
        axis = find(by_name, choice.axis, choice, choices)
        if axis is None:
            continue
        _check(axis, choice, filling, replaced)
        objection = obstacle(needs, axis, needs, [r for r in replaced if isinstance(r, Range)])
        if objection:
            refuse(choice, f"{axis.name} cannot be lanes: {objection}")
        replaced[axis] = at_level(axis, "vector")
        record(matches, choice, axis, replaced[axis])
    return swapped_body(body, replaced, provenance)


def _check(
    axis: Range, choice: Vectorize, filling: frozenset[Range], done: Mapping[ScalarNode, ScalarNode]
) -> None:
    """Refuse an axis whose iterations cannot be lanes."""
    lanes = length(axis)
    if lanes is None or not 2 <= lanes <= MOST_LANES or lanes & (lanes - 1):
        got = "a variable trip count" if lanes is None else f"{lanes} iterations"
        refuse(choice, f"{axis.name} has {got}", f"a power of two from 2 to {MOST_LANES}")
    check_is_free(axis, choice, filling, done)
