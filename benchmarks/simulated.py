"""Predicted against measured times on worker processes: `python -m benchmarks simulated`.

Each program runs on 1, 2 and 4 processes of this machine, of one thread each, with its inputs on
the workers; measured is the median of several runs, planned and compiled before. Predicted is what
`simulate` says of the same program for placeholders, with the figures of that very cluster as
`Cluster.measured` finds them.
"""

import functools
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Client

import compiler
from compiler import Cluster, Tensor, simulate
from compiler.core.text import duration
from compiler.distributed.local import local_cluster
from compiler.distributed.simulation import cuts
from compiler.distributed.simulation.cuts import Put

WORKERS = (1, 2, 4)
RUNS, WARM = 7, 2
PROGRAMS: dict[str, Callable[..., Any]] = {
    "data parallel, small": functools.partial(cuts.data_parallel, rows=2_048, width=128),
    "data parallel": functools.partial(cuts.data_parallel, rows=16_384, width=512),
    "tensor parallel, small": functools.partial(cuts.tensor_parallel, rows=2_048, width=128),
    "tensor parallel": functools.partial(cuts.tensor_parallel, rows=16_384, width=512),
    "pipeline, small": functools.partial(cuts.pipeline, rows=1_024, width=128, layers=4, parts=4),
    "pipeline": functools.partial(cuts.pipeline, rows=8_192, width=512, layers=4, parts=8),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One program on so many workers: predicted and measured nanoseconds."""

    name: str
    workers: int
    predicted: float
    measured: float
    because: str

    @property
    def error(self) -> float:
        """How many times one is the other: at least 1."""
        return max(self.predicted / self.measured, self.measured / self.predicted)


def rows(workers: int) -> Iterator[Row]:
    """One row per program, on a cluster of so many processes."""
    with local_cluster(workers, threads=1) as there, Client(there) as client:
        client.wait_for_workers(workers)
        cluster = Cluster.measured(client)
        print(f"\n{cluster}; kernels take {cluster.shared:.2f} times as long on all at once")
        with compiler.cluster(client):
            for name, write in PROGRAMS.items():
                found = simulate(write(cluster.devices), cluster)
                took = measured_ns(write, cluster.devices)
                yield Row(name, workers, found.makespan, took, found.because)


def measured_ns(write: Callable[..., Any], devices: tuple[str, ...]) -> float:
    """Nanoseconds of a run, the median of several, inputs on the workers."""
    held: dict[str, Tensor] = {}
    random = np.random.default_rng(0)

    def given(name: str, rows: int, columns: int, put: Put) -> Tensor:
        if name not in held:
            data = random.standard_normal((rows, columns)).astype(np.float32) / 16
            held[name] = put(Tensor(data)).realize()
        return held[name]

    times = []
    for _ in range(WARM + RUNS):
        made = write(devices, given=given)
        first, *others = made if isinstance(made, list) else [made]
        start = time.perf_counter_ns()
        first.realize(*others)
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times[WARM:])


def main() -> None:
    """Print the table and the median error."""
    compiler.calibrate()
    table = []
    for workers in WORKERS:
        for row in rows(workers):
            table.append(row)
            print(
                f"{row.name:<24}{row.workers:>3}  predicted {duration(row.predicted):>8}  measured "
                f"{duration(row.measured):>8}  {row.predicted / row.measured:.2f}  {row.because}",
                flush=True,
            )
    for count in WORKERS:
        found = statistics.median(row.error for row in table if row.workers == count)
        print(f"{count} workers: median error a factor of {found:.2f}")
    median = statistics.median(row.error for row in table)
    print(f"median error: a factor of {median:.2f} over {len(table)} runs")


if __name__ == "__main__":
    main()
