"""A value inside a kernel, over all the times that it was computed.

A loop computes one value after the other; an interpreter tells of them many at a time. Kept are
counts and extremes of all, and the first elements, in the order in which they were computed.
"""

from dataclasses import dataclass, field

import numpy as np

from compiler.core.dtypes import Array

KEPT = 576
"""The first elements that are kept: enough for a small picture."""


@dataclass(slots=True)
class Seen:
    """One value, seen often. `least` to `total` are of finite elements, `finite` in number."""

    dtype: str
    size: int = 0
    nan: int = 0
    inf: int = 0
    least: int | float = np.inf
    greatest: int | float = -np.inf
    total: float = 0.0
    parts: list[Array] = field(default_factory=list)

    @property
    def finite(self) -> int:
        """Elements that are neither NaN nor infinite."""
        return self.size - self.nan - self.inf

    @property
    def first(self) -> Array:
        """The first elements."""
        return np.concatenate(self.parts) if self.parts else np.zeros(0)

    @property
    def mean(self) -> float:
        """The mean of the finite elements; 0 where there are none."""
        return self.total / self.finite if self.finite else 0.0

    def add(self, value: Array) -> None:
        """Take in what was computed once more."""
        numbers = value.reshape(-1)
        kept = sum(part.size for part in self.parts)
        if kept < KEPT and numbers.size:
            self.parts.append(numbers[: KEPT - kept].copy())
        wide = numbers.astype(np.float64)
        is_finite = np.isfinite(wide)
        finite = numbers[is_finite]
        self.size += numbers.size
        self.nan += int(np.isnan(wide).sum())
        self.inf += int(np.isinf(wide).sum())
        if finite.size:
            # In the type of the value: not every int64 is a float64.
            self.least = min(self.least, finite.min().item())
            self.greatest = max(self.greatest, finite.max().item())
            with np.errstate(over="ignore"):
                self.total += float(wide[is_finite].sum())
