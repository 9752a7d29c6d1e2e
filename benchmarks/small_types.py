"""Products of small types compared with float32: `python -m benchmarks small_types [SIZE]`.

Square matrices of float32, bfloat16, int8 and int16, and 3×3 convolutions of bytes as ResNet-18 has
them, ours and, where it is installed, PyTorch's (`torch._int_mm`, and `@` of bfloat16). All are run
interleaved; the table has the median and the least time, and the factor by which the least is
faster than our float32. The targets are 2.5 for bytes and 1.5 for bfloat16, on
processors that have instructions for both.
"""

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import compiler
from compiler import Tensor
from compiler.core.dtypes import bfloat16

ROUNDS = 25
SIZE = 1024
IMAGES = ((64, 56), (128, 28), (256, 14), (512, 7))
"""Channels, in and out, and the side of an image."""
_random = np.random.default_rng(0)


@dataclass(frozen=True, slots=True)
class Row:
    """One program, of so many operations, and its times in seconds."""

    name: str
    call: Callable[[], object]
    operations: int
    baseline: str
    """The program that its rate is compared with."""
    seconds: list[float] = field(default_factory=list)


def _bytes(*shape: int) -> Tensor:
    return Tensor(_random.integers(-128, 128, shape).astype(np.int8)).cast("int32")


def _words(*shape: int) -> Tensor:
    return Tensor(_random.integers(-99, 99, shape).astype(np.int16)).cast("int32")


def _floats(*shape: int) -> Tensor:
    return Tensor(_random.standard_normal(shape).astype(np.float32))


def _halves(*shape: int) -> Tensor:
    return Tensor(_random.standard_normal(shape).astype(bfloat16.numpy))


def _run(made: Tensor) -> Callable[[], object]:
    return compiler.compile(made).run


def products(n: int) -> list[Row]:
    """Square products of each type."""
    kinds = {"float32": _floats, "bfloat16": _halves, "int8": _bytes, "int16": _words}
    return [
        Row(f"{name} {n}", _run(make(n, n) @ make(n, n)), 2 * n**3, f"float32 {n}")
        for name, make in kinds.items()
    ]


def convolutions(images: tuple[tuple[int, int], ...] = IMAGES) -> list[Row]:
    """Convolutions of images in float32 and in bytes."""
    made = []
    for channels, side in images:
        for name, make in (("float32", _floats), ("int8", _bytes)):
            x, w = make(1, channels, side, side), make(channels, channels, 3, 3)
            operations = 18 * channels**2 * side**2
            where = f"conv {channels}×{side}²"
            call = _run(x.conv2d(w, None, 1, 1))
            made.append(Row(f"{name} {where}", call, operations, f"float32 {where}"))
    return made


def torchs(n: int) -> list[Row]:
    """PyTorch's products; none where it is not installed."""
    try:
        import torch
    except ImportError:
        return []
    a, b = (torch.randn(n, n) for _ in range(2))
    x, y = (torch.randint(-128, 128, (n, n), dtype=torch.int8) for _ in range(2))
    halves = a.bfloat16(), b.bfloat16()
    calls: dict[str, Callable[[], Any]] = {
        "torch float32": lambda: a @ b, "torch bfloat16": lambda: halves[0] @ halves[1],
        "torch int8": lambda: torch._int_mm(x, y),
    }  # fmt: skip
    return [Row(f"{name} {n}", call, 2 * n**3, f"float32 {n}") for name, call in calls.items()]


def measure(rows: list[Row], rounds: int = ROUNDS) -> None:
    """Run all programs one by one in each round, the first as a warm-up."""
    for turn in range(rounds + 1):
        for row in rows:
            begin = time.perf_counter()
            row.call()
            if turn:
                row.seconds.append(time.perf_counter() - begin)


def report(rows: list[Row]) -> str:
    """A line for each program."""
    least = {row.name: min(row.seconds) for row in rows}
    lines = [f"{'':28}{'median':>9} {'least':>9} ms {'Gop/s':>7}  × float32"]
    for row in rows:
        best, median = least[row.name], statistics.median(row.seconds)
        times, rate = f"{median * 1e3:9.3f} {best * 1e3:9.3f}", row.operations / best / 1e9
        lines.append(f"{row.name:28}{times}    {rate:7.0f}  {least[row.baseline] / best:5.2f}")
    return "\n".join(lines)


def main() -> None:
    """Measure products of the size that the first argument names, and convolutions."""
    n = int(sys.argv[1]) if sys.argv[1:] else SIZE
    rows = [*products(n), *torchs(n), *convolutions()]
    measure(rows)
    print(compiler.machine().name, compiler.machine().dots)
    print(report(rows))


if __name__ == "__main__":
    main()
