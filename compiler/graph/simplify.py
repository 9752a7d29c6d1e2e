"""simplify: algebraic simplification and constant folding that never change a bit of the answer.

    Before:  %0 = buffer x             f32[4]
             %1 = const 1.0            f32[4]
             %2 = mul %0 %1            f32[4]
             %3 = reshape %2           f32[2,2]
             %4 = reshape %3           f32[4]
             sink %4
    After:   %0 = buffer x             f32[4]
             sink %0

Relies on: invariants 1-10 of `verify.py`.
Ensures: the same value at every root, bit for bit, except that sums of sums are one sum.
"""

from typing import Any

import numpy as np

from compiler.core.dtypes import Scalar
from compiler.core.trace import Match, Provenance
from compiler.graph.devices import is_remote
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.placement import Copy
from compiler.graph.kinds.scan import Scan
from compiler.graph.kinds.shaping import like
from compiler.graph.nodes import (
    Cast,
    Const,
    Contiguous,
    Elementwise,
    Expand,
    Flip,
    Pad,
    Permute,
    Reduce,
    Reshape,
    Shrink,
    TensorNode,
    const,
    elementwise,
)
from compiler.graph.rewrite import RuleSet, rewrite, rule_of
from compiler.ops import references
from compiler.ops.row import Law
from compiler.ops.table import OPS, REDUCTIONS


def _is_const(node: TensorNode, value: Scalar) -> bool:
    """True if `node` is exactly this constant, bit for bit (so -0.0 is not 0.0)."""
    return isinstance(node, Const) and node.bits == const(value, node.dtype).bits


def _with(law: Law) -> tuple[tuple[type[Elementwise], str], ...]:
    """The operations that satisfy an algebraic law."""
    return tuple((Elementwise, row.name) for row in OPS.values() if law in row.laws)


@rule_of(Elementwise)
def fold_constants(node: Elementwise) -> TensorNode | None:
    """op(1, 2) = the constant it computes to"""
    if not all(isinstance(s, Const) for s in node.sources):
        return None
    values = [np.array(s.value, s.dtype.numpy) for s in node.sources if isinstance(s, Const)]
    with np.errstate(all="ignore"):
        result = np.asarray(OPS[node.op].reference(*values))
    return const(result.item(), node.dtype, node.shape)


@rule_of((Elementwise, "mul"))
def multiply_by_one(node: Elementwise) -> TensorNode | None:
    """x * 1 = x"""
    left, right = node.sources
    one = node.dtype.kind != "bool"
    if one and _is_const(right, 1):
        return left
    return right if one and _is_const(left, 1) else None


@rule_of((Elementwise, "mul"))
def multiply_by_zero(node: Elementwise) -> TensorNode | None:
    """x * 0 = 0 for integers (a float may be NaN, inf or negative)"""
    if node.dtype.is_float:
        return None
    return next((s for s in node.sources if _is_const(s, 0)), None)


@rule_of((Elementwise, "add"))
def add_zero(node: Elementwise) -> TensorNode | None:
    """x + 0 = x for integers; x + -0.0 = x for floats (x + 0.0 turns -0.0 into 0.0)"""
    zero: Scalar = -0.0 if node.dtype.is_float else 0
    left, right = node.sources
    if _is_const(right, zero):
        return left
    return right if _is_const(left, zero) else None


@rule_of((Elementwise, "sub"))
def subtract_zero(node: Elementwise) -> TensorNode | None:
    """x - 0 = x"""
    return node.sources[0] if _is_const(node.sources[1], 0) else None


@rule_of((Elementwise, "fdiv"))
def divide_by_one(node: Elementwise) -> TensorNode | None:
    """x / 1 = x"""
    return node.sources[0] if _is_const(node.sources[1], 1) else None


@rule_of(*_with("involution"))
def cancel_twice(node: Elementwise) -> TensorNode | None:
    """-(-x) = x and not not x = x"""
    inner = node.sources[0]
    if isinstance(inner, Elementwise) and inner.op == node.op:
        return inner.sources[0]
    return None


@rule_of(*_with("idempotent"))
def same_operands(node: Elementwise) -> TensorNode | None:
    """max(x, x) = x, x and x = x"""
    return node.sources[0] if node.sources[0] is node.sources[1] else None


@rule_of((Elementwise, "where"))
def decided_choice(node: Elementwise) -> TensorNode | None:
    """where(true, a, b) = a and where(c, a, a) = a"""
    condition, yes, no = node.sources
    if yes is no:
        return yes
    if isinstance(condition, Const):
        return yes if condition.value else no
    return None


@rule_of((Elementwise, "pow"))
def power_of_two(node: Elementwise) -> TensorNode | None:
    """x ** 2 = x * x and x ** 1 = x"""
    base, exponent = node.sources
    if _is_const(exponent, 1):
        return base
    return elementwise("mul", base, base) if _is_const(exponent, 2) else None


@rule_of(Cast)
def cast_to_itself(node: Cast) -> TensorNode | None:
    """cast(x, type of x) = x"""
    return node.sources[0] if node.sources[0].dtype == node.target else None


@rule_of(Cast)
def cast_constant(node: Cast) -> TensorNode | None:
    """cast(constant) = the constant converted"""
    source = node.sources[0]
    if not isinstance(source, Const):
        return None
    value = references.cast(np.array(source.value, source.dtype.numpy), node.target)
    return const(value.item(), node.target, node.shape)


@rule_of(Reshape, Permute, Expand, Shrink, Flip)
def move_constant(node: TensorNode) -> TensorNode | None:
    """a constant, moved, is that constant in the new shape"""
    source = node.sources[0]
    return Const((), source.bits, source.dtype, node.shape) if isinstance(source, Const) else None


