"""Choices for sums of products: matrix products, with batches, transposed or not.

    out[i0, i1] = Σ r2  rows[i0, r2] * columns[r2, i1]

A tile of accumulators, some rows by some vectors of columns, stays in registers for the whole sum:
each element of `rows` is read once for all its columns, each vector of `columns` for all its rows.
`product_plans.py` chooses the tile.
"""

import math

from compiler.core.reason import Number, Reason
from compiler.loops.axis_names import AxisName
from compiler.loops.choices import (
    Choices,
    Dot,
    Pack,
    Parallelize,
    Prefetch,
    Refused,
    Reorder,
    Row,
    Tile,
    Unroll,
    Vectorize,
    chosen,
)
from compiler.loops.choosing.accesses import Accesses, extents
from compiler.loops.choosing.lanes import is_worth_threads, kept_on_one_core, lane_count, trip_count
from compiler.loops.choosing.product_plans import Plan, Words, plans
from compiler.loops.choosing.products import Product, product_of
from compiler.loops.choosing.rows_across import rows_across
from compiler.loops.transforms import pack
from compiler.loops.transforms.levels import obstacle
from compiler.machines.model import MachineModel

FEW_RESULTS = 8
"""The most results that are left to LLVM, which vectorises along the sum. 6 of 300 terms take 0.80
µs so and 0.83 in tiles, 16 would take 0.89 so and take 0.82 (EPYC, AVX2, 2026-11-23)."""
SHORT = 4
"""The most iterations of a sum that is unrolled: the overhead of a loop would equal its work. Then
the kernel only writes rows, which LLVM does as well, without masks, on one core: 100×3×100
went from 1.06 to 0.59 µs (EPYC, AVX-512, 2026-11-22), and from 9.7 to 1.5, as 100×6×100 would from
12.2 to 2.6 (EPYC, AVX2, 2026-11-23)."""
UNROLLED = 60
"""The most iterations of nested loops that LLVM unrolls. LLVM 22.1 fully unrolls loops of 50,
60, 63 and 64 in all, of 100 a part (EPYC, AVX2, 2026-11-23)."""
HELD = 0.75
"""The share of registers in which LLVM keeps vectors from one row to the next: 24 of 32.
Where there are 16, 24 vectors, of 1000×128×3, are too many and take 77 µs so and 39 in tiles, 8
vectors 21 and 18 (EPYC, AVX2, 2026-11-23)."""
PIECE = 256
"""The bytes of each row that are packed at once: 48×1024² takes 1.03 ms with 64, 0.84 with 128,
0.78 with 256 and 0.77 with 512, 96×2048² 7.2, 6.8, 6.5 and 7.4, 1024³ 16.0, 15.4, 15.2 and 15.3
(EPYC, Zen 5, AVX2, 2026-11-24)."""
READ_OFTEN = 64
"""The number of tiles of rows per panel from which the order of packing no longer matters. Only
the space that the panel has in the cache does. 2048³ reaches 184 GFLOP/s with pieces of 256 bytes,
192 with 128 and 209 with 64, 3072³ 147, 154 and 193, 1024³ 213, 194 and 215; 96×2048², read by 16
tiles, 168, 146 and 152 (EPYC, Zen 4, AVX2, two threads, 2026-11-24)."""
ADDED = 8.0
"""Cycles to add up the lanes of one sum: an estimate, four dependent steps. 2 makes
no difference; with 32, 1000×128×3 takes 39 µs in tiles, with 8 77 by LLVM, as under `HELD` (EPYC,
AVX2, 2026-11-23)."""
DEINTERLEAVED = 8
"""The most contiguous rows that LLVM deinterleaves into vectors. 1000×3×3 takes 2.8 µs with 0 and
1.35 with 4, 8 or 16; for more rows than 4 no difference was seen (EPYC, AVX2, 2026-11-23)."""


