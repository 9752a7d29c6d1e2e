"""Products: the parts of a kernel that is a sum of products of two arrays, with an epilogue.

    out[i0, i1] = relu(Σ r2  in1[i0, r2] * in2[r2, i1])     rows i0, columns i1, reduced r2,
                                                            panel in2, other in1

Columns are the axis along which the output is written in order; the panel is the operand that
depends on it. Operands may be converted before they are multiplied.
"""

from dataclasses import dataclass

from compiler.loops.choosing.accesses import Access, Accesses, extents
from compiler.loops.nodes import Alu, Cast, Load, Range, Reduce, ScalarNode
from compiler.loops.transforms.levels import length

LONG = 8
"""The trip count of the sum, in multiples of rows or columns, from which it is long: sums in
scratch memory then read the panel once, in order. Rows in order too, 128×2048×128 and 256×4096×256
take 0.51 and 4.1 ms so and 0.76 and 4.9 in tiles; rows that share sets 0.97 and 6.7 so, 0.56 and
4.2 in tiles (EPYC, Zen 5, AVX2, 2026-11-24). In vectors along the sum 64×4096×64 takes 0.27 ms and
0.15 in tiles (AVX-512, the same day). Not varied but for 32, where both are tiles."""


@dataclass(frozen=True, slots=True)
class Product:
    """The parts of a sum of products."""

    rows: Range
    columns: Range
    outside: tuple[Range, ...]
    folded: tuple[Range, ...]
    panel: Access
    other: Access
    zeros: tuple[bool, bool] = (False, False)
    """True for rows, and for columns, from which a zero point is subtracted."""

    @property
    def is_open(self) -> bool:
        """True if the number of rows is known at run time only."""
        return length(self.rows) is None

    @property
    def is_panel_in_order(self) -> bool:
        """True if the panel is contiguous along the columns."""
        return self.panel.step(self.columns) == 1

    def selected_by(self, axis: Range) -> str:
        """The axis that selects the loads of one operand if both operands are the same argument, as
        in `a @ a`; "" elsewhere."""
        return axis.name if self.other.argument is self.panel.argument else ""

    @property
    def long_from(self) -> int:
        """The trip count from which the sum is long compared to the rows and the columns."""
        return LONG * max(self.rows.extent, self.columns.extent)

    @property
    def is_long(self) -> bool:
        """True if the sum is long."""
        return extents(self.folded) >= self.long_from


def product_of(seen: Accesses, is_any: bool = False) -> Product | None:
    """The parts of a kernel that is a sum of products of two loads, with an epilogue; or None.

    With `is_any` rows need not be adjacent to the columns, as channels of an image are not, and a
    loop-invariant value may be subtracted from a factor first.
    """
    fold = _sum_of_products(seen)
    if fold is None:
        return None
    columns = seen.ranges[-1]
    if seen.store.step(columns) != 1 or any(length(r) is None for r in (columns, *fold.ranges)):
        return None
    zeros = _zeros(fold, seen, is_any)
    loads = [a for factor in zeros for a in seen.loads if a.node is factor and not a.predicated]
    panels = [a for a in loads if columns in seen.needs[a.node]]
    if len(panels) != 1 or not all(a.is_affine for a in loads):
        return None
    panel = panels[0]
    rows = _rows(panel, seen) if is_any else seen.ranges[-2]
    others = [a for a in loads if rows in seen.needs[a.node]]
    if len(others) != 1 or others == panels:
        return None
    other = others[0]
    outside = tuple(r for r in seen.ranges if r not in (rows, columns))
    is_less = zeros[other.node], zeros[panel.node]
    return Product(rows, columns, outside, fold.ranges, panel, other, is_less)


def _sum_of_products(seen: Accesses) -> Reduce | None:
    """The only reduction of a kernel with rows and columns, if it is a sum of products."""
    if len(seen.reductions) != 1 or len(seen.ranges) < 2:
        return None
    fold = seen.reductions[0]
    value = fold.sources[0]
    is_product = isinstance(value, Alu) and value.op == "mul"
    return fold if fold.op == "sum" and is_product else None


def _zeros(fold: Reduce, seen: Accesses, is_any: bool) -> dict[ScalarNode | None, bool]:
    """For the load of each factor, whether a zero point is subtracted from it."""
    factors, folded = fold.sources[0].sources, frozenset(fold.ranges)
    less = [_less(factor, seen, folded) if is_any else None for factor in factors]
    pairs = zip(less, factors, strict=True)
    return {_loaded(minuend or factor): minuend is not None for minuend, factor in pairs}


def _rows(panel: Access, seen: Accesses) -> Range:
    """The innermost axis that the panel does not depend on; else the second innermost."""
    apart = [r for r in seen.ranges if r not in seen.needs[panel.node]]
    return apart[-1] if apart else seen.ranges[-2]


def _less(factor: ScalarNode, seen: Accesses, folded: frozenset[Range]) -> ScalarNode | None:
    """The minuend, if a value that is invariant in the sum is subtracted; None otherwise."""
    is_less = isinstance(factor, Alu) and factor.op in ("add", "sub")
    return factor.sources[0] if is_less and not seen.needs[factor.sources[1]] & folded else None


def _loaded(factor: ScalarNode) -> ScalarNode | None:
    """The load that a factor converts, if it is one."""
    while isinstance(factor, Cast):
        factor = factor.sources[0]
    return factor if isinstance(factor, Load) and factor.predicate is None else None
