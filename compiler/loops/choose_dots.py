"""Choices for a few products of rows: x @ w.T for a small batch, or for a few outputs.

    out[i0, i1] = Σ r2  in1[i0, r2] * in2[i1, r2]      both next to each other along r2

Lanes go along the sum, whose lanes are added at the end. That reads both operands once, in order,
where a tile of sums would have to bring one of them into another order first: which pays for many
rows and columns.

    for i0.0 in 50          the vectors of in2 are loaded once, where all of them fit in registers
      i0.1 in 2   unrolled
      r2.0 in 7   unrolled  r2.1 in 16   lanes

Where the sums are so short that all of the shorter operand fits in registers it stays there.
"""

from compiler.loops.accesses import Accesses
from compiler.loops.choices import Choice, Choices, Reorder, Tile, Unroll, Vectorize
from compiler.loops.lanes import lane_count, shared_out
from compiler.loops.levels import obstacle
from compiler.loops.nodes import Range
from compiler.loops.products import Product, product
from compiler.machine import MachineModel

FEW = 4
"""Rows, or columns, for which no tile of sums pays; as many of the others are side by side."""
BUSY = 8
"""Vectors of sums that keep the arithmetic units busy."""
HELD = 24
"""Vectors of the shorter operand that stay in registers."""
REGISTERS = 30
"""For these, and the sums."""


def dots(seen: Accesses, model: MachineModel) -> Choices | None:
    """Vectors along the sum; all of the shorter axis and some of the longer one side by side."""
    found, lanes = product(seen), lane_count(seen, model)
    if found is None or found.is_open or found.is_panel_in_order or len(found.folded) != 1:
        return None
    fold = found.folded[0]
    short, long = sorted((found.rows, found.columns), key=lambda r: r.extent)
    is_along = found.panel.step(fold) == found.other.step(fold) == 1
    if not is_along or short.extent > FEW or fold.extent < 2 * lanes:
        return None
    if obstacle(seen.order, fold, seen.needs):
        return None
    held = short.extent * -(-fold.extent // lanes)
    is_held = held <= HELD and long.extent > FEW
    side = max(min(FEW, (REGISTERS - held) // short.extent), 1) if is_held else FEW
    words = f"{short.extent} by {long.extent} sums, both operands in order along {fold.name}"
    choices = _side_by_side(found, short, long, side, words)
    if is_held:
        choices += _all_along(fold, lanes, f"{held} vectors serve {long.extent} times: {words}")
    else:
        choices += _along(fold, lanes, short.extent * min(long.extent, FEW), words)
    outside = found.outside[0] if found.outside else None
    if outside is not None:
        choices += shared_out(seen, outside.name, outside.extent, model)
    elif long.extent > side:
        choices += shared_out(seen, f"{long.name}.0", long.extent // side, model)
    return Choices(tuple(choices))


def _all_along(fold: Range, lanes: int, words: str) -> list[Choice]:
    """Lanes along the sum, all its vectors side by side."""
    name, left = fold.name, fold.extent % lanes
    cut = Tile(name, lanes, "mask" if left else "peel", f"{words}; {left} turns are left over")
    return [cut, Unroll(f"{name}.0", words), Vectorize(f"{name}.1", words)]


def _side_by_side(
    found: Product, short: Range, long: Range, side: int, words: str
) -> list[Choice]:
    """The results of one turn."""
    if long.extent <= FEW:
        return [Unroll(short.name, words), Unroll(long.name, words)]
    name = long.name
    outside = [r.name for r in found.outside]
    order = (*outside, f"{name}.0", f"{name}.1", f"{name}.2", short.name)
    return [
        Tile(name, side, "peel", words),
        Reorder(order, words),
        *(Unroll(each, words) for each in (short.name, f"{name}.1", f"{name}.2")),
    ]


def _along(fold: Range, lanes: int, results: int, words: str) -> list[Choice]:
    """Lanes along the sum, several vectors of them where the results are few."""
    several = max(min(BUSY // results, fold.extent // lanes), 1)
    name, size = fold.name, lanes * several
    tail = f"{words}; {fold.extent % size} of {fold.extent} turns are left over"
    cut = Tile(name, size, "mask" if fold.extent % size else "peel", tail)
    if several == 1:
        return [cut, Vectorize(f"{name}.1", words)]
    inner = f"{name}.1"
    return [
        cut,
        Tile(inner, lanes, "peel", words),
        Unroll(f"{inner}.0", f"{several} vectors of sums for each result"),
        Vectorize(f"{inner}.1", words),
    ]
