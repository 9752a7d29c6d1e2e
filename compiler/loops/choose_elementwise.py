"""Choices for kernels without reductions: each element of the output by itself."""

from compiler.loops.accesses import Accesses
from compiler.loops.choices import Choice, Choices, Tile
from compiler.loops.lanes import (
    has_lanes,
    in_vectors,
    is_read_in_order,
    lane_count,
    shared_out,
    streamed,
)
from compiler.machine import MachineModel

SIDE_BY_SIDE = 4
"""Vectors side by side: so many loads are under way at a time."""


def elementwise(seen: Accesses, model: MachineModel) -> Choices | None:
    """Vectors along the innermost axis, several at a time; cores over the outermost."""
    if seen.reductions or not seen.ranges:
        return None
    inner, lanes = seen.ranges[-1], lane_count(seen, model)
    is_in_order = seen.store.step(inner) == 1 and is_read_in_order(seen, inner)
    if not is_in_order or not has_lanes(seen, inner, lanes):
        return None
    choices: list[Choice] = in_vectors(
        inner.name, inner.extent, lanes, SIDE_BY_SIDE, "elements one after the other"
    )
    outer, turns = seen.ranges[0].name, seen.ranges[0].extent
    if seen.ranges[0] is inner:
        size = Choices(tuple(choices)).of(Tile)[0].size
        outer, turns = f"{outer}.0", turns // size
    choices += shared_out(seen, outer, turns, model)
    return Choices((*choices, *streamed(seen, inner, lanes, model)))
