"""`Extent`: a symbolic number of elements, known at run time, and arithmetic with it.

    n                        a variable of the program
    12*n, n+3, 4*b*n-1       derived from variables: a sum of products with integer factors

Sums are kept in a canonical order, so that equal extents compare equal. The bounds of a sum are
the sums of its terms' bounds: exact where every variable is in one term.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Extent:
    """A number of elements known at run time: at least `low` and at most `high`.

    `terms` are the terms of the sum, each variables and a factor; () for a variable itself.
    """

    name: str
    low: int
    high: int
    terms: "tuple[tuple[tuple[Extent, ...], int], ...]" = ()

    def __str__(self) -> str:
        return self.name

    @property
    def described(self) -> str:
        """`n (1 … 1024)`, as messages write it."""
        return f"{self.name} ({self.low} … {self.high})"

    @property
    def variables(self) -> "tuple[Extent, ...]":
        """The variables that it depends on."""
        variables = (variable for product, _ in self.terms for variable in product)
        return tuple(dict.fromkeys(variables)) if self.terms else (self,)

    def value(self, values: Mapping[str, int]) -> int:
        """The number of elements for these values of the variables, by name."""
        if not self.terms:
            return values[self.name]
        return sum(
            factor * math.prod(values[variable.name] for variable in product)
            for product, factor in self.terms
        )


Number: TypeAlias = int | Extent
"""The number of elements of an axis, fixed or symbolic."""
Product: TypeAlias = tuple[Extent, ...]
"""Variables multiplied, in the order of their names; () is 1."""
Sum: TypeAlias = dict[Product, int]
"""The factor of each product."""


def total(numbers: Iterable[Number]) -> Number:
    """The sum of numbers of elements."""
    terms: Sum = {}
    for number in numbers:
        _add(terms, _sum_of(number))
    return _extent_of(terms)


def less(number: Number, other: Number) -> Number:
    """`number - other`."""
    terms = _sum_of(number)
    _add(terms, {product: -factor for product, factor in _sum_of(other).items()})
    return _extent_of(terms)


def product(numbers: Iterable[Number]) -> Number:
    """The product of numbers of elements."""
    factors = tuple(numbers)
    if not any(isinstance(number, Extent) for number in factors):
        return math.prod(number for number in factors if isinstance(number, int))
    terms: Sum = {(): 1}
    for number in factors:
        terms = _multiplied(terms, _sum_of(number))
    return _extent_of(terms)


def quotient(number: Number, divisor: Number) -> Number | None:
    """`number / divisor`; None where it is no integer for some values, or `divisor` may be 0.

    A divisor with several terms divides only itself.
    """
    if number == divisor and lowest(divisor) > 0:
        return 1
    below = _sum_of(divisor)
    if len(below) != 1 or lowest(divisor) < 1:
        return None
    ((gone, factor),) = below.items()
    terms: Sum = {}
    for variables, times in _sum_of(number).items():
        rest = _without(variables, gone)
        if rest is None or times % factor:
            return None
        terms[rest] = times // factor
    return _extent_of(terms)


def lowest(number: Number) -> int:
    """The lower bound of a number."""
    return number if isinstance(number, int) else number.low


def highest(number: Number) -> int:
    """The upper bound of a number."""
    return number if isinstance(number, int) else number.high


def _sum_of(number: Number) -> Sum:
    if isinstance(number, int):
        return {(): number} if number else {}
    return dict(number.terms) if number.terms else {(number,): 1}


def _add(terms: Sum, more: Sum) -> None:
    for variables, factor in more.items():
        terms[variables] = terms.get(variables, 0) + factor


def _multiplied(first: Sum, second: Sum) -> Sum:
    terms: Sum = {}
    for variables, factor in first.items():
        for others, by in second.items():
            together = tuple(sorted((*variables, *others), key=lambda each: each.name))
            terms[together] = terms.get(together, 0) + factor * by
    return terms


def _without(variables: Product, gone: Product) -> Product | None:
    """The product divided by the variables `gone`; None where it lacks one of them."""
    rest = list(variables)
    for each in gone:
        if each not in rest:
            return None
        rest.remove(each)
    return tuple(rest)


def _extent_of(sum_of: Sum) -> Number:
    """The canonical form of a sum: an int, a variable, or a new extent."""
    terms = tuple(sorted(
        ((variables, factor) for variables, factor in sum_of.items() if factor), key=_order
    ))  # fmt: skip
    if not any(variables for variables, _ in terms):
        return terms[0][1] if terms else 0
    if len(terms) == 1 and len(terms[0][0]) == 1 and terms[0][1] == 1:
        return terms[0][0][0]
    bounds = [_bounds(variables, factor) for variables, factor in terms]
    low, high = sum(low for low, _ in bounds), sum(high for _, high in bounds)
    return Extent(_written(terms), low, high, terms)


def _order(term: tuple[Product, int]) -> tuple[int, list[str]]:
    """Sort key of terms: long products first, constants last."""
    return -len(term[0]), [variable.name for variable in term[0]]


def _bounds(variables: Product, factor: int) -> tuple[int, int]:
    low = high = factor
    for variable in variables:
        ends = (low * variable.low, low * variable.high, high * variable.low, high * variable.high)
        low, high = min(ends), max(ends)
    return low, high


def _written(terms: tuple[tuple[Product, int], ...]) -> str:
    """`12*n-1`"""
    words = ""
    for variables, factor in terms:
        names = [variable.name for variable in variables]
        number = [str(abs(factor))] if abs(factor) != 1 or not names else []
        sign = "-" if factor < 0 else "+" if words else ""
        words += sign + "*".join([*number, *names])
    return words
