"""rounding: the largest difference by rounding alone between right results and the reference.

The graph runs once more, and each value carries a bound on its error, element by element:

    what an operation adds     so many units in the last place of its own result as its row of
                               `ops.OPS` says: half a unit where it rounds once, as each step
                               of a scan does; n / 2 for a product over n; for a sum over n
                               elements see `sums.py`
    what its operands bring    how far the result moves when an operand moves by its own bound, up
                               or down, in wider arithmetic, which adds no rounding of its own;
                               where that turns a comparison or a position, all of it; one with
                               a selection of the same values turns at ties alone (`ties.py`)

A unit is the distance to the next number of the type (`numpy.spacing`), at the greatest magnitude
that the result may have. So a large difference of two close numbers is rounding, and a small one in
a number that is only copied is an error. Integers and truth values may differ only where rounding
reaches them.

    x = 1.7 ± 0    exp(x) = 5.47 ± 4 * 4.8e-7    log(exp(x)) = 1.7 ± (1.9e-6 / 5.47 + 4 * 1.2e-7)
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from compiler.ask.sums import of_products, of_terms
from compiler.ask.ties import Numbers
from compiler.core.dtypes import Array, float_limits, is_floating
from compiler.core.node import toposort
from compiler.core.origin import no_origin
from compiler.core.trace import Provenance
from compiler.graph.decompose import decompose
from compiler.graph.differentiate import differentiate
from compiler.graph.extents import part_of, shape_of
from compiler.graph.interpret import evaluate, moved, variables_of
from compiler.graph.kinds.placement import Copy, Multi
from compiler.graph.kinds.repeat import Repeat, with_iterations
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import (
    MOVEMENT,
    Bitcast,
    Cast,
    Contiguous,
    Elementwise,
    Expand,
    Index,
    Permute,
    Reduce,
    Reshape,
    Sink,
    TensorNode,
)
from compiler.ops import references
from compiler.ops.table import OPS, REDUCTIONS

OTHERS = 64
"""Units for what runs code of its own: loops, kernels and functions of a user's, scatters. Each
iteration of a loop adds one. Chosen, generously, as nothing is known of such code; not measured."""
BOTH = 2.0
"""The reference rounds as well."""
BLOCK = 1 << 20
"""Elements of a value that are followed together: 8 MB of float64, a bound on memory."""
PRODUCTS = 1 << 20
"""Products from which on a sum of them is followed without them (`sums.py`): a bound on memory."""
EXACT = Contiguous, Copy, Multi
MOVED = Index, Bitcast
"""Kinds that move values as well, by others or as other bits."""


def rounding(root: Sink, inputs: Mapping[Any, Array]) -> list[Array]:
    """For each result of a graph as written how far it may be off, element by element.

    `inputs` as for the graph interpreter.
    """
    with no_origin():
        graph = decompose(differentiate(root, Provenance()), Provenance())
    order: list[TensorNode] = toposort([graph])
    followed = _Followed(inputs, variables_of(order, inputs), Numbers(order))
    products = _products(order)
    left_out = set(products.values())
    last = {s: n for n, node in enumerate(order) for s in _operands(node, products)}
    last |= dict.fromkeys(graph.sources, len(order))
    with np.errstate(all="ignore"):
        for place, node in enumerate(order):
            if node not in left_out:
                followed.add(node, products.get(node))
            for source in dict.fromkeys(_operands(node, products)):
                if last[source] == place:
                    followed.forget(source)
    return [followed.bound(node) for node in graph.sources]


def _operands(node: TensorNode, products: Mapping[TensorNode, TensorNode]) -> Sequence[TensorNode]:
    """The nodes to be known for a node; none for products that are not computed."""
    if node in products:
        return products[node].sources
    return () if node in products.values() else node.sources


def _products(order: Sequence[TensorNode]) -> dict[TensorNode, TensorNode]:
    """The sums of very many products, and their products, which nothing else needs."""
    uses = Counter(s for node in order for s in node.sources)
    return {
        node: node.sources[0]
        for node in order
        if isinstance(node, Reduce) and node.op == "sum" and node.dtype.is_float
        and _is_product(node.sources[0]) and uses[node.sources[0]] == 1
        and prod(node.sources[0].shape) > PRODUCTS
    }  # fmt: skip


def _is_product(node: TensorNode) -> bool:
    """True if a node multiplies two operands of which one repeats: far more than there are."""
    return isinstance(node, Elementwise) and node.op == "mul" and any(map(_repeats, node.sources))


def _repeats(node: TensorNode) -> bool:
    while isinstance(node, Permute | Reshape | Cast):
        node = node.sources[0]
    return isinstance(node, Expand)


class _Followed:
    """The values and their errors, of those nodes that are needed still."""

    def __init__(
        self, inputs: Mapping[Any, Array], sizes: Mapping[str, int], numbers: Numbers
    ) -> None:
        self.inputs = inputs
        self.sizes = sizes
        self.numbers = numbers
        self.values: dict[TensorNode, Array] = {}
        self.errors: dict[TensorNode, Array] = {}

    def add(self, node: TensorNode, product: TensorNode | None) -> None:
        """Follow one node; with `product`, a sum of these products."""
        sources = node.sources if product is None else product.sources
        operands = [self.values[s] for s in sources]
        errors = [self.errors[s] for s in sources]
        if isinstance(product or node, Elementwise):
            operands, errors = self._meaningful(product or node, operands, errors)
        if product is not None and isinstance(node, Reduce):
            folded = of_products(operands, errors, node.axes, node.dtype.numpy)
            value, error = folded.value, folded.error
        else:
            value = evaluate(node, operands, self.inputs, self.sizes)
            error = _error(node, value, operands, errors, self.sizes)
            if np.any(error) and (is_unmoved := self.numbers.unmoved(node)) is not None:
                error = np.where(is_unmoved, 0.0, error)
        self.values[node] = value
        self.errors[node] = error
        self.numbers.add(node, self.values, self.errors, self.sizes)

    def _meaningful(
        self, node: TensorNode, operands: list[Array], errors: list[Array]
    ) -> tuple[list[Array], list[Array]]:
        """Operands of one shape, and their errors: what there is in this run."""
        if not node.extents:
            return operands, errors
        part = part_of(shape_of(node.shape, node.extents, self.sizes))
        whole = map(np.broadcast_to, errors, map(np.shape, operands))
        cut = [e[part] if e.ndim else e for e in whole]
        return [x[part] for x in operands], cut

    def forget(self, node: TensorNode) -> None:
        """Nothing needs this node any more."""
        del self.values[node], self.errors[node]
        self.numbers.forget(node)

    def bound(self, node: TensorNode) -> Array:
        """The error bound of a result against that of the reference."""
        return np.broadcast_to(BOTH * self.errors[node], self.values[node].shape)


def _error(
    node: TensorNode,
    value: Array,
    operands: Sequence[Array],
    errors: Sequence[Array],
    sizes: Mapping[str, int],
) -> Array:
    """The error bound of a value; that of a large one is computed part by part."""
    if isinstance(node, MOVEMENT):
        return _moved_error(node, operands[0], errors[0], sizes)
    if not node.dtype.is_float and not any(map(np.any, errors)):
        return np.zeros(())
    parts = _parts(node, operands)
    if not parts:
        brought = _brought(node, value, operands, errors, sizes)
        rounded = _own(node, value, operands, brought)
        bound = np.where(np.isnan(value), 0.0, rounded) + brought if np.any(rounded) else brought
        return np.nan_to_num(bound, nan=np.inf, posinf=np.inf)
    bound = np.empty(value.shape)
    whole = [np.broadcast_to(e, x.shape) if e.ndim else e
             for e, x in zip(errors, operands, strict=True)]  # fmt: skip
    for part in parts:
        cut = [e[part] if e.ndim else e for e in whole]
        bound[part] = _error(node, value[part], [x[part] for x in operands], cut, sizes)
    return bound


def _moved_error(node: TensorNode, operand: Array, error: Array, sizes: Mapping[str, int]) -> Array:
    """Errors go where the elements go; what is repeated stays in memory once."""
    if not error.ndim:
        return error
    shape = shape_of(node.shape, node.extents, sizes)
    whole = np.broadcast_to(error, operand.shape)
    return np.asarray(moved(node, whole, shape, sizes))


def _parts(node: TensorNode, operands: Sequence[Array]) -> list[tuple[slice, ...]]:
    """The parts in which a large value is followed, cut along its longest axis; none for a small
    one, and for what does more than to compute elements or to fold some of them."""
    if not isinstance(node, Elementwise | Cast | Reduce) or operands[0].size <= BLOCK:
        return []
    folded = node.axes if isinstance(node, Reduce) else ()
    shape = [1 if axis in folded else n for axis, n in enumerate(operands[0].shape)]
    axis = int(np.argmax(shape))
    count = min(-(-operands[0].size // BLOCK), shape[axis])
    step = -(-shape[axis] // count)
    before = (slice(None),) * axis
    cuts = [(*before, slice(n, n + step)) for n in range(0, shape[axis], step)]
    return cuts if len(cuts) > 1 else []


def _own(node: TensorNode, value: Array, operands: Sequence[Array], brought: Array) -> Array:
    """The error that the operation itself may add to what its operands brought."""
    if not node.dtype.is_float or not node.sources or isinstance(node, (*EXACT, *MOVED)):
        return np.zeros(())
    count = 0.0
    match node:
        case Elementwise(op=op):
            said = OPS[op].rounding
            assert said is not None, op
            if callable(said):
                return np.asarray(said(partial(_unit, brought=brought), value, operands))
            count = said
        case Cast():
            count = 0.0 if np.can_cast(operands[0].dtype, value.dtype) else 0.5
        case Reduce(op=op, axes=axes):
            kind = REDUCTIONS[op].rounding
            if kind == "sum":
                return of_terms(operands[0], axes)
            count = prod(operands[0].shape[axis] for axis in axes) / 2 if kind == "each" else 0.0
        case Scan(op=op, axis=axis):
            return _scanned(REDUCTIONS[op].rounding, value, axis, brought)
        case Repeat(count=trips):
            units = (OTHERS + trips) * max(_epsilons(node, value))
            return np.asarray(units * np.max(np.abs(value), initial=0.0))
        case _:
            return np.asarray(OTHERS * _epsilon(value) * np.max(np.abs(value), initial=0.0))
    return np.asarray(count * _unit(value, brought)) if count else np.zeros(())


def _scanned(kind: str, value: Array, axis: int, brought: Array) -> Array:
    """The errors that the steps of a scan add: each rounds once, by no more than half a unit of its
    result."""
    if kind == "none":
        return np.zeros(())
    unit = np.broadcast_to(_unit(value, brought), value.shape)
    if kind == "sum":
        return np.asarray(np.cumsum(unit, axis) / 2)
    steps = np.arange(1, value.shape[axis] + 1).reshape([-1] + [1] * (value.ndim - axis - 1))
    return np.asarray(steps * unit / 2)


def _epsilon(value: Array) -> float:
    return float(float_limits(value.dtype).eps)


def _epsilons(node: Repeat, value: Array) -> Iterator[float]:
    """The error bounds of the types that a loop computes in: the coarsest type decides."""
    yield _epsilon(value)
    for inner in with_iterations(node.body):
        if inner.dtype.is_float:
            yield float(float_limits(inner.dtype.numpy).eps)


def _unit(value: Array, brought: Array) -> Array:
    """One unit in the last place of a value that may be off; that of infinity is infinite."""
    limits = float_limits(value.dtype)
    greatest = np.minimum(np.abs(value.astype(np.float64)) + brought, float(limits.max))
    unit = np.spacing(greatest.astype(value.dtype)).astype(np.float64)
    return np.asarray(np.where(np.isinf(value), np.inf, np.maximum(unit, float(limits.tiny))))


def _brought(
    node: TensorNode,
    value: Array,
    operands: Sequence[Array],
    errors: Sequence[Array],
    sizes: Mapping[str, int],
) -> Array:
    """The error of the result from those of the operands: of each by itself, in order."""
    total: Array = np.zeros(())
    for place, error in enumerate(errors):
        if np.any(error):
            total = total + _moves(node, value, operands, place, error, sizes)
    return total


def _moves(
    node: TensorNode,
    value: Array,
    operands: Sequence[Array],
    place: int,
    error: Array,
    sizes: Mapping[str, int],
) -> Array:
    """The change of the result when one operand changes by its error, up or down."""
    operand = operands[place]
    run: Callable[[list[Array]], Array]
    move: Callable[[Array, Array], Array]
    if node.dtype.is_float and is_floating(operand.dtype):
        if isinstance(node, Reduce) and node.op == "sum":
            terms = np.broadcast_to(error, operand.shape)
            return np.asarray(np.sum(terms, axis=node.axes, keepdims=True))
        if isinstance(node, Scan) and node.op == "sum":
            return np.asarray(np.cumsum(np.broadcast_to(error, operand.shape), node.axis))
        if isinstance(node, EXACT) or (isinstance(node, Index) and not place):
            alone = _alone(node, operands, place, error)
            return evaluate(node, alone, {}, sizes).astype(np.float64)
    if isinstance(node, Elementwise | Cast | Reduce):
        operands = [_wide(each, operands) for each in operands]
        value, run, move = _value(node, operands), partial(_value, node), _moved_wide
    else:
        run, move = partial(evaluate, node, inputs={}, sizes=sizes), _moved
    up, down = (
        run([move(x, sign * error) if n == place else x for n, x in enumerate(operands)])
        for sign in (1.0, -1.0)
    )
    return np.maximum(_gap(value, up), _gap(value, down))


def _alone(node: TensorNode, operands: Sequence[Array], place: int, error: Array) -> list[Array]:
    """Operands for an operation that only moves values: the errors alone."""
    moved = np.broadcast_to(error, operands[place].shape).astype(operands[place].dtype)
    moved = np.where(moved < error, np.nextafter(moved, np.array(np.inf, moved.dtype)), moved)
    others = [np.zeros_like(x) if isinstance(node, Multi) else x for x in operands]
    return [moved if n == place else x for n, x in enumerate(others)]


def _wide(operand: Array, operands: Sequence[Array]) -> Array:
    """A float in a type with more digits than any operand has; others as they are."""
    most = max((x.dtype.itemsize for x in operands if is_floating(x.dtype)), default=0)
    is_float = is_floating(operand.dtype)
    return operand.astype(np.longdouble if most == 8 else np.float64) if is_float else operand


def _value(node: TensorNode, wide: Sequence[Array]) -> Array:
    """The result of an operation on operands that may have more digits than its own type."""
    match node:
        case Elementwise(op=op):
            return np.asarray(OPS[op].reference(*wide))
        case Cast(target=target) if not target.is_float:
            return references.cast(wide[0], target)
        case Cast():
            return wide[0]
        case Reduce(op=op, axes=axes):
            x, reference = wide[0], REDUCTIONS[op].reference
            return np.asarray(reference(x, axis=axes, dtype=x.dtype, keepdims=True))
    raise AssertionError(node)


def _moved_wide(operand: Array, error: Array) -> Array:
    """`operand` moved by an error; a float has the digits for it."""
    return np.asarray(operand + error) if is_floating(operand.dtype) else _moved(operand, error)


def _moved(operand: Array, error: Array) -> Array:
    """`operand` moved by an error, in its own type: by no less than that."""
    if operand.dtype.kind == "b":
        return np.asarray(operand ^ (np.broadcast_to(error, operand.shape) != 0))
    if not is_floating(operand.dtype):
        with np.errstate(all="ignore"):
            step = np.clip(np.sign(error) * np.ceil(np.abs(error)), -(2**31), 2**31)
            whole = np.broadcast_to(step, operand.shape).astype(operand.dtype)
            return np.asarray(operand + whole)
    wide = operand.astype(np.longdouble)
    moved = (wide + error).astype(operand.dtype)
    is_short = np.abs(moved - wide) < np.abs(error)
    toward = np.where(error > 0, np.inf, -np.inf).astype(operand.dtype)
    return np.asarray(np.where(is_short, np.nextafter(moved, toward), moved))


def _gap(one: Array, other: Array) -> Array:
    """The distance of two values; 0 for equal infinities, and for two NaN."""
    wide = np.result_type(one.dtype, other.dtype, np.float64)
    first, second = one.astype(wide), other.astype(wide)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    return np.asarray(np.where(same, 0.0, np.abs(first - second)), np.float64)
