"""Joint derivatives of several operations, where these are simpler than one by one: softmax.

    p = exp(z - max z) / sum exp(z - max z)         dz = p (dp - sum(dp p))
    y = z - max z - log(sum exp(z - max z))         dz = dy - exp(y) sum(dy)

One by one, the backward pass would read z, the powers and p, and would differentiate the maximum,
which does not affect the result. Instead, the rule of the last operation gives `z` its cotangent
directly, past the operations between. Those are differentiated as usual if they have other users.
"""

from collections.abc import Callable
from typing import TypeAlias

from compiler.graph.kinds.shaping import broadcast_node
from compiler.graph.nodes import Elementwise, Expand, Reduce, TensorNode, elementwise

Together: TypeAlias = tuple[TensorNode, TensorNode, Callable[..., TensorNode]]
"""A value, its contribution to the cotangent, and the function that is the rule."""


def together(node: TensorNode, g: TensorNode) -> Together | None:
    """The joint derivative of the group that ends in `node`; None if it ends no such group."""
    if not isinstance(node, Elementwise) or node.extents or not node.size:
        return None
    if node.op == "fdiv" and (powers := _is(node.sources[0], "exp")) is not None:
        z = powers.sources[0]
        if (total := _sum_of_powers(_repeated(node.sources[1]), z)) is not None:
            return _uncentred(z), softmax(node, g, total), softmax
    if node.op == "sub" and (log := _is(_repeated(node.sources[1]), "log")) is not None:
        z = node.sources[0]
        if (total := _sum_of_powers(log.sources[0], z)) is not None:
            return _uncentred(z), log_softmax(node, g, total), log_softmax
    return None


def softmax(p: TensorNode, g: TensorNode, total: Reduce) -> TensorNode:
    """d softmax(z) = p (dp - sum(dp p))"""
    along = _total(elementwise("mul", g, p), total)
    return elementwise("mul", p, elementwise("sub", g, along))


def log_softmax(y: TensorNode, g: TensorNode, total: Reduce) -> TensorNode:
    """d log_softmax(z) = dy - softmax(z) sum(dy)"""
    along = _total(g, total)
    return elementwise("sub", g, elementwise("mul", elementwise("exp", y), along))


def _total(node: TensorNode, total: Reduce) -> TensorNode:
    """The sum of `node` over the axes of another, at every place."""
    return broadcast_node(Reduce((node,), "sum", total.axes), node.shape)


def _is(node: TensorNode | None, op: str) -> Elementwise | None:
    return node if isinstance(node, Elementwise) and node.op == op else None


def _repeated(node: TensorNode) -> TensorNode | None:
    """The operand of a broadcast; None if `node` is no broadcast."""
    return node.sources[0] if isinstance(node, Expand) else None


def _sum_of_powers(node: TensorNode | None, z: TensorNode) -> Reduce | None:
    """`node`, where it is a sum of exp(z)."""
    if not isinstance(node, Reduce) or node.op != "sum":
        return None
    powers = _is(node.sources[0], "exp")
    return node if powers is not None and powers.sources[0] is z else None


def _uncentred(node: TensorNode) -> TensorNode:
    """z if `node` is z - max z, along any axes; otherwise the node itself."""
    if _is(node, "sub") is None:
        return node
    z, taken = node.sources
    greatest = _repeated(taken)
    is_greatest = isinstance(greatest, Reduce) and greatest.op == "max"
    return z if is_greatest and greatest is not None and greatest.sources[0] is z else node
