"""Derivatives of operations on elements, of casts, reductions and scans."""

import math
from dataclasses import dataclass

from compiler.core.dtypes import Scalar, int32, int64
from compiler.graph.derivatives.rules import Cotangents, derivative_of
from compiler.graph.kinds.effects import Scatter
from compiler.graph.kinds.gradient import Recalled, Ruled, Wrt
from compiler.graph.kinds.markers import ContiguousBackward, Detach, Fuse, Later, Unroll
from compiler.graph.kinds.scan import Scan
from compiler.graph.kinds.shaping import (
    broadcast_node,
    cast_to,
    counting,
    inverse,
    like,
    permuted,
    places_along,
    reshaped,
)
from compiler.graph.nodes import (
    Cast,
    Contiguous,
    Elementwise,
    Expand,
    Flip,
    Index,
    Reduce,
    Shape,
    TensorNode,
    const,
    elementwise,
)
from compiler.ops.table import OPS, REDUCTIONS


class NodeBuild:
    """Builds the derivatives of operations of the table out of tensor nodes."""

    def op(self, name: str, *sources: TensorNode) -> TensorNode:
        """The operation applied to the nodes."""
        return elementwise(name, *sources)

    def const(self, value: Scalar, like: TensorNode) -> TensorNode:
        """A constant with the shape and type of `like`."""
        return const(value, like.dtype, like.shape)


BUILD = NodeBuild()


def _no_row(node: Elementwise) -> str:
    return "its row has no derivative" if OPS[node.op].derivative is None else ""


@derivative_of(Elementwise, unless=_no_row)
def elementwise_derivative(node: Elementwise, g: TensorNode) -> Cotangents:
    """d op(x, …) = sum of its row's derivative by each operand"""
    row = OPS[node.op]
    cotangents: list[TensorNode | None] = []
    for place, source in enumerate(node.sources):
        function = row.derivative_of(place)
        if function is None or not source.dtype.is_float:
            cotangents.append(None)
            continue
        share = function(BUILD, g, node, *node.sources)
        cotangents.append(share if isinstance(source, Expand) else filled(share, source))
    return cotangents


def filled(node: TensorNode, other: TensorNode) -> TensorNode:
    """`node` with the dynamic axes of `other`; 0 past the end of axes that only `node` has.

    A broadcast operand is combined with as many elements as the other operand has on that axis.
    """
    if node.extents == other.extents:
        return node
    pairs = zip(node.extents or (None,) * len(node.shape),
                other.extents or (None,) * len(node.shape), strict=True)  # fmt: skip
    if any(has is not None and has != wanted for has, wanted in pairs):
        places = (like(counting(node.shape, axis), other) for axis in range(len(node.shape)))
        return Index((node, *places))
    return like(node, other)


@derivative_of(Cast)
def cast_derivative(node: Cast, g: TensorNode) -> Cotangents:
    """d cast(x) = cast(dx)"""
    return (cast_to(g, node.sources[0].dtype),)


@derivative_of(Wrt, Later)
def wrt_derivative(node: Wrt | Later, g: TensorNode) -> Cotangents:
    """d x = dx"""
    return g, None


@derivative_of(Contiguous, Fuse, Unroll)
def same_derivative(node: TensorNode, g: TensorNode) -> Cotangents:
    """d x = dx"""
    return (g,)


@derivative_of(ContiguousBackward)
def written_derivative(node: ContiguousBackward, g: TensorNode) -> Cotangents:
    """d x = dx, in memory"""
    return (Contiguous((g,)),)


@derivative_of(Detach)
def stopped(node: Detach, g: TensorNode) -> Cotangents:
    """d detach(x) = nothing"""
    return (None,)


@derivative_of(Recalled)
def recalled_derivative(node: Recalled, g: TensorNode) -> Cotangents:
    """d recalled(x, made) = d made"""
    return None, g


def summed(node: TensorNode, axes: Shape) -> TensorNode:
    """The sum over `axes`, kept as 1; 16-bit floats accumulate as in matrix products."""
    if not axes:
        return node
    inner = cast_to(node, node.dtype.accumulator)
    return cast_to(Reduce((inner,), "sum", axes), node.dtype)


