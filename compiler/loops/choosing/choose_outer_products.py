"""Choices for products of few rows, or of long sums: the weights are read once, in order.

    out[i0, i1] = Σ r2  rows[i0, r2] * columns[r2, i1]      16 rows, say, of 3,072 columns

    for i1.0 in 2               columns for each core; their sums, for all rows, in scratch memory
      for s in r2, 4 at a time
        for i1.1.0 in 48        32 columns
          i0 in 16              sums += Σ 4 iterations of r2

A tile of sums in registers iterates over all of r2 for a few columns, and reads a short piece of
each row of `columns`. These accesses are strided, each on another page, so hardware does not
prefetch them. Packing the panel pays for many rows, but not for few, nor if the sum is so long that
a packed panel fits no near cache. Here a few whole rows of `columns` are read from begin to end and
added to the sums of all rows, which stay in a near cache: a sum of outer products, or rank-k
update.
"""

from dataclasses import replace

from compiler.core.reason import Number, Reason
from compiler.loops.axis_names import AxisName
from compiler.loops.choices import (
    Accumulate,
    Choice,
    Choices,
    Parallelize,
    Reorder,
    Row,
    Tile,
    Unroll,
    Vectorize,
    chosen,
)
from compiler.loops.choosing.accesses import Accesses, extents
from compiler.loops.choosing.choose_columns import ADDED, ROWS
from compiler.loops.choosing.lanes import (
    against_lanes,
    in_vectors,
    is_worth_threads,
    kept_on_one_core,
    lane_count,
    trip_count,
)
from compiler.loops.choosing.panels import WIDEST, share_of_place, worth_packing
from compiler.loops.choosing.products import Product, product_of
from compiler.loops.choosing.register_tiles import LINE
from compiler.machines.model import MachineModel

FEW = 64
"""The most rows for which packing the panel does not pay: 16, 32 and 64 rows by 1,024 by 4,096 take
1.8, 3.0 and 9 to 11 ms so and 17 to 26, 39 and 19 ms in tiles, which are packed from 60 rows on
(EPYC, AVX2, two busy cores, 2026-11-23)."""
MANY = 128
"""The number of rows from which tiles of sums always pay: 256×4096×256 runs at 144 GFLOP/s so and
at 201 in tiles where rows are strided along the sum, which is then split into blocks, at 142 and
265 where they are contiguous; 128×8192×256 at 156 and 169, 142 and 163 (Emerald Rapids, AVX-512,
two threads, 2026-11-26). By AVX2 256×4096×256 took 4.1 ms so and 4.9 in tiles (EPYC, Zen 5,
2026-11-24)."""
SHARED = 1.5
"""Rows per line of a set from which they are evicted from the nearest cache before their whole line
is used (conflict misses): 24, 48 and 64 rows by 2,048 by 512, 8,192 bytes apart, take 0.67,
1.43 and 1.91 ms so and 0.54, 0.87 and 1.13 in tiles, 16 rows 0.40 and 0.43; by 768 by 3,072 48 rows
take 2.0 ms so and 2.4 in tiles (EPYC, Zen 5, AVX2, 2026-11-24)."""
ONCE = 16
"""The most rows that are one or two tiles of sums: 16 rows by 512 by 1,000 take 0.18 ms so and 0.33
in tiles (EPYC, AVX2, two busy cores, 2026-11-23)."""
LEAST = 4 * ROWS
"""The trip count from which sums in scratch memory pay, as in `choose_columns`."""


