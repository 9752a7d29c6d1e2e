"""Choices for copies whose input and output run along different axes: transposes.

A tile of as many rows as a vector has lanes is loaded along the input's axis, turned in registers,
and stored along the output's: each line of memory is used whole, on both sides.
"""

from compiler.loops.accesses import Accesses
from compiler.loops.choices import Choice, Choices, Reorder, Tile, Unroll, Vectorize
from compiler.loops.lanes import has_lanes, is_worth_threads, lane_count, shared_out, streamed
from compiler.loops.levels import length
from compiler.loops.nodes import Range
from compiler.machine import MachineModel


def transposes(seen: Accesses, model: MachineModel) -> Choices | None:
    """Tiles of lanes by lanes, turned in registers."""
    if seen.reductions or len(seen.ranges) < 2 or seen.store.step(seen.ranges[-1]) != 1:
        return None
    inner, lanes = seen.ranges[-1], lane_count(seen, model)
    across = _across(seen, inner)
    if across is None or not has_lanes(seen, inner, lanes) or not has_lanes(seen, across, lanes):
        return None
    words = f"input runs along {across.name}, output along {inner.name}: {lanes} by {lanes}"
    one, two = across.name, inner.name
    choices: list[Choice] = []
    outer = seen.ranges[0]
    if outer is across and is_worth_threads(seen, model) and across.extent >= lanes * model.cores:
        block = across.extent // model.cores // lanes * lanes
        choices.append(Tile(one, block, "peel", f"{across.extent} turns, a part for each core"))
        choices += shared_out(seen, f"{one}.0", model.cores, model)
        one = f"{one}.1"
    elif outer not in (across, inner):
        choices += shared_out(seen, outer.name, outer.extent, model)
    choices += [
        Tile(one, lanes, "peel", words),
        Tile(two, lanes, "peel", words),
        Reorder((f"{one}.0", f"{two}.0", f"{one}.1", f"{two}.1"), "tile by tile"),
        Unroll(f"{one}.1", words),
        Vectorize(f"{two}.1", words),
        *streamed(seen, inner, lanes, model),
    ]
    return Choices(tuple(choices))


def _across(seen: Accesses, inner: Range) -> Range | None:
    """The one axis that loads run along which do not run along `inner`."""
    found: set[Range] = set()
    for load in seen.loads:
        if load.step(inner) in (0, 1):
            continue
        along = [r for r in seen.ranges if load.step(r) == 1]
        if len(along) != 1 or load.step(inner) is None:
            return None
        found.add(along[0])
    axis = found.pop() if len(found) == 1 else None
    return axis if axis is not None and length(axis) is not None else None
