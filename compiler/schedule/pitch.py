"""The source of a copy: the value in memory below its movement, and the region of it.

    copy(shrink(permute x))   reads x, where rows and columns have strides of their own

Movement that only selects elements of a value in memory becomes a pitched transfer and needs no
kernel. A pad adds elements, and some reshapes need a copy: such values are computed first.
"""

import itertools

from compiler.graph.extents import matching_groups
from compiler.graph.nodes import Expand, Flip, Permute, Reshape, Shape, Shrink, TensorNode
from compiler.schedule.kinds import Region
from compiler.schedule.regions import contiguous_strides

CHOOSING = (Reshape, Permute, Expand, Shrink, Flip)


def pitched(node: TensorNode) -> tuple[TensorNode, Region | None]:
    """The value that a copy of `node` reads in memory, and the region; None is all of it."""
    chain: list[TensorNode] = []
    base = node
    while isinstance(base, CHOOSING):
        chain.append(base)
        base = base.sources[0]
    strides, offset = contiguous_strides(base.shape), 0
    for each in reversed(chain):
        walk = moved(each, strides, offset)
        if walk is None:
            return node, None
        strides, offset = walk
    is_all = offset == 0 and strides == contiguous_strides(node.shape) and base.size == node.size
    return (base, None if is_all else Region(node.shape, strides, None, offset))


def moved(node: TensorNode, strides: Shape, offset: int) -> tuple[Shape, int] | None:
    """Strides and offset of a movement node's elements; None if it is no strided view."""
    shape = node.sources[0].shape
    match node:
        case Permute(order=order):
            return tuple(strides[axis] for axis in order), offset
        case Expand():
            pairs = zip(strides, shape, node.shape, strict=True)
            return tuple(0 if old != new else s for s, old, new in pairs), offset
        case Shrink(bounds=bounds):
            begins = zip(bounds, strides, strict=True)
            return strides, offset + sum(begin * s for (begin, _), s in begins)
        case Flip(axes=axes):
            ends = (max(shape[a] - 1, 0) * strides[a] for a in axes)
            flipped = tuple(-s if a in axes else s for a, s in enumerate(strides))
            return flipped, offset + sum(ends)
        case _:
            new = _reshaped(shape, strides, node.shape)
            return None if new is None else (new, offset)


def _reshaped(shape: Shape, strides: Shape, new: Shape) -> Shape | None:
    """The strides of elements after a reshape; None if they would have to be copied.

    Axes that are split or joined have to be contiguous like one axis.
    """
    if 0 in shape:
        return contiguous_strides(new)
    result = [0] * len(new)
    for new_axes, old_axes in matching_groups(new, shape):
        wide = [a for a in old_axes if shape[a] != 1]
        for outer, inner in itertools.pairwise(wide):
            if strides[outer] != strides[inner] * shape[inner]:
                return None
        step = strides[wide[-1]] if wide else 1
        for axis in reversed(new_axes):
            result[axis] = step
            step *= new[axis]
    return tuple(result)
