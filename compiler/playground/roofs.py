"""Roofs: the most that this machine computes and moves, measured; no kernel gets above them.

    operations per ns  ≤  peak
    operations per ns  ≤  bandwidth of a level · operations per byte from that level
"""

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compiler.core.dtypes import float32
from compiler.core.text import counted
from compiler.device import cpu
from compiler.device.calibration import SIZES, bandwidth
from compiler.device.limits import Kernels
from compiler.llvm import jit
from compiler.machines.model import LEVELS

TRIPS = 2**17
"""Iterations of multiply-adds in one sample: 0.4 ms at 63 GFLOP/s (2026-11-23, one core of an
AMD EPYC, AVX2). A choice."""
READ = 2**24
"""Elements read in one sample, 64 MB: more than most caches hold. A choice."""
SAMPLES = 7
"""The least of so many counts. A choice, no measurement."""


@dataclass(frozen=True, slots=True)
class Roofs:
    """The limits of `threads` threads: float32 operations and bytes per ns.

    `peak` is that of multiply-adds in vectors, `alone` without vectors; `bandwidths` are those
    from each of `LEVELS`.
    """

    name: str
    threads: int
    peak: float
    alone: float
    bandwidths: tuple[float, ...]

    def attainable(self, intensity: float, level: int) -> float:
        """The most operations per ns, of so many for each byte that comes from a level."""
        return min(self.peak, intensity * self.bandwidths[level])

    def __str__(self) -> str:
        rows = [f"{counted(self.threads, 'thread')} of {self.name}",
                f"  multiply-adds {self.peak:7.1f} GFLOP/s, {self.alone:.1f} without vectors"]
        pairs = zip(LEVELS, self.bandwidths, strict=True)
        return "\n".join([*rows, *(f"  {name:<13} {speed:7.1f} GB/s" for name, speed in pairs)])


_BEST: dict[int, Roofs] = {}
"""The roofs measured so far, by threads."""


def measure_roofs(threads: int) -> Roofs:
    """Measure this machine, some tenths of a second; the best of this and of every earlier time.

    What else runs makes a limit seem lower, nothing makes it seem higher. The caches are taken to
    give each thread as much as they give one.
    """
    kernels = _kernels(threads)
    peak = kernels.operations(TRIPS) / _least(kernels.multiply_adds(TRIPS)) * 1e-9
    one = [bandwidth(nbytes)[0] for nbytes in SIZES]
    speeds = (*(speed * threads for speed in one[:3]), max(one[3], _memory(kernels)))
    before = _BEST.get(threads)
    if before is not None:
        peak = max(peak, before.peak)
        speeds = tuple(map(max, speeds, before.bandwidths))
    _BEST[threads] = Roofs(jit.host_name(), threads, peak, peak / kernels.width, speeds)
    return _BEST[threads]


@functools.cache
def _kernels(threads: int) -> Kernels:
    return Kernels(threads)


def _memory(kernels: Kernels) -> float:
    """Bytes per ns that all threads read together."""
    array = cpu.allocate(READ, float32, "read to measure")
    array[...] = np.float32(1)
    return 4.0 * READ / _least(kernels.call("read", [array.ctypes.data], READ)) * 1e-9


def _least(run: Callable[[], None]) -> float:
    """Seconds, the least of several."""
    least = math.inf
    for _ in range(SAMPLES):
        start = time.perf_counter()
        run()
        least = min(least, time.perf_counter() - start)
    return least
