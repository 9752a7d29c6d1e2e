"""Parts of a tensor that an Assign or a Store writes: begin, count and step for each axis."""

from typing import Any, TypeAlias

import numpy as np

from compiler.graph.nodes import Parts, TensorNode
from compiler.graph.words import short

Array: TypeAlias = "np.ndarray[Any, Any]"


def slices(parts: Parts) -> tuple[slice, ...]:
    """NumPy's index of the elements that `parts` name."""
    return tuple(slice(b, b + (n - 1) * step + 1 if n else b, step) for b, n, step in parts)


def written(parts: Parts, target: Array, value: Array) -> Array:
    """`target` with `value` in `parts`; the value itself where that is all of it."""
    if not parts:
        return value
    whole = target.copy()
    whole[slices(parts)] = value
    return whole


def problem(parts: Parts, target: TensorNode, value: TensorNode) -> tuple[str, str] | None:
    """Why `value` cannot be written to `parts` of `target`: what is given, and what would fit."""
    counts = [count for _, count, _ in parts]
    if tuple(counts) != value.shape or value.dtype != target.dtype or value.extents:
        return short(value), f"{target.dtype.short}{counts}"
    is_inside = len(parts) == len(target.shape) and all(
        n >= 0 and step >= 1 and 0 <= b <= b + max(n - 1, 0) * step < max(extent, 1)
        for (b, n, step), extent in zip(parts, target.shape, strict=True)
    )
    return None if is_inside else (f"parts {parts}", f"inside {target.shape}")
