"""Choices for sums of products: matrix products, with batches, transposed or not.

    out[i0, i1] = Σ r2  rows[i0, r2] * columns[r2, i1]

A tile of accumulators, some rows by some vectors of columns, stays in registers for the whole sum:
each element of `rows` is read once for all its columns, each vector of `columns` for all its rows.
`product_plans.py` chooses the tile.
"""

import math

from compiler.core.reason import Number, Reason
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
from compiler.loops.choosing.products import Product, product
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
    found = product(seen)
    if found is None:
        return Reason("it is no sum of products")
    against = obstacle(seen.order, found.columns, seen.needs)
    if against:
        return Reason(against)
    results = found.rows.extent * found.columns.extent
    if results <= FEW_RESULTS:
        words = f"{results} results: LLVM finds lanes along the sum"
        return Reason(words, Number("results", results, "", "more than", FEW_RESULTS))
    widest = lane_count(seen, model)
    cores = model.cores if is_worth_threads(seen, model) else 1
    if cores == 1 and _is_short(found) and found.columns.extent >= widest:
        trips = Number("trip count of the sum", extents(found.folded), "", "more than", SHORT)
        words = "left to LLVM: so short a sum writes rows, and LLVM does that as well"
        return chosen([Refused("vectorize", Reason(words, trips))])
    best = min(plans(found, widest, cores, model), key=lambda plan: plan.cycles)
    took, plain = best.cycles * extents(found.folded), _by_llvm(found, widest, model)
    if cores == 1 and plain < took:
        words = "left to LLVM: the plain loops become vectors that take fewer cycles"
        seen_both = Number("plain loops by LLVM", plain, "cycles", "tiles of sums", took)
        return chosen([Refused("vectorize", Reason(words, seen_both))])
    fetched = _fetched(seen, found, best, model)
    alone = on_one_core(seen, best, cores, model)
    return chosen((*tiled(found, best, model), *fetched, *alone))


def on_one_core(seen: Accesses, plan: Plan, cores: int, model: MachineModel) -> list[Row]:
    """The rejected parallelisation, with the reason."""
    if plan.split != "nothing":
        return []
    words = f"no rows, columns or batches for {cores} cores take fewer cycles"
    fewest = Number("cycles for an iteration of the sum", plan.cycles, "cycles")
    few: list[Row] = [Refused("parallelize", Reason(words, fewest))]
    return kept_on_one_core(seen, model) or few


def _fetched(seen: Accesses, found: Product, plan: Plan, model: MachineModel) -> list[Row]:
    """Prefetches for the next tile while this one is stored: its operands other than those of the
    sum, a few lines of several rows, which hardware does not prefetch."""
    rows = plan.block if plan.split == "rows" else found.rows.extent
    if rows < 2 * plan.height or found.is_open or _is_short(found):
        return []
    near, tile = model.cache_bytes[1], found.rows.name + ".1" * (plan.split == "rows")
    others: dict[int, int] = {}
    for access in seen.loads:
        is_matrix = access.step(found.columns) == 1 and bool(access.step(found.rows))
        nbytes = access.argument.size * access.argument.element.itemsize
        if is_matrix and access not in (found.panel, found.other) and nbytes > near:
            others[access.argument.slot] = nbytes
    return [
        Prefetch(slot, found.columns.name, f"{tile}.0", Reason(
            "the next tile's other operands are prefetched while this one is summed up",
            Number("bytes of the operand", nbytes, "bytes", "level-2 cache", near),
        )) for slot, nbytes in sorted(others.items())
    ]  # fmt: skip