@rule_of(Reshape, Expand, Shrink, Pad)
def move_nothing(node: TensorNode) -> TensorNode | None:
    """reshape, expand, shrink or pad to the same shape = x"""
    return node.sources[0] if node.shape == node.sources[0].shape else None


@rule_of(Pad)
def pad_narrow(node: Pad) -> TensorNode | None:
    """pad(cast(x)) = cast(pad(x)), where x is narrower: zeros are put around fewer bytes"""
    source = node.sources[0]
    if not isinstance(source, Cast) or source.sources[0].dtype.itemsize >= source.dtype.itemsize:
        return None
    return Cast((node.with_sources(source.sources),), source.target)


@rule_of(Reshape)
def reshape_twice(node: Reshape) -> TensorNode | None:
    """reshape(reshape(x, a), b) = reshape(x, b)"""
    inner = node.sources[0]
    is_reshape = isinstance(inner, Reshape)
    return Reshape(inner.sources, node.new_shape, node.extents) if is_reshape else None


@rule_of(Permute)
def permute_nothing(node: Permute) -> TensorNode | None:
    """permute(x, (0, 1, …)) = x"""
    return node.sources[0] if node.order == tuple(range(len(node.order))) else None


@rule_of(Permute)
def permute_twice(node: Permute) -> TensorNode | None:
    """permute(permute(x, p), q) = permute(x, p after q)"""
    inner = node.sources[0]
    if not isinstance(inner, Permute):
        return None
    return Permute(inner.sources, tuple(inner.order[axis] for axis in node.order))


@rule_of(Expand)
def expand_twice(node: Expand) -> TensorNode | None:
    """expand(expand(x, a), b) = expand(x, b)"""
    inner = node.sources[0]
    return Expand(inner.sources, node.new_shape) if isinstance(inner, Expand) else None


@rule_of(Flip)
def flip_twice(node: Flip) -> TensorNode | None:
    """flip(x, axes of extent 1) = x and flip(flip(x, a), a) = x"""
    inner = node.sources[0]
    if all(inner.shape[axis] <= 1 for axis in node.axes):
        return inner
    is_same = isinstance(inner, Flip) and inner.axes == node.axes
    return inner.sources[0] if is_same else None


@rule_of(Shrink)
def shrink_twice(node: Shrink) -> TensorNode | None:
    """shrink(shrink(x, a), b) = shrink(x, b within a)"""
    inner = node.sources[0]
    if not isinstance(inner, Shrink):
        return None
    pairs = zip(inner.bounds, node.bounds, strict=True)
    bounds = tuple((a + begin, a + end) for (a, _), (begin, end) in pairs)
    is_open = (a for a, e in enumerate(node.extents) if e is not None and bounds[a][0])
    return Shrink(inner.sources, bounds, tuple(is_open))


@rule_of(Reduce)
def reduce_one_element(node: Reduce) -> TensorNode | None:
    """a reduction over axes of extent 1 = x"""
    source = node.sources[0]
    return source if all(source.shape[axis] == 1 for axis in node.axes) else None


@rule_of(Reduce)
def reduce_nothing(node: Reduce) -> TensorNode | None:
    """a reduction over no elements = its identity"""
    if node.sources[0].size or not node.size:
        return None
    return like(const(REDUCTIONS[node.op].identity(node.dtype), node.dtype, node.shape), node)


@rule_of(Reduce)
def reduce_twice(node: Reduce) -> TensorNode | None:
    """sum(sum(x, a), b) = sum(x, a and b); likewise prod, max, min"""
    inner = node.sources[0]
    if not isinstance(inner, Reduce) or inner.op != node.op:
        return None
    axes = tuple(sorted({*inner.axes, *node.axes}))
    return Reduce(inner.sources, node.op, axes, max(inner.unroll, node.unroll))


@rule_of(Contiguous)
def contiguous_scan(node: Contiguous) -> TensorNode | None:
    """contiguous(scan(x)) = scan(x): it is in memory"""
    source = node.sources[0]
    return source if isinstance(source, Scan) else None


@rule_of(Kernel)
def simplify_body(node: Kernel) -> TensorNode | None:
    """kernel(x; f) = kernel(x; f simplified)"""
    return node.with_body(lambda body: rewrite(body, RULES, Provenance()))


@rule_of(Copy)
def copy_to_itself(node: Copy) -> TensorNode | None:
    """copy(x, device of x) = x; a clone stays"""
    source = node.sources[0]
    return source if not node.clone and source.devices == node.devices else None


@rule_of(Copy)
def copy_twice(node: Copy) -> TensorNode | None:
    """copy(copy(x, d), e) = copy(x, e); a clone stays, and so does the way between workers"""
    source = node.sources[0]
    if not isinstance(source, Copy) or source.clone:
        return None
    if is_remote(source.device) and is_remote(node.device):
        return None  # `collectives` chose who sends to whom
    return node.with_sources((source.sources[0], *node.sources[1:]))


RULES = RuleSet(
    (
        fold_constants, multiply_by_one, multiply_by_zero, add_zero, subtract_zero, divide_by_one,
        cancel_twice, same_operands, decided_choice, power_of_two, cast_to_itself, cast_constant,
        move_constant, move_nothing, pad_narrow, reshape_twice, permute_nothing, permute_twice,
        expand_twice, flip_twice, shrink_twice, reduce_one_element, reduce_nothing, reduce_twice,
        contiguous_scan, copy_to_itself, copy_twice, simplify_body,
    )
)  # fmt: skip


def simplify(
    root: TensorNode, provenance: Provenance[Any], matches: list[Match] | None = None
) -> TensorNode:
    """`root` with the rules of this file applied until none matches."""
    return rewrite(root, RULES, provenance, matches)
