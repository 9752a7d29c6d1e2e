"""Integer expressions as sums of multiples: the form in which index arithmetic simplifies.

    (i*10 + j) * 2 + 4   is the sum   20·i + 2·j + 4:   terms {i: 20, j: 2}, constant 4
    i*8 + j < 22         bounds a sum of two ranges (`limits`)
"""

from contextlib import suppress
from dataclasses import dataclass
from math import gcd

from compiler.core.dtypes import int64
from compiler.core.node import toposort
from compiler.loops.nodes import Alu, Const, DefineVar, Range, ScalarNode, alu, index
from compiler.ops.table import OPS


@dataclass(frozen=True, slots=True)
class Sum:
    """`constant` plus each key of `terms` times its value; no coefficient is 0."""

    terms: dict[ScalarNode, int]
    constant: int

    def divisible_by(self, divisor: int) -> tuple["Sum", "Sum"]:
        """The terms whose coefficients `divisor` divides, divided by it, and the remaining ones."""
        whole = {t: c // divisor for t, c in self.terms.items() if c % divisor == 0}
        rest = {t: c for t, c in self.terms.items() if c % divisor}
        return Sum(whole, self.constant // divisor), Sum(rest, self.constant % divisor)

    def split_by(self, divisor: int) -> tuple["Sum", "Sum"]:
        """The same with coefficients split too: i*12 is i*10 + i*2 to a division by 10."""
        parts = {t: divmod(c, divisor) if c > 0 else (0, c) for t, c in self.terms.items()}
        whole = {t: quotient for t, (quotient, _) in parts.items() if quotient}
        rest = {t: remainder for t, (_, remainder) in parts.items() if remainder}
        return Sum(whole, self.constant // divisor), Sum(rest, self.constant % divisor)

    def common_factor(self, other: int) -> int:
        """The greatest number that divides every coefficient and `other`."""
        result = other
        for coefficient in self.terms.values():
            result = gcd(result, coefficient)
        return result

    def node(self) -> ScalarNode:
        """The sum as an expression: greatest coefficient first, the constant last."""
        ordered = sorted(self.terms.items(), key=lambda item: -abs(item[1]))
        result: ScalarNode | None = None
        for term, coefficient in ordered:
            part = term if coefficient == 1 else alu("mul", term, index(coefficient))
            result = part if result is None else alu("add", result, part)
        if result is None:
            return index(self.constant)
        return result if self.constant == 0 else alu("add", result, index(self.constant))


def as_sum(node: ScalarNode) -> Sum:
    """The integer expression `node` as a sum; other expressions are terms."""
    terms: dict[ScalarNode, int] = {}
    constant = 0
    stack = [(node, 1)]
    while stack:
        part, factor = stack.pop()
        if isinstance(part, Const):
            constant += factor * int(part.value)
            continue
        op = ""
        if isinstance(part, Alu) and part.bounds is not None and part.dtype == int64:
            op = part.op
        if op in ("add", "sub"):
            first, second = part.sources
            stack.append((second, factor if op == "add" else -factor))
            stack.append((first, factor))
            continue
        if op == "mul":
            first, second = part.sources
            if isinstance(second, Const):
                stack.append((first, factor * int(second.value)))
                continue
            if isinstance(first, Const):
                stack.append((second, factor * int(first.value)))
                continue
        terms[part] = terms.get(part, 0) + factor
    return Sum({t: c for t, c in terms.items() if c}, constant)


def at_greatest(node: ScalarNode) -> int | None:
    """The value of an expression of constants and variables with each variable at its greatest.

    None for other expressions. It is not the greatest value: `n % 8` is 0 at n = 16.
    """
    values: dict[ScalarNode, int | None] = {}
    for each in toposort([node]):
        values[each] = None
        match each:
            case Const() if each.bounds is not None:
                values[each] = each.bounds[0]
            case DefineVar():
                values[each] = each.high
            case Alu(op=op, sources=(a, b)) if (whole := OPS[op].whole) is not None:
                first, second = values[a], values[b]
                if first is not None and second is not None:
                    with suppress(ZeroDivisionError):
                        values[each] = whole(first, second)
            case _:
                pass
    return values[node]


def conditions(predicate: ScalarNode | None) -> list[ScalarNode]:
    """The conditions whose conjunction a predicate is, in order."""
    comparisons: list[ScalarNode] = []
    stack = [] if predicate is None else [predicate]
    while stack:
        match stack.pop():
            case Alu(op="and", sources=(first, second)):
                stack += (second, first)
            case condition:
                comparisons.append(condition)
    return comparisons


def limits(predicate: ScalarNode | None) -> list[tuple[Sum, int] | None]:
    """The sums of ranges that a predicate bounds, without constants, each with its upper limit.

    None for each condition of the predicate that has another form.
    """
    limits_of: list[tuple[Sum, int] | None] = []
    for condition in reversed(conditions(predicate)):
        match condition:
            case Alu(op="lt", sources=(a, b)) if (limit := at_greatest(b)) is not None:
                bounded = as_sum(a)
                is_sum = all(isinstance(t, Range) and c > 0 for t, c in bounded.terms.items())
                kept = Sum(bounded.terms, 0), limit - bounded.constant
                limits_of.append(kept if is_sum and bounded.terms else None)
            case _:
                limits_of.append(None)
    return limits_of
