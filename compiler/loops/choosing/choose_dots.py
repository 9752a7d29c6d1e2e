"""Choices for products of few rows: x @ w.T for a small batch, or for few outputs.

    out[i0, i1] = Σ r2  in1[i0, r2] * in2[i1, r2]      both contiguous along r2

The lanes are along the sum, and are added at the end. So both operands are read once, in order. A
tile of sums would have to pack one of them first, which pays only for many rows and columns.

    for i0.0 in 50          the vectors of in2 are loaded once, where all of them fit in registers
      i0.1 in 2   unrolled
      r2.0 in 7   unrolled  r2.1 in 16   lanes

If the sums are so short that the shorter operand fits in registers, it stays there. More rows, up
to 16, are processed in pairs: four rows of weights are read once from a far cache or memory, in
order, and stay in the nearest cache while all pairs use them.

    for i1.0 in 768         four rows of in2
      for i0.0 in 8         two rows of in1: eight sums
        r2.0                r2.1 in 16   lanes
"""

from compiler.core.reason import Number, Reason
from compiler.loops.axis_names import AxisName
from compiler.loops.choices import Choices, Reorder, Row, Tile, Unroll, Vectorize, chosen
from compiler.loops.choosing.accesses import Accesses, extents
from compiler.loops.choosing.lanes import (
    in_vectors,
    kept_on_one_core,
    lane_count,
    shared_out,
    trip_count,
)
from compiler.loops.choosing.products import Product, product_of
from compiler.loops.nodes import Range
from compiler.loops.transforms.levels import obstacle
from compiler.machines.model import MachineModel

FEW = 4
"""The most rows, or columns, for which no tile of sums pays; also the unrolled rows of the other.
With 1,000 columns and sums of 512, 4 rows take 257 µs in tiles and 120 so; 8 rows take 354 in tiles
and would take 267 so (EPYC, AVX2, 2026-11-23)."""
SUMS = 8
"""Vectors of sums per tile: 4 rows by 512 by 1,000 take 79, 93, 114 and 137 µs with 4, 8, 12 and 16
(least processor time, one core; where 512-bit vectors are two registers of 16), 3 rows by 1,000²
125, 129, 138 and 172 with 3, 6, 9 and 12, 2 rows by 4,096² 3.9, 3.4 and 2.7 ms with 2, 4 and 8
(EPYC, AVX2, 2026-11-23)."""
PAIRS = 16
"""The most rows for which vectors along the sum pay if the weights are not in a near cache: 8 rows
by 1,024 by 4,096 take 1.7 ms so and 3.9 in tiles, 16 by 768 by 3,072 1.8 and 3.1, 32 3.2 and 3.4 to
6.5 (EPYC, AVX2, two busy cores, 2026-11-23)."""
PAIR = 2
"""Unrolled rows in that case, by `FEW` rows of the weights: 16 by 3,072 by 768 take 1.4 ms with 2
and 2.2 with 4, where sums are spilled (EPYC, AVX2, two busy cores, 2026-11-23)."""
BUSY = 8
"""Vectors of sums that hide the latency of two arithmetic units, four cycles each. 4 columns and
sums of 4,096 take 1.60 µs with 1 and 1.53 with 4, 8 or 16 (EPYC, AVX2, 2026-11-23)."""
PEELED = 8
"""Blocks of a sum from which the remainder is a masked vector of its own. Otherwise each iteration
has a mask, which is its largest cost where masks are not cheap. 100×100 sums of 20,000 in 8 parts
take 3.9 ms with such a rest and 24 with masks (EPYC, AVX2, two busy cores, 2026-11-23)."""
HELD = 0.75
"""The share of the registers for the vectors of the shorter operand: 24 of 32. By 1,000 columns, 4
rows of 96, which are 24 vectors, take 13.9 µs so and 27.0 otherwise; 32 vectors would take 18.3 so
and take 34.0 (EPYC, AVX2, 2026-11-23)."""
SPARE = 2
"""Registers for loaded values; the sums and the vectors of the shorter operand have the others. 4
rows of 96 by 1,000 columns take 13.6 µs where they have 30 and 22.6 with 40, where sums are spilled
(EPYC, AVX2, 2026-11-23)."""


