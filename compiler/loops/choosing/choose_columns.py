"""Choices for reductions over a strided axis, with contiguous results."""

from compiler.core.reason import Number, Reason
from compiler.loops.choices import Accumulate, Choices, Refused, Row, Tile, chosen
from compiler.loops.choosing.accesses import Accesses
from compiler.loops.choosing.lanes import (
    against_lanes,
    against_order,
    in_vectors,
    is_worth_threads,
    kept_on_one_core,
    lanes_along,
    shared_out,
    trip_count,
)
from compiler.loops.nodes import Range
from compiler.loops.transforms.levels import length
from compiler.machines.model import MachineModel

SIDE_BY_SIDE = 4
"""Vectors of results per tile: whole cache lines of each row. Sums of 12 rows of 65,536 take 114,
88, 75 and 64 µs with 1, 2, 4 and 8 (EPYC, AVX2, 2026-11-23)."""
ROWS = 4
"""Rows that are added together before the sums in scratch memory are updated. Column sums of 4096²
take 4.1, 3.2, 2.8, 2.9 and 4.1 ms with 1, 2, 4, 8 and 16 (EPYC, AVX2, 2026-11-23)."""
ADDED = 2
"""Vectors per tile where several rows are added at a time: each row is a short stream. Column sums
of 257×509 take 8.2, 7.1, 7.7 and 8.5 µs with 1, 2, 4 and 8, those of 4096² 2.6 to 2.8 ms (EPYC,
AVX2, 2026-11-23)."""


def columns(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Vectors along the results, row after row; cores over blocks of results."""
    if not seen.reductions:
        return Reason("it does not fold")
    if not seen.ranges:
        return Reason("it has one result", Number("results", 1))
    inner = seen.ranges[-1]
    lanes = lanes_along(seen, [inner], model)
    against = against_order(seen, inner) or against_lanes(seen, inner, lanes)
    if against:
        return against
    block = inner.extent // model.cores // lanes * lanes
    is_split = seen.ranges[0] is inner and block >= lanes and is_worth_threads(seen, model)
    name, trips, at = inner.name, inner.extent, ""
    choices: list[Row] = []
    if is_split:
        share = trip_count(name, trips, "a vector for each core", lanes * model.cores)
        words = Reason(f"{trips} results, a part for each core", share)
        choices.append(Tile(name, block, "peel", words))
        name, trips, at = name.inner, block, name.outer
    else:
        at = _outside(seen)
    added = _added(seen, trips, at, model)
    side = ADDED if chosen(added) else SIDE_BY_SIDE
    choices += in_vectors(name, trips, lanes, side, "results next to each other")
    choices += added
    outer = at if is_split else seen.ranges[0].name
    if is_split or seen.ranges[0] is not inner:
        count = model.cores if is_split else seen.ranges[0].extent
        choices += shared_out(seen, outer, count, model)
    else:
        choices += kept_on_one_core(seen, model)
    return chosen(choices)


def _outside(seen: Accesses) -> str:
    """The innermost axis around the results of one row of sums; "" if all share one row."""
    needed = frozenset[Range]().union(*(seen.needs[fold] for fold in seen.reductions))
    return next((r.name for r in reversed(seen.ranges[:-1]) if r in needed), "")


def _added(seen: Accesses, trips: int, at: str, model: MachineModel) -> list[Row]:
    """Sums in scratch memory, if they are many, fit a near cache, and there are enough rows."""
    nbytes, near = trips * seen.widest, model.cache_bytes[1] // 2
    if len(seen.reductions) != 1 or len(seen.reductions[0].ranges) != 1:
        return [Refused("accumulate", Reason("more than one loop is folded"))]
    if seen.ranges[-1] not in seen.needs[seen.reductions[0]]:
        # the loops around it compute it once
        return [Refused("accumulate", Reason("it is one sum for all results"))]
    rows: Range = seen.reductions[0].ranges[0]
    if length(rows) is None:
        return [Refused("accumulate", Reason(f"the extent of {rows.name} is a variable"))]
    if any(rows in a.uneven for a in seen.loads):
        # 300 sums of 20 rows of 64 take 87 µs so and 22 µs in registers (Xeon, AVX-512, 2026-11-23)
        return [Refused("accumulate", Reason(f"rows along {rows.name} do not lie in order"))]
    least = 2 * model.vector_bytes * SIDE_BY_SIDE
    compared = (
        trip_count(rows.name, rows.extent, "at least", 4 * ROWS),
        Number("bytes of sums", nbytes, "bytes", "half the level-2 cache", near),
        Number("bytes of sums", nbytes, "bytes", "at least", least),
    )
    if rows.extent < 4 * ROWS or nbytes > near or nbytes < least:
        words = f"{nbytes:,} bytes of sums over {rows.extent} rows: registers serve as well"
        return [Refused("accumulate", Reason(words, *compared))]
    words = f"{nbytes:,} bytes of sums stay near while {rows.extent} rows are read in order"
    return [Accumulate(rows.name, ROWS, at, Reason(words, *compared))]
