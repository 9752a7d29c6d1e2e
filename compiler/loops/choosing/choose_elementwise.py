"""Choices for kernels without reductions: vectors along the innermost axis.

    out[i0, i1] = in1[i0, i1] * 2                                          elementwise
    out[i0, i1] = in1[i0, i1] if i1 < 64 else in2[i0, i1 - 64]             with borders along a row

A load whose predicate depends on the lane is a masked load. Where masks are vectors, plain loops
are faster: 16 times 62² in a border of zeros takes 13.8 µs in vectors and 4.9 plain (EPYC, Zen 5,
AVX2, 2026-11-24). Then only cores are chosen here.
"""

from compiler.core.reason import Number, Reason
from compiler.loops.choices import Choices, Row, Tile, chosen
from compiler.loops.choosing.accesses import Access, Accesses
from compiler.loops.choosing.lanes import (
    MASKED,
    against_lanes,
    against_order,
    has_masks,
    has_polynomials,
    in_vectors,
    lanes_along,
    shared_out,
    side_by_side,
    streamed,
)
from compiler.loops.nodes import Range
from compiler.machines.model import MachineModel

SIDE_BY_SIDE = 4
"""The most unrolled vectors: that many loads are in flight at a time. gelu of 65,537 takes 44,
40, 39 and 38 µs with 1, 2, 4 and 8, four operations on 1,000,003 take 392, 394, 387 and 473 (EPYC,
AVX2, 2026-11-23)."""
PREDICATES = 2
"""Predicates in a row from which masks pay. With one, LLVM computes once per row where it holds:
62² in a border of zeros takes 0.18 µs in vectors and 0.09 plain, 1022² 104 and 80, unless it is
under operations of many instructions, which are scalar there: gelu of 300 rows of 29 takes 1.8 and
11.1 µs, of 1022² 0.30 and 0.33 ms. With two, as in a concatenation, each element is a branch: 200
rows of 50 and 78 take 2.0 and 5.7 µs, 300 of 15 and 15 0.4 and 1.9, but 100 of four times 32 2.6
and 0.5 (EPYC, Zen 5, AVX-512, 2026-11-28)."""


def elementwise(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Vectors along the innermost axis, several at a time; cores over the outermost."""
    if seen.reductions:
        return Reason("it folds")
    if not seen.ranges:
        return Reason("it writes one element", Number("elements written", 1))
    inner = seen.ranges[-1]
    lanes = lanes_along(seen, [inner], model)
    against = against_order(seen, inner) or against_lanes(seen, inner, lanes)
    if against:
        return against
    vectors = _vectors(seen, inner, lanes, "elements one after the other", model)
    return chosen((*vectors, *streamed(seen, inner, lanes, model)))


def borders(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """The same in masked vectors, where rows are padded with zeros or concatenated."""
    if seen.reductions:
        return Reason("it folds")
    if len(seen.ranges) < 2:
        return Reason("it has no rows", Number("loops", len(seen.ranges), "", "at least", 2))
    inner = seen.ranges[-1]
    read = [a for a in seen.loads if inner in seen.needs[a.node]]
    if seen.store.step(inner) != 1 or not all(_is_in_row(a, inner) for a in read):
        return Reason("what it reads or writes along a row is not one element after the other")
    predicates = {a.node.predicate for a in read if inner in a.predicated}
    if not predicates:
        return Reason("it has no borders along a row")
    if not has_masks(model):
        nbytes = Number("bytes of a vector", model.vector_bytes, "", "masks of their own", MASKED)
        return Reason("masks are vectors", nbytes)
    few = Number("predicates in a row", len(predicates), "", "at least", PREDICATES)
    if len(predicates) < PREDICATES and not has_polynomials(seen):
        return Reason("LLVM computes once per row where its elements are read", few)
    lanes = lanes_along(seen, [inner], model)
    if inner.extent < lanes and len(predicates) >= PREDICATES:
        lanes //= 2
    against = against_lanes(seen, inner, lanes)
    return against or chosen(_vectors(seen, inner, lanes, "rows with borders", model))


def _vectors(seen: Accesses, inner: Range, lanes: int, what: str, model: MachineModel) -> list[Row]:
    """The iterations of the innermost axis as lanes, and the cores that share out the outermost."""
    several = side_by_side(seen, model, SIDE_BY_SIDE)
    choices: list[Row] = [*in_vectors(inner.name, inner.extent, lanes, several, what)]
    outer, trips = seen.ranges[0].name, seen.ranges[0].extent
    if seen.ranges[0] is inner:
        size = chosen(choices).of(Tile)[0].size
        outer, trips = outer.outer, trips // size
    return [*choices, *shared_out(seen, outer, trips, model)]


def _is_in_row(access: Access, inner: Range) -> bool:
    """True if an access has stride 1 or 0 along the lanes."""
    return access.is_affine and access.steps.get(inner, 0) in (0, 1)
