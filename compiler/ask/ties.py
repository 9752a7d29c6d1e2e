"""ties: where a comparison of values with their own maximum can turn by rounding.

    y == max(y)     one element is equal to the maximum, whatever rounding does to all of them
    max(y) - y      is 0 there

Every copy of a value has the same bits, so an element that is further from the others than their
errors is the maximum in every stage. Only elements that rounding may exchange can turn.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from compiler.graph.extents import shape_of
from compiler.graph.interpret import moved
from compiler.graph.nodes import MOVEMENT, Elementwise, Reduce, TensorNode

Array: TypeAlias = np.ndarray[Any, Any]

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def unmoved(
    node: TensorNode, values: Mapping[TensorNode, Array], errors: Mapping[TensorNode, Array],
    sizes: Mapping[str, int],
) -> Array | None:  # fmt: skip
    """For each element of a comparison, or difference, of values with their own maximum or minimum:
    True where rounding changes nothing, since it cannot exchange the greatest, or least, of them.
    None for other nodes."""
    if not isinstance(node, Elementwise) or node.extents or node.op not in (*COMPARISONS, "sub"):
        return None
    for own, other in (node.sources, node.sources[::-1]):
        movements, fold = _below(other)
        if isinstance(fold, Reduce) and fold.op in ("max", "min") and fold.sources[0] is own:
            sign = 1.0 if fold.op == "max" else -1.0
            is_first, is_only = _greatest(fold, movements, sign, values[own], errors[own], sizes)
            return is_first & is_only if node.op == "sub" else ~is_first | is_only
    return None


def _below(node: TensorNode) -> tuple[list[TensorNode], TensorNode]:
    """The movements above a node that moves nothing, from below to above, and that node."""
    movements: list[TensorNode] = []
    while isinstance(node, MOVEMENT):
        movements.append(node)
        node = node.sources[0]
    return movements[::-1], node


def _greatest(
    fold: Reduce, movements: list[TensorNode], sign: float, value: Array, error: Array,
    sizes: Mapping[str, int],
) -> tuple[Array, Array]:  # fmt: skip
    """For each element: True if it may be the greatest, or least; True if just one may be."""
    wide = sign * value.astype(np.longdouble)
    with np.errstate(all="ignore"):
        least = np.max(wide - error, axis=fold.axes, keepdims=True, initial=-np.inf)
        is_candidate = ~(wide + error < least)  # so is NaN
    count = np.sum(is_candidate, axis=fold.axes, keepdims=True)
    for each in movements:
        count = np.asarray(moved(each, count, shape_of(each.shape, each.extents, sizes), sizes))
    return is_candidate, count == 1
