"""Choices for kernels without reductions that put zeros around what they read.

    out[i0, i1] = in1[i0 - 1, i1 - 1] if i0 >= 1 & i0 < 33 & i1 >= 1 & i1 < 33 else 0

A load under a gate along the lanes is one under a mask. What vectors leave of a row has no lanes;
where that is much, LLVM finds better ones, and cores are all that is chosen.
"""

from compiler.loops.accesses import Access, Accesses
from compiler.loops.choices import Choice, Choices
from compiler.loops.lanes import has_lanes, in_vectors, lane_count, shared_out
from compiler.loops.nodes import Range
from compiler.machine import MachineModel

SIDE_BY_SIDE = 4
"""Vectors of one row at a time."""

LITTLE = 4
"""What part of a vector may be left of each row."""


def borders(seen: Accesses, model: MachineModel) -> Choices | None:
    """Vectors along the innermost axis under masks; cores over the outermost."""
    if seen.reductions or len(seen.ranges) < 2:
        return None
    inner = seen.ranges[-1]
    read = [a for a in seen.loads if inner in seen.needs[a.node]]
    if seen.store.step(inner) != 1 or not all(_is_in_row(a, inner) for a in read):
        return None
    if not any(inner in a.gated for a in read):
        return None
    outer = seen.ranges[0]
    shared = shared_out(seen, outer.name, outer.extent, model)
    found = (*_vectors(seen, inner, model), *shared)
    return Choices(found) if found else None


def _is_in_row(access: Access, inner: Range) -> bool:
    """Whether elements are read one after the other, or one for all lanes."""
    return access.is_affine and access.steps.get(inner, 0) in (0, 1)


def _vectors(seen: Accesses, inner: Range, model: MachineModel) -> list[Choice]:
    """Lanes of the widest vector that a row fills; none where rows are short."""
    most = lane_count(seen, model)
    for lanes in (most, most // 2):
        is_even = lanes > 1 and inner.extent % lanes <= lanes // LITTLE
        if is_even and has_lanes(seen, inner, lanes):
            return in_vectors(inner.name, inner.extent, lanes, SIDE_BY_SIDE, "rows with borders")
    return []
