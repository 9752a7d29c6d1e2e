"""bounds: what is known of an integer before it is computed: the least and the greatest value.

    add of 0 … 9 and 0 … 4   is   0 … 13

Bounds are exact where each operand takes its values on its own, and never too narrow.
"""

from typing import TypeAlias

Bounds: TypeAlias = tuple[int, int] | None
INT64_MAX = 2**63 - 1


def alu_bounds(op: str, a: tuple[int, int], b: tuple[int, int]) -> Bounds:
    """Bounds of an integer or truth operation on values within `a` and `b`."""
    match op:
        case "add":
            return a[0] + b[0], a[1] + b[1]
        case "sub":
            return a[0] - b[1], a[1] - b[0]
        case "mul":
            corners = [x * y for x in a for y in b]
            return min(corners), max(corners)
        case "idiv" if b[0] == b[1] > 0:
            return truncate(a[0], b[0]), truncate(a[1], b[0])
        case "mod" if b[0] == b[1] > 0 and a[0] >= 0:
            return (a[0], a[1]) if a[1] < b[0] else (0, b[0] - 1)
        case "max":
            return max(a[0], b[0]), max(a[1], b[1])
        case "min":
            return min(a[0], b[0]), min(a[1], b[1])
        case "lt":
            return int(a[1] < b[0]), int(a[0] < b[1])
        case "ge":
            return int(a[0] >= b[1]), int(a[1] >= b[0])
        case "where":
            return min(b[0], a[0]), max(b[1], a[1])
        case "and":
            return (a[0] & b[0], a[1] & b[1]) if max(a[1], b[1]) <= 1 and a[0] >= 0 else None
        case _:
            return None


def truncate(a: int, b: int) -> int:
    """a / b towards zero."""
    return a // b if (a >= 0) == (b > 0) else -(-a // b)
