"""The targets of the benchmark, compared with results; printed on the terminal alone.

A ratio is the factor by which we are faster than a peer: the median over rounds, against the better
of the peer's entries (as users call it, or with preallocated outputs).
"""

import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.results import OURS, Memory, Run
from benchmarks.workloads import AWKWARD, WORKLOADS

MATMULS = ("matmul_256", "matmul_512", "matmul_1024", "matmul_2048", "matmul_bias_relu")
STREAMING = ("ew_chain", "gelu", "sum_all", "row_sum", "col_sum")
"""Workloads that are bound by memory bandwidth."""
ALL = ""
"""Any peer: the best of them counts."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Ours is at least `least` times as fast as a peer."""

    workload: str
    peer: str
    least: float


RATIOS = (
    Ratio("ew_chain", "jax", 2.5), Ratio("ew_chain", "tinygrad", 2.5),
    Ratio("ew_chain", "torch", 1.5),
    Ratio("gelu", "jax", 6.0), Ratio("gelu", "torch", 3.5),
    Ratio("sum_all", "numba", 0.95), Ratio("sum_all", "torch", 1.0),
    Ratio("row_sum", "numba", 0.95), Ratio("row_sum", "torch", 1.0),
    Ratio("col_sum", "numba", 1.0), Ratio("col_sum", "torch", 2.0),
    Ratio("softmax", "torch", 1.4), Ratio("softmax", "jax", 3.5),
    Ratio("layernorm", "jax", 1.2), Ratio("layernorm", "torch.compile", 1.2),
    *(Ratio(name, "numpy", 1.1) for name in MATMULS),
    *(Ratio(name, "torch", 1.0) for name in MATMULS),
    Ratio("bmm", "torch", 0.95), Ratio("conv2d", "torch", 0.95),
    Ratio("attention", "torch", 0.8), Ratio("attention", "jax", 1.5),
    Ratio("transpose", ALL, 4.0),
    Ratio("mlp_forward", "torch", 1.0),
    Ratio("small_chain", ALL, 1.0),
)  # fmt: skip
TINYGRAD_EACH, TINYGRAD_MEAN = 2.5, 10.0
BANDWIDTH_SHARE = 0.9
COLD_SHARE = 0.4
COLD_SECONDS = {
    "ew_chain": 0.025, "softmax": 0.045, "conv2d": 0.080,
    **{name: 0.045 for name in MATMULS if name != "matmul_bias_relu"},
}  # fmt: skip
LAUNCH_SECONDS = 2e-6
MEMORY_FACTOR, MEMORY_CONSTANT = 1.2, 150 * 10**6


@dataclass(frozen=True, slots=True)
class Check:
    """A target and the measured figure; `measured` is None if something is missing."""

    workload: str
    what: str
    bar: float
    measured: float | None
    is_least: bool = True
    """True if the target is a lower bound; else it is an upper bound."""
    unit: str = "×"

    @property
    def passed(self) -> bool | None:
        """True if the target is met; None if it was not measured."""
        if self.measured is None or math.isnan(self.measured):
            return None
        return self.measured >= self.bar if self.is_least else self.measured <= self.bar


def checks(run: Run) -> list[Check]:
    """All targets for the workloads of a run."""
    made = [*_ratios(run), *_tinygrad(run), *_shares(run), *_cold(run), *_launch(run)]
    return [*made, *_memory(run)]


def share(run: Run, workload: str) -> float | None:
    """The share of the machine's limit that we reach, both measured in the same rounds."""
    row, limit = WORKLOADS[workload], run.limit_nearby.get(workload)
    ours = run.best(workload, OURS)
    if ours is None or limit is None:
        return None
    work = row.operations if row.limit == "fma" else row.nbytes
    return work / ours.seconds / limit


def _ratios(run: Run) -> Iterator[Check]:
    for bar in RATIOS:
        if bar.workload not in run.workloads:
            continue
        if bar.peer == ALL:
            found = [r for p in _libraries(run) if (r := run.ratio(bar.workload, p)) is not None]
            yield Check(bar.workload, "the best peer", bar.least, min(found, default=None))
        else:
            yield Check(bar.workload, bar.peer, bar.least, run.ratio(bar.workload, bar.peer))


def _libraries(run: Run) -> list[str]:
    return [name for name in run.peers() if name != OURS]


def _usual(run: Run) -> list[str]:
    return [name for name in run.workloads if not name.endswith(AWKWARD)]


def _tinygrad(run: Run) -> Iterator[Check]:
    ratios = {name: run.ratio(name, "tinygrad") for name in _usual(run)}
    for name, ratio in ratios.items():
        yield Check(name, "tinygrad, each", TINYGRAD_EACH, ratio)
    known = [r for r in ratios.values() if r is not None]
    if known:
        mean = statistics.geometric_mean(known)
        yield Check(f"{len(known)} workloads", "tinygrad, geometric mean", TINYGRAD_MEAN, mean)


def _shares(run: Run) -> Iterator[Check]:
    for name in (n for n in STREAMING if n in run.workloads):
        yield Check(name, "share of bandwidth", BANDWIDTH_SHARE, share(run, name), unit="")


def _cold(run: Run) -> Iterator[Check]:
    for name in _usual(run):
        row = run.workloads[name]
        if OURS not in row:
            continue
        ours, theirs = row[OURS].cold, row.get("tinygrad")
        ratio = ours / theirs.cold if theirs and theirs.cold else None
        yield Check(name, "cold compile ÷ tinygrad", COLD_SHARE, ratio, False)
        if name in COLD_SECONDS:
            most = 1e3 * COLD_SECONDS[name]
            yield Check(name, "cold compile", most, 1e3 * ours, False, " ms")


def _launch(run: Run) -> Iterator[Check]:
    ours, memory = run.best("small_chain", OURS), run.memory.get("small_chain")
    if ours and memory and memory.kernels:
        each = ours.seconds / memory.kernels
        yield Check("small_chain", "per kernel", 1e6 * LAUNCH_SECONDS, 1e6 * each, False, " µs")


def _memory(run: Run) -> Iterator[Check]:
    for name in _usual(run):
        if memory := run.memory.get(name):
            yield Check(name, "peak memory", most_memory(memory) / 1e6,
                        memory.beyond_data / 1e6, False, " MB")  # fmt: skip


def most_memory(memory: Memory) -> float:
    """The most bytes that a process may have beyond inputs and outputs."""
    return MEMORY_FACTOR * memory.planned + MEMORY_CONSTANT
