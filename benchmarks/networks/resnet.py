"""ResNet-18: residual blocks of two 3×3 convolutions; normalisation is folded into weights."""

from collections.abc import Sequence

from benchmarks.networks.library import Library, Value
from benchmarks.networks.network import Network, normal


def resnet18(
    size: int = 224, widths: Sequence[int] = (64, 128, 256, 512), classes: int = 1000
) -> Network:
    """One image of size × size."""

    def program(f: Library, x: Value) -> Value:
        x = f.relu(f.convolved(x, "stem", 3, widths[0], 7, stride=2))
        x, inner = f.max_pool2d(x, 3, 2, 1), widths[0]
        for number, outer in enumerate(widths):
            x = _block(f, x, f"{number}.0", inner, outer, 1 if number == 0 else 2)
            x = _block(f, x, f"{number}.1", outer, outer, 1)
            inner = outer
        return f.dense(x.mean((2, 3)), "classes", inner, classes)

    about = f"1×3×{size}×{size}"
    return Network("resnet18", about, program, lambda: {"x": normal(1, 3, size, size)})


def _block(f: Library, x: Value, name: str, inner: int, outer: int, stride: int) -> Value:
    """Two convolutions, added to what came in: as it is, or sampled down by a third."""
    made = f.relu(f.convolved(x, f"{name}.first", inner, outer, 3, stride=stride))
    made = f.convolved(made, f"{name}.second", outer, outer, 3)
    kept = x if stride == 1 else f.convolved(x, f"{name}.down", inner, outer, 1, stride=stride)
    return f.relu(made + kept)
