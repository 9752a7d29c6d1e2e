"""gates: the bounds that a condition gives ranges: `i0.0*8 + i0.1 < 22` bounds the sum of two."""

from compiler.loops.nodes import Alu, Range, ScalarNode
from compiler.loops.symbolic import Sum, as_sum, at_greatest


def limits(gate: ScalarNode | None) -> list[tuple[Sum, int] | None]:
    """Sums of ranges that a gate bounds, without their constants, and what they are less than.

    None for each condition of the gate that is of another form.
    """
    found: list[tuple[Sum, int] | None] = []
    stack = [] if gate is None else [gate]
    while stack:
        match stack.pop():
            case Alu(op="and", sources=sources):
                stack.extend(sources)
            case Alu(op="lt", sources=(a, b)) if (limit := at_greatest(b)) is not None:
                bounded = as_sum(a)
                is_sum = all(isinstance(t, Range) and c > 0 for t, c in bounded.terms.items())
                kept = Sum(bounded.terms, 0), limit - bounded.constant
                found.append(kept if is_sum and bounded.terms else None)
            case _:
                found.append(None)
    return found
