"""Choices for reductions along rows, and what is computed from them: sums, softmax, norms."""

from compiler.loops.accesses import Accesses
from compiler.loops.choices import Choice, Choices
from compiler.loops.lanes import (
    has_lanes,
    in_vectors,
    is_read_in_order,
    lane_count,
    shared_out,
    streamed,
)
from compiler.loops.nodes import Alu, Range, Reduce
from compiler.machine import EXPENSIVE, MachineModel

ACCUMULATORS = 4
"""Vectors that a cheap fold adds to by turns: an addition waits only for the fourth before it."""
DEAR = 2
"""The same where each value is dear to compute, which takes registers and hides the wait."""


def rows(seen: Accesses, model: MachineModel) -> Choices | None:
    """Vectors along every reduction and the output's innermost axis; cores over the rows."""
    if not seen.reductions or any(len(r.ranges) != 1 for r in seen.reductions):
        return None
    lanes = lane_count(seen, model)
    folded = list(dict.fromkeys(r.ranges[0] for r in seen.reductions))
    if not all(_is_row(seen, axis) and has_lanes(seen, axis, lanes) for axis in folded):
        return None
    choices: list[Choice] = []
    for axis in folded:
        choices += in_vectors(axis, lanes, _side_by_side(seen, axis), "a fold along a row")
    inner = seen.ranges[-1] if seen.ranges else None
    if inner is not None and _is_written_along(seen, inner, lanes):
        choices += in_vectors(inner, lanes, DEAR, "the row that is written")
        choices += streamed(seen, inner, lanes, model)
    if len(seen.ranges) > (inner is not None and _is_written_along(seen, inner, lanes)):
        choices += shared_out(seen, seen.ranges[0].name, seen.ranges[0].extent, model)
    return Choices(tuple(choices))


def _is_row(seen: Accesses, axis: Range) -> bool:
    """Whether some load goes along `axis` one by one, and none jumps."""
    along = [a.step(axis) for a in seen.loads if axis in seen.needs[a.node]]
    return 1 in along and set(along) <= {0, 1}


def _is_written_along(seen: Accesses, axis: Range, lanes: int) -> bool:
    """Whether the output is written in order along `axis`, which nothing but loads depends on."""
    is_apart = all(axis not in seen.needs[r] for r in seen.reductions)
    is_in_order = seen.store.step(axis) == 1 and is_read_in_order(seen, axis)
    return is_apart and is_in_order and has_lanes(seen, axis, lanes)


def _side_by_side(seen: Accesses, axis: Range) -> int:
    """How many vectors are folded by turns."""
    inside = (n for n in seen.order if axis in seen.needs[n])
    is_dear = any(isinstance(n, Alu | Reduce) and n.op in EXPENSIVE for n in inside)
    return DEAR if is_dear else ACCUMULATORS
