"""MobileNetV2: inverted residuals around depthwise convolutions; normalisation is folded."""

from collections.abc import Sequence

from benchmarks.networks.library import Library, Value
from benchmarks.networks.network import Network, normal

Stage = tuple[int, int, int, int]
"""How many times wider inside, channels, blocks, stride of the first."""
STAGES: tuple[Stage, ...] = (
    (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
    (6, 320, 1, 1),
)  # fmt: skip


def mobilenet_v2(
    size: int = 224, stages: Sequence[Stage] = STAGES, last: int = 1280, classes: int = 1000
) -> Network:
    """One image of size × size."""

    def program(f: Library, x: Value) -> Value:
        x, inner = f.relu6(f.convolved(x, "stem", 3, 32, 3, stride=2)), 32
        for number, (times, outer, blocks, stride) in enumerate(stages):
            for block in range(blocks):
                name, step = f"{number}.{block}", stride if block == 0 else 1
                x = _block(f, x, name, (inner, times * inner, outer), step)
                inner = outer
        x = f.relu6(f.convolved(x, "last", inner, last, 1))
        return f.dense(x.mean((2, 3)), "classes", last, classes)

    about = f"1×3×{size}×{size}"
    return Network("mobilenet_v2", about, program, lambda: {"x": normal(1, 3, size, size)})


def _block(f: Library, x: Value, name: str, sizes: tuple[int, int, int], stride: int) -> Value:
    """Wider, each channel by itself, narrower; added to what came in where that is as large."""
    inner, wide, outer = sizes
    made = x if wide == inner else f.relu6(f.convolved(x, f"{name}.wider", inner, wide, 1))
    made = f.relu6(
        f.convolved(made, f"{name}.channels", wide, wide, 3, stride=stride, groups=wide)
    )
    made = f.convolved(made, f"{name}.narrower", wide, outer, 1)
    return made + x if stride == 1 and inner == outer else made
