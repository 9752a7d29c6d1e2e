"""Derivatives of movement: cotangents are moved back; those of broadcast elements are summed.

Copies on other devices and values in shards move too: their cotangents go where operands are.
"""

from compiler.graph.derivatives.elements import summed
from compiler.graph.derivatives.rules import Cotangents, derivative_of
from compiler.graph.kinds.placement import Copy, Multi, copy_to, replicated_like
from compiler.graph.kinds.shaping import counting, inverse, like, permuted, reshaped, zero_padded
from compiler.graph.nodes import (
    Expand,
    Flip,
    Index,
    Pad,
    Permute,
    Prefix,
    Reshape,
    Shrink,
    TensorNode,
)


@derivative_of(Reshape)
def reshape_derivative(node: Reshape, g: TensorNode) -> Cotangents:
    """d reshape(x) = reshape(dx)"""
    (x,) = node.sources
    return (Reshape((g,), x.shape, x.extents) if x.extents else reshaped(g, x.shape),)


@derivative_of(Permute)
def permute_derivative(node: Permute, g: TensorNode) -> Cotangents:
    """d permute(x) = permute(dx)"""
    return (permuted(g, inverse(node.order)),)


@derivative_of(Expand)
def expand_derivative(node: Expand, g: TensorNode) -> Cotangents:
    """in reverse the sum over the broadcast axes"""
    (x,) = node.sources
    repeated = zip(x.shape, node.shape, strict=True)
    return (summed(g, tuple(axis for axis, (old, new) in enumerate(repeated) if old != new)),)


@derivative_of(Pad)
def pad_derivative(node: Pad, g: TensorNode) -> Cotangents:
    """in reverse the part that is not padding"""
    (x,) = node.sources
    pairs = zip(x.shape, node.widths, strict=True)
    bounds = tuple((before, before + n) for n, (before, _) in pairs)
    variable = tuple(axis for axis, extent in enumerate(g.extents) if extent is not None)
    return (like(Shrink((g,), bounds, variable), x),)


@derivative_of(Shrink)
def shrink_derivative(node: Shrink, g: TensorNode) -> Cotangents:
    """in reverse with zeros around it"""
    (x,) = node.sources
    pairs = zip(x.shape, node.bounds, strict=True)
    padded = zero_padded(g, tuple((begin, n - end) for n, (begin, end) in pairs))
    return (padded if padded.extents == x.extents else like(padded, x),)


@derivative_of(Flip)
def flip_derivative(node: Flip, g: TensorNode) -> Cotangents:
    """d flip(x) = flip(dx)"""
    return (Flip((g,), node.axes),)


@derivative_of(Prefix)
def prefix_derivative(node: Prefix, g: TensorNode) -> Cotangents:
    """in reverse 0 past the dynamic extent"""
    x = node.sources[0]
    places = (like(counting(x.shape, axis), x) for axis in range(len(x.shape)))
    return Index((g, *places)), *(None for _ in node.sources[1:])


@derivative_of(Copy)
def copy_derivative(node: Copy, g: TensorNode) -> Cotangents:
    """d copy(x) = dx, where x is"""
    x = node.sources[0]
    return replicated_like(g, x), *(None for _ in node.sources[1:])


@derivative_of(Multi)
def multi_derivative(node: Multi, g: TensorNode) -> Cotangents:
    """in reverse each shard's part, on its device; of whole copies the first has all of it"""
    if node.axis is None:
        first, *others = node.sources
        return replicated_like(g, first), *(None for _ in others)
    shards: list[TensorNode] = []
    begin = 0
    for shard, length in zip(node.sources, node.lengths, strict=True):
        bounds = tuple(
            (begin, begin + length) if axis == node.axis else (0, n)
            for axis, n in enumerate(g.shape)
        )
        part: TensorNode = Shrink((g,), bounds)
        shards.append(copy_to(part, shard.devices[0]) if shard.devices else part)
        begin += length
    return shards