def products(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Register tiles, a packed panel of columns, and a part for each core."""
    product = product_of(seen)
    if product is None:
        return Reason("it is no sum of products")
    against = obstacle(seen.order, product.columns, seen.needs)
    if against:
        return Reason(against)
    results = product.rows.extent * product.columns.extent
    if results <= FEW_RESULTS:
        words = f"{results} results: LLVM finds lanes along the sum"
        return Reason(words, Number("results", results, "", "more than", FEW_RESULTS))
    widest = lane_count(seen, model)
    cores = model.cores if is_worth_threads(seen, model) else 1
    if cores == 1 and _is_short(product) and product.columns.extent >= widest:
        trips = Number("trip count of the sum", extents(product.folded), "", "more than", SHORT)
        words = "left to LLVM: so short a sum writes rows, and LLVM does that as well"
        return chosen([Refused("vectorize", Reason(words, trips))])
    best = min(plans(product, widest, cores, model), key=lambda plan: plan.cycles)
    took, plain = best.cycles * extents(product.folded), _by_llvm(product, widest, model)
    if cores == 1 and plain < took:
        words = "left to LLVM: the plain loops become vectors that take fewer cycles"
        seen_both = Number("plain loops by LLVM", plain, "cycles", "tiles of sums", took)
        return chosen([Refused("vectorize", Reason(words, seen_both))])
    fetched = _fetched(seen, product, best, model)
    alone = on_one_core(seen, best, cores, model)
    return chosen((*tiled(product, best, model), *fetched, *alone))


def on_one_core(seen: Accesses, plan: Plan, cores: int, model: MachineModel) -> list[Row]:
    """The rejected parallelisation, with the reason."""
    if plan.split != "nothing":
        return []
    words = f"no rows, columns or batches for {cores} cores take fewer cycles"
    fewest = Number("cycles for an iteration of the sum", plan.cycles, "cycles")
    few: list[Row] = [Refused("parallelize", Reason(words, fewest))]
    return kept_on_one_core(seen, model) or few


def _fetched(seen: Accesses, product: Product, plan: Plan, model: MachineModel) -> list[Row]:
    """Prefetches for the next tile while this one is stored: its operands other than those of the
    sum, a few lines of several rows, which hardware does not prefetch."""
    rows = plan.block if plan.split == "rows" else product.rows.extent
    if rows < 2 * plan.height or product.is_open or _is_short(product):
        return []
    near, rows_name = model.cache_bytes[1], product.rows.name
    tile = rows_name.inner if plan.split == "rows" else rows_name
    others: dict[int, int] = {}
    for access in seen.loads:
        is_matrix = access.step(product.columns) == 1 and bool(access.step(product.rows))
        nbytes = access.argument.size * access.argument.element.itemsize
        if is_matrix and access not in (product.panel, product.other) and nbytes > near:
            others[access.argument.slot] = nbytes
    return [
        Prefetch(slot, product.columns.name, tile.outer, Reason(
            "the next tile's other operands are prefetched while this one is summed up",
            Number("bytes of the operand", nbytes, "bytes", "level-2 cache", near),
        )) for slot, nbytes in sorted(others.items())
    ]  # fmt: skip


def _by_llvm(product: Product, lanes: int, model: MachineModel) -> float:
    """The cycles of the plain loops if LLVM vectorises them: the innermost loop that it does not
    unroll. If that is the sum, the vectors of few columns have to fit in registers; infinite if
    they do not."""
    trips, columns, rows = extents(product.folded), product.columns.extent, product.rows.extent
    batches, (vectors, left) = extents(product.outside), divmod(trips, lanes)
    if trips * columns <= UNROLLED and rows >= 2 * lanes and not product.is_open:
        read = trips if product.other.step(product.rows) == 1 else _parted(trips)
        cycles = trips * columns / model.multiply_adds + read + _parted(columns)
        return batches * -(-rows // lanes) * cycles
    if trips <= DEINTERLEAVED and columns >= 2 * lanes and not product.is_panel_in_order:
        each = trips / model.multiply_adds + _parted(trips)
        return batches * rows * -(-columns // lanes) * each
    is_along = all(product.other.step(r) == 1 for r in product.folded) and product.is_panel_in_order
    held = int(model.registers * HELD)
    if is_along and 0 < vectors <= DEINTERLEAVED and vectors * columns <= held:
        each = vectors / model.multiply_adds + ADDED + left
        return batches * (rows * columns * each + vectors * columns**2)
    return math.inf


def _parted(rows: int) -> float:
    """The cycles to deinterleave one vector of each of the rows."""
    return float(rows * rows) if rows <= DEINTERLEAVED else math.inf


def _is_short(product: Product) -> bool:
    """True if the sum has so few iterations that it is unrolled."""
    return extents(product.folded) <= SHORT and product.is_panel_in_order


def tiled(
    product: Product, plan: Plan, model: MachineModel, words: Words | None = None
) -> list[Row]:
    """The tiling, the order of the loops, and their levels."""
    why, is_short = _accumulators(product, plan), words is None and _is_short(product)
    several = _together(product, plan, model)
    rows, outer, inner = _rows(product, plan, why)
    columns, inside = _columns(product, plan, several, why)
    over = product.columns.extent % plan.width
    narrow, vectors = _narrow(product.columns.name.rest, over, plan, why)
    steps = _several(product, plan) if words is None else []
    around, loops = _loops(product, plan, several, outer, inner, is_short)
    pieces = [part for name in inner for part in (name.inner, name.rest)]
    tiles = [inside.outer, *(cut.outer for cut in narrow)]
    lanes = [inside.inner, *vectors]
    order = (*around, *loops, *pieces, *tiles, *lanes)
    choices: list[Row] = [*rows, *columns, *narrow, *steps]
    if words is not None:
        choices += _in_words(words)
    choices.append(Reorder(order, _served(product, plan, is_short)))
    if not is_short:
        choices += _packed(product, plan, around, several)
    if words is not None:
        choices += _multiplied(product, words, around)
    elif not is_short:
        choices += rows_across(product, plan, around, bool(steps), model)
    unrolled = [name.inner for name in inner] if product.is_open else pieces
    summed = [r.name for r in product.folded] if is_short else []
    unrolled = [*unrolled, *tiles, *summed, *(part for s in steps for part in (s.inner, s.rest))]
    choices += [Unroll(name, why) for name in unrolled]
    choices += [Vectorize(name, why) for name in lanes]
    if plan.split != "nothing":
        shared = _shared(product, plan, f" if {plan.cores} cores share out {plan.split}")
        choices.append(Parallelize(around[0], plan.cores, shared))
    return choices


def _cycles(product: Product, plan: Plan) -> Number:
    """The cycles of the plan."""
    what = f"an iteration of {product.folded[0].name} for the longest part"
    return Number(what, plan.cycles, "cycles")


def _accumulators(product: Product, plan: Plan) -> Reason:
    """The reason for the tile: its accumulators, and the cycles that they take."""
    rows, columns, count = product.rows, product.columns, plan.height * plan.vectors
    return Reason(
        f"{plan.height} rows by {plan.vectors} vectors of {plan.lanes} for {rows.extent} rows by "
        f"{columns.extent} columns: {count} accumulators",
        trip_count(rows.name, rows.extent, "rows of a tile", plan.height),
        trip_count(columns.name, columns.extent, "columns of a tile", plan.width),
        Number("accumulators", count, "", "at most", plan.most),
        _cycles(product, plan),
    )


def _shared(product: Product, plan: Plan, words: str) -> Reason:
    """The reason for sharing out a loop: the cycles of the longest part."""
    about = f"about {plan.cycles:,.0f} cycles for each iteration of {product.folded[0].name}"
    cores = Number(f"{plan.split} share out over cores", plan.cores)
    return Reason(f"{about}{words}", _cycles(product, plan), cores)


def _rows(
    product: Product, plan: Plan, why: Reason
) -> tuple[list[Tile], list[AxisName], list[AxisName]]:
    """The tilings of the rows, the loop over the parts of cores, and the axes in tiles."""
    rows = product.rows.name
    if plan.split != "rows":
        return [Tile(rows, plan.height, "peel", why)], [], [rows]
    parts = [rows.inner, rows.rest]
    shared = _shared(product, plan, f", rows for {plan.cores} cores")
    tiles = [Tile(name, plan.height, "peel", why) for name in parts]
    return [Tile(rows, plan.block, "peel", shared), *tiles], [rows.outer], parts


def _columns(
    product: Product, plan: Plan, several: int, why: Reason
) -> tuple[list[Tile], AxisName]:
    """The tilings of the columns, and the axis of the vectors of a tile."""
    columns = product.columns.name
    cuts, inside = [Tile(columns, plan.width * several, plan.tail, why)], columns.inner
    if several > 1:
        cuts.append(Tile(inside, plan.width, "peel", _copied(plan, several)))
        inside = inside.inner
    return [*cuts, Tile(inside, plan.lanes, "peel", why)], inside


def _loops(
    product: Product, plan: Plan, several: int, outer: list[AxisName], inner: list[AxisName],
    is_short: bool,
) -> tuple[list[AxisName], list[AxisName]]:  # fmt: skip
    """The loops around a panel of columns and its own, and the loops over tiles in it."""
    panel, batches = product.columns.name.outer, [r.name for r in product.outside]
    tiles = [product.columns.name.inner.outer] * (several > 1) + [name.outer for name in inner]
    if plan.split == "columns":
        return [panel, *batches], tiles
    if is_short:
        return [*outer, *batches], [*tiles, panel]
    return [*outer, *batches, panel], tiles


def _served(product: Product, plan: Plan, is_short: bool) -> Reason:
    """The reason for the order of the loops."""
    because = plan.worth.because
    stays = "" if is_short or plan.worth.uses is not None else f": {because}"
    numbers = because.numbers or (_cycles(product, plan),)
    return Reason(f"a panel of columns serves all rows{stays}", *numbers)


def _narrow(
    name: AxisName, left: int, plan: Plan, why: Reason
) -> tuple[list[Tile], list[AxisName]]:
    """The tiling of the remaining columns, and the axes that are lanes: whole vectors, then a
    shorter one, masked unless it is a power of two."""
    cuts, vectors = list[Tile](), list[AxisName]()
    if plan.tail == "mask":
        return cuts, vectors
    if left >= plan.lanes:
        cuts.append(Tile(name, plan.lanes, "peel", why))
        vectors.append(name.inner)
        name, left = name.rest, left % plan.lanes
    lanes = 1 << (left - 1).bit_length() if left else 0
    if left > 1 and left == lanes:
        vectors.append(name)
    elif left > 1:
        cuts.append(Tile(name, lanes, "mask", why))
        vectors.append(name.inner)
    return cuts, vectors


def _several(product: Product, plan: Plan) -> list[Tile]:
    """Unrolled iterations of the sum."""
    fold = product.folded[-1]
    if plan.steps == 1 or _is_short(product):
        return []
    words = f"{plan.steps} unrolled iterations: adjacent elements of rows are one load"
    trips = trip_count(fold.name, fold.extent, "unrolled", plan.steps)
    return [Tile(fold.name, plan.steps, "peel", Reason(words, trips))]


def _in_words(words: Words) -> list[Row]:
    """The tiling of the sum into words."""
    trips = trip_count(words.fold.name, words.fold.extent, "elements of a word", words.parts)
    return [Tile(words.fold.name, words.parts, "peel", Reason("elements of a word", trips))]


def _multiplied(product: Product, words: Words, around: list[AxisName]) -> list[Row]:
    """Packed rows, so that their words are contiguous, and the sum by words."""
    name, element = words.fold.name.inner, product.other.argument.element
    form = f"one instruction multiplies {words.parts} elements in each lane and adds them up"
    if words.form == "shifted":
        form += f", of two types of 8 bits: {element} is shifted into the other one"
    rows: list[Row] = [Dot(name, words.form, Reason(form))]
    if words.is_in_order:
        return rows
    moving = {r.name for r in (product.rows, *product.outside) if product.other.step(r)}
    outside = [name for name in around if name.root in moving]
    along = product.selected_by(product.rows)
    why = Reason("words of rows are laid out one after the other")
    at = outside[-1] if outside else ""
    return [Pack(product.other.argument.slot, at, why, along=along), *rows]


def _uses(product: Product, plan: Plan) -> int:
    """The number of tiles of rows that read a panel."""
    rows = product.rows.extent // (plan.cores if plan.split == "rows" else 1)
    return -(-rows // plan.height)


def _together(product: Product, plan: Plan, model: MachineModel) -> int:
    """The number of panels that are packed at once, so that a piece of each row is several
    lines."""
    count, left = divmod(product.columns.extent, plan.width)
    is_copied = plan.worth.is_packed(_uses(product, plan)) and not _is_short(product)
    if not is_copied or not product.is_panel_in_order or (left and plan.tail == "mask"):
        return 1
    if _uses(product, plan) >= READ_OFTEN:
        return 1
    piece = plan.width * product.panel.argument.element.itemsize
    nbytes = piece * extents(r for r in product.folded if product.panel.step(r))
    cores = plan.cores if plan.split == "columns" else 1
    return max(
        (n for n in range(1, PIECE // piece + 1)
         if count % (n * cores) == 0 and n * nbytes <= model.cache_bytes[1] // 2), default=1
    )  # fmt: skip


def _copied(plan: Plan, several: int) -> Reason:
    panels = Number("panels", several, "", "copied at once")
    return Reason(f"{several} panels of {plan.width} columns are copied at once", panels)


def _packed(product: Product, plan: Plan, around: list[AxisName], several: int) -> list[Row]:
    """The packing of panels, if they are read often enough."""
    uses, worth = _uses(product, plan), plan.worth
    limit = [] if worth.uses is None else [
        Number("tiles of rows that read a panel", uses, "", "worth a copy from", worth.uses)
    ]
    if not worth.is_packed(uses):
        words = f"read by {uses} tiles of rows; {worth.because}"
        return [Refused("pack", Reason(words, *limit, *worth.because.numbers))]
    trips = extents(r for r in product.folded if product.panel.step(r))
    size = plan.width * several * trips * pack.counted(product.panel.argument.element)
    if size > pack.MOST_PACKED:
        words = "a panel is too large to be copied"
        most = Number("panel", size, "bytes", "at most", pack.MOST_PACKED)
        return [Refused("pack", Reason(words, most))]
    words = f"read by {uses} tiles of rows, from end to end; {worth.because}"
    why = Reason(words, *limit, *worth.because.numbers)
    along = product.selected_by(product.columns)
    panel, (count, left) = product.columns.name.outer, divmod(product.columns.extent, plan.width)
    outside = [name for name in around if name != panel]
    is_one = count // several + (plan.tail == "mask" and left > 0) <= 1
    # what is left over has no loop of panels around: it is copied where that would be
    places = [outside] if is_one else [around, outside][: 2 if plan.tail == "peel" and left else 1]
    ats = dict.fromkeys(there[-1] if there else "" for there in places)
    return [Pack(product.panel.argument.slot, at, why, along=along) for at in ats]
