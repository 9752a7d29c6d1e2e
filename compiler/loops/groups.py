"""Groups: axes that are read in groups are cut into them, so that no division is left.

    out[i0, i1] = Σ r2  in1[i1//8, i0, r2] * in2[i1//8, r2, i1%8]    24 turns of i1, heads merged
    tile i1 8:        i1.0 in 3 goes from group to group, i1.1 in 8 along one

Where the output merges several axes of what is read, and where channels share weights in groups,
the index has divisions, which are no steps and cannot be lanes. Once the groups are an axis of
their own the kernel is what it was before they were merged, for those who look for products or
windows.
"""

from compiler.loops.accesses import Accesses, accesses
from compiler.loops.choices import Choices, Tile
from compiler.loops.levels import length
from compiler.loops.nodes import Alu, Const, Range, ScalarNode
from compiler.loops.tile import tile
from compiler.node import toposort
from compiler.reason import Number, Reason
from compiler.trace import Provenance


def in_groups(seen: Accesses) -> tuple[tuple[Tile, ...], Accesses]:
    """The cuts that leave no axis divided by a part of its extent, and what is seen after them."""
    cuts: list[Tile] = []
    while (cut := _cut(seen)) is not None:
        parted = accesses(tile(seen.body, Choices((cut,)), Provenance()))
        if parted is None:
            break
        cuts.append(cut)
        seen = parted
    return tuple(cuts), seen


def _cut(seen: Accesses) -> Tile | None:
    """The cut into the largest groups of the first axis that is divided, outermost first."""
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
    of = Number(f"turns of {axis.name}", axis.extent, "", "of a group", size)
    return Tile(axis.name, size, "peel", Reason(f"{groups} groups of {size} turns", of))
