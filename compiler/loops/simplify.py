"""simplify: index arithmetic becomes sums of multiples; bounds remove divisions and conditions.

    Before:  …
             for i0 in 64
               for i1 in 784
                 %17 = in1[0 + (((0 + i0*784 + i1*1)//1)%50176)*1]   f32
                 …
                 out[0 + i0*784 + i1*1] = %18
    After:   …
                 %17 = in1[i0*784 + i1]   f32
                 …
                 out[i0*784 + i1] = %18

Relies on: bounds of ranges; indices are not negative where they are used to divide.
Ensures: the same value for every value of the ranges; no condition that bounds decide remains.
"""

import functools
from typing import Any

from compiler.core.dtypes import bool_, int64
from compiler.core.trace import Match, Provenance
from compiler.graph.rewrite import RuleSet, rewrite, rule_of
from compiler.loops import nodes
from compiler.loops.nodes import Body, ScalarNode, alu, const, index
from compiler.loops.pick import pick
from compiler.loops.predicated import bounded, under
from compiler.loops.symbolic import Sum, as_sum, conditions


def _divisor(node: nodes.Alu) -> int | None:
    """The constant that a division on indices divides by; None where there is none."""
    by = node.sources[1]
    is_index = node.dtype == int64 and isinstance(by, nodes.Const) and node.sources[0].bounds
    return int(by.value) if is_index and isinstance(by, nodes.Const) and int(by.value) > 0 else None


def _is_not_negative(node: ScalarNode) -> bool:
    return node.bounds is not None and node.bounds[0] >= 0


@rule_of(nodes.Alu)
def decided_by_bounds(node: nodes.Alu) -> ScalarNode | None:
    """i < 10 = true where i is 0 … 9"""
    if node.bounds is None or node.bounds[0] != node.bounds[1]:
        return None
    return const(node.bounds[0], node.dtype)


@rule_of((nodes.Alu, "add"), (nodes.Alu, "sub"), (nodes.Alu, "mul"))
def collect_terms(node: nodes.Alu) -> ScalarNode | None:
    """(i*2 + j) * 5 + i = i*11 + j*5"""
    if node.dtype != int64 or node.bounds is None:
        return None
    return _rejoin(as_sum(node)).node()


def _rejoin(total: Sum) -> Sum:
    """x // c * c + x % c = x, and x // a % b * a + x % a = x % (a*b), for each such two terms."""
    for term, coefficient in total.terms.items():
        if not isinstance(term, nodes.Alu) or term.op != "mod" or not (by := _divisor(term)):
            continue
        value = term.sources[0]
        whole = _quotient(value, by)
        if total.terms.get(whole) == coefficient * by:
            return _rejoin(_replaced(total, (term, whole), value, coefficient))
        for other, factor in total.terms.items():
            if factor == coefficient * by and (times := _divisor_of_remainder(other, whole)):
                joined = alu("mod", value, index(by * times))
                return _rejoin(_replaced(total, (term, other), joined, coefficient))
    return total


def _quotient(value: ScalarNode, by: int) -> ScalarNode:
    """value // by in the normal form of the other rules: i // 2 // 3 is i // 6."""
    if isinstance(value, nodes.Alu) and value.op == "idiv" and (first := _divisor(value)):
        return alu("idiv", value.sources[0], index(first * by))
    return alu("idiv", value, index(by))


def _divisor_of_remainder(node: ScalarNode, value: ScalarNode) -> int | None:
    """The c of value % c; None for any other expression."""
    if not isinstance(node, nodes.Alu) or node.op != "mod" or node.sources[0] is not value:
        return None
    return _divisor(node)


def _replaced(
    total: Sum, gone: tuple[ScalarNode, ScalarNode], value: ScalarNode, coefficient: int
) -> Sum:
    """The sum with a multiple of a value in place of two terms."""
    terms = {t: c for t, c in total.terms.items() if t not in gone}
    inner = as_sum(value)
    for part, factor in inner.terms.items():
        terms[part] = terms.get(part, 0) + factor * coefficient
    constant = total.constant + inner.constant * coefficient
    return Sum({t: c for t, c in terms.items() if c}, constant)


def _parts(value: ScalarNode, divisor: int) -> tuple[Sum, ScalarNode]:
    """The terms of a sum that `divisor` divides, divided by it, and the remaining terms. Terms are
    split only if the remaining sum is then less than the divisor, which removes the division."""
    total = as_sum(value)
    whole, rest = total.split_by(divisor)
    remainder = rest.node()
    if remainder.bounds and 0 <= remainder.bounds[0] <= remainder.bounds[1] < divisor:
        return whole, remainder
    whole, rest = total.divisible_by(divisor)
    return whole, rest.node()


