"""Choices for sums of products: matrix products, with batches, transposed or not.

    out[i0, i1] = Σ r2  rows[i0, r2] * columns[r2, i1]

A tile of accumulators, some rows by some vectors of columns, stays in registers for the whole sum:
each element of `rows` is read once for all its columns, each vector of `columns` for all its rows.
Among all tiles that fit into the registers the one is taken that needs the fewest cycles for the
sizes at hand, what is left over and how it is shared out over the cores included.
"""

from dataclasses import dataclass
from typing import Literal

from compiler.loops.accesses import Accesses, extents
from compiler.loops.choices import (
    Choice,
    Choices,
    Pack,
    Parallelize,
    Reorder,
    Tile,
    Unroll,
    Vectorize,
)
from compiler.loops.lanes import is_worth_threads, lane_count
from compiler.loops.levels import obstacle
from compiler.loops.products import Product, product
from compiler.machine import MachineModel

VECTORS = (4, 3, 2, 1)
"""Vectors of columns side by side: whole cache lines next to each other are best."""
ACCUMULATORS = 24
"""Vectors of sums, so that operands find registers among 32."""
TALLEST = 16
"""Rows side by side: as many places of memory are read at the same time."""
WORTH_PACKING = 2
"""Tiles of rows that read a panel before it is worth to copy it."""
LATENCY = 4.0
"""Cycles that a multiply-add takes: one turn takes no less, however few there are."""
PACKING = 3.0
"""Cycles to copy one vector, which comes from far away."""
FEWEST = 4
"""Lanes of the shortest vectors."""
Split = Literal["nothing", "batches", "columns", "rows"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Accumulators of `height` rows by `vectors` vectors of `lanes`, and what cores share out."""

    vectors: int
    height: int
    lanes: int
    split: Split
    cores: int
    cycles: float
    """About how long the longest part takes, for each element that is summed up."""

    @property
    def width(self) -> int:
        """Columns of a tile."""
        return self.vectors * self.lanes


def products(seen: Accesses, model: MachineModel) -> Choices | None:
    """Register tiles, the operand with the columns packed, parts for each core."""
    found = product(seen)
    if found is None or obstacle(seen.order, found.columns, seen.needs):
        return None
    lanes = min(lane_count(seen, model), max(_power(found.columns.extent), FEWEST))
    cores = model.cores if is_worth_threads(seen, model) else 1
    plans = [
        _plan(found, vectors, height, lanes, split, cores)
        for vectors in VECTORS
        for height in range(1, min(ACCUMULATORS // vectors, TALLEST, found.rows.extent) + 1)
        for split in _splits(found, vectors * lanes, cores)
    ]
    return Choices(tuple(_choices(found, min(plans, key=lambda plan: plan.cycles))))


def _power(count: int) -> int:
    """The least power of two that is no less than `count`."""
    return 1 << (count - 1).bit_length()


def _splits(found: Product, width: int, cores: int) -> list[Split]:
    """What can be shared out."""
    if cores < 2:
        return ["nothing"]
    turns: dict[Split, int] = {
        "nothing": cores,
        "batches": found.outside[0].extent if found.outside else 0,
        "columns": -(-found.columns.extent // width),
        "rows": found.rows.extent,
    }
    return [split for split, count in turns.items() if count >= cores]


def _plan(
    found: Product, vectors: int, height: int, lanes: int, split: Split, cores: int
) -> Plan:
    """A plan with its cycles."""
    panels = -(-found.columns.extent // (vectors * lanes))
    rows, batches, first = found.rows.extent, extents(found.outside), 1
    match split:
        case "columns":
            panels = -(-panels // cores)
        case "rows":
            rows = -(-rows // cores)
        case "batches":
            first = found.outside[0].extent
            batches = batches // first * -(-first // cores)
    tiles, rest = divmod(rows, height)
    cycles = tiles * _turn(vectors, height) + (_turn(vectors, rest) if rest else 0.0)
    cycles += PACKING * vectors if tiles >= WORTH_PACKING else 0.0
    return Plan(vectors, height, lanes, split, cores, cycles * panels * batches)


def _turn(vectors: int, height: int) -> float:
    """Cycles of one turn of the sum: two multiply-adds or two loads in each of them."""
    busy = max(vectors * height / 2, (vectors + height) / 2, LATENCY)
    return busy + (vectors + height) / 16


def _choices(found: Product, plan: Plan) -> list[Choice]:
    """The cuts, the order of the loops, and their levels."""
    rows, columns = found.rows.name, found.columns.name
    count, width, height = found.columns.extent, plan.width, plan.height
    why = (
        f"{height} rows by {plan.vectors} vectors of {plan.lanes} for {found.rows.extent} rows by "
        f"{count} columns: {height * plan.vectors} accumulators"
    )
    shared = f"about {plan.cycles:,.0f} cycles for each turn of {found.folded[0].name}"
    choices: list[Choice] = []
    outer, inner = list[str](), [rows]
    if plan.split == "rows":
        block = max(found.rows.extent // plan.cores // height * height, 1)
        choices.append(Tile(rows, block, "peel", f"{shared}, rows for {plan.cores} cores"))
        outer, inner = [f"{rows}.0"], [f"{rows}.1", f"{rows}.2"]
    choices += [Tile(name, height, "peel", why) for name in inner]
    choices += [Tile(columns, width, "mask" if count % width else "peel", why)]
    choices += [Tile(f"{columns}.1", plan.lanes, "peel", why)]
    batches = [r.name for r in found.outside]
    panel = [f"{columns}.0"]
    around = [*panel, *batches] if plan.split == "columns" else [*outer, *batches, *panel]
    loops = [f"{name}.0" for name in inner]
    turns = [f"{name}.{part}" for name in inner for part in (1, 2)]
    order = (*around, *loops, *turns, f"{columns}.1.0", f"{columns}.1.1")
    choices.append(Reorder(order, "a panel of columns serves all rows"))
    choices += _packed(found, plan, around)
    choices += [Unroll(name, why) for name in (*turns, f"{columns}.1.0")]
    choices.append(Vectorize(f"{columns}.1.1", why))
    if plan.split != "nothing":
        words = f"{shared} if {plan.cores} cores share out {plan.split}"
        choices.append(Parallelize(around[0], plan.cores, words))
    return choices


def _packed(found: Product, plan: Plan, around: list[str]) -> list[Choice]:
    """The panel of one tile of columns in scratch memory, where it is read often enough."""
    uses = found.rows.extent // plan.height
    if uses < WORTH_PACKING and found.is_panel_in_order:
        return []
    is_whole = found.columns.extent <= plan.width
    there = [name for name in around if not (is_whole and name == f"{found.columns.name}.0")]
    words = f"the panel is read by {uses} tiles of rows, each time from end to end"
    if not found.is_panel_in_order:
        words = f"the panel lies across the columns; {uses} tiles of rows read it"
    return [Pack(found.panel.argument.slot, there[-1] if there else "", words)]
