"""bounds: interval arithmetic, the least and the greatest value that an integer can have.

    add of 0 … 9 and 0 … 4   is   0 … 13

One function for each operation with useful bounds. It takes the bounds of two operands (for a
choice those of the two alternatives). Bounds are exact if the operands are independent, and never
too narrow.
"""

from collections.abc import Callable
from typing import TypeAlias

Range: TypeAlias = tuple[int, int]
Bounds: TypeAlias = Range | None
BoundsRule: TypeAlias = Callable[[Range, Range], Bounds]
INT64_MAX = 2**63 - 1


def truncate(a: int, b: int) -> int:
    """a / b towards zero. Raises `ZeroDivisionError` where b is 0."""
    return a // b if (a >= 0) == (b > 0) else -(-a // b)


def remainder(a: int, b: int) -> int:
    """The remainder with the sign of a. Raises as `truncate`."""
    return a - b * truncate(a, b)


def of_sum(a: Range, b: Range) -> Bounds:
    """a + b"""
    return a[0] + b[0], a[1] + b[1]


def of_difference(a: Range, b: Range) -> Bounds:
    """a - b"""
    return a[0] - b[1], a[1] - b[0]


def of_product(a: Range, b: Range) -> Bounds:
    """a * b"""
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def of_quotient(a: Range, b: Range) -> Bounds:
    """a / b, for positive b"""
    if b[0] <= 0:
        return None
    corners = [truncate(x, y) for x in a for y in b]
    return min(corners), max(corners)


def of_remainder(a: Range, b: Range) -> Bounds:
    """The remainder of a non-negative a by a positive b"""
    if b[0] <= 0 or a[0] < 0:
        return None
    return a if a[1] < b[0] else (0, min(a[1], b[1] - 1))


def of_greater(a: Range, b: Range) -> Bounds:
    """max(a, b)"""
    return max(a[0], b[0]), max(a[1], b[1])


def of_lesser(a: Range, b: Range) -> Bounds:
    """min(a, b)"""
    return min(a[0], b[0]), min(a[1], b[1])


def of_either(a: Range, b: Range) -> Bounds:
    """a or b, whichever is chosen"""
    return min(b[0], a[0]), max(b[1], a[1])


def of_less(a: Range, b: Range) -> Bounds:
    """a < b"""
    return int(a[1] < b[0]), int(a[0] < b[1])


def of_at_least(a: Range, b: Range) -> Bounds:
    """a >= b"""
    return int(a[0] >= b[1]), int(a[1] >= b[0])


def of_both(a: Range, b: Range) -> Bounds:
    """a & b of truth values"""
    is_truth = min(a[0], b[0]) >= 0 and max(a[1], b[1]) <= 1
    return (a[0] & b[0], a[1] & b[1]) if is_truth else None
