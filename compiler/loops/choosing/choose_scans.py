"""Choices for scans: running sums, products and extremes.

    out[i0, s1] = Σ s ≤ s1  in1[i0, s]      along rows, each element waits for the one before it
    out[s0, i1] = Σ s ≤ s0  in1[s, i1]      across rows, vectors of columns are independent

A scan along rows is not vectorised; several interleaved rows hide the latency of an addition. In a
scan across rows, the sums of some vectors of columns stay in registers from the first row to the
last.
"""

from compiler.core.reason import Number, Reason
from compiler.loops.choices import Choices, Refused, Row, Tile, Unroll, chosen
from compiler.loops.choosing.accesses import Accesses
from compiler.loops.choosing.lanes import (
    against_lanes,
    against_order,
    in_vectors,
    is_worth_threads,
    kept_on_one_core,
    lane_count,
    shared_out,
    trip_count,
    way_bytes,
)
from compiler.loops.nodes import Range, Scan
from compiler.loops.transforms.levels import length
from compiler.machines.model import MachineModel

ROWS = 4
"""Unrolled rows: as many as an addition has cycles of latency. Sums along 1000² take 0.94, 0.34,
0.38, 0.39 and 0.40 ms with 1, 2, 4, 8 and 16, along 8,192 rows of 256 1.0, 1.1, 0.9, 1.1 and 1.6
(EPYC, AVX2, two busy cores, 2026-11-23)."""
ALIASED = 2
"""Unrolled rows if the accesses to all of them share one set of the nearest cache. 4096² takes 19,
17, 23, 49 and 140 ms with 1, 2, 4, 8 and 16 (EPYC, AVX2, two busy cores, 2026-11-23)."""
COLUMNS, MOST = 512, 16
"""The bytes of unrolled columns, whole contiguous lines of each row; and the most vectors. Sums
down 4096² take 46, 24, 14, 13 and 12 ms with 1, 2, 4, 8 and 16 lines, of 1,000 by 1,024 0.54, 0.32,
0.26, 0.24 and 0.23 (EPYC, AVX2, two busy cores, 2026-11-23); of 1,024² 344, 178, 95 and 103 µs with
4, 8, 16 and 32 vectors (EPYC, Zen 5, AVX2, 2026-11-24)."""


def scans(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Unrolled rows, or vectors of columns; cores over outer axes."""
    value = seen.store.node.sources[2]
    if not isinstance(value, Scan):
        return Reason("it is no scan")
    others = [r for r in seen.ranges if r is not value.axis]
    if seen.reductions or not others or any(length(r) is None for r in others):
        words = f"each iteration of {value.axis.name} waits for the one before it"
        return chosen([Refused("vectorize", Reason(words)), *kept_on_one_core(seen, model)])
    lanes, inner = lane_count(seen, model), others[-1]
    against = against_order(seen, inner) or against_lanes(seen, inner, lanes)
    if against:
        return chosen([Refused("vectorize", against), *_rows(seen, others, model)])
    return chosen(_columns(seen, others, lanes, model))


def _columns(seen: Accesses, others: list[Range], lanes: int, model: MachineModel) -> list[Row]:
    """Vectors of the innermost axis, whose blocks are divided among cores if it is the only
    axis."""
    inner, what = others[-1], "columns next to each other"
    side = min(COLUMNS // model.vector_bytes, MOST)
    name, trips = inner.name, inner.extent
    block = trips // model.cores // lanes * lanes
    if len(others) > 1 or block < lanes or not is_worth_threads(seen, model):
        shared = shared_out(seen, others[0].name, others[0].extent, model)
        alone = kept_on_one_core(seen, model)
        return [*in_vectors(name, trips, lanes, side, what), *(shared if others[1:] else alone)]
    share = trip_count(name, trips, "a vector for each core", lanes * model.cores)
    words = Reason(f"{trips} columns, a part for each core", share)
    return [
        Tile(name, block, "peel", words),
        *in_vectors(name.inner, block, lanes, side, what),
        *in_vectors(name.rest, trips - trips // block * block, lanes, side, what),
        *shared_out(seen, name.outer, trips // block, model),
    ]


def _rows(seen: Accesses, others: list[Range], model: MachineModel) -> list[Row]:
    """Unrolled rows of the longest other axis."""
    rows = max(others, key=lambda r: r.extent)
    name, trips = rows.name, rows.extent
    is_outside = rows is others[0]
    cores = model.cores if is_outside and is_worth_threads(seen, model) else 1
    apart = abs(seen.store.step(rows) or 0) * seen.store.argument.element.itemsize
    side = max(min(ALIASED if apart % way_bytes(model) == 0 else ROWS, trips // cores), 1)
    several = trip_count(name, trips, "unrolled rows", side)
    sets = Number("rows apart", apart, "bytes", "one set", way_bytes(model))
    words = Reason(f"{side} unrolled rows hide the latency of each", several, sets)
    if trips <= side:
        choices: list[Row] = [Unroll(name, words)]
    else:
        cut = [Tile(name, side, "peel", words)] if side > 1 else []
        parts = (name.inner, name.rest)[: 1 + (trips % side > 1)]
        choices = [*cut, *(Unroll(each, words) for each in parts if side > 1)]
    outer, count = others[0].name, others[0].extent
    if is_outside and trips > side > 1:
        outer, count = name.outer, trips // side
    if is_outside and trips <= side:
        return [*choices, *kept_on_one_core(seen, model)]
    return [*choices, *shared_out(seen, outer, count, model)]
