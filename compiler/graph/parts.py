"""The slice of a tensor that an Assign or a Store writes: begin, count and step for each axis."""



from compiler.core.dtypes import Array
from compiler.graph.nodes import Parts, TensorNode
from compiler.graph.words import short


def slices(parts: Parts) -> tuple[slice, ...]:
    """The slice `parts` as a NumPy index."""
    return tuple(slice(b, b + (n - 1) * step + 1 if n else b, step) for b, n, step in parts)


def written(parts: Parts, target: Array, value: Array) -> Array:
    """`target` with `value` written to `parts`; `value` itself where that is the whole tensor."""
    if not parts:
        return value
    whole = target.copy()
    whole[slices(parts)] = value
    return whole


def problem(parts: Parts, target: TensorNode, value: TensorNode) -> tuple[str, str] | None:
    """The reason why `value` does not fit `parts` of `target`: what was passed, what is expected.
    """
    counts = [count for _, count, _ in parts]
    if tuple(counts) != value.shape or value.dtype != target.dtype or value.extents:
        return short(value), f"{target.dtype.short}{counts}"
    is_inside = len(parts) == len(target.shape) and all(
        n >= 0 and step >= 1 and 0 <= b <= b + max(n - 1, 0) * step < max(extent, 1)
        for (b, n, step), extent in zip(parts, target.shape, strict=True)
    )
    return None if is_inside else (f"parts {parts}", f"inside {target.shape}")
