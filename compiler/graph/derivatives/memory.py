"""Derivatives of indexed reads and writes (gather, scatter), in place too."""

from compiler.core.dtypes import bool_, int64
from compiler.graph.derivatives.elements import BUILD
from compiler.graph.derivatives.rules import Cotangents, derivative_of
from compiler.graph.kinds.effects import Assign, Custom, Scatter
from compiler.graph.kinds.shaping import broadcast_node, cast_to, counting, reshaped, zero_padded
from compiler.graph.nodes import (
    Index,
    Iota,
    Parts,
    Reshape,
    Shape,
    Shrink,
    TensorNode,
    const,
    elementwise,
)
from compiler.ops import functions
from compiler.ops.derivatives import of_unchosen
from compiler.ops.updates import UPDATES


@derivative_of(Index)
def index_derivative(node: Index, g: TensorNode) -> Cotangents:
    """in reverse added at the positions that were read"""
    x = node.sources[0]
    if node.validity is not None:
        g = elementwise("where", node.validity, g, const(0, g.dtype, g.shape))
    added = Scatter((const(0, x.dtype, x.shape), g, *node.positions), "add")
    return added, *(None for _ in node.sources[1:])


def _no_update(node: Scatter) -> str:
    update = UPDATES[node.op]
    return "" if update.passes is not None else f"updates by {node.op} have no derivative"


@derivative_of(Scatter, unless=_no_update)
def scatter_derivative(node: Scatter, g: TensorNode) -> Cotangents:
    """d scatter(x, u; i) = dx where it is kept, du at i"""
    x, updates, *positions = node.sources
    others = (None,) * len(positions)
    passes = UPDATES[node.op].passes
    if passes == "all":
        return g, Index((g, *positions)), *others
    if passes == "last":
        zeros = const(0, g.dtype, updates.shape)
        kept = Scatter((g, zeros, *positions), "replace")
        won = _is_last(x, updates, positions)
        return kept, elementwise("where", won, Index((g, *positions)), zeros), *others
    cotangents = _of_factors(node, g) if passes == "factor" else _of_extremes(node, g)
    return *cotangents, *others


def _of_factors(node: Scatter, g: TensorNode) -> tuple[TensorNode, TensorNode]:
    """The cotangents of factors: each is `g` times the product of the other factors, also where
    one of them is 0."""
    x, updates, *positions = node.sources
    parts = [_without_zeros(each) for each in (x, updates)]
    first, rest = (rest for _, rest in parts)
    zeros = [elementwise("where", it, *(const(n, x.dtype, it.shape) for n in (1, 0)))
             for it, _ in parts]  # fmt: skip
    product = Scatter((first, rest, *positions), "mul")
    count = Scatter((*zeros, *positions), "add")
    cotangents = []
    for each, own, other_zeros, here in (
        (zeros[0], first, count, product),
        (zeros[1], rest, Index((count, *positions)), Index((product, *positions))),
    ):
        is_alone = elementwise("eq", each, other_zeros)
        others = elementwise("fdiv", here, own)
        cotangent = g if each is zeros[0] else Index((g, *positions))
        share = elementwise("mul", cotangent, others)
        cotangents.append(elementwise("where", is_alone, share, const(0, x.dtype, own.shape)))
    return cotangents[0], cotangents[1]


def _without_zeros(node: TensorNode) -> tuple[TensorNode, TensorNode]:
    """The mask of zeros in `node`, and `node` with 1 in their place."""
    is_zero = elementwise("eq", node, const(0, node.dtype, node.shape))
    return is_zero, elementwise("where", is_zero, const(1, node.dtype, node.shape), node)


def _is_last(x: TensorNode, updates: TensorNode, positions: list[TensorNode]) -> TensorNode:
    """The mask of updates that are not overwritten: the last one of each element."""
    number = reshaped(Iota((), updates.size, int64), updates.shape)
    written = Scatter((const(-1, int64, x.shape), number, *positions), "replace")
    return elementwise("eq", Index((written, *positions)), number)


def _of_extremes(node: Scatter, g: TensorNode) -> tuple[TensorNode, TensorNode]:
    """The cotangents of max or min updates: all values equal to the extreme share it equally."""
    x, updates, *positions = node.sources
    inner = x.dtype.accumulator
    is_kept = elementwise("eq", x, node)
    is_it = elementwise("eq", updates, Index((node, *positions)))
    count = Scatter((cast_to(is_kept, int64), cast_to(is_it, int64), *positions), "add")
    share = cast_to(elementwise("fdiv", cast_to(g, inner), cast_to(count, inner)), x.dtype)
    others: TensorNode = of_unchosen(BUILD, node, g)
    before = elementwise("where", is_kept, share, others)
    after, rest = Index((share, *positions)), Index((others, *positions))
    return before, elementwise("where", is_it, after, rest)


def _no_own(node: Custom) -> str:
    function = functions.find(node.name)
    is_known = function is not None and function.function in functions.DERIVATIVES
    return "" if is_known else "no derivative is registered for it: f.derivative(…) does so"


@derivative_of(Custom, unless=_no_own)
def custom_derivative(node: Custom, g: TensorNode) -> Cotangents:
    """d f(x, …) = as it was registered"""
    function = functions.find(node.name)
    assert function is not None
    cotangents: Cotangents = functions.DERIVATIVES[function.function](node, g)
    return cotangents


@derivative_of(Assign)
def assign_derivative(node: Assign, g: TensorNode) -> Cotangents:
    """d assign(x, v) = dv where it is written, dx elsewhere"""
    if not node.parts:
        return None, g
    mask = spread_parts(const(True, bool_, node.sources[1].shape), node.parts, g.shape)
    kept = elementwise("where", mask, const(0, g.dtype, g.shape), g)
    return kept, taken_parts(g, node.parts)


def spread_parts(node: TensorNode, parts: Parts, shape: Shape) -> TensorNode:
    """`node` at the elements `parts` of a tensor of `shape`; zeros elsewhere."""
    for axis, ((begin, count, step), extent) in enumerate(zip(parts, shape, strict=True)):
        before, after = node.shape[:axis], node.shape[axis + 1 :]
        if step > 1 and count:
            apart = reshaped(node, (*before, count, 1, *after))
            widths = [(0, 0)] * len(apart.shape)
            widths[axis + 1] = (0, step - 1)
            node = Reshape((zero_padded(apart, tuple(widths)),), (*before, count * step, *after))
            node = _cut(node, axis, (count - 1) * step + 1)
        widths = [(0, 0)] * len(node.shape)
        widths[axis] = (begin, extent - begin - node.shape[axis])
        node = zero_padded(node, tuple(widths))
    return node


def _cut(node: TensorNode, axis: int, count: int) -> TensorNode:
    bounds = tuple((0, count if a == axis else n) for a, n in enumerate(node.shape))
    return Shrink((node,), bounds)


def taken_parts(node: TensorNode, parts: Parts) -> TensorNode:
    """The elements `parts` of `node`."""
    shape = tuple(count for _, count, _ in parts)
    if all(step == 1 for _, _, step in parts):
        return Shrink((node,), tuple((begin, begin + count) for begin, count, _ in parts))
    places = []
    for axis, (begin, _, step) in enumerate(parts):
        steps = broadcast_node(const(step, int64), shape)
        along = elementwise("mul", counting(shape, axis), steps)
        places.append(elementwise("add", along, broadcast_node(const(begin, int64), shape)))
    return Index((node, *places))
