"""The ways in which a scatter combines old and new elements, and how an array is updated in order.

Updates apply one after the other, in row-major order. So the result is defined also if several hit
one element, and for floats, whose sums depend on the order.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from compiler.core.dtypes import Array
from compiler.ops.row import Reduction
from compiler.ops.table import OPS, REDUCTIONS


@dataclass(frozen=True, slots=True)
class Update:
    """`combine` is the row of `ops.OPS` that combines old and new; None replaces the old one.

    `reduces`: the names in `scatter_reduce`. `passes` states which gradients reach the result:
    those of all updates, of the last at an index, of the selected elements, or of each times the
    others; None if gradients cannot pass.
    """

    name: str
    meaning: str
    combine: str | None
    reduces: tuple[str, ...] = ()
    passes: Literal["all", "last", "kept", "factor"] | None = None

    @property
    def reduction(self) -> Reduction:
        """The reduction that combines elements as updates are combined."""
        return next(row for row in REDUCTIONS.values() if row.combine == self.combine)


UPDATES: dict[str, Update] = {
    row.name: row
    for row in (
        Update("replace", "the last update wins", None, (), "last"),
        Update("add", "added to the element", "add", ("add", "sum"), "all"),
        Update("mul", "multiplied with the element", "mul", ("mul", "prod"),
               "factor"),
        Update("max", "the greater of both; NaN if either is", "max", ("max", "amax"),
               "kept"),
        Update("min", "the lesser of both; NaN if either is", "min", ("min", "amin"),
               "kept"),
    )
}  # fmt: skip


def apply(op: str, memory: Array, index: Array, values: Array) -> None:
    """Update elements `index` of flat `memory` with `values`, both flat, one after the other."""
    combine = UPDATES[op].combine
    if combine is None:
        memory[index] = values  # NumPy keeps the last of equal indices
        return
    OPS[combine].reference.at(memory, index, values)  # type: ignore[attr-defined]


def scattered(op: str, base: Array, values: Array, positions: list[Array]) -> Array:
    """A copy of `base` with `values` at `positions`, an index array per axis; indices out of range
    are ignored."""
    result = np.array(base, order="C")
    inside = np.ones(values.shape, bool)
    for position, extent in zip(positions, base.shape, strict=True):
        inside &= (position >= 0) & (position < extent)
    kept = tuple(position[inside] for position in positions)
    if kept[0].size:
        index = np.ravel_multi_index(kept, base.shape)
        apply(op, result.reshape(-1), index, values[inside])
    return result
