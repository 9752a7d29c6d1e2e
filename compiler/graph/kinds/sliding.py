"""Sliding windows over any number of axes, built from movement alone.

A row of n elements, repeated and reshaped into rows of n + d, is shifted by d from row to row: row
r starts at element r * d. So dilated windows are movement, whose index simplifies to r * d + t * s:
nothing is copied. Windows that do not overlap are a reshape that splits the axis, so that their
derivative sums single elements only.
"""

from compiler.graph.kinds.shaping import reshaped
from compiler.graph.nodes import Expand, Pad, Permute, Shape, Shrink, TensorNode


def windows(node: TensorNode, axis: int, size: int, step: int, gap: int) -> TensorNode:
    """`axis` replaced by two, [size, count], where [r, t] is element t * step + r * gap."""
    shape, extent = node.shape, node.shape[axis]
    before, after = shape[:axis], shape[axis + 1 :]
    count = (extent - gap * (size - 1) - 1) // step + 1
    if gap == 1 and size <= step and (size == step or count * step <= extent):
        return _side_by_side(node, axis, size, step, count)
    copies = -(-size * (extent + gap) // extent)
    node = reshaped(node, (*before, 1, extent, *after))
    node = Expand((node,), (*before, copies, extent, *after))
    node = reshaped(node, (*before, copies * extent, *after))
    node = _first(node, axis, size * (extent + gap))
    node = reshaped(node, (*before, size, extent + gap, *after))
    span = (count - 1) * step + 1
    node = _first(node, axis + 1, span)
    if step == 1:
        return node
    widths = [(0, 0)] * len(node.shape)
    widths[axis + 1] = (0, count * step - span)
    node = Pad((node,), tuple(widths))
    node = reshaped(node, (*before, size, count, step, *after))
    return reshaped(_first(node, axis + 2, 1), (*before, size, count, *after))


def _side_by_side(node: TensorNode, axis: int, size: int, step: int, count: int) -> TensorNode:
    """The same for windows that do not overlap."""
    shape = node.shape
    node = _first(node, axis, count * step)
    node = reshaped(node, (*shape[:axis], count, step, *shape[axis + 1 :]))
    places = list(range(len(node.shape)))
    places[axis : axis + 2] = axis + 1, axis
    return Permute((_first(node, axis + 1, size),), tuple(places))


def _first(node: TensorNode, axis: int, count: int) -> TensorNode:
    """The first `count` elements of `axis`."""
    bounds = tuple((0, count if i == axis else n) for i, n in enumerate(node.shape))
    return Shrink((node,), bounds)


def windows_of_image(node: TensorNode, sizes: Shape, steps: Shape, gaps: Shape) -> TensorNode:
    """[…, h, w] as […, rows, columns, window height, width]; likewise for any number of axes."""
    lead = len(node.shape) - len(sizes)
    for place in reversed(range(len(sizes))):
        node = windows(node, lead + place, sizes[place], steps[place], gaps[place])
    window_axes = range(lead, len(node.shape))
    return Permute((node,), (*range(lead), *window_axes[1::2], *window_axes[::2]))
