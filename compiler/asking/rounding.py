"""rounding: how far right results may be from those of the reference, by rounding alone.

The graph runs once more, and each value carries a bound on its error, element by element:

    what an operation adds     so many units in the last place of its own result: half a unit where
                               it rounds once, `ULPS[op]` for an elementary function, n / 2 for a
                               product over n; for a sum over n elements see `_of_sum`
    what its operands bring    how far the result moves when an operand moves by its own bound, up
                               or down, in wider arithmetic, which adds no rounding of its own;
                               where that turns a comparison or a position, all of it

A unit is the distance to the next number of the type (`numpy.spacing`), at the greatest magnitude
that the result may have. So a large difference of two close numbers is rounding, and a small one in
a number that is only copied is an error. Integers and truth values may differ only where rounding
reaches them.

    x = 1.7 ± 0    exp(x) = 5.47 ± 4 * 4.8e-7    log(exp(x)) = 1.7 ± (1.9e-6 / 5.47 + 4 * 1.2e-7)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod, sqrt
from typing import Any, TypeAlias

import numpy as np

from compiler import references
from compiler.graph.decompose import decompose
from compiler.graph.interpret import evaluate, variables_of
from compiler.graph.nodes import (
    MOVEMENT,
    Bitcast,
    Cast,
    Contiguous,
    Elementwise,
    Index,
    Reduce,
    Sink,
    TensorNode,
)
from compiler.graph.placement import Copy, Multi
from compiler.graph.repeat import Repeat, with_turns
from compiler.node import toposort
from compiler.ops import OPS, REDUCTIONS
from compiler.origin import no_origin
from compiler.trace import Provenance

Array: TypeAlias = "np.ndarray[Any, Any]"

ROUNDED = ("add", "sub", "mul", "fdiv", "recip", "sqrt", "mod")
"""Operations whose result is the exact one, rounded once."""
ULPS: Mapping[str, float] = dict.fromkeys(ROUNDED, 0.5) | {
    "exp": 4, "exp2": 4, "log": 4, "log2": 4, "sin": 4, "cos": 4, "tan": 4, "tanh": 4, "erf": 4,
    "pow": 4,
}  # fmt: skip
"""Units in the last place that one operation may be off; `mulacc` rounds once or twice, and the
others are exact."""
OTHERS = 64
"""Units for what runs code of its own: loops, kernels and functions of a user's, scatters. Each
turn of a loop adds one."""
BOTH = 2.0
"""The reference rounds as well."""
CHANCE = 1.0
"""With both, more than ten standard deviations of a sum in order, and more of one by halves."""
VARIED = 0.5
"""The share of different numbers among terms from which their roundings are taken for chance."""
SAMPLE = 4096
"""Terms that are looked at for that."""
MOST = 1 << 23
"""Elements of one value up to which errors are followed."""
EXACT = (*MOVEMENT, Contiguous, Copy, Multi)
MOVED = Index, Bitcast
"""What moves values as well, by others or as other bits."""


def rounding(root: Sink, inputs: Mapping[Any, Array]) -> list[Array] | None:
    """For each result of a graph as written how far it may be off, element by element.

    `inputs` as for the graph interpreter. None where values are too large to follow.
    """
    with no_origin():
        made = decompose(root, Provenance())
    order: list[TensorNode] = toposort([made])
    if any(prod(node.shape) > MOST for node in order):
        return None
    sizes = variables_of(order, inputs)
    values: dict[TensorNode, Array] = {}
    errors: dict[TensorNode, Array] = {}
    with np.errstate(all="ignore"):
        for node in order:
            given = [values[s] for s in node.sources]
            values[node] = value = evaluate(node, given, inputs, sizes)
            brought = _brought(node, value, given, [errors[s] for s in node.sources], sizes)
            own = np.where(np.isnan(value), 0.0, _own(node, value, given, brought))
            errors[node] = np.nan_to_num(own + brought, nan=np.inf, posinf=np.inf)
    return [np.broadcast_to(BOTH * errors[s], values[s].shape) for s in made.sources]


def _own(node: TensorNode, value: Array, given: Sequence[Array], brought: Array) -> Array:
    """What the operation itself may add to what its operands brought."""
    if not node.dtype.is_float or not node.sources or isinstance(node, (*EXACT, *MOVED)):
        return np.zeros(())
    count = 0.0
    match node:
        case Elementwise(op="mulacc"):
            return (_unit(value, brought) + _unit(np.multiply(*given[:2]), brought)) / 2
        case Elementwise(op=op):
            count = ULPS.get(op, 0.0)
        case Cast():
            count = 0.0 if np.can_cast(given[0].dtype, value.dtype) else 0.5
        case Reduce(op="sum", axes=axes):
            return _of_sum(given[0], axes)
        case Reduce(op=op, axes=axes):
            count = prod(given[0].shape[axis] for axis in axes) / 2 if op == "prod" else 0.0
        case Repeat(count=turns):
            units = (OTHERS + turns) * max(_epsilons(node, value))
            return np.asarray(units * np.max(np.abs(value), initial=0.0))
        case _:
            return np.asarray(OTHERS * _epsilon(value) * np.max(np.abs(value), initial=0.0))
    return np.asarray(count * _unit(value, brought)) if count else np.zeros(())


def _epsilon(value: Array) -> float:
    return float(np.finfo(value.dtype).eps)


def _epsilons(node: Repeat, value: Array) -> Iterator[float]:
    """Those of the types that a loop computes in: the coarsest tells what its turns round to."""
    yield _epsilon(value)
    for inner in with_turns(node.body):
        if inner.dtype.is_float:
            yield float(np.finfo(inner.dtype.numpy).eps)


def _unit(value: Array, brought: Array) -> Array:
    """One unit in the last place of a value that may be off; that of infinity is infinite."""
    limits = np.finfo(value.dtype)
    greatest = np.minimum(np.abs(value.astype(np.float64)) + brought, float(limits.max))
    unit = np.spacing(greatest.astype(value.dtype)).astype(np.float64)
    return np.asarray(np.where(np.isinf(value), np.inf, np.maximum(unit, float(limits.tiny))))


def _of_sum(terms: Array, axes: tuple[int, ...]) -> Array:
    """How far a sum of n terms may be off, in any order of them.

    Each of n - 1 additions is off by half a unit of a partial sum, which is at most the sum of the
    magnitudes. Roundings of different numbers add up by chance, like the root of n, and partial
    sums are then as large as those of terms in a row, or in any order about the root of the sum of
    squares. Roundings of equal numbers all go the same way.
    """
    if not terms.size:
        return np.zeros(())
    last = range(-len(axes), 0)
    moved = np.moveaxis(terms.astype(np.float64), axes, last)
    x = moved.reshape(*moved.shape[: moved.ndim - len(axes)], -1)
    found = (x.shape[-1] - 1) / 2 * np.sum(np.abs(x), -1)
    if _is_varied(terms):
        sums = np.cumsum(x, -1)
        reach = np.maximum(sums.max(-1), 0.0) - np.minimum(sums.min(-1), 0.0)
        chance = CHANCE * sqrt(x.shape[-1]) * (reach + np.sqrt(np.sum(x * x, -1)))
        found = np.minimum(found, chance)
    return np.asarray(_epsilon(terms) * np.expand_dims(found, axes))


def _is_varied(terms: Array) -> bool:
    """Whether most terms differ from each other; zeros aside, which round nothing."""
    flat = terms.reshape(-1)
    found = np.abs(flat[:: max(1, flat.size // SAMPLE)])
    found = found[found != 0]
    return len(np.unique(found)) >= VARIED * len(found)


def _brought(
    node: TensorNode,
    value: Array,
    given: Sequence[Array],
    errors: Sequence[Array],
    sizes: Mapping[str, int],
) -> Array:
    """What errors of the operands make of the result: of each by itself, one after the other."""
    total: Array = np.zeros(())
    for place, error in enumerate(errors):
        if np.any(error):
            total = total + _moves(node, value, given, place, error, sizes)
    return total


def _moves(
    node: TensorNode,
    value: Array,
    given: Sequence[Array],
    place: int,
    error: Array,
    sizes: Mapping[str, int],
) -> Array:
    """How far the result moves where one operand moves by its error, up or down."""
    operand = given[place]
    run: Callable[[list[Array]], Array]
    move: Callable[[Array, Array], Array]
    if node.dtype.is_float and operand.dtype.kind == "f":
        if isinstance(node, Reduce) and node.op == "sum":
            terms = np.broadcast_to(error, operand.shape)
            return np.asarray(np.sum(terms, axis=node.axes, keepdims=True))
        if isinstance(node, EXACT) or (isinstance(node, Index) and not place):
            return evaluate(node, _alone(node, given, place, error), {}, sizes).astype(np.float64)
    if isinstance(node, Elementwise | Cast | Reduce) and not node.extents:
        given = [_wide(each, given) for each in given]
        value, run, move = _value(node, given), partial(_value, node), _moved_wide
    else:
        run, move = partial(evaluate, node, inputs={}, sizes=sizes), _moved
    up, down = (
        run([move(x, sign * error) if n == place else x for n, x in enumerate(given)])
        for sign in (1.0, -1.0)
    )
    return np.maximum(_gap(value, up), _gap(value, down))


def _alone(
    node: TensorNode, given: Sequence[Array], place: int, error: Array
) -> list[Array]:
    """Operands for an operation that only moves values: the errors, and nothing beside them."""
    own = np.broadcast_to(error, given[place].shape).astype(given[place].dtype)
    own = np.where(own < error, np.nextafter(own, np.array(np.inf, own.dtype)), own)
    others = [np.zeros_like(x) if isinstance(node, Multi) else x for x in given]
    return [own if n == place else x for n, x in enumerate(others)]


def _wide(operand: Array, given: Sequence[Array]) -> Array:
    """A float in a type with more digits than any operand has; others as they are."""
    most = max(x.dtype.itemsize for x in given if x.dtype.kind == "f") if _floats(given) else 0
    is_float = operand.dtype.kind == "f"
    return operand.astype(np.longdouble if most == 8 else np.float64) if is_float else operand


def _floats(given: Sequence[Array]) -> bool:
    return any(x.dtype.kind == "f" for x in given)


def _value(node: TensorNode, wide: Sequence[Array]) -> Array:
    """What an operation makes of operands that may have more digits than its own type."""
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
    return np.asarray(operand + error) if operand.dtype.kind == "f" else _moved(operand, error)


def _moved(operand: Array, error: Array) -> Array:
    """`operand` moved by an error, in its own type: by no less than that."""
    if operand.dtype.kind == "b":
        return np.asarray(operand ^ (np.broadcast_to(error, operand.shape) != 0))
    if operand.dtype.kind != "f":
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
    """How far two values are apart; equal infinities, and two NaN, not at all."""
    wide = np.result_type(one.dtype, other.dtype, np.float64)
    first, second = one.astype(wide), other.astype(wide)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    return np.asarray(np.where(same, 0.0, np.abs(first - second)), np.float64)
