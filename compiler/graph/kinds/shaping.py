"""Helpers that build small graphs: reshape, cast, pad, count along an axis. Each returns its
operand itself if there is nothing to do."""

from collections.abc import Mapping

from compiler.core.dtypes import DType, Scalar, bool_, int64
from compiler.graph import nodes
from compiler.graph.extent import Extent
from compiler.graph.nodes import Pairs, Shape, TensorNode, const, elementwise


def cast_to(node: TensorNode, dtype: DType) -> TensorNode:
    """`node` converted to `dtype`, itself if it has that type."""
    return node if node.dtype == dtype else nodes.Cast((node,), dtype)


def reshaped(node: TensorNode, shape: Shape) -> TensorNode:
    """`node` reshaped to a shape of equal size, itself if it has that shape."""
    return node if node.shape == shape else nodes.Reshape((node,), shape)


def broadcast_node(node: TensorNode, shape: Shape) -> TensorNode:
    """`node` broadcast to `shape`, which has to be compatible; a constant is created in it."""
    if node.shape == shape:
        return node
    if isinstance(node, nodes.Const):
        return nodes.Const((), node.bits, node.given_dtype, shape)
    full = reshaped(node, (1,) * (len(shape) - len(node.shape)) + node.shape)
    return full if full.shape == shape else nodes.Expand((full,), shape)


def permuted(node: TensorNode, order: Shape) -> TensorNode:
    """`node` with its axes permuted to `order`, itself if they are in order already."""
    return node if order == tuple(range(len(order))) else nodes.Permute((node,), order)


def inverse(order: Shape) -> Shape:
    """The inverse of the permutation `order`."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def shrunk(node: TensorNode, bounds: Pairs) -> TensorNode:
    """The slice [begin, end) of each axis."""
    whole = tuple((0, n) for n in node.shape)
    return node if bounds == whole else nodes.Shrink((node,), bounds)


def zero_padded(node: TensorNode, widths: Pairs) -> TensorNode:
    """`node` padded with zeros."""
    return nodes.Pad((node,), widths) if any(map(any, widths)) else node


def shifted(node: TensorNode, axis: int, by: int, fill: Scalar) -> TensorNode:
    """`node` shifted `by` positions along `axis`; `fill` is shifted in."""
    kept = tuple((0, n - by if i == axis else n) for i, n in enumerate(node.shape))
    widths = tuple((by if i == axis else 0, 0) for i in range(len(node.shape)))
    moved = nodes.Pad((nodes.Shrink((node,), kept),), widths)
    filling = const(fill, node.dtype, node.shape)
    if not filling.bits:
        return moved
    counted = tuple(by if i == axis else n for i, n in enumerate(node.shape))
    tail = tuple((0, n - by if i == axis else 0) for i, n in enumerate(node.shape))
    is_filled = nodes.Pad((const(True, bool_, counted),), tail)
    return elementwise("where", is_filled, filling, moved)


def counting(shape: Shape, axis: int) -> TensorNode:
    """For every element of `shape` its int64 index along `axis`."""
    ones = [1] * len(shape)
    ones[axis] = shape[axis]
    return broadcast_node(reshaped(nodes.Iota((), shape[axis], int64), tuple(ones)), shape)


def counting_to(shape: Shape, axis: int, extent: Extent | None) -> TensorNode:
    """As `counting`, along an axis with dynamic `extent`; None for a fixed one."""
    counted = counting(shape, axis)
    return counted if extent is None else nodes.first_of(counted, axis, extent)


def places_along(positions: TensorNode, axis: int) -> tuple[TensorNode, ...]:
    """The index [i, …, positions[i, …, k], …, k] by axis: `positions` itself on `axis`."""
    shape = positions.shape
    return tuple(positions if i == axis else counting(shape, i) for i in range(len(shape)))


def like(node: TensorNode, other: TensorNode) -> TensorNode:
    """`node`, which has the shape of `other`, with the dynamic extents of `other`."""
    for axis, extent in enumerate(other.extents):
        if extent is not None:
            node = nodes.first_of(node, axis, extent)
    return node


def value_of(extent: Extent, values: Mapping[str, TensorNode] | None = None) -> TensorNode:
    """The value of an extent as an int64 of rank 0; `values` has bound variables by name."""
    sizes = values or {}
    total: TensorNode | None = None
    for variables, factor in extent.terms or (((extent,), 1),):
        part: TensorNode | None = const(factor, int64) if factor != 1 or not variables else None
        for each in variables:
            variable = sizes.get(each.name) or nodes.Variable((), each.name, each.low, each.high)
            part = variable if part is None else elementwise("mul", part, variable)
        assert part is not None
        total = part if total is None else elementwise("add", total, part)
    assert total is not None
    return total


def affine(node: TensorNode, factor: int, summand: int) -> TensorNode:
    """node * factor + summand."""
    if factor != 1:
        node = elementwise("mul", node, const(factor, node.dtype, node.shape))
    return elementwise("add", node, const(summand, node.dtype, node.shape)) if summand else node
