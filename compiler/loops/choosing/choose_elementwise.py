"""Choices for elementwise kernels, which have no reductions."""

from compiler.core.reason import Number, Reason
from compiler.loops.choices import Choices, Row, Tile, chosen
from compiler.loops.choosing.accesses import Accesses
from compiler.loops.choosing.lanes import (
    against_lanes,
    against_order,
    in_vectors,
    lanes_along,
    shared_out,
    side_by_side,
    streamed,
)
from compiler.machines.model import MachineModel

SIDE_BY_SIDE = 4
"""The most unrolled vectors: that many loads are in flight at a time. gelu of 65,537 takes 44,
40, 39 and 38 µs with 1, 2, 4 and 8, four operations on 1,000,003 take 392, 394, 387 and 473 (EPYC,
AVX2, 2026-11-23)."""


def elementwise(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Vectors along the innermost axis, several at a time; cores over the outermost."""
    if seen.reductions:
        return Reason("it folds")
    if not seen.ranges:
        return Reason("it writes one element", Number("elements written", 1))
    inner = seen.ranges[-1]
    lanes = lanes_along(seen, [inner], model)
    against = against_order(seen, inner) or against_lanes(seen, inner, lanes)
    if against:
        return against
    what, several = "elements one after the other", side_by_side(seen, model, SIDE_BY_SIDE)
    choices: list[Row] = [*in_vectors(inner.name, inner.extent, lanes, several, what)]
    outer, trips = seen.ranges[0].name, seen.ranges[0].extent
    if seen.ranges[0] is inner:
        size = chosen(choices).of(Tile)[0].size
        outer, trips = outer.outer, trips // size
    choices += shared_out(seen, outer, trips, model)
    return chosen((*choices, *streamed(seen, inner, lanes, model)))