def dots(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Vectors along the sum; the shorter axis unrolled in full, the longer one in part."""
    product, lanes = product_of(seen), lane_count(seen, model)
    if product is None:
        return Reason("it is no sum of products")
    if not _is_along(product):
        return Reason("its operands do not both lie along the sum")
    fold = product.folded[0]
    short, long = sorted((product.rows, product.columns), key=lambda r: r.extent)
    few = Number(f"trip count of {short.name}", short.extent, "", "at most", FEW)
    against_rows = _against_rows(seen, product, short, long, few, model)
    if against_rows:
        return against_rows
    enough = trip_count(fold.name, fold.extent, "two vectors", 2 * lanes)
    if fold.extent < 2 * lanes:
        return Reason(f"sums of {fold.extent} are shorter than two vectors", few, enough)
    against = obstacle(seen.order, fold, seen.needs)
    if against:
        return Reason(against)
    held = short.extent * -(-fold.extent // lanes)
    most = int(model.registers * HELD)
    is_held = held <= most and long.extent > FEW >= short.extent
    free = model.registers - SPARE - held if is_held else SUMS
    together = PAIR if short.extent > FEW else short.extent
    side = max(min(FEW, free // together), 1)
    kept = Number("vectors of the shorter operand", held, "", "stay in registers", most)
    what = f"{short.extent} by {long.extent} sums, both operands in order along {fold.name}"
    words = Reason(what, few, enough, kept)
    choices = _side_by_side(product, short, long, side, words)
    if is_held:
        serve = Reason(f"{held} vectors serve {long.extent} times: {words}", *words.numbers)
        choices += _all_along(fold, lanes, serve)
    else:
        results = together * (side if long.extent > FEW else long.extent)
        choices += _along(fold, lanes, results, words)
    return chosen((*choices, *_shared_out(seen, product, long, side, model)))


def _is_along(product: Product) -> bool:
    """True if both operands are contiguous along the only axis of the sum."""
    if product.is_open or product.is_panel_in_order or len(product.folded) != 1:
        return False
    fold = product.folded[0]
    return product.panel.step(fold) == product.other.step(fold) == 1


def _against_rows(
    seen: Accesses, product: Product, short: Range, long: Range, few: Number, model: MachineModel
) -> Reason:
    """The reason why so many results are computed in tiles; empty if they are not."""
    if short.extent > FEW and not _is_paired(short, long, product.folded[0], seen, model):
        return Reason(f"{short.extent} by {long.extent} results: tiles of sums pay", few)
    again = _again(product, seen)
    if again > 1 and short.extent * again > PAIRS:
        rows = Number("rows that meet the same weights", short.extent * again, "", "at most", PAIRS)
        return Reason("so many rows in all meet the same weights: tiles of sums pay", rows)
    return Reason()


def _shared_out(
    seen: Accesses, product: Product, long: Range, side: int, model: MachineModel
) -> list[Row]:
    """The outermost loop divided among cores."""
    if product.outside:
        return shared_out(seen, product.outside[0].name, product.outside[0].extent, model)
    if long.extent > FEW:
        return shared_out(seen, long.name.outer, long.extent // side, model)
    return kept_on_one_core(seen, model)


def _again(product: Product, seen: Accesses) -> int:
    """The number of times that outer loops read the operand of the longer axis."""
    is_panel = product.columns.extent >= product.rows.extent
    moving = seen.needs[(product.panel if is_panel else product.other).node]
    return extents(r for r in product.outside if r not in moving)


def _all_along(fold: Range, lanes: int, words: Reason) -> list[Row]:
    """Lanes along the sum, with all its vectors unrolled."""
    name, left = fold.name, fold.extent % lanes
    rest = Reason(f"{words}; {left} iterations are left over", *words.numbers,
                  Number("iterations left over", left, "", "lanes", lanes))  # fmt: skip
    cut = Tile(name, lanes, "mask" if left else "peel", rest)
    return [cut, Unroll(name.outer, words), Vectorize(name.inner, words)]


def _is_paired(
    short: Range, long: Range, fold: Range, seen: Accesses, model: MachineModel
) -> bool:
    """True if rows are processed in pairs: few rows, and weights that are not in a near cache."""
    nbytes = long.extent * fold.extent * seen.widest
    return short.extent <= PAIRS and nbytes >= model.cache_bytes[1] // 2


def _side_by_side(
    product: Product, short: Range, long: Range, side: int, words: Reason
) -> list[Row]:
    """The tiling of the results: those of one iteration are unrolled."""
    if long.extent <= FEW:
        return [Unroll(short.name, words), Unroll(long.name, words)]
    name, rows = long.name, short.name
    cuts, pairs, results = [Tile(name, side, "peel", words)], list[AxisName](), [rows]
    if short.extent > FEW:
        cuts.append(Tile(rows, PAIR, "peel", words))
        pairs, results = [rows.outer], [rows.inner, rows.rest]
    results += [name.inner, name.rest]
    outside = [r.name for r in product.outside]
    order = (*outside, name.outer, *pairs, *results[-2:], *results[:-2])
    return [*cuts, Reorder(order, words), *(Unroll(each, words) for each in results)]


def _along(fold: Range, lanes: int, results: int, words: Reason) -> list[Row]:
    """Lanes along the sum, several vectors if the results are few."""
    several = max(min(BUSY // results, fold.extent // lanes), 1)
    name, size = fold.name, lanes * several
    rest = fold.extent % size
    left = Number("iterations left over", rest, "", "of a block of", size)
    trips = trip_count(name.outer, fold.extent // size, "worth a rest of its own", PEELED)
    tail = Reason(f"{words}; {rest} of {fold.extent} iterations are left over",
                  *words.numbers, left, trips)  # fmt: skip
    is_peeled = rest > 1 and fold.extent // size >= PEELED
    cut = Tile(name, size, "mask" if rest and not is_peeled else "peel", tail)
    apart = in_vectors(name.rest, rest, lanes, 1, "the rest of a sum") if is_peeled else []
    busy = Number("vectors of sums", several * results, "", "keep units busy", BUSY)
    if several == 1:
        return [cut, Vectorize(name.inner, words), *apart]
    inner = name.inner
    return [
        cut,
        Tile(inner, lanes, "peel", words),
        Unroll(inner.outer, Reason(f"{several} vectors of sums for each result", busy)),
        Vectorize(inner.inner, words),
        *apart,
    ]