@dataclass(frozen=True, slots=True)
class _Folds(NodeBuild):
    """Builds the derivative of a reduction or of a scan: `x` is its operand."""

    x: TensorNode
    axes: Shape

    def fold(self, name: str, node: TensorNode) -> TensorNode:
        """A reduction over the same axes, broadcast to every element."""
        reduced = summed(node, self.axes) if name == "sum" else Reduce((node,), name, self.axes)
        return self.spread(reduced)

    def shared(self, g: TensorNode, is_it: TensorNode) -> TensorNode:
        """`g` divided by the number of selected elements, counted in a wider type than float16,
        which holds integers up to 2,048 only."""
        inner = g.dtype.accumulator
        count = self.spread(Reduce((cast_to(is_it, inner),), "sum", self.axes))
        return cast_to(elementwise("fdiv", cast_to(g, inner), count), g.dtype)

    def spread(self, node: TensorNode) -> TensorNode:
        """`node`, a result of the reduction, broadcast to the shape of `x`."""
        return like(broadcast_node(node, self.x.shape), self.x)

    def run(self, name: str, node: TensorNode, backwards: bool = False) -> TensorNode:
        """A scan along the axis, or one from its end."""
        if not backwards:
            return Scan((node,), name, self.axes[0])
        scanned = Scan((Flip((node,), self.axes),), name, self.axes[0])
        return Flip((scanned,), self.axes)

    def of_others(self, value: TensorNode) -> TensorNode:
        """`value`, with the product of all other elements as its derivative rule. That product is
        only computed for a second derivative, where two elements may be 0."""
        if self.x.extents:
            return value
        product = Reduce((self._without_own(),), "prod", (2,))
        return Recalled((value, self._from_rows(product)))

    def of_runs(self, value: TensorNode, g: TensorNode) -> TensorNode:
        """As `of_others`, for a scan: for each element the running products of all others, from
        its own position on, times `g` and summed."""
        if self.x.extents:
            return value
        runs = Scan((self._without_own(),), "prod", 2)
        nothing, square = const(0, self.x.dtype, runs.shape), runs.shape
        cotangent = broadcast_node(self._in_rows(g), square)
        is_before = elementwise("lt", counting(square, 2), counting(square, 1))
        moved = elementwise("where", is_before, nothing, elementwise("mul", cotangent, runs))
        return Recalled((value, self._from_rows(Reduce((moved,), "sum", (2,)))))

    def _order(self) -> tuple[int, ...]:
        """The order of the axes with the reduced ones last."""
        kept = (axis for axis in range(len(self.x.shape)) if axis not in self.axes)
        return (*kept, *self.axes)

    def _in_rows(self, node: TensorNode) -> TensorNode:
        """The elements of each reduction as a row: [rows, 1, count]."""
        count = math.prod(self.x.shape[axis] for axis in self.axes)
        rows = self.x.size // count if count else 0
        return reshaped(permuted(node, self._order()), (rows, 1, count))

    def _from_rows(self, node: TensorNode) -> TensorNode:
        """[rows, count, 1] reshaped to the shape of `x`."""
        order = self._order()
        value = reshaped(node, tuple(self.x.shape[axis] for axis in order))
        return permuted(value, inverse(order))

    def _without_own(self) -> TensorNode:
        """For each element of a row, that row with the element replaced by 1: [rows, count, count].
        """
        flat = self._in_rows(self.x)
        square = (flat.shape[0], flat.shape[2], flat.shape[2])
        is_own = elementwise("eq", counting(square, 1), counting(square, 2))
        one = const(1, self.x.dtype, square)
        return elementwise("where", is_own, one, broadcast_node(flat, square))

    def number(self) -> TensorNode:
        """The index of each element among those that are reduced together."""
        positions: TensorNode = const(0, int32, self.x.shape)
        count = 1
        for axis in reversed(self.axes):
            along = cast_to(counting(self.x.shape, axis), int32)
            steps = const(count, int32, self.x.shape)
            positions = elementwise("add", positions, elementwise("mul", along, steps))
            count *= self.x.shape[axis]
        return like(positions, self.x)


@derivative_of(Ruled)
def ruled_derivative(node: Ruled, g: TensorNode) -> Cotangents:
    """as its rules say"""
    value, *operands = node.sources
    build: NodeBuild = BUILD
    y: TensorNode = node
    if isinstance(value, Reduce):
        build = _Folds(operands[0], value.axes)
        g, y = build.spread(g), build.spread(node)
    shares = (rule and rule(build, g, y, *operands) for rule in node.rules)
    return None, *shares


@derivative_of(Reduce)
def reduce_derivative(node: Reduce, g: TensorNode) -> Cotangents:
    """d fold(x) = its row's derivative, broadcast over the axes"""
    (x,) = node.sources
    build = _Folds(x, node.axes)
    if not x.size:
        return (const(0, x.dtype, x.shape),)
    spread, row = build.spread(g), REDUCTIONS[node.op]
    return (row.derivative(build, spread, build.spread(node), x),)


@derivative_of(Scan)
def scan_derivative(node: Scan, g: TensorNode) -> Cotangents:
    """d scan(x)[t] = sum over s <= t of its row's derivative by x[s]"""
    (x,) = node.sources
    row = REDUCTIONS[node.op]
    if row.running is None:
        return (_kept_derivative(node, g),)
    return (row.running(_Folds(x, (node.axis,)), g, node, x),)


def _kept_derivative(node: Scan, g: TensorNode) -> TensorNode:
    """The derivative of a running max or min: each cotangent goes to the last place of the extreme.
    """
    (x,) = node.sources
    places = counting(x.shape, node.axis)
    is_new = elementwise("or", elementwise("eq", x, node), elementwise("ne", x, x))
    last = elementwise("where", is_new, places, const(0, int64, x.shape))
    where = Scan((last,), "max", node.axis)
    start = const(0, x.dtype, x.shape)
    return Scatter((start, g, *places_along(where, node.axis)), "add")
