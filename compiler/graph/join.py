"""Several tensors as one: how a joined tensor is written with movement and choice alone."""

from collections.abc import Sequence

from compiler.dtypes import bool_
from compiler.graph.nodes import Pad, Pairs, Shape, TensorNode, const, elementwise


def mask_of(shape: Shape, widths: Pairs) -> TensorNode:
    """True where a padded tensor takes its element from one of `shape`, else false."""
    return Pad((const(True, bool_, shape),), widths)


def joined(tensors: Sequence[TensorNode], axis: int) -> TensorNode:
    """The tensors one after the other: each is padded to the whole, and a mask picks it.

    Adding the padded parts would be wrong: -0.0 + 0.0 is 0.0.
    """
    total = sum(t.shape[axis] for t in tensors)
    end, result = total, None
    for node in reversed(tensors):
        begin = end - node.shape[axis]
        widths = tuple(
            (begin, total - end) if i == axis else (0, 0) for i in range(len(node.shape))
        )
        part = Pad((node,), widths) if begin or end < total else node
        picked = part if result is None else elementwise(
            "where", mask_of(node.shape, widths), part, result
        )  # fmt: skip
        result, end = picked, begin
    assert result is not None
    return result
