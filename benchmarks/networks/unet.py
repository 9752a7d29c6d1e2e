"""U-Net: an image made smaller level by level, then larger, each level joined to its twin."""

from benchmarks.networks.library import Library, Value
from benchmarks.networks.network import Network, normal


def unet(size: int = 256, width: int = 32, levels: int = 4, classes: int = 2) -> Network:
    """One image of size × size; the lowest level has `width` doubled for each one above it."""

    def program(f: Library, x: Value) -> Value:
        kept: list[Value] = []
        inner = 3
        for level in range(levels):
            outer = width << level
            x = _twice(f, f.max_pool2d(x, 2, 2, 0) if level else x, f"down{level}", inner, outer)
            kept.append(x)
            inner = outer
        for level in reversed(range(levels - 1)):
            outer = width << level
            larger = f.convolved(f.doubled(x), f"larger{level}", inner, outer, 3)
            x = _twice(f, f.joined([kept[level], larger], 1), f"up{level}", 2 * outer, outer)
            inner = outer
        return f.convolved(x, "classes", inner, classes, 1)

    about = f"1×3×{size}×{size}, {levels} levels of {width} … {width << levels - 1} channels"
    return Network("unet", about, program, lambda: {"x": normal(1, 3, size, size)})


def _twice(f: Library, x: Value, name: str, inner: int, outer: int) -> Value:
    """Two convolutions."""
    x = f.relu(f.convolved(x, f"{name}.first", inner, outer, 3))
    return f.relu(f.convolved(x, f"{name}.second", outer, outer, 3))