@rule_of((nodes.Alu, "idiv"))
def divide_terms(node: nodes.Alu) -> ScalarNode | None:
    """(i*10 + j) // 10 = i where j is 0 … 9"""
    divisor, value = _divisor(node), node.sources[0]
    if divisor == 1:
        return value
    if divisor is None or not _is_not_negative(value):
        return None
    whole, remainder = _parts(value, divisor)
    if (not whole.terms and not whole.constant) or not _is_not_negative(remainder):
        return None
    return alu("add", whole.node(), alu("idiv", remainder, index(divisor)))


@rule_of((nodes.Alu, "mod"))
def drop_multiples(node: nodes.Alu) -> ScalarNode | None:
    """(i*10 + j) % 10 = j where j is 0 … 9"""
    divisor, value = _divisor(node), node.sources[0]
    if divisor is None or not _is_not_negative(value):
        return None
    if value.bounds and value.bounds[1] < divisor:
        return value
    whole, remainder = _parts(value, divisor)
    if (not whole.terms and not whole.constant) or not _is_not_negative(remainder):
        return None
    return alu("mod", remainder, index(divisor))


@rule_of((nodes.Alu, "idiv"), (nodes.Alu, "mod"))
def cancel_factor(node: nodes.Alu) -> ScalarNode | None:
    """(i*6 + 3) // 4 = (i*3 + 1) // 2 and (i*6) % 4 = (i*3) % 2 * 2"""
    divisor, value = _divisor(node), node.sources[0]
    if divisor is None or not _is_not_negative(value):
        return None
    total = as_sum(value)
    factor = total.common_factor(divisor)
    if factor == 1 or not total.terms:
        return None
    whole, rest = total.divisible_by(factor)
    inner = alu(node.op, whole.node(), index(divisor // factor))
    if node.op == "idiv":
        return inner
    return alu("add", alu("mul", inner, index(factor)), index(rest.constant))


@rule_of((nodes.Alu, "idiv"))
def divide_twice(node: nodes.Alu) -> ScalarNode | None:
    """i // 2 // 3 = i // 6 and i % 6 // 2 = i // 2 % 3"""
    divisor, inner = _divisor(node), node.sources[0]
    if divisor is None or not isinstance(inner, nodes.Alu) or inner.op not in ("idiv", "mod"):
        return None
    first, value = _divisor(inner), inner.sources[0]
    if first is None or not _is_not_negative(value):
        return None
    if inner.op == "idiv":
        return alu("idiv", value, index(first * divisor))
    if first % divisor:
        return None
    return alu("mod", alu("idiv", value, index(divisor)), index(first // divisor))


@rule_of((nodes.Alu, "mod"))
def remainder_twice(node: nodes.Alu) -> ScalarNode | None:
    """i % 6 % 3 = i % 3"""
    divisor, inner = _divisor(node), node.sources[0]
    if divisor is None or not isinstance(inner, nodes.Alu) or inner.op != "mod":
        return None
    first, value = _divisor(inner), inner.sources[0]
    if first is None or first % divisor or not _is_not_negative(value):
        return None
    return alu("mod", value, index(divisor))


@rule_of((nodes.Alu, "max"), (nodes.Alu, "min"))
def clamp_nothing(node: nodes.Alu) -> ScalarNode | None:
    """max(i, 0) = i and min(i, 9) = i where i is 0 … 9"""
    left, right = (s.bounds for s in node.sources)
    if node.dtype != int64 or left is None or right is None:
        return None
    is_left = left[0] >= right[1] if node.op == "max" else left[1] <= right[0]
    is_right = right[0] >= left[1] if node.op == "max" else right[1] <= left[0]
    return node.sources[0] if is_left else node.sources[1] if is_right else None


@rule_of((nodes.Alu, "and"))
def always_true(node: nodes.Alu) -> ScalarNode | None:
    """x and true = x"""
    left, right = node.sources
    if node.dtype.kind != "bool":
        return None
    if isinstance(right, nodes.Const) and right.value:
        return left
    return right if isinstance(left, nodes.Const) and left.value else None


@rule_of((nodes.Alu, "where"))
def decided_choice(node: nodes.Alu) -> ScalarNode | None:
    """where(true, a, b) = a"""
    condition, yes, no = node.sources
    if not isinstance(condition, nodes.Const):
        return None
    return yes if condition.value else no


@rule_of((nodes.Alu, "where"))
def choice_of_truths(node: nodes.Alu) -> ScalarNode | None:
    """where(c, true, false) = c"""
    condition, yes, no = node.sources
    if node.dtype != bool_ or not isinstance(yes, nodes.Const) or not isinstance(no, nodes.Const):
        return None
    return condition if (yes.value, no.value) == (True, False) else None


@rule_of((nodes.Alu, "lt"), (nodes.Alu, "ge"))
def compare_without_constant(node: nodes.Alu) -> ScalarNode | None:
    """i - 8 >= 4 = i >= 12"""
    value, limit = node.sources
    if value.dtype != int64 or value.bounds is None or not isinstance(limit, nodes.Const):
        return None
    total = as_sum(value)
    if not total.constant or not total.terms:
        return None
    return alu(node.op, Sum(total.terms, 0).node(), index(int(limit.value) - total.constant))


@rule_of((nodes.Alu, "and"))
def decided_by_others(node: nodes.Alu) -> ScalarNode | None:
    """i >= 8 and i >= 12 = i >= 12"""
    if node.dtype.kind != "bool":
        return None
    conditions_of = conditions(node)
    least: dict[tuple[ScalarNode, str], tuple[int, ScalarNode]] = {}
    for each in filter(bounded, conditions_of):
        assert isinstance(each, nodes.Alu)
        value, limit = each.sources
        assert isinstance(limit, nodes.Const)
        by = int(limit.value) * (1 if each.op == "lt" else -1)
        key = value, each.op
        least[key] = min(least.get(key, (by, each)), (by, each), key=lambda pair: pair[0])
    tightest = {each for _, each in least.values()}
    kept = list(dict.fromkeys(c for c in conditions_of if c in tightest or not bounded(c)))
    if len(kept) == len(conditions_of):
        return None
    return functools.reduce(lambda a, b: alu("and", a, b), kept)


@rule_of(nodes.Load)
def under_its_predicate(node: nodes.Load) -> ScalarNode | None:
    """in1[(i + 5) % 6] if i >= 1 = in1[i - 1] if i >= 1 where i is 0 … 5"""
    if node.predicate is None:
        return None
    value = under(node.predicate, node.sources[1], _simplest_index)
    return value and node.with_sources((node.sources[0], value, *node.sources[2:]))


def _simplest_index(where: ScalarNode) -> ScalarNode:
    return rewrite(where, INDICES, Provenance())


@rule_of(nodes.Load)
def constant_predicate(node: nodes.Load) -> ScalarNode | None:
    """load under true = load; load under false = 0"""
    if not isinstance(node.predicate, nodes.Const):
        return None
    return nodes.Load(node.sources[:2]) if node.predicate.value else const(0, node.dtype)


@rule_of(nodes.Store)
def always_stored(node: nodes.Store) -> ScalarNode | None:
    """store under true = store"""
    if not isinstance(node.predicate, nodes.Const) or not node.predicate.value:
        return None
    return node.with_sources(tuple(s for s in node.sources if s is not node.predicate))


@rule_of(Body, nodes.After)
def never_stored(node: Body | nodes.After) -> ScalarNode | None:
    """store under false = nothing, next to other stores"""
    kept = tuple(s for s in node.sources if not _is_never_stored(s))
    return (
        node.with_sources(kept) if len(kept) > (1 if isinstance(node, nodes.After) else 0) else None
    )


def _is_never_stored(node: ScalarNode) -> bool:
    predicate = node.predicate if isinstance(node, nodes.Store) else None
    return isinstance(predicate, nodes.Const) and not predicate.value


_OF_INDICES = (
    decided_by_bounds, collect_terms, divide_terms, drop_multiples, cancel_factor,
    divide_twice, remainder_twice, clamp_nothing,
)  # fmt: skip
INDICES = RuleSet(_OF_INDICES)
RULES = RuleSet(
    (
        *_OF_INDICES, compare_without_constant, decided_by_others, always_true, decided_choice,
        choice_of_truths, constant_predicate, under_its_predicate, always_stored, never_stored,
        pick,
    )
)  # fmt: skip


def simplify(body: Body, provenance: Provenance[Any], matches: list[Match] | None = None) -> Body:
    """`body` with the rules of this file applied until none matches."""
    return rewrite(body, RULES, provenance, matches)


def simplified(body: Body, provenance: Provenance[Any], matches: list[Match] | None) -> Body:
    """The same, recorded as one step: the end of a pass that creates indices."""
    result = simplify(body, provenance)
    if matches is not None and result is not body:
        matches.append(Match("simplify", "indices in simplest form", "", body, result))
    return result
