"""Choices for statistics of rows that are shorter than a vector: the lanes are rows.

    out[i0, i1] = exp(in1[i0, i1] - max) / sum   for i1 in 10

One row at a time would leave lanes idle, and each of its reductions would wait for horizontal steps
between lanes. Sixteen rows at a time avoid both: their columns are separate registers, loaded by
gathers. That pays where the columns are expensive to compute; where they are cheap, LLVM does
as well with the plain loops, which it unrolls.
"""

import math

from compiler.core.reason import Number, Reason
from compiler.loops.choices import Choices, Row, Tile, Unroll, Vectorize, chosen
from compiler.loops.choosing.accesses import Accesses
from compiler.loops.choosing.lanes import against_lanes, lane_count, shared_out
from compiler.loops.nodes import Alu, Range
from compiler.loops.transforms.levels import length
from compiler.machines.model import EXPENSIVE, NEVER_VECTOR, MachineModel

OVER_A_GATHER = frozenset(op for op, ns in EXPENSIVE.items() if ns >= 0.1 and op not in
NEVER_VECTOR)
"""Operations that take longer than a gather does for one lane. softmax of 1000×7 takes 12 µs with
0.1 or 0.05 ns, 17 with 0.3 or 0.01 (EPYC, AVX2, 2026-11-23)."""
LEAST_EXPENSIVE = 7
"""Expensive operations of one row from which LLVM no longer unrolls the plain loops. 1,000 sums of
5 exponentials take 5.0 µs so and 3.6 plain, of 7 6.8 and 7.3, of 10 9.7 and 9.8 (EPYC, AVX2,
2026-11-23)."""
SHORT = 16
"""Elements below which a row is short, where vectors have fewer lanes. softmax of 1000 rows of 8 to
11 takes 6 to 16 µs so and 29 to 40 with rows of 8 lanes, the last ones masked (EPYC, Zen 5, AVX2,
2026-11-24)."""
LEAST_COLUMNS = 5
"""Columns of one row from which the same is true. softmax of 1000×4 takes 9.1 µs so and 4.7 plain,
of 1000×5 9.2 and 24.7 (EPYC, AVX2, 2026-11-23)."""
MOST_EXPENSIVE = 32
"""Expensive operations of one row up to which the code of all columns stays small. With 32 rather
than 16 softmax of 1000×10 takes 8 µs rather than 12, of 1000×15 11 rather than 12, with AVX2 10
rather than 16, and 12 rather than 18 (EPYC, Zen 5, 2026-11-24). With 64, rows of 45 such operations
would take 69 rather than 24 (EPYC, AVX2, 2026-11-23)."""


def short_rows(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Vectors across rows, all columns unrolled; cores over the rows."""
    lanes = lane_count(seen, model)
    columns = _columns(seen, lanes)
    rows = [r for r in seen.ranges if r not in columns]
    if not columns:
        return Reason("it has no rows shorter than a vector to fold")
    if not rows or not _is_strided(seen, rows[-1], columns):
        return Reason("its rows are not read one element after the other")
    costly = [n for n in seen.order if isinstance(n, Alu) and n.op in OVER_A_GATHER]
    count = sum(_trips(seen, node, columns) for node in costly)
    least = Number("expensive operations of a row", count, "", "at least", LEAST_EXPENSIVE)
    most = Number("expensive operations of a row", count, "", "at most", MOST_EXPENSIVE)
    if not LEAST_EXPENSIVE <= count <= MOST_EXPENSIVE:
        words = f"rows of {columns[0].extent} have {count} expensive operations each"
        return Reason(words, least if count < LEAST_EXPENSIVE else most)
    against = against_lanes(seen, rows[-1], lanes)
    if against:
        return against
    axis, trips = rows[-1].name, rows[-1].extent
    short = Number("elements of a row", columns[0].extent, "", "lanes", lanes)
    words = Reason(
        f"rows of {columns[0].extent}: {lanes} rows fill a vector, "
        f"{count} expensive operations each",
        short, least, most,
    )  # fmt: skip
    choices: list[Row] = [Tile(axis, lanes, "peel", words), Vectorize(axis.inner, words)]
    choices += [Unroll(column.name, words) for column in columns]
    outer, number = (rows[0].name, rows[0].extent) if rows[1:] else (axis.outer, trips // lanes)
    return chosen((*choices, *shared_out(seen, outer, number, model)))


def _columns(seen: Accesses, lanes: int) -> list[Range]:
    """The reduced and the written axes along such a row; empty if rows fill a vector."""
    folded = list(dict.fromkeys(r.ranges[0] for r in seen.reductions if len(r.ranges) == 1))
    if not folded or any(len(r.ranges) != 1 for r in seen.reductions):
        return []
    inner = seen.ranges[-1:]
    apart = [r for r in inner if not any(r in seen.needs[fold] for fold in seen.reductions)]
    columns = [*folded, *apart]
    is_short = all(LEAST_COLUMNS <= (length(r) or lanes) < max(lanes, SHORT) for r in columns)
    return columns if is_short and len({r.extent for r in columns}) == 1 else []


def _is_strided(seen: Accesses, rows: Range, columns: list[Range]) -> bool:
    """True if every access has constant strides, and is contiguous along a row."""
    every = [*seen.loads, seen.store]
    is_even = all(a.step(rows) is not None for a in every)
    along = {a.step(c) for a in every for c in columns if c in seen.needs[a.node]}
    return is_even and along <= {0, 1}


def _trips(seen: Accesses, node: Alu, columns: list[Range]) -> int:
    """The number of computations of a node for one row."""
    return math.prod(c.extent for c in columns if c in seen.needs[node])
