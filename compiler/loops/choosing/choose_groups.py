"""Choices for sums whose axes are read in groups. Axes are split first, so no division remains.

    out[i0, i1] = Σ r2  in1[i1//8, i0, r2] * in2[i1//8, r2, i1%8]    i1 in 24, heads merged
    tile i1 8:        i1.0 in 3 counts the groups, i1.1 in 8 the elements of a group

If the output merges several axes of an input, or channels share weights in groups, the index has
divisions; their strides are not constant, so they cannot be lanes. Once the groups are an axis of
their own, the kernel is a convolution or a product.
"""

from compiler.core.node import toposort
from compiler.core.reason import Number, Reason
from compiler.core.trace import Provenance
from compiler.loops.axis_names import AxisName
from compiler.loops.choices import Choices, Tile, chosen
from compiler.loops.choosing.accesses import Accesses, accesses
from compiler.loops.choosing.choose_dots import dots
from compiler.loops.choosing.choose_products import products
from compiler.loops.choosing.choose_windows import windows
from compiler.loops.nodes import Alu, Const, Range, ScalarNode
from compiler.loops.transforms.levels import length
from compiler.loops.transforms.tile import tile
from compiler.machines.model import MachineModel


def groups(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """The groups as axes of their own, and the choices for the product or convolution that remains.

    If the columns of a product are split, its panels are narrow, and tiles of convolutions are
    faster, as measured.
    """
    cuts, parted = in_groups(seen) if len(seen.reductions) == 1 else ((), seen)
    if not cuts:
        return Reason()
    inner = seen.ranges[-1].name
    is_narrow = any(AxisName(cut.axis).is_in(inner) for cut in cuts)
    kinds = (windows, dots, products) if is_narrow else (dots, products, windows)
    for kind in kinds:
        choices = kind(parted, model)
        if isinstance(choices, Choices):
            return chosen((*cuts, *choices, *choices.refused))
    return Reason("with split groups it is neither a product nor a convolution")


def in_groups(seen: Accesses) -> tuple[tuple[Tile, ...], Accesses]:
    """The tilings that leave no axis divided by a part of its extent, and the accesses after
    them."""
    cuts: list[Tile] = []
    while (cut := _cut(seen)) is not None:
        parted = accesses(tile(seen.body, Choices((cut,)), Provenance()))
        if parted is None:
            break
        cuts.append(cut)
        seen = parted
    return tuple(cuts), seen


def _cut(seen: Accesses) -> Tile | None:
    """The tiling into the largest groups of the first divided axis, outermost first."""
    sizes: dict[Range, int] = {}
    indices = [access.node.sources[1] for access in seen.loads]
    order: list[ScalarNode] = toposort(indices)
    for node in order:
        match node:
            case Alu(op="idiv" | "mod", sources=(Range() as axis, Const() as by)):
                size, is_written = int(by.value), axis in seen.ranges and length(axis)
                if is_written and 1 < size < axis.extent and axis.extent % size == 0:
                    sizes[axis] = max(size, sizes.get(axis, 0))
    return next((_tile(axis, sizes[axis]) for axis in seen.ranges if axis in sizes), None)


def _tile(axis: Range, size: int) -> Tile:
    groups = axis.extent // size
    of = Number(f"trip count of {axis.name}", axis.extent, "", "of a group", size)
    return Tile(axis.name, size, "peel", Reason(f"{groups} groups of {size} iterations", of))
