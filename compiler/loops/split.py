"""split: an axis that indices divide becomes several axes, split at the divisors.

    Before:  k0(out f32[480], in1 f32[320])
             for i0 in 480
               %11 = in1[i0//24*16 + i0%24] if i0%24 < 16 else 0 f32
               …
               out[i0] = %12
    After:   k0(out f32[480], in1 f32[320])
             for i1 in 20
               for i2 in 24
                 %11 = in1[i1*16 + i2] if i2 < 16 else 0 f32
                 …
                 out[i1*24 + i2] = %12

After a pad, slice or permute, a reshape has to recover several indices from one, by divisions. They
cost more than most operations, and a load with a divided index is not contiguous. So each axis,
from outside to inside, is tried as several axes whose extents are the divisors; the result is kept
if it has fewer divisions.

`choosing/choose_groups.py` splits the output axes of a single sum of products. The serial axes of
scans and updates are not split.

Relies on: `simplify` has run.
Ensures: the same elements in the same order, and fewer divisions than before.
"""

from collections.abc import Iterator
from typing import Any

from compiler.core.dtypes import int64
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops.nodes import Alu, Body, Const, Range, Reduce, ScalarNode, alu, axis, index
from compiler.loops.placement import NESTS, fused_products
from compiler.loops.simplify import simplify
from compiler.loops.symbolic import as_sum
from compiler.loops.transforms.axes import fixed, inherit, next_number, rebuilt

NARROWEST = 4
"""The fewest iterations of the innermost part, if the axis is the innermost of its nest: a shorter
one would not vectorise, and divisions vectorise too. Not measured."""


def split(body: Body, provenance: Provenance[Any], matches: list[Match] | None = None) -> Body:
    """`body` with axes split wherever that leaves fewer divisions."""
    left = len(divisions(body))
    for each in _divided(body):
        for widths in _tries(body, each):
            cut = _cut(body, each, widths, provenance)
            if (now := len(divisions(cut))) >= left:
                continue
            if matches is not None:
                doc = "an axis that indices divide = several"
                matches.append(Match("split", doc, "", body, cut))
            body, left = cut, now
            break
    return body


def divisions(body: Body) -> list[Alu]:
    """The divisions and remainders that the body computes."""
    return [n for n in toposort([body]) if isinstance(n, Alu) and n.op in ("idiv", "mod")]


def _divided(body: Body) -> list[Range]:
    """The axes in the dividends of indices, in order; without those of variable extent."""
    axes: dict[Range, None] = {}
    for node in divisions(body):
        if node.dtype == int64:
            terms = as_sum(node.sources[0]).terms
            axes |= {t: None for t in terms if isinstance(t, Range)}
    if not axes:
        return []
    folds = sum(isinstance(n, Reduce) for n in toposort([body]))
    is_product = folds == 1 and bool(fused_products(body))
    roles = ("reduction",) if is_product else ("normal", "reduction")
    fixed_ones = (r for r in axes if isinstance(r.sources[0], Const) and not r.unroll)
    return [r for r in fixed_ones if r.role in roles]


def _tries(body: Body, each: Range) -> Iterator[tuple[int, ...]]:
    """Candidate divisors of an axis: a chain of divisors, greatest first, then each one alone."""
    least = NARROWEST if _is_innermost(body, each) else 2
    divisors = sorted(w for w in _widths(body, each) if w >= least and each.extent % w == 0)
    chain: list[int] = []
    for width in divisors:
        if not chain or width % chain[-1] == 0:
            chain.append(width)
    if len(chain) > 1:
        yield tuple(reversed(chain))
    yield from ((width,) for width in divisors)


def _is_innermost(body: Body, each: Range) -> bool:
    nests = (node for node in toposort([body]) if isinstance(node, NESTS))
    return any(nest.ranges and nest.ranges[-1] is each for nest in nests)


def _widths(body: Body, each: Range) -> set[int]:
    """The number of iterations of an axis after which a division in an index changes its result."""
    widths: set[int] = set()
    for node in divisions(body):
        value, by = node.sources
        step = as_sum(value).terms.get(each, 0)
        if step > 0 and isinstance(by, Const) and node.dtype == int64:
            divisor = int(by.value)
            if divisor > step and divisor % step == 0 and divisor // step < each.extent:
                widths.add(divisor // step)
    return widths


def _cut(body: Body, each: Range, widths: tuple[int, ...], provenance: Provenance[Any]) -> Body:
    """`body` with an axis split into one for each of the widths and one inside, simplified."""
    number, parts = next_number(body), list[Range]()
    total: ScalarNode = index(0)
    for place, (extent, width) in enumerate(_extents(each.extent, widths)):
        part = axis(extent, number + place, each.role)
        parts.append(part)
        total = alu("add", total, alu("mul", part, index(width)))
    for node in toposort([total]):
        provenance.made(node, provenance.of(each))

    def change(node: ScalarNode, sources: tuple[ScalarNode, ...]) -> ScalarNode:
        if node is each:
            return total
        if not isinstance(node, NESTS) or each not in node.ranges:
            return node.with_sources(sources)
        first = fixed(node)
        loops = [p for r in node.ranges for p in (parts if r is each else (r,))]
        predicates = [s for s in sources[first:] if not isinstance(s, Range) and s is not total]
        rebuilt_nest = node.with_sources((*sources[:first], *loops, *predicates))
        inherit(rebuilt_nest, node, provenance)
        return rebuilt_nest

    return simplify(rebuilt(body, change, provenance), provenance)


def _extents(extent: int, widths: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """The extent and the stride, in iterations of the axis, of each part, outermost first."""
    for width in (*widths, 1):
        yield extent // width, width
        extent = width