def outer_products(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Sums of all rows in scratch memory, to which whole rows of the panel are added."""
    product = product_of(seen)
    if product is None:
        return Reason("it is no sum of products")
    against = _against(seen, product, model)
    if against:
        return against
    lanes, near = lane_count(seen, model), model.cache_bytes[1] // 2
    cores = model.cores if is_worth_threads(seen, model) else 1
    parts = _parts(product, lanes, 1 if product.outside else cores, model)
    if not parts:
        count = product.columns.extent
        least = Number("columns", count, "", "a vector for each core", lanes * cores)
        sums = Number("sums of a vector", _sums(product, lanes), "bytes", "at most", near)
        return Reason("columns and cores leave no sums that stay near", least, sums)
    nbytes = _sums(product, _block(product, parts, lanes) if parts > 1 else product.columns.extent)
    words = f"{nbytes:,} bytes of sums of {product.rows.extent} rows stay near"
    held = Number("bytes of sums", nbytes, "bytes", "half the level-2 cache", near)
    why = Reason(f"{words} while the panel is read in order", *_compared(product), held)
    return chosen(_choices(seen, product, parts, cores, why, model))


def _against(seen: Accesses, product: Product, model: MachineModel) -> Reason:
    """The reason why tiles of sums, or other loops, are better; empty if these loops are best."""
    lanes, (fold, *others) = lane_count(seen, model), product.folded
    if others or product.is_open or not product.is_panel_in_order or not product.panel.step(fold):
        return Reason("its weights are not read in order, row by row, along one sum")
    if fold.extent < LEAST:
        trips = trip_count(fold.name, fold.extent, "worth sums in memory", LEAST)
        return Reason(f"sums of {fold.extent} are short", trips)
    against = against_lanes(seen, product.columns, lanes, 2 * lanes)
    if against:
        return against
    worth = worth_packing(product, WIDEST * lanes, model)
    is_near = worth.is_near or worth.uses is None
    if is_near and not _is_read_once(product, model):
        return Reason("the panel of a tile of sums stays near")
    shared = _shared(product, model)
    if shared > SHARED * model.ways[0]:
        lines = Number("rows that share a set", shared, "", "lines of a set", model.ways[0])
        return Reason("rows share few sets of the nearest cache", lines)
    if product.rows.extent <= FEW or (product.is_long and product.rows.extent <= MANY):
        return Reason()
    return Reason("tiles of sums pay for so many rows", *_compared(product))


def _is_read_once(product: Product, model: MachineModel) -> bool:
    """True if a panel that would fit a near cache is read only once, and from far away."""
    weights = extents((*product.folded, product.columns)) * product.panel.argument.element.itemsize
    return product.rows.extent <= ONCE and weights > model.cache_bytes[1]


def _shared(product: Product, model: MachineModel) -> float:
    """The number of rows that share a set of the nearest cache."""
    apart = abs(product.other.step(product.rows) or 0) * product.other.argument.element.itemsize
    way = model.cache_bytes[0] // model.ways[0]
    return share_of_place(product.rows.extent, apart or LINE, LINE, way)


def _compared(product: Product) -> tuple[Number, Number]:
    """The number of rows and the trip count of the sum, with their limits."""
    rows, fold = product.rows, product.folded[0]
    return (
        trip_count(rows.name, rows.extent, "few rows", FEW),
        trip_count(fold.name, fold.extent, "a long sum", product.long_from),
    )


def _sums(product: Product, columns: int) -> int:
    """The bytes of the sums of `columns` columns."""
    return product.rows.extent * columns * product.panel.node.dtype.itemsize


def _parts(product: Product, lanes: int, cores: int, model: MachineModel) -> int:
    """The number of blocks of columns, a multiple of the cores, so that the sums of one block fit
    the nearest cache; 0 if those of a vector for each core do not."""
    columns, parts = product.columns.extent, cores
    while _sums(product, columns // parts) > model.cache_bytes[1] // 2:
        parts += cores
    return parts if columns // parts >= lanes else 0


def _choices(
    seen: Accesses, product: Product, parts: int, cores: int, why: Reason, model: MachineModel
) -> list[Row]:
    """The tiling, the order of the loops, their levels, and the loop for cores."""
    columns, lanes = product.columns, lane_count(seen, model)
    around, block = [r.name for r in product.outside], columns.extent
    cuts: list[Choice] = []
    inside = columns.name
    if parts > 1:
        block = _block(product, parts, lanes)
        cuts.append(Tile(columns.name, block, "peel", why))
        cuts += _vectors(columns.name.rest, columns.extent % block, lanes)
        around.append(columns.name.outer)
        inside = columns.name.inner
    cuts += _vectors(inside, block, lanes)
    accumulated = Accumulate(product.folded[0].name, ROWS, around[-1] if around else "", why)
    choices: list[Row] = [*cuts, _ordered(product, around, cuts, why), accumulated]
    if cores > 1 and around:
        shared = Number("iterations outside", extents(product.outside) * parts, "", "cores", cores)
        words = Reason(f"{cores} cores share out {around[0]}", shared)
        return [*choices, Parallelize(around[0], cores, words)]
    return [*choices, *kept_on_one_core(seen, model)]


def _vectors(name: AxisName, trips: int, lanes: int) -> list[Choice]:
    """The iterations of `name` in vectors. A remainder that is a power of two is a shorter vector
    without a mask."""
    vectors = in_vectors(name, trips, lanes, ADDED, "results next to each other")
    left = trips % lanes
    if left & (left - 1):
        return vectors
    return [_shortened(cut, left) for cut in vectors]


def _shortened(cut: Choice, lanes: int) -> Choice:
    """A tiling whose remainder would be masked, to exactly that many lanes."""
    if not isinstance(cut, Tile) or cut.tail == "peel":
        return cut
    return replace(cut, size=lanes, tail="peel")


def _ordered(product: Product, around: list[AxisName], cuts: list[Choice], why: Reason) -> Reorder:
    """Loops over columns outside those over rows: a row of the panel is loaded once for all
    rows."""
    aside = [cut.axis for cut in cuts if isinstance(cut, Unroll | Vectorize)]
    loops = [cut.outer for cut in cuts if isinstance(cut, Tile)]
    outer = [name for name in loops if name not in (*around, *aside)]
    return Reorder((*around, *outer, product.rows.name, *aside), why)


def _block(product: Product, parts: int, lanes: int) -> int:
    """The columns of one block: equal blocks, or whole vectors."""
    block, left = divmod(product.columns.extent, parts)
    return block // lanes * lanes if left else block
