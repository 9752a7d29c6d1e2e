"""row_folds: lanes and unrolling of a reduction over rows that has several loops.

    acc %27 = min in 16 lanes, twice two         out[i4] = min r2 r3  in1[r2, i4, r3]
    for r2.0 in 2                                4 by 32 elements of one result
      r2.1 in 2   unrolled                       two rows at a time
      r3.1.0 in 2   unrolled   r3.1.1 lanes      a row in two vectors

The innermost loop is vectorised; the loops around it iterate over rows. The lanes of an accumulator
are combined once, after all loops, so that vectors pay for shorter rows than if each row had a
result. A short row is one block of vectors, the last one masked: a separate remainder would iterate
over all rows again. If a row has too few vectors to hide the latency of the reduction, several rows
are unrolled together.
"""

from compiler.core.reason import Number, Reason
from compiler.loops.axis_names import AxisName
from compiler.loops.choices import Choice, Tile, Unroll, Vectorize
from compiler.loops.choosing.accesses import Accesses
from compiler.loops.choosing.lanes import in_vectors, trip_count
from compiler.loops.nodes import Range
from compiler.loops.transforms.levels import length

BLOCK = 8
"""The most unrolled vectors of a row, the last one masked."""


def around(seen: Accesses, axis: Range) -> tuple[Range, ...]:
    """The loops of a reduction around its rows along `axis`, outermost first."""
    outside = (r.ranges[:-1] for r in seen.reductions if r.ranges[-1] is axis)
    return max(outside, key=len, default=())


def in_rows(seen: Accesses, axis: Range, lanes: int, side: int) -> list[Choice]:
    """Lanes of a reduction over rows along `axis`, with about `side` interleaved accumulators."""
    outer, name, trips = around(seen, axis), axis.name, axis.extent
    if not outer:
        return in_vectors(name, trips, lanes, side, "a fold along a row")
    vectors = -(-trips // lanes)
    if vectors > BLOCK:
        return _long(name, trips, lanes, side)
    return [*_several(outer[-1], side // vectors), *_block(name, trips, lanes)]


def _long(name: AxisName, trips: int, lanes: int, side: int) -> list[Choice]:
    """A long row in vectors, `side` unrolled; the remainder is one block."""
    rest = trips % (lanes * side)
    whole = in_vectors(name, trips - rest, lanes, side, "a fold along rows")
    return [*whole, *(_block(name.rest, rest, lanes) if rest > 1 else ())]


def _block(name: AxisName, trips: int, lanes: int) -> list[Choice]:
    """A number of iterations as unrolled vectors, the last one masked if there is a remainder."""
    vectors = -(-trips // lanes)
    filled = trip_count(name, trips, "lanes of the block", vectors * lanes)
    words = Reason(f"a row of {trips} in {vectors} vectors of {lanes}", filled)
    cut = Tile(name, vectors * lanes, "mask" if trips % lanes else "peel", words)
    if vectors == 1:
        return [cut, Vectorize(name.inner, words)]
    inner = name.inner
    return [
        cut,
        Tile(inner, lanes, "peel", words),
        Unroll(inner.outer, words),
        Vectorize(inner.inner, words),
    ]


def _several(rows: Range, several: int) -> list[Choice]:
    """The unrolling of `several` rows together."""
    trips = length(rows)
    if several < 2 or trips is None:
        return []
    name, group = rows.name, Number("unrolled rows", several)
    words = Reason(f"{several} rows at a time hide the latency of each", group)
    if trips <= several:
        return [Unroll(name, words)]
    return [Tile(name, several, "peel", words), Unroll(name.inner, words)]
