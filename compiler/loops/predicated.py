"""predicated: the index of a load, simplified with the bounds that its predicate implies.

    in1[(i0 + 5) % 6] if i0 >= 1      =   in1[i0 - 1] if i0 >= 1          i0 is 0 … 5

After a pad and a reshape, an index divides a value that may be negative, so the quotient has no
useful bounds. Where the predicate holds, the value is not negative. The index is therefore
simplified with loop counters restricted to the values that the predicate allows, and the original
counters are substituted back.
"""

from collections.abc import Callable, Mapping

from compiler.core.node import substitute, toposort
from compiler.loops import nodes
from compiler.loops.indices import shift
from compiler.loops.nodes import ScalarNode, index
from compiler.loops.symbolic import as_sum, conditions

Interval = tuple[int, int]
"""The least and the greatest value of a counter."""


def bounded(condition: ScalarNode) -> tuple[ScalarNode, Interval] | None:
    """The integer that a condition compares with a constant, and its interval where it holds."""
    match condition:
        case nodes.Alu(op="lt" | "ge" as op, sources=(value, nodes.Const() as limit)) if (
            value.bounds is not None and limit.bounds is not None
        ):
            (low, high), by = value.bounds, limit.bounds[0]
            return value, (low, min(high, by - 1)) if op == "lt" else (max(low, by), high)
    return None


def intervals(predicate: ScalarNode) -> dict[nodes.Range, Interval]:
    """The loop counters that a predicate restricts, each with the values that it allows."""
    intervals_of: dict[nodes.Range, Interval] = {}
    for value, (low, high) in filter(None, map(bounded, conditions(predicate))):
        total = as_sum(value)
        if len(total.terms) != 1 or set(total.terms.values()) != {1}:
            continue
        (counter,) = total.terms
        if isinstance(counter, nodes.Range) and isinstance(counter.sources[0], nodes.Const):
            least, most = intervals_of.get(counter, (0, counter.extent - 1))
            kept = max(least, low - total.constant), min(most, high - total.constant)
            intervals_of[counter] = kept
    return {r: kept for r, kept in intervals_of.items() if kept != (0, r.extent - 1)}


def under(
    predicate: ScalarNode, where: ScalarNode, simplify: Callable[[ScalarNode], ScalarNode]
) -> ScalarNode | None:
    """A simpler index, equal to `where` wherever the predicate holds; None if there is none."""
    if all(isinstance(term, nodes.Range | nodes.DefineVar) for term in as_sum(where).terms):
        return None  # nothing is simpler than a sum of multiples
    order = toposort([where])
    if any(isinstance(node, nodes.Load) for node in order):
        return None  # its own predicate would be taken for true
    kept = {r: values for r, values in intervals(predicate).items() if r in order}
    if not kept or any(low > high for low, high in kept.values()):
        return None
    narrow = {r: _narrow(r, values) for r, values in kept.items()}
    inside = {r: shift(narrow[r], low) for r, (low, _) in kept.items()}
    value = simplify(_within_reach(simplify(substitute(where, inside)), kept, narrow))
    return value if len(toposort([value])) < len(order) else None  # so this comes to an end


def _narrow(counter: nodes.Range, values: Interval) -> ScalarNode:
    """A loop counter with one iteration per value, and a number that no other has."""
    low, high = values
    if low == high:
        return index(0)
    return nodes.Range((index(high - low + 1),), -1 - counter.number, counter.role)


def _within_reach(
    node: ScalarNode, kept: Mapping[nodes.Range, Interval], narrow: Mapping[nodes.Range, ScalarNode]
) -> ScalarNode:
    """An expression of narrowed counters, rewritten in terms of the original ones."""
    back = {
        narrow[r]: shift(r, -low) for r, (low, _) in kept.items()
        if isinstance(narrow[r], nodes.Range)
    }  # fmt: skip
    return substitute(node, back)
