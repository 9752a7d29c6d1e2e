"""Derivatives of values on other devices and in shards."""

from compiler.graph.derivatives.rules import Cotangents, derivative_of
from compiler.graph.kinds.placement import Copy, Multi, copy_to, replicated_like
from compiler.graph.nodes import Shrink, TensorNode


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
