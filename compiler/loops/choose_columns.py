"""Choices for reductions over a strided axis, whose results are next to each other."""

from compiler.loops.accesses import Accesses
from compiler.loops.choices import Choice, Choices, Tile
from compiler.loops.lanes import has_lanes, in_vectors, is_read_in_order, lane_count, shared_out
from compiler.machine import MachineModel

SIDE_BY_SIDE = 4
"""Vectors of results at a time: whole cache lines of each row."""


def columns(seen: Accesses, model: MachineModel) -> Choices | None:
    """Vectors along the results, so that every row is read in order."""
    if not seen.reductions or not seen.ranges:
        return None
    inner, lanes = seen.ranges[-1], lane_count(seen, model)
    is_in_order = seen.store.step(inner) == 1 and is_read_in_order(seen, inner)
    if not is_in_order or not has_lanes(seen, inner, lanes):
        return None
    choices: list[Choice] = in_vectors(inner, lanes, SIDE_BY_SIDE, "results next to each other")
    outer, turns = seen.ranges[0].name, seen.ranges[0].extent
    if seen.ranges[0] is inner:
        size = Choices(tuple(choices)).of(Tile)[0].size
        outer, turns = f"{outer}.0", turns // size
    return Choices((*choices, *shared_out(seen, outer, turns, model)))
