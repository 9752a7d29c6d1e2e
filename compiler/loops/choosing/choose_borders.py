"""Choices for kernels without reductions that pad what they read with zeros.

    out[i0, i1] = in1[i0 - 1, i1 - 1] if i0 >= 1 & i0 < 33 & i1 >= 1 & i1 < 33 else 0

A load whose predicate depends on the lane is a masked load. The remainder of a row is scalar. Where
the remainder is a large part of the row, or where masks are vectors, LLVM vectorises better: it
computes once per row where the row begins and ends. Then only cores are chosen here.
"""

from compiler.core.reason import Number, Reason, numbers_of
from compiler.loops.choices import Choices, Refused, Row, chosen
from compiler.loops.choosing.accesses import Access, Accesses
from compiler.loops.choosing.lanes import (
    MASKED,
    against_lanes,
    has_masks,
    in_vectors,
    lane_count,
    shared_out,
)
from compiler.loops.nodes import Range
from compiler.machines.model import MachineModel

SIDE_BY_SIDE = 4
"""Vectors of one row at a time. Borders around 62×62 take 1.99, 1.88, 1.69 and 1.68 µs with 1, 2, 4
and 8 (EPYC, AVX2, 2026-11-23)."""

LITTLE = 4
"""The largest remainder of a row, as a fraction 1/n of a vector. Chosen where masks are cheap,
without a figure on record; without such masks any rest is too much: 300 rows of 68, of which 4 are
left, take 3.9 µs in vectors and 1.9 plain (EPYC, AVX2, 2026-11-23)."""


def borders(seen: Accesses, model: MachineModel) -> Choices | Reason:
    """Masked vectors along the innermost axis; cores over the outermost."""
    if seen.reductions:
        return Reason("it folds")
    if len(seen.ranges) < 2:
        return Reason("it has no rows", Number("loops", len(seen.ranges), "", "at least", 2))
    inner = seen.ranges[-1]
    read = [a for a in seen.loads if inner in seen.needs[a.node]]
    if seen.store.step(inner) != 1 or not all(_is_in_row(a, inner) for a in read):
        return Reason("what it reads or writes along a row is not one element after the other")
    if not any(inner in a.predicated for a in read):
        return Reason("it has no borders along a row")
    if not has_masks(model):
        # 16 times 62² in a border of zeros take 13.8 µs in vectors, 4.9 plain (EPYC, Zen 5, AVX2,
        # 2026-11-24)
        nbytes = Number("bytes of a vector", model.vector_bytes, "", "masks of their own", MASKED)
        return Reason("masks are vectors", nbytes)
    outer = seen.ranges[0]
    shared = shared_out(seen, outer.name, outer.extent, model)
    vectors = _vectors(seen, inner, model)
    choices = chosen((*vectors, *shared))
    return choices if choices else Reason(vectors[0].because, *numbers_of(vectors[0].because))


def _is_in_row(access: Access, inner: Range) -> bool:
    """True if an access has stride 1 or 0 along the lanes."""
    return access.is_affine and access.steps.get(inner, 0) in (0, 1)


def _vectors(seen: Accesses, inner: Range, model: MachineModel) -> list[Row]:
    """The lanes of the widest vector that a row fills; None if rows are too short."""
    most = lane_count(seen, model)
    against: list[Reason] = []
    for lanes in (most, most // 2):
        axis_of_lanes = _against(seen, inner, lanes)
        if not axis_of_lanes:
            what = "rows with borders"
            return [*in_vectors(inner.name, inner.extent, lanes, SIDE_BY_SIDE, what)]
        against.append(axis_of_lanes)
    numbers = dict.fromkeys(number for each in against for number in each.numbers)
    return [Refused("vectorize", Reason("; ".join(dict.fromkeys(against)), *numbers))]


def _against(seen: Accesses, inner: Range, lanes: int) -> Reason:
    """The reason why a row is not split into vectors of `lanes`; empty if it is."""
    left = inner.extent % max(lanes, 1)
    if lanes > 1 and left > lanes // LITTLE:
        words = f"{left} of {inner.extent} iterations are left by vectors of {lanes}"
        return Reason(words, Number("iterations left over", left, "", "at most", lanes // LITTLE))
    return against_lanes(seen, inner, lanes)
