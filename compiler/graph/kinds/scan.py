"""scan: an inclusive scan, a reduction that returns all partial results, as `cumsum` does.

    node = Scan(x; op, axis)      element t of `axis` is reduction `op` of elements 0 to t, in order
"""

from dataclasses import dataclass

import numpy as np

from compiler.core.dtypes import Array, DType, Scalar
from compiler.graph import extents as rules
from compiler.graph.kinds.shaping import shifted
from compiler.graph.nodes import TensorNode, elementwise
from compiler.ops.table import OPS, REDUCTIONS


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Scan(TensorNode):
    """An inclusive scan: element t of `axis` is reduction `op` of elements 0 to t, in order."""

    op: str
    axis: int
    _extents = rules.kept


def start(op: str, dtype: DType) -> Scalar:
    """The identity of `op`: combined with it, any element stays the same, bit for bit."""
    return -0.0 if op == "sum" and dtype.is_float else REDUCTIONS[op].identity(dtype)


def running(op: str, x: Array, axis: int) -> Array:
    """The scan of an array along an axis."""
    combine = OPS[REDUCTIONS[op].combine].reference
    return np.asarray(combine.accumulate(x, axis, x.dtype))  # type: ignore[attr-defined]


def stepped(source: TensorNode, op: str, axis: int) -> TensorNode:
    """A scan of elementwise steps, for a kernel body: each of log2(n) steps combines elements with
    those 1, 2, 4, … positions before (Hillis and Steele, "Data parallel algorithms", 1986)."""
    node, combine = source, REDUCTIONS[op].combine
    for step in range(max(node.shape[axis] - 1, 0).bit_length()):
        before = shifted(node, axis, 1 << step, start(op, node.dtype))
        node = elementwise(combine, node, before)
    return node
