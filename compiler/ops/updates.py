"""Updates of a scatter where it writes: one row each, and how an array is updated in order.

Updates are applied one after the other, in row-major order: the result is defined also where two
of them hit one element, and for floats, whose sums depend on the order.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from compiler.ops.row import Reduction
from compiler.ops.table import OPS, REDUCTIONS

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass(frozen=True, slots=True)
class Update:
    """`combine` is the row of `ops.OPS` that joins old and new; None: the new one replaces it.

    `reduces`: the names of `scatter_reduce` for it. `passes` says whose changes pass on to the
    result: those of all updates, of the last at a place, of those that are there still as they
    were, or of each times the others; None: gradients cannot pass.
    """

    name: str
    meaning: str
    combine: str | None
    reduces: tuple[str, ...] = ()
    passes: Literal["all", "last", "kept", "factor"] | None = None

    @property
    def reduction(self) -> Reduction:
        """The reduction that joins its elements as updates are joined."""
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
    """A copy of `base` with `values` at `positions`, an array per axis; those outside are left."""
    result = np.array(base, order="C")
    inside = np.ones(values.shape, bool)
    for position, extent in zip(positions, base.shape, strict=True):
        inside &= (position >= 0) & (position < extent)
    kept = tuple(position[inside] for position in positions)
    if kept[0].size:
        index = np.ravel_multi_index(kept, base.shape)
        apply(op, result.reshape(-1), index, values[inside])
    return result
