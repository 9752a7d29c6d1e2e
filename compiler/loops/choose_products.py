"""Choices for sums of products: matrix products, with batches, transposed or not.

    out[i0, i1] = Σ r2  rows[i0, r2] * columns[r2, i1]

A tile of accumulators, some rows by some vectors of columns, stays in registers for the whole sum:
each element of `rows` is read once for all its columns, each vector of `columns` for all its rows.
"""

from dataclasses import dataclass

from compiler.loops.accesses import Access, Accesses
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
from compiler.loops.lanes import is_worth_threads, lane_count, shared_out
from compiler.loops.levels import length, obstacle
from compiler.loops.nodes import Alu, Load, Range, Reduce
from compiler.machine import MachineModel

TILES = ((3, 8), (4, 6), (2, 12), (1, 14))
"""Vectors by rows of accumulators: about 24, so that operands find registers among 32."""
WORTH_PACKING = 2
"""Tiles of rows that read a panel before it is worth to copy it."""


@dataclass(frozen=True, slots=True)
class Product:
    """The parts of a sum of products."""

    rows: Range
    columns: Range
    outside: tuple[Range, ...]
    folded: Range
    panel: Access
    """The operand that depends on the columns."""


def products(seen: Accesses, model: MachineModel) -> Choices | None:
    """Register tiles, the operand with the columns packed; cores over the rows."""
    lanes = lane_count(seen, model)
    found = _product(seen)
    if found is None or found.columns.extent < lanes:
        return None
    if obstacle(seen.order, found.columns, seen.needs):
        return None
    vectors, height = _tile(found, lanes)
    choices = _tiles(seen, found, vectors, height, lanes, model)
    return Choices(tuple(choices))


def _product(seen: Accesses) -> Product | None:
    """The parts, where the kernel is the sum of a product of two loads, and what follows it."""
    if len(seen.reductions) != 1 or len(seen.ranges) < 2:
        return None
    fold = seen.reductions[0]
    value = fold.sources[0]
    is_sum = fold.op == "sum" and len(fold.ranges) == 1 and isinstance(value, Alu)
    if not is_sum or not isinstance(value, Alu) or value.op != "mul":
        return None
    if not all(isinstance(s, Load) and s.gate is None for s in value.sources):
        return None
    columns, folded = seen.ranges[-1], fold.ranges[0]
    if seen.store.step(columns) != 1 or length(columns) is None or length(folded) is None:
        return None
    rows = seen.ranges[-2]
    return _sides(seen, fold, rows, columns)


def _sides(seen: Accesses, fold: Reduce, rows: Range, columns: Range) -> Product | None:
    """The parts, if one operand depends on the rows and the other on the columns."""
    if length(rows) is None:
        return None
    found = [next(a for a in seen.loads if a.node is s) for s in fold.sources[0].sources]
    panels = [a for a in found if columns in seen.needs[a.node]]
    heights = [a for a in found if rows in seen.needs[a.node]]
    is_apart = len(panels) == 1 and len(heights) == 1 and panels != heights
    if not is_apart or not all(a.is_affine for a in found):
        return None
    return Product(rows, columns, seen.ranges[:-2], fold.ranges[0], panels[0])


def _tile(found: Product, lanes: int) -> tuple[int, int]:
    """Vectors and rows of the accumulators: those that leave least of the columns idle."""
    columns = found.columns.extent

    def waste(shape: tuple[int, int]) -> int:
        width = shape[0] * lanes
        return -(-columns // width) * width - columns

    return min(TILES, key=waste)


def _tiles(
    seen: Accesses, found: Product, vectors: int, height: int, lanes: int, model: MachineModel
) -> list[Choice]:
    """The cuts, the order of the loops, and their levels."""
    rows, columns = found.rows.name, found.columns.name
    width = vectors * lanes
    why = f"{height} rows by {vectors} vectors of {lanes}: {height * vectors} accumulators"
    choices: list[Choice] = []
    split, block = _split(seen, found, model)
    if split:
        choices.append(Tile(rows, block, "peel", f"{found.rows.extent} rows, a part per core"))
    outer = [f"{rows}.0"] if split else []
    inner = [f"{rows}.1", f"{rows}.2"] if split else [rows]
    tall = "mask" if found.columns.extent % width else "peel"
    choices += [Tile(name, height, "peel", why) for name in inner]
    choices += [
        Tile(columns, width, "mask" if tall == "mask" else "peel", why),
        Tile(f"{columns}.1", lanes, "peel", why),
    ]
    tiles = [f"{name}.{part}" for name in inner for part in (0, 1, 2)]
    loops = [f"{name}.0" for name in inner]
    turns = [name for name in tiles if name not in loops]
    order = (*outer, f"{columns}.0", *loops, *turns, f"{columns}.1.0", f"{columns}.1.1")
    choices.append(Reorder(order, "a panel of columns serves all rows"))
    choices += _packed(found, width, height, outer)
    choices += [Unroll(name, why) for name in (*turns, f"{columns}.1.0")]
    choices.append(Vectorize(f"{columns}.1.1", why))
    if split:
        choices.append(Parallelize(f"{rows}.0", model.cores, "a part of the rows for each core"))
    elif found.outside:
        choices += shared_out(seen, found.outside[0].name, found.outside[0].extent, model)
    return choices


def _split(seen: Accesses, found: Product, model: MachineModel) -> tuple[bool, int]:
    """Whether the rows are shared out, and how many rows each core gets."""
    block = found.rows.extent // model.cores
    return is_worth_threads(seen, model) and not found.outside and block >= 1, block


def _packed(found: Product, width: int, height: int, outer: list[str]) -> list[Choice]:
    """The panel of one tile of columns in scratch memory, where it is read often enough."""
    uses = found.rows.extent // height
    if uses < WORTH_PACKING:
        return []
    around = [*(r.name for r in found.outside), *outer]
    if found.columns.extent > width:
        around.append(f"{found.columns.name}.0")
    words = f"the panel is read by {uses} tiles of rows, each time from end to end"
    return [Pack(found.panel.argument.slot, around[-1] if around else "", words)]