def _by_llvm(found: Product, lanes: int, model: MachineModel) -> float:
    """The cycles of the plain loops if LLVM vectorises them: the innermost loop that it does not
    unroll. If that is the sum, the vectors of few columns have to fit in registers; infinite if
    they do not."""
    trips, columns, rows = extents(found.folded), found.columns.extent, found.rows.extent
    batches, (vectors, left) = extents(found.outside), divmod(trips, lanes)
    if trips * columns <= UNROLLED and rows >= 2 * lanes and not found.is_open:
        read = trips if found.other.step(found.rows) == 1 else _parted(trips)
        cycles = trips * columns / model.multiply_adds + read + _parted(columns)
        return batches * -(-rows // lanes) * cycles
    if trips <= DEINTERLEAVED and columns >= 2 * lanes and not found.is_panel_in_order:
        each = trips / model.multiply_adds + _parted(trips)
        return batches * rows * -(-columns // lanes) * each
    is_along = all(found.other.step(r) == 1 for r in found.folded) and found.is_panel_in_order
    held = int(model.registers * HELD)
    if is_along and 0 < vectors <= DEINTERLEAVED and vectors * columns <= held:
        each = vectors / model.multiply_adds + ADDED + left
        return batches * (rows * columns * each + vectors * columns**2)
    return math.inf


def _parted(rows: int) -> float:
    """The cycles to deinterleave one vector of each of the rows."""
    return float(rows * rows) if rows <= DEINTERLEAVED else math.inf


def _is_short(found: Product) -> bool:
    """True if the sum has so few iterations that it is unrolled."""
    return extents(found.folded) <= SHORT and found.is_panel_in_order


def tiled(
    found: Product, plan: Plan, model: MachineModel, words: Words | None = None
) -> list[Row]:
    """The tiling, the order of the loops, and their levels."""
    rows, columns = found.rows.name, found.columns.name
    count, width, height = found.columns.extent, plan.width, plan.height
    one = f"an iteration of {found.folded[0].name} for the longest part"
    cycles = Number(one, plan.cycles, "cycles")
    why = Reason(
        f"{height} rows by {plan.vectors} vectors of {plan.lanes} for {found.rows.extent} rows by "
        f"{count} columns: {height * plan.vectors} accumulators",
        trip_count(rows, found.rows.extent, "rows of a tile", height),
        trip_count(columns, count, "columns of a tile", width),
        Number("accumulators", height * plan.vectors, "", "at most", plan.most),
        cycles,
    )
    cores = Number(f"{plan.split} share out over cores", plan.cores)
    shared = f"about {plan.cycles:,.0f} cycles for each iteration of {found.folded[0].name}"
    is_short = words is None and _is_short(found)
    choices: list[Row] = []
    outer, inner = list[str](), [rows]
    if plan.split == "rows":
        why_rows = Reason(f"{shared}, rows for {plan.cores} cores", cycles, cores)
        choices.append(Tile(rows, plan.block, "peel", why_rows))
        outer, inner = [f"{rows}.0"], [f"{rows}.1", f"{rows}.2"]
    choices += [Tile(name, height, "peel", why) for name in inner]
    several, panel, inside = _together(found, plan, model), [f"{columns}.0"], f"{columns}.1"
    choices += [Tile(columns, width * several, plan.tail, why)]
    if several > 1:
        choices += [Tile(inside, width, "peel", _copied(plan, several))]
        inside = f"{inside}.1"
    choices += [Tile(inside, plan.lanes, "peel", why)]
    narrow, vectors = _narrow(f"{columns}.2", count % width, plan, why)
    choices += narrow
    steps = _several(found, plan) if words is None else []
    choices += steps if words is None else _in_words(words)
    batches = [r.name for r in found.outside]
    around = [*panel, *batches] if plan.split == "columns" else [*outer, *batches, *panel]
    loops = [f"{columns}.1.0"] * (several > 1) + [f"{name}.0" for name in inner]
    if is_short and plan.split != "columns":
        around, loops = [*outer, *batches], [*loops, *panel]
    pieces = [f"{name}.{part}" for name in inner for part in (1, 2)]
    aside = [name for name in pieces if not (found.is_open and name.endswith(".2"))]
    lanes = (f"{inside}.1", *vectors)
    aside += [f"{inside}.0", *_names(narrow)]
    order = (*around, *loops, *pieces, f"{inside}.0", *_names(narrow), *lanes)
    stays = "" if is_short or plan.worth.uses is not None else f": {plan.worth.because}"
    numbers = plan.worth.because.numbers or (cycles,)
    serves = Reason(f"a panel of columns serves all rows{stays}", *numbers)
    choices.append(Reorder(order, serves))
    if is_short:
        aside += [r.name for r in found.folded]
    else:
        choices += _packed(found, plan, around, several)
        choices += (
            rows_across(found, plan, around, bool(steps), model) if words is None
            else _multiplied(found, words, around)
        )  # fmt: skip
    aside += [f"{cut.axis}.{part}" for cut in steps for part in (1, 2)]
    choices += [Unroll(name, why) for name in aside]
    choices += [Vectorize(name, why) for name in lanes]
    if plan.split != "nothing":
        why_cores = Reason(f"{shared} if {plan.cores} cores share out {plan.split}", cycles, cores)
        choices.append(Parallelize(around[0], plan.cores, why_cores))
    return choices


def _names(cuts: list[Tile]) -> list[str]:
    """The loops over tiles."""
    return [f"{cut.axis}.0" for cut in cuts]


def _narrow(name: str, left: int, plan: Plan, why: Reason) -> tuple[list[Tile], list[str]]:
    """The tiling of the remaining columns, and the axes that are lanes: whole vectors, then a
    shorter one, masked unless it is a power of two."""
    cuts, vectors = list[Tile](), list[str]()
    if plan.tail == "mask":
        return cuts, vectors
    if left >= plan.lanes:
        cuts.append(Tile(name, plan.lanes, "peel", why))
        vectors.append(f"{name}.1")
        name, left = f"{name}.2", left % plan.lanes
    lanes = 1 << (left - 1).bit_length() if left else 0
    if left > 1 and left == lanes:
        vectors.append(name)
    elif left > 1:
        cuts.append(Tile(name, lanes, "mask", why))
        vectors.append(f"{name}.1")
    return cuts, vectors


def _several(found: Product, plan: Plan) -> list[Tile]:
    """Unrolled iterations of the sum."""
    fold = found.folded[-1]
    if plan.steps == 1 or _is_short(found):
        return []
    words = f"{plan.steps} unrolled iterations: adjacent elements of rows are one load"
    trips = trip_count(fold.name, fold.extent, "unrolled", plan.steps)
    return [Tile(fold.name, plan.steps, "peel", Reason(words, trips))]


def _in_words(words: Words) -> list[Row]:
    """The tiling of the sum into words."""
    trips = trip_count(words.fold.name, words.fold.extent, "elements of a word", words.parts)
    return [Tile(words.fold.name, words.parts, "peel", Reason("elements of a word", trips))]


def _multiplied(found: Product, words: Words, around: list[str]) -> list[Row]:
    """Packed rows, so that their words are contiguous, and the sum by words."""
    name, element = f"{words.fold.name}.1", found.other.argument.element
    form = f"one instruction multiplies {words.parts} elements in each lane and adds them up"
    if words.form == "shifted":
        form += f", of two types of 8 bits: {element} is shifted into the other one"
    made: list[Row] = [Dot(name, words.form, Reason(form))]
    if words.is_in_order:
        return made
    moving = {r.name for r in (found.rows, *found.outside) if found.other.step(r)}
    outside = [each for each in around if each.removesuffix(".0") in moving]
    along = found.selected_by(found.rows)
    why = Reason("words of rows are laid out one after the other")
    at = outside[-1] if outside else ""
    return [Pack(found.other.argument.slot, at, why, along=along), *made]


def _uses(found: Product, plan: Plan) -> int:
    """The number of tiles of rows that read a panel."""
    rows = found.rows.extent // (plan.cores if plan.split == "rows" else 1)
    return -(-rows // plan.height)


def _together(found: Product, plan: Plan, model: MachineModel) -> int:
    """The number of panels that are packed at once, so that a piece of each row is several
    lines."""
    count, left = divmod(found.columns.extent, plan.width)
    is_copied = plan.worth.is_packed(_uses(found, plan)) and not _is_short(found)
    if not is_copied or not found.is_panel_in_order or (left and plan.tail == "mask"):
        return 1
    if _uses(found, plan) >= READ_OFTEN:
        return 1
    piece = plan.width * found.panel.argument.element.itemsize
    nbytes = piece * extents(r for r in found.folded if found.panel.step(r))
    cores = plan.cores if plan.split == "columns" else 1
    return max(
        (n for n in range(1, PIECE // piece + 1)
         if count % (n * cores) == 0 and n * nbytes <= model.cache_bytes[1] // 2), default=1
    )  # fmt: skip


def _copied(plan: Plan, several: int) -> Reason:
    panels = Number("panels", several, "", "copied at once")
    return Reason(f"{several} panels of {plan.width} columns are copied at once", panels)


def _packed(found: Product, plan: Plan, around: list[str], several: int) -> list[Row]:
    """The packing of panels, if they are read often enough."""
    uses, worth = _uses(found, plan), plan.worth
    limit = [] if worth.uses is None else [
        Number("tiles of rows that read a panel", uses, "", "worth a copy from", worth.uses)
    ]
    if not worth.is_packed(uses):
        words = f"read by {uses} tiles of rows; {worth.because}"
        return [Refused("pack", Reason(words, *limit, *worth.because.numbers))]
    trips = extents(r for r in found.folded if found.panel.step(r))
    size = plan.width * several * trips * pack.counted(found.panel.argument.element)
    if size > pack.MOST_PACKED:
        words = "a panel is too large to be copied"
        most = Number("panel", size, "bytes", "at most", pack.MOST_PACKED)
        return [Refused("pack", Reason(words, most))]
    words = f"read by {uses} tiles of rows, from end to end; {worth.because}"
    why = Reason(words, *limit, *worth.because.numbers)
    along = found.selected_by(found.columns)
    panel, (count, left) = f"{found.columns.name}.0", divmod(found.columns.extent, plan.width)
    outside = [name for name in around if name != panel]
    is_one = count // several + (plan.tail == "mask" and left > 0) <= 1
    # what is left over has no loop of panels around: it is copied where that would be
    places = [outside] if is_one else [around, outside][: 2 if plan.tail == "peel" and left else 1]
    ats = dict.fromkeys(there[-1] if there else "" for there in places)
    return [Pack(found.panel.argument.slot, at, why, along=along) for at in ats]
