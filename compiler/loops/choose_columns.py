"""Choices for reductions over a strided axis, whose results are next to each other."""

from compiler.loops.accesses import Accesses
from compiler.loops.choices import Accumulate, Choice, Choices, Tile
from compiler.loops.lanes import (
    has_lanes,
    in_vectors,
    is_read_in_order,
    is_worth_threads,
    lane_count,
    shared_out,
)
from compiler.loops.levels import length
from compiler.loops.nodes import Range
from compiler.machine import MachineModel

SIDE_BY_SIDE = 4
"""Vectors of results at a time: whole cache lines of each row."""
ROWS = 4
"""Rows that are added together before the sums in scratch memory are touched."""
ADDED = 2
"""Vectors at a time where rows are: as many streams as there are rows, and short ones."""


def columns(seen: Accesses, model: MachineModel) -> Choices | None:
    """Vectors along the results, row after row; cores over blocks of results."""
    if not seen.reductions or not seen.ranges:
        return None
    inner, lanes = seen.ranges[-1], lane_count(seen, model)
    is_in_order = seen.store.step(inner) == 1 and is_read_in_order(seen, inner)
    if not is_in_order or not has_lanes(seen, inner, lanes):
        return None
    block = inner.extent // model.cores // lanes * lanes
    is_split = seen.ranges[0] is inner and block >= lanes and is_worth_threads(seen, model)
    name, turns, at = inner.name, inner.extent, ""
    choices: list[Choice] = []
    if is_split:
        choices.append(Tile(name, block, "peel", f"{turns} results, a part for each core"))
        name, turns, at = f"{name}.1", block, f"{name}.0"
    else:
        at = _outside(seen)
    added = _added(seen, turns, at, model)
    side = ADDED if added else SIDE_BY_SIDE
    choices += in_vectors(name, turns, lanes, side, "results next to each other")
    choices += added
    outer = at if is_split else seen.ranges[0].name
    if is_split or seen.ranges[0] is not inner:
        count = model.cores if is_split else seen.ranges[0].extent
        choices += shared_out(seen, outer, count, model)
    return Choices(tuple(choices))


def _outside(seen: Accesses) -> str:
    """The innermost axis around the results of one row of sums; "" where all share one row."""
    needed = frozenset[Range]().union(*(seen.needs[fold] for fold in seen.reductions))
    return next((r.name for r in reversed(seen.ranges[:-1]) if r in needed), "")


def _added(seen: Accesses, turns: int, at: str, model: MachineModel) -> list[Choice]:
    """Sums in scratch memory, where they are many and near, and the rows are enough."""
    nbytes, near = turns * seen.widest, model.cache_bytes[1] // 2
    if len(seen.reductions) != 1 or len(seen.reductions[0].ranges) != 1:
        return []
    if seen.ranges[-1] not in seen.needs[seen.reductions[0]]:
        return []  # one sum for all results: the loops around it compute it once
    rows: Range = seen.reductions[0].ranges[0]
    is_long = length(rows) is not None and rows.extent >= 4 * ROWS
    if not is_long or nbytes > near or nbytes < 2 * model.vector_bytes * SIDE_BY_SIDE:
        return []
    words = f"{nbytes:,} bytes of sums stay near while {rows.extent} rows are read in order"
    return [Accumulate(rows.name, ROWS, at, words)]
