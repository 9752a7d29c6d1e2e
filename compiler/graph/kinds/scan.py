"""scan: a reduction that keeps what it has after each element, as `cumsum` does.

    node = Scan(x; op, axis)      element t of `axis` is reduction `op` of elements 0 to t, in order
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import DType, Scalar
from compiler.graph import extents as rules
from compiler.graph.kinds.shaping import shifted
from compiler.graph.nodes import TensorNode, elementwise
from compiler.ops.table import OPS, REDUCTIONS

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Scan(TensorNode):
    """Element t of `axis` is reduction `op` of elements 0 to t of the operand, in this order."""

    op: str
    axis: int
    _extents = rules.kept


def start(op: str, dtype: DType) -> Scalar:
    """What a scan starts with: any element joined with it is that element, bit for bit."""
    return -0.0 if op == "sum" and dtype.is_float else REDUCTIONS[op].identity(dtype)


def running(op: str, x: Array, axis: int) -> Array:
    """The scan of an array along an axis."""
    combine = OPS[REDUCTIONS[op].combine].reference
    return np.asarray(combine.accumulate(x, axis, x.dtype))  # type: ignore[attr-defined]


def stepped(source: TensorNode, op: str, axis: int) -> TensorNode:
    """A scan inside a kernel that asks for no order: each of log2(n) steps joins what stands 1, 2,
    4, … places before (Hillis and Steele, "Data parallel algorithms", 1986)."""
    node, combine = source, REDUCTIONS[op].combine
    for step in range(max(node.shape[axis] - 1, 0).bit_length()):
        before = shifted(node, axis, 1 << step, start(op, node.dtype))
        node = elementwise(combine, node, before)
    return node
