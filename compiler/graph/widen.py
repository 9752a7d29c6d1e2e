"""widen: types without machine arithmetic are computed in a wider type, and results rounded.

    Before:  %2 = mul %0 %1            bf16[64,10]
    After:   %3 = cast %0              f32[64,10]
             %4 = cast %1              f32[64,10]
             %5 = mul %3 %4            f32[64,10]
             %2 = cast %5              bf16[64,10]

These are the first rules of `decompose`: an operation that expands into several ones is then
computed in the wider type as a whole, and rounded once. Movement keeps the narrow type; sums of
many elements, and scatters that add or multiply, accumulate in `DType.accumulator`. After this
pass, values of a type with `DType.computed_as` are only loaded, stored, moved, selected and
converted from and to their compute type; later stages support nothing else. For a storage type
(`DType.is_storage`) even the conversions are expanded, into bit arithmetic (`storage.py`).
"""

from typing import TypeAlias

from compiler.core.dtypes import DType
from compiler.core.lazy import loading
from compiler.graph.kinds.effects import Scatter
from compiler.graph.kinds.scan import Scan
from compiler.graph.kinds.shaping import cast_to
from compiler.graph.nodes import Cast, Elementwise, Iota, Reduce, TensorNode
from compiler.graph.rewrite import rule_of
from compiler.ops.table import EXACT, OPS

Computing: TypeAlias = Elementwise | Reduce | Scan | Scatter
COMPUTING = (Elementwise, Reduce, Scan, Scatter)


def is_widened(node: TensorNode) -> bool:
    """True if a node computes on elements of a type without machine arithmetic."""
    if isinstance(node, Iota):
        return bool(node.dtype.computed_as)
    if isinstance(node, Cast):
        a, b = node.sources[0].dtype, node.target
        return _is_far(a, b) or _is_far(b, a)
    if isinstance(node, Elementwise) and OPS[node.op].has_condition:
        return False
    if _is_accumulated(node) and node.dtype.accumulator is not node.dtype:
        return True
    return isinstance(node, COMPUTING) and any(s.dtype.computed_as for s in node.sources)


def _is_accumulated(node: TensorNode) -> bool:
    """True for a scatter that sums or multiplies elements."""
    return isinstance(node, Scatter) and node.op in OPS and node.op not in EXACT


def _is_far(small: DType, other: DType) -> bool:
    """True if a conversion between two types goes through the compute type of `small`.

    For a storage type the conversion to the compute type itself is expanded, too.
    """
    if small is other or not small.computed_as:
        return False
    return small.is_storage or other is not small.arithmetic


def widened(source: TensorNode, is_accumulated: bool = False) -> TensorNode:
    """`source` converted to its compute type, or to its accumulator type."""
    dtype = source.dtype.arithmetic
    return cast_to(source, dtype.accumulator if is_accumulated else dtype)


def with_wide_sources(node: TensorNode) -> TensorNode:
    """`node` applied to its sources in their wider types; the result has the wider type, too."""
    return node.with_sources(tuple(widened(s, _is_accumulated(node)) for s in node.sources))


@rule_of(*COMPUTING)
def widen(node: Computing) -> TensorNode | None:
    """op(x) = cast(op(cast(x)))"""
    if not is_widened(node):
        return None
    return cast_to(with_wide_sources(node), node.dtype)


@rule_of(Cast)
def widen_cast(node: Cast) -> TensorNode | None:
    """cast(x, t) = cast(cast(x, wider), t)"""
    if not is_widened(node):
        return None
    source, target = node.sources[0], node.target
    if not source.dtype.is_storage and not target.is_storage:
        return cast_to(cast_to(widened(source), target.arithmetic), target)
    with loading():  # few programs have such types
        from compiler.graph.storage import decoded, encoded
    wide = decoded(source) if source.dtype.is_storage else widened(source)
    return encoded(wide, target) if target.is_storage else cast_to(wide, target)


@rule_of(Iota)
def widen_iota(node: Iota) -> TensorNode | None:
    """iota(t) = cast(iota(wider), t)"""
    if not is_widened(node):
        return None
    return cast_to(Iota((), node.extent, node.dtype.arithmetic), node.dtype)


RULES = (widen, widen_cast, widen_iota)
