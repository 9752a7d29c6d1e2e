"""`Cluster`: the figures of a cluster to simulate.

    cluster     64 workers of 16 cores, 10 GB/s, 20 µs
    each run    5 ms of the client
    each task   0.2 ms of the scheduler, one task after the other, then 0.8 ms until it begins

A task is an item of the schedule, or several short ones. A worker runs one task at a time, on all
its cores. It sends through one link and receives through another, each at full bandwidth.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

from compiler.core.errors import DataError, located
from compiler.core.lazy import loading
from compiler.core.printable import ShownAsText
from compiler.core.text import counted, duration, number
from compiler.distributed.simulation import quantities
from compiler.machines.model import MachineModel
from compiler.settings.options import Options

TASK, SCHEDULER, START = "0.8 ms", "0.2 ms", "5 ms"
"""Seconds of a task and of a run. Dask's documentation gives 0.2 to 1 ms per task: the lesser
figure is used for the scheduler, which is sequential, the rest for messages and the worker. A graph
of one empty task takes a client 5 to 15 ms (two cores of an EPYC, November 2026).
`Cluster.measured` measures a real cluster."""
MOST = 1_000_000
"""The most workers that a cluster may have: a bound on input, not measured."""


@dataclass(frozen=True, slots=True)
class Cluster(ShownAsText):
    """A cluster of equal workers on one network, on which a program is simulated.

    workers     the number of workers
    cores       cores of each worker; 0 for as many as `machine` has
    link        bytes per second in each direction of each worker: a number, "10 GB/s", "25 Gbit/s"
    latency     additional seconds from sending to arrival: a number, or "20 µs"
    task        seconds from a task's inputs being ready to its start; the worker is free meanwhile
    scheduler   seconds of the scheduler per task; it schedules one task at a time
    start       seconds of the client, once per run
    memory      bytes of a worker; None for unlimited
    machine     the machine model of a worker, or its name; "" is this machine
    shared      the factor by which kernels are slower because workers share one machine

    Raises `DataError` for an invalid quantity.
    """

    workers: int
    cores: int = 0
    link: str | float = "10 GB/s"
    latency: str | float = "20 µs"
    task: str | float = TASK
    scheduler: str | float = SCHEDULER
    start: str | float = START
    memory: str | float | None = None
    machine: str | MachineModel = ""
    shared: float = 1.0

    @located
    def __post_init__(self) -> None:
        count = self.workers
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
            what = "a cluster has workers"
            raise DataError("Cluster", what, got=f"workers={count!r}", expected=f"1 … {MOST:,}")
        quantities.rate(self.link, "link")
        for name in ("latency", "task", "scheduler", "start"):
            quantities.seconds(getattr(self, name), name)
        if self.memory is not None:
            quantities.nbytes(self.memory, "memory")
        if isinstance(self.shared, bool) or not 1.0 <= self.shared < math.inf:
            what = "kernels take as long as on a machine of their own, or longer"
            raise DataError("Cluster", what, got=f"shared={self.shared!r}", expected="1 or more")
        Options(machine=self.machine, threads=self.cores)

    @property
    def model(self) -> MachineModel:
        """The model of a worker, with its cores."""
        return self.options(Options()).model

    def options(self, options: Options) -> Options:
        """`options` with the machine and threads of such workers."""
        return replace(options, machine=self.machine, threads=self.cores)

    @property
    def bytes_per_ns(self) -> float:
        """The bandwidth of a link, bytes per nanosecond."""
        return quantities.rate(self.link, "link") / 1e9

    @property
    def latency_ns(self) -> float:
        """Nanoseconds from sending to arrival, independent of size."""
        return 1e9 * quantities.seconds(self.latency, "latency")

    @property
    def task_ns(self) -> float:
        """Nanoseconds from the scheduler to the start of a task."""
        return 1e9 * quantities.seconds(self.task, "task")

    @property
    def scheduler_ns(self) -> float:
        """Nanoseconds of the scheduler per task."""
        return 1e9 * quantities.seconds(self.scheduler, "scheduler")

    @property
    def start_ns(self) -> float:
        """Nanoseconds of the client per run."""
        return 1e9 * quantities.seconds(self.start, "start")

    @property
    def memory_bytes(self) -> float:
        """Memory of a worker in bytes; infinite if not given."""
        return math.inf if self.memory is None else quantities.nbytes(self.memory, "memory")

    @property
    def devices(self) -> tuple[str, ...]:
        """The names of the workers: DASK, DASK:1, …"""
        return device_names(self.workers)

    def of(self, workers: int) -> Self:
        """The cluster with this number of workers."""
        return replace(self, workers=workers)

    @classmethod
    def measured(cls, client: Any, **changed: Any) -> Self:
        """The measured figures of the Dask cluster of `client`; takes a few seconds.

        `changed` replaces fields: `Cluster.measured(client, workers=1024)`. `cores` is the number
        of a worker's threads. Raises `DataError` if there is no worker.
        """
        with loading():  # who describes machines that are not there has no use for it
            from compiler.distributed.simulation import measured

        if not client.scheduler_info(n_workers=-1)["workers"]:
            raise DataError("Cluster.measured", "the cluster has no workers", got="0 workers",
                            hint="client.wait_for_workers(1)")  # fmt: skip
        figures = measured.figures(client)
        fields: dict[str, Any] = {
            "workers": figures.workers, "cores": figures.cores, "link": figures.link,
            "latency": figures.latency, "task": figures.task, "scheduler": figures.scheduler,
            "start": figures.start,
            "memory": figures.memory or None, "shared": figures.shared,
        }  # fmt: skip
        return cls(**fields | changed)

    def __str__(self) -> str:
        link = f"{number(self.bytes_per_ns)} GB/s" if math.isfinite(self.bytes_per_ns) else "∞"
        workers = f"{counted(self.workers, 'worker')} of {counted(self.model.cores, 'core')}"
        parts = [workers, f"{link}, {duration(self.latency_ns)}",
                 f"a task {duration(self.scheduler_ns)} + {duration(self.task_ns)}",
                 f"a run {duration(self.start_ns)}"]  # fmt: skip
        return "; ".join(parts)


def device_names(count: int) -> tuple[str, ...]:
    """The device names of `count` workers: DASK, DASK:1, …"""
    return ("DASK", *(f"DASK:{number}" for number in range(1, count)))[:count]
