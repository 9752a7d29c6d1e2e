"""Choices for sums of products: matrix products, with batches, transposed or not.

    out[i0, i1] = Σ r2  rows[i0, r2] * columns[r2, i1]

A tile of accumulators, some rows by some vectors of columns, stays in registers for the whole sum:
each element of `rows` is read once for all its columns, each vector of `columns` for all its rows.
Among all tiles that fit into the registers the one is taken that needs the fewest cycles for the
sizes at hand, what is left over and how it is shared out over the cores included.
"""

import math
from dataclasses import dataclass
from typing import Literal

from compiler.core.reason import Number, Reason
from compiler.loops.choices import (
    Choices,
    Pack,
    Parallelize,
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
from compiler.loops.choosing.panels import Worth, worth_packing
from compiler.loops.choosing.products import Product, product
from compiler.loops.transforms import pack
from compiler.loops.transforms.levels import obstacle
from compiler.machines.model import MachineModel

VECTORS = (4, 3, 2, 1)
"""Vectors of columns side by side: whole cache lines next to each other are best. Tiles of 2, 3 and
4 vectors were within 3 % (Xeon, AVX-512, before 2026-11-22); where registers are fewer, 512³ takes
8.6, 9.0, 8.9 and 10.7 ms with 1, 2, 3 and 4 at most (EPYC, AVX2, 2026-11-23)."""
ACCUMULATORS = 24
"""Vectors of sums, so that operands find registers among 32: above 25 they are spilled, tiles of 24
were within 3 % of each other (Xeon, AVX-512, before 2026-11-22). With 16 registers of half the size
fewer are better: 256³ takes 0.86 ms with 6, 1.20 with 8 and 1.29 with 24 (EPYC, AVX2,
2026-11-23)."""
TALLEST = 16
"""Rows side by side: as many places of memory are read at the same time. Only tiles of one vector
would be taller; 256×256×16 takes 23, 63, 57 and 58 µs with 4, 8, 16 and 24, as the registers hold
four (EPYC, AVX2, 2026-11-23)."""
LATENCY = 4.0
"""Cycles that a multiply-add takes, four on Zen 3 and 4: one iteration takes no less, however few
there are. With 1, 2 or 8 products from 5×300×20 to 33³ take as long, within 4 % (EPYC, AVX2,
2026-11-23)."""
FEWEST = 4
"""Lanes of the shortest vectors. 97×89×4 takes 2.8 µs with 2 or 4, 3.4 with 8 and 7.5 with 16
(EPYC, AVX2, 2026-11-23)."""
FEW_RESULTS = 8
"""Results that are left to LLVM: it finds lanes along the sum. 6 of 300 terms take 0.80 µs so and
0.83 in tiles, 16 would take 0.89 so and take 0.82 (EPYC, AVX2, 2026-11-23)."""
SHORT = 4
"""Iterations of a sum that stand side by side: a loop would take as long as what is in it. Rows are
then all there is to write, which LLVM does as well, without masks, where a core does all: 100×3×100
went from 1.06 to 0.59 µs (EPYC, AVX-512, 2026-11-22), and from 9.7 to 1.5, as 100×6×100 would from
12.2 to 2.6 (EPYC, AVX2, 2026-11-23)."""
UNROLLED = 60
"""Iterations of loops, one in the other, that LLVM unrolls. LLVM 22.1 writes out whole loops of 50,
60, 63 and 64 in all, of 100 a part (EPYC, AVX2, 2026-11-23)."""
HELD = 24
"""Vectors that it keeps in registers while it goes from row to row, of 32. Where there are 16 of
half the size, that is too much: 24 vectors, of 1000×128×3, take 77 µs so and 39 in tiles, 8 vectors
21 and 18 (EPYC, AVX2, 2026-11-23)."""
ADDED = 8.0
"""Cycles to add up the lanes of one sum: an estimate, four steps that wait for one another. 2 makes
no difference; with 32, 1000×128×3 takes 39 µs in tiles, with 8 77 by LLVM, as under `HELD` (EPYC,
AVX2, 2026-11-23)."""
WOVEN = 8
"""Rows whose elements, one after the other in memory, LLVM parts into as many vectors. 1000×3×3
takes 2.8 µs with 0 and 1.35 with 4, 8 or 16; for more rows than 4 no difference was seen (EPYC,
AVX2, 2026-11-23)."""
Split = Literal["nothing", "batches", "columns", "rows"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Accumulators of `height` rows by `vectors` vectors of `lanes`, and what cores share out."""

    vectors: int
    height: int
    lanes: int
    split: Split
    cores: int
    worth: Worth
    """Whether the panel is copied."""
    cycles: float
    """About how long the longest part takes, for each element that is summed up."""

    @property
    def width(self) -> int:
        """Columns of a tile."""
        return self.vectors * self.lanes


def products(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Register tiles, the operand with the columns packed, parts for each core."""
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
    lanes = min(widest, max(_power(found.columns.extent), FEWEST))
    cores = model.cores if is_worth_threads(seen, model) else 1
    if cores == 1 and _is_short(found) and found.columns.extent >= widest:
        trips = Number("trip count of the sum", extents(found.folded), "", "more than", SHORT)
        words = "left to LLVM: so short a sum writes rows, and LLVM does that as well"
        return chosen([Refused("vectorize", Reason(words, trips))])
    plans = (
        Plan(vectors, height, lanes, split, cores, worth, cycles)
        for vectors in VECTORS
        for worth in (worth_packing(found, vectors * lanes, model),)
        for split in _splits(found, vectors * lanes, cores)
        for cycles, height in (_best(found, vectors, lanes, split, cores, worth),)
    )
    best = min(plans, key=lambda plan: plan.cycles)
    took, plain = best.cycles * extents(found.folded), _by_llvm(found, widest)
    if cores == 1 and plain < took:
        words = "left to LLVM: the plain loops become vectors that take fewer cycles"
        seen_both = Number("plain loops by LLVM", plain, "cycles", "tiles of sums", took)
        return chosen([Refused("vectorize", Reason(words, seen_both))])
    return chosen((*_choices(found, best), *_on_one_core(seen, best, cores, model)))


def _on_one_core(seen: Accesses, plan: Plan, cores: int, model: MachineModel) -> list[Row]:
    """That nothing is shared out, and why."""
    if plan.split != "nothing":
        return []
    words = f"no rows, columns or batches for {cores} cores take fewer cycles"
    fewest = Number("cycles for an iteration of the sum", plan.cycles, "cycles")
    few: list[Row] = [Refused("parallelize", Reason(words, fewest))]
    return kept_on_one_core(seen, model) or few


def _by_llvm(found: Product, lanes: int) -> float:
    """Cycles of the plain loops, where they become vectors: LLVM makes lanes of the iterations of
    the innermost loop that it does not unroll. Where that is the sum, vectors of few columns have
    to stay in registers; infinite where they do not."""
    trips, columns, rows = extents(found.folded), found.columns.extent, found.rows.extent
    batches, (vectors, left) = extents(found.outside), divmod(trips, lanes)
    if trips * columns <= UNROLLED and rows >= 2 * lanes and not found.is_open:
        read = trips if found.other.step(found.rows) == 1 else _parted(trips)
        cycles = trips * columns / 2 + read + _parted(columns)
        return batches * -(-rows // lanes) * cycles
    if trips <= WOVEN and columns >= 2 * lanes and not found.is_panel_in_order:
        return batches * rows * -(-columns // lanes) * (trips / 2 + _parted(trips))
    is_along = all(found.other.step(r) == 1 for r in found.folded) and found.is_panel_in_order
    if is_along and 0 < vectors <= WOVEN and vectors * columns <= HELD:
        return batches * (rows * columns * (vectors / 2 + ADDED + left) + vectors * columns**2)
    return math.inf


def _parted(rows: int) -> float:
    """Cycles to part one vector of so many rows that are woven into each other, for each row."""
    return float(rows * rows) if rows <= WOVEN else math.inf


def _is_short(found: Product) -> bool:
    """Whether the sum has so few iterations that they stand side by side."""
    return extents(found.folded) <= SHORT and found.is_panel_in_order


def _power(count: int) -> int:
    """The least power of two that is no less than `count`."""
    return 1 << (count - 1).bit_length()


def _splits(found: Product, width: int, cores: int) -> list[Split]:
    """The loops that can be shared out."""
    if cores < 2:
        return ["nothing"]
    trips: dict[Split, int] = {
        "nothing": cores,
        "batches": found.outside[0].extent if found.outside else 0,
        "columns": -(-found.columns.extent // width),
        "rows": 0 if found.is_open else found.rows.extent,
    }
    return [split for split, count in trips.items() if count >= cores]


def _best(
    found: Product, vectors: int, lanes: int, split: Split, cores: int, worth: Worth
) -> tuple[float, int]:
    """The cycles of the longest part, and the height of the tiles that takes the fewest."""
    panels = -(-found.columns.extent // (vectors * lanes))
    rows, batches = found.rows.extent, extents(found.outside)
    match split:
        case "columns":
            panels = -(-panels // cores)
        case "rows":
            rows = -(-rows // cores)
        case "batches":
            first = found.outside[0].extent
            batches = batches // first * -(-first // cores)
    most = min(ACCUMULATORS // vectors, TALLEST, rows)
    # two of a variable number leave over one iteration or none, which looks like no loop
    heights = [h for h in range(1, most + 1) if not (found.is_open and h == 2)]
    cycles, height = min((_column(found, rows, vectors, h, worth), -h) for h in heights)
    return cycles * panels * batches, -height


def _column(found: Product, rows: int, vectors: int, height: int, worth: Worth) -> float:
    """Cycles of one iteration of the sum for all rows of one panel, and to pack or await it.

    Of an unknown number of rows about half a tile is left over, one row after the other.
    """
    tiles, rest = divmod(rows, height)
    left = _iteration(vectors, rest) if rest else 0.0
    if found.is_open:
        left = height / 2 * _iteration(vectors, 1)
    cycles = tiles * _iteration(vectors, height) + left
    return cycles + worth.cost(-(-rows // height), vectors)


def _iteration(vectors: int, height: int) -> float:
    """Cycles of one iteration of the sum: two multiply-adds or two loads in each of them."""
    busy = max(vectors * height / 2, (vectors + height) / 2, LATENCY)
    return busy + (vectors + height) / 16


def _choices(found: Product, plan: Plan) -> list[Row]:
    """The cuts, the order of the loops, and their levels."""
    rows, columns = found.rows.name, found.columns.name
    count, width, height = found.columns.extent, plan.width, plan.height
    one = f"an iteration of {found.folded[0].name} for the longest part"
    cycles = Number(one, plan.cycles, "cycles")
    why = Reason(
        f"{height} rows by {plan.vectors} vectors of {plan.lanes} for {found.rows.extent} rows by "
        f"{count} columns: {height * plan.vectors} accumulators",
        trip_count(rows, found.rows.extent, "rows of a tile", height),
        trip_count(columns, count, "columns of a tile", width),
        Number("accumulators", height * plan.vectors, "", "at most", ACCUMULATORS),
        cycles,
    )
    cores = Number(f"{plan.split} share out over cores", plan.cores)
    shared = f"about {plan.cycles:,.0f} cycles for each iteration of {found.folded[0].name}"
    is_short = _is_short(found)
    choices: list[Row] = []
    outer, inner = list[str](), [rows]
    if plan.split == "rows":
        block, left = divmod(found.rows.extent, plan.cores)
        block = block if not left else max(block // height * height, 1)
        words = Reason(f"{shared}, rows for {plan.cores} cores", cycles, cores)
        choices.append(Tile(rows, block, "peel", words))
        outer, inner = [f"{rows}.0"], [f"{rows}.1", f"{rows}.2"]
    choices += [Tile(name, height, "peel", why) for name in inner]
    choices += [Tile(columns, width, "mask" if count % width else "peel", why)]
    choices += [Tile(f"{columns}.1", plan.lanes, "peel", why)]
    batches = [r.name for r in found.outside]
    panel = [f"{columns}.0"]
    around = [*panel, *batches] if plan.split == "columns" else [*outer, *batches, *panel]
    loops = [f"{name}.0" for name in inner]
    if is_short and plan.split != "columns":
        around, loops = [*outer, *batches], [*loops, *panel]
    pieces = [f"{name}.{part}" for name in inner for part in (1, 2)]
    aside = [name for name in pieces if not (found.is_open and name.endswith(".2"))]
    order = (*around, *loops, *pieces, f"{columns}.1.0", f"{columns}.1.1")
    stays = "" if is_short or plan.worth.uses is not None else f": {plan.worth.because}"
    numbers = plan.worth.because.numbers or (cycles,)
    serves = Reason(f"a panel of columns serves all rows{stays}", *numbers)
    choices.append(Reorder(order, serves))
    if is_short:
        aside += [r.name for r in found.folded]
    else:
        choices += _packed(found, plan, around)
    choices += [Unroll(name, why) for name in (*aside, f"{columns}.1.0")]
    choices.append(Vectorize(f"{columns}.1.1", why))
    if plan.split != "nothing":
        words = Reason(f"{shared} if {plan.cores} cores share out {plan.split}", cycles, cores)
        choices.append(Parallelize(around[0], plan.cores, words))
    return choices


def _packed(found: Product, plan: Plan, around: list[str]) -> list[Row]:
    """The panel of one tile of columns in scratch memory, where it is read often enough."""
    rows = found.rows.extent // (plan.cores if plan.split == "rows" else 1)
    uses, worth = -(-rows // plan.height), plan.worth
    limit = [] if worth.uses is None else [
        Number("tiles of rows that read a panel", uses, "", "worth a copy from", worth.uses)
    ]
    if not worth.is_packed(uses):
        words = f"read by {uses} tiles of rows; {worth.because}"
        return [Refused("pack", Reason(words, *limit, *worth.because.numbers))]
    trips = extents(r for r in found.folded if found.panel.step(r))
    size = plan.width * trips * pack.ELEMENT
    if size > pack.MOST_PACKED:
        words = "a panel is too large to be copied"
        most = Number("panel", size, "bytes", "at most", pack.MOST_PACKED)
        return [Refused("pack", Reason(words, most))]
    is_whole = found.columns.extent <= plan.width
    there = [name for name in around if not (is_whole and name == f"{found.columns.name}.0")]
    words = f"read by {uses} tiles of rows, from end to end; {worth.because}"
    why = Reason(words, *limit, *worth.because.numbers)
    along = found.columns.name if found.other.argument is found.panel.argument else ""
    return [Pack(found.panel.argument.slot, there[-1] if there else "", why, along=along)]
