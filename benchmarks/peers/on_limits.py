"""The machine itself: the kernels of `compiler.device.limits`, measured like any other peer.

Each round of a workload measures the limit that the workload is compared with.
"""

from collections.abc import Callable, Mapping
from typing import Any

import llvmlite
import numpy as np

from benchmarks.instruction_sets import of_width
from benchmarks.workloads import Array, Workload
from compiler.device.limits import Kernels, lanes

NAME = "limits"
READ, MOVED, TRIPS = 2**26, 2**24, 2**20
"""Elements read, elements per array of copy and triad, trip count of the loop of multiply-adds."""
ARRAYS = {"read": (1, READ), "copy": (2, MOVED), "triad": (3, MOVED)}
_made: list[Kernels] = []


def version() -> str:
    """The version of what compiles the kernels."""
    return str(llvmlite.__version__)


def uses() -> str:
    """The instruction set, of the vectors that its loops have."""
    return of_width(4 * lanes())


def array(result: Any) -> None:
    """A limit has no result to check."""
    return None


def amount(limit: str) -> float:
    """The work of one call: bytes, or floating-point operations."""
    if limit == "fma":
        return float(_kernels().operations(TRIPS))
    arrays, count = ARRAYS[limit]
    return 4.0 * arrays * count


def programs(workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Callable[[], Any]]:
    """The kernel of the workload's limit, on arrays of its own."""
    if workload.limit == "none":
        return {}
    if workload.limit == "fma":
        return {"limits": _kernels().multiply_adds(TRIPS)}
    arrays, count = ARRAYS[workload.limit]
    memory = [_aligned(count) for _ in range(arrays)]
    call = _kernels().call(workload.limit, [m.ctypes.data for m in memory], count)

    def run(_keep: list[Array] = memory) -> None:
        call()

    return {"limits": run}


def _kernels() -> Kernels:
    if not _made:
        _made.append(Kernels())
    return _made[0]


def _aligned(count: int) -> Array:
    """Ones at the boundary of a cache line, with room to fetch ahead."""
    memory = np.ones(count + 4096, np.float32)
    skip = -memory.ctypes.data % 64 // 4
    return memory[skip : skip + count]
