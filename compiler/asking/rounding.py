"""rounding: how far right results may be from those of the reference, by rounding alone.

The graph runs once more, and each value carries a bound on its error, element by element:

    what an operation adds     `ULPS[op]` units in the last place of its result; a product over n,
                               n units; a sum S over n elements of length L (the root of the sum
                               of squares) 2 sqrt(n) (|S| + L) units: as roundings add up by chance
                               in any order of terms; but never more than n of the magnitudes
    what its operands bring    how far the result moves when an operand moves by its own bound,
                               up or down; where that turns a comparison or a position, all of it

A unit is 2^-10, 2^-23 or 2^-52 of the value, by type; below the smallest normal number it is that.
So a large difference of two close numbers is rounding, and a small one in a number that is only
copied is an error. Integers and truth values may differ only where rounding reaches them.
"""

from collections.abc import Mapping, Sequence
from math import prod, sqrt
from typing import Any, TypeAlias

import numpy as np

from compiler.graph.decompose import decompose
from compiler.graph.interpret import evaluate, variables_of
from compiler.graph.nodes import (
    MOVEMENT,
    Cast,
    Contiguous,
    Elementwise,
    Reduce,
    Sink,
    TensorNode,
)
from compiler.graph.placement import Copy, Multi
from compiler.node import toposort
from compiler.origin import no_origin
from compiler.trace import Provenance

Array: TypeAlias = "np.ndarray[Any, Any]"

ULPS: Mapping[str, float] = {
    "add": 1, "sub": 1, "mul": 1, "fdiv": 1, "recip": 1, "sqrt": 1, "mulacc": 2, "mod": 1,
    "exp": 4, "exp2": 4, "log": 4, "log2": 4, "sin": 4, "cos": 4, "tan": 4, "tanh": 4, "erf": 4,
    "pow": 4,
}  # fmt: skip
"""Units in the last place that one operation may be off; the others are exact."""
OTHERS = 64
"""Units for what runs code of its own: loops, kernels and functions of a user's, scatters."""
BOTH = 2.0
"""The reference rounds as well."""
MOST = 1 << 23
"""Elements of one value up to which errors are followed."""
EXACT = (*MOVEMENT, Contiguous, Copy, Multi)


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
            own = _own(node, value, given)
            found = own + _brought(node, value, given, [errors[s] for s in node.sources], sizes)
            errors[node] = np.where(np.isnan(found), np.inf, found)
    return [np.broadcast_to(BOTH * errors[s], values[s].shape) for s in made.sources]


def _unit(node: TensorNode) -> float:
    return float(np.finfo(node.dtype.numpy).eps) if node.dtype.is_float else 0.0


def _own(node: TensorNode, value: Array, given: Sequence[Array]) -> Array:
    """What the operation itself may add."""
    unit = _unit(node)
    if not unit or not node.sources or isinstance(node, EXACT):
        return np.zeros(())
    size: Any = np.abs(value.astype(np.float64))
    least = float(np.finfo(node.dtype.numpy).tiny)
    match node:
        case Elementwise(op="mulacc"):
            size = np.abs(given[0].astype(np.float64) * given[1]) + np.abs(given[2]) + size
            count = ULPS["mulacc"]
        case Elementwise(op=op):
            count = ULPS.get(op, 0.0)
        case Cast():
            count = float(node.sources[0].dtype != node.dtype)
        case Reduce(op="sum", axes=axes):
            size, count = _of_sum(given[0].astype(np.float64), axes), 1.0
        case Reduce(op=op, axes=axes):
            folded = prod(given[0].shape[axis] for axis in axes)
            count = float(folded) if op == "prod" else 0.0
        case _:
            size, count = np.max(size, initial=0.0), float(OTHERS)
    return np.asarray(count * unit * size + least * (count > 0))


def _of_sum(x: Array, axes: tuple[int, ...]) -> Array:
    """By how many units of 1 a sum may be off."""

    def total(terms: Array) -> Array:
        return np.asarray(np.sum(terms, axis=axes, keepdims=True))

    count = prod(x.shape[axis] for axis in axes)
    chance = 2 * sqrt(count) * (np.abs(total(x)) + np.sqrt(total(x * x)))
    return np.asarray(np.minimum(chance, count * total(np.abs(x))))


def _brought(
    node: TensorNode,
    value: Array,
    given: Sequence[Array],
    errors: Sequence[Array],
    sizes: Mapping[str, int],
) -> Array:
    """What errors of the operands make of the result."""
    total: Array = np.zeros(())
    for place, (operand, error) in enumerate(zip(given, errors, strict=True)):
        if not np.any(error):
            continue
        for sign in (1.0, -1.0) if not _is_linear(node) else (1.0,):
            moved = list(given)
            moved[place] = _moved(operand, sign * error)
            other = evaluate(node, moved, {}, sizes)
            gap = _gap(value, other)
            total = np.maximum(total, gap) if sign < 0 else total + gap
    return total


def _is_linear(node: TensorNode) -> bool:
    """Whether a result moves as far up as down."""
    return isinstance(node, EXACT) or (isinstance(node, Elementwise) and node.op in ("add", "mul"))


def _moved(operand: Array, error: Array) -> Array:
    """`operand` moved by an error, in its own type: by one step at least where there is any."""
    if operand.dtype.kind == "b":
        return np.asarray(operand ^ (np.broadcast_to(error, operand.shape) != 0))
    if operand.dtype.kind != "f":
        with np.errstate(all="ignore"):
            step = np.clip(np.sign(error) * np.ceil(np.abs(error)), -(2**31), 2**31)
            whole = np.broadcast_to(step, operand.shape).astype(operand.dtype)
            return np.asarray(operand + whole)
    moved = (operand.astype(np.float64) + error).astype(operand.dtype)
    stuck = (moved == operand) & (np.broadcast_to(error, operand.shape) != 0)
    toward = np.where(error > 0, np.inf, -np.inf).astype(operand.dtype)
    return np.asarray(np.where(stuck, np.nextafter(operand, toward), moved))


def _gap(one: Array, other: Array) -> Array:
    """How far two values are apart; equal infinities, and two NaN, not at all."""
    first, second = one.astype(np.float64), other.astype(np.float64)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    return np.asarray(np.where(same, 0.0, np.abs(first - second)))
