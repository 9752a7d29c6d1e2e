"""Rows that are strided along the sum, as in `a.T @ b`: packed, or with the sum in blocks.

    out[i0, i1] = Σ r2  in1[r2*512 + i0] * in2[r2*784 + i1]     each r2 is 2,048 bytes further on

A tile reads a few elements of each cache line of its rows, and the next tile, much later, the
adjacent ones. If the stride is a power of two, these lines share few sets of the nearest cache and
are evicted by then (conflict misses): each tile of each panel loads them from further away. Either
the rows of a core are packed once, so that those of one iteration of the sum are closer together,
or a long sum is split into blocks, for which fewer lines have to stay.
"""

from compiler.core.reason import Number, Reason
from compiler.loops.axis_names import AxisName
from compiler.loops.choices import Accumulate, Pack, Row
from compiler.loops.choosing.panels import HELD, share_of_place
from compiler.loops.choosing.product_plans import Plan
from compiler.loops.choosing.products import Product
from compiler.loops.choosing.register_tiles import LINE
from compiler.machines.model import MachineModel

LOT = 128
"""Iterations of a block of a long sum: xᵀ of 2048×512 by 2048×128 runs at 135, 162, 132 and 117
GFLOP/s with 64, 128, 256 and 512, at 95 unsplit (Emerald Rapids, AVX-512, two threads, 2026-11-26).
"""
LEAST_LOTS = 4
"""The fewest blocks for which sums in scratch memory pay: 512×512×512, strided, runs at 129 GFLOP/s
unsplit and 109 so, 1024×512×128 at 71 and 100 (the same machine, one thread)."""
FEW_PANELS = 4
"""The most panels for which strided rows are best: for more of them a transposed copy pays, which
`fission` creates. 2048×512×512 runs at 141 GFLOP/s with a copy and at 126 in blocks, 2048×512×128
at 88 and 108 (the same machine, one thread)."""

LEAST_PANELS = 4
"""The fewest panels of columns for which packing the rows pays: 2048×64×64, four panels, runs at 69
GFLOP/s as it lies and at 71 copied, 512×784×128, 49 of them, at 78 and 90, 1024×784×128 at 67 and
84, 512×10×128, one, at 30 and 24 (EPYC, Zen 3, two threads, busy, 2026-11-27)."""


def rows_across(
    product: Product, plan: Plan, around: list[AxisName], is_side_by_side: bool, model: MachineModel
) -> list[Row]:
    """Packed rows for each core, or the sum in blocks; nothing if neither pays."""
    if len(product.folded) > 1 or product.other.step(product.rows) != 1:
        return []
    lots = [] if is_side_by_side else _in_lots(product, plan, around, model)
    return lots or _copied(product, plan, model)


def _copied(product: Product, plan: Plan, model: MachineModel) -> list[Row]:
    """The packing of a core's rows, if many panels read lines that share sets."""
    if plan.split != "rows" or product.outside:
        return []
    fold, operand = product.folded[0], product.other
    panels = product.columns.extent // plan.width
    nbytes = plan.block * fold.extent * operand.argument.element.itemsize
    shared = _shared(product, model.cache_bytes[0] // model.ways[0])
    lines, near = model.ways[0] // HELD, model.cache_bytes[1] // 2
    if shared <= lines or panels < LEAST_PANELS or nbytes > near:
        return []
    why = Reason(
        f"rows of a core are copied: {panels} panels read lines that share sets",
        Number("lines of rows that share a set", shared, "", f"1/{HELD} of its lines", lines),
        Number("panels that read them", panels, "", "worth a copy from", LEAST_PANELS),
        Number("bytes of rows", nbytes, "bytes", "half the level-2 cache", near),
    )
    at, along = product.rows.name.outer, product.selected_by(product.rows)
    return [Pack(operand.argument.slot, at, why, along=along)]


def _in_lots(
    product: Product, plan: Plan, around: list[AxisName], model: MachineModel
) -> list[Row]:
    """The sum in blocks, whose lines stay until the next tile of rows reads them; partial sums of
    all rows are in scratch memory."""
    fold = product.folded[0]
    if fold.extent < LEAST_LOTS * LOT:
        return []
    count = product.columns.extent // plan.width
    shared = _shared(product, model.cache_bytes[1] // model.ways[1])
    rows = plan.block if plan.split == "rows" else product.rows.extent
    nbytes = rows * plan.width * product.panel.node.dtype.itemsize
    half, quarter = model.ways[1] // 2, model.cache_bytes[1] // 4
    if shared < half or nbytes > quarter or not 2 <= count <= FEW_PANELS:
        return []
    lines = Number("lines of rows that share a set", shared, "", "half its lines", half)
    sums = Number("bytes of sums", nbytes, "bytes", "a quarter of the level-2 cache", quarter)
    words = f"blocks of {LOT}: their lines of the rows stay near until the next tile reads them"
    return [Accumulate(fold.name, LOT, around[-1], Reason(words, lines, sums))]


def _shared(product: Product, way: int) -> float:
    """The number of lines of the rows that share a set of a cache, by the bytes of its ways."""
    fold, operand = product.folded[0], product.other
    apart = abs(operand.step(fold) or 0) * operand.argument.element.itemsize
    return share_of_place(fold.extent, apart or LINE, LINE, way)
