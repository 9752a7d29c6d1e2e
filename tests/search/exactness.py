"""True if the results of a kernel are exact to the last bit, in any order of its sums.

Inputs are small whole numbers. As long as no value is a fraction and none is too large for its
type, every sum of floats is exact in any order: two ways to compute it have to agree bit by bit.
Beyond that they agree up to rounding; and where a rounded value is compared or made an integer, not
even that has to hold.
"""

import math
from typing import Literal

import numpy as np

from compiler.core.dtypes import DType
from compiler.core.node import toposort
from compiler.loops import nodes as loops
from compiler.loops.nodes import Body, ScalarNode

Settled = Literal["exact", "rounded", "open"]
LARGEST = 2
"""The greatest magnitude of an element of an input."""
KEPT = frozenset(("max", "min", "neg", "abs", "trunc", "floor", "ceil", "round"))
DECIDES = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "floor", "ceil", "round", "trunc", "mod"))
WHOLE = {16: 2.0**11, 32: 2.0**24, 64: 2.0**53}
"""Below these, floats of so many bits hold every whole number."""


UNITS = {16: 32, 32: 256, 64: 256}
"""Units in the last place, of floats of so many bits, that two orders of a short fold may differ
by. Each step of a fold rounds by half a unit, so a long one that starts with its first element
and ends with its last, as plain loops do, may be off by half a unit for each of its iterations."""


def rounding(body: Body) -> float:
    """By what share of the greatest value two right ways to run the plain loops may differ: the
    type that rounds most decides, also where the result is of another, and the longest fold."""
    nodes = [node for node in toposort([body]) if node.dtype.is_float]
    long = {node.dtype: 0.0 for node in nodes}
    for node in nodes:
        if isinstance(node, loops.Reduce) and node.op in ("sum", "prod"):
            steps = math.prod(r.extent for r in node.ranges)
            long[node.dtype] = max(long[node.dtype], steps / 2)
    return max((max(UNITS[t.bits], n) * _unit(t) for t, n in long.items()), default=0.0)


def _unit(dtype: DType) -> float:
    return float(np.finfo(dtype.numpy).eps)


def settled(body: Body) -> Settled:
    """How far two right ways to run the plain loops `body` have to agree."""
    most: dict[ScalarNode, float] = {}
    verdict: Settled = "exact"
    for node in toposort([body]):
        bound = _bound(node, most)
        if node.dtype.is_float and not isinstance(node, Body | loops.Store | loops.Update):
            bound = math.inf if bound >= WHOLE[node.dtype.bits] else bound
        most[node] = bound
        if math.isinf(bound):
            verdict = "rounded"
        if _decides(node, most):
            return "open"
    return verdict


def _decides(node: ScalarNode, most: dict[ScalarNode, float]) -> bool:
    """True if a rounded value becomes a truth value or an integer."""
    is_rounded = any(math.isinf(most[s]) and s.dtype.is_float for s in node.sources)
    if not is_rounded:
        return False
    is_alu = isinstance(node, loops.Alu) and node.op in DECIDES
    return is_alu or (isinstance(node, loops.Cast | loops.Bitcast) and not node.dtype.is_float)


def _bound(node: ScalarNode, most: dict[ScalarNode, float]) -> float:
    """The greatest magnitude of a node's value where it is whole; inf where it is a fraction."""
    given = [most[s] for s in node.sources]
    match node:
        case loops.Const():
            value = float(node.value)
            return abs(value) if value.is_integer() else math.inf
        case loops.Range() | loops.Local():
            return 0.0
        case loops.Load():
            return max(float(LARGEST), *given[:1])
        case loops.Store():
            return given[2]
        case loops.Reduce():
            return _folded(node, given[0])
        case loops.Alu():
            return _computed(node, given)
        case loops.Cast():
            return given[0] if node.dtype.is_float else 2.0 ** min(node.dtype.bits, 62)
        case loops.Update() | loops.Custom() | loops.Bitcast():
            return math.inf
        case loops.After() | Body():
            return max(given)
        case _:
            return float(LARGEST)


def _folded(node: loops.Reduce, each: float) -> float:
    trip_count = math.prod(r.extent for r in node.ranges)
    match node.op:
        case "sum":
            return each * trip_count
        case "prod":
            return each**trip_count if trip_count < 60 or each <= 1 else math.inf
        case _:
            return each


def _computed(node: loops.Alu, given: list[float]) -> float:
    if not node.dtype.is_float:
        return 2.0 ** min(node.dtype.bits, 62)
    match node.op:
        case "add" | "sub":
            return sum(given)
        case "mul":
            return given[0] * given[1]
        case "mulacc":
            return given[0] * given[1] + given[2]
        case "where":
            return max(given[1:])
        case op if op in KEPT:
            return max(given)
        case _:
            return math.inf
