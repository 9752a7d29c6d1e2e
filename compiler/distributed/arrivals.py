"""arrivals: a plugin of Dask's workers that records transfers from other workers.

Dask's own log of transfers is in the worker's estimate of the scheduler's clock, which is wrong by
several milliseconds. The plugin reads the worker's clock when a fetch begins and when the data have
arrived: that includes connecting, sending and deserialising. It also limits kernels to the threads
that Dask gives to the worker, since other workers use the same machine.
"""

import os
import time
from collections import deque
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from distributed import WorkerPlugin

from compiler.distributed.work import LOGGED, Span, spans_here
from compiler.machines.system import limit_cores

NAME = "svodviz-arrivals"


@dataclass(frozen=True, slots=True)
class Arrival:
    """Data received from another worker; times are nanoseconds of the receiver's clock."""

    key: str
    source: str
    """The address of the worker."""
    begin: int
    end: int
    nbytes: int


class Arrivals(WorkerPlugin):  # type: ignore[misc]  # distributed has no types for mypy here
    """See the module docstring."""

    name = NAME

    def __init__(self) -> None:
        self.worker: Any = None
        self.client = os.getpid()
        self.begun: dict[Any, tuple[int, str]] = {}
        self.seen: deque[Arrival] = deque(maxlen=LOGGED)

    def setup(self, worker: Any) -> None:
        """Dask calls this once."""
        self.worker = worker
        if os.getpid() != self.client:  # a worker may be a thread of the client's process
            limit_cores(worker.state.nthreads)

    def transition(self, key: Any, start: str, finish: str, **more: Any) -> None:
        """Dask calls this for each task, or data, whose state changes."""
        if finish == "flight":
            task = self.worker.state.tasks[key]
            self.begun[key] = time.time_ns(), str(task.coming_from)
        elif start == "flight":
            begun = self.begun.pop(key, None)
            if finish == "memory" and begun and isinstance(key, str):
                nbytes = int(self.worker.state.tasks[key].nbytes or 0)
                self.seen.append(Arrival(key, begun[1], begun[0], time.time_ns(), nbytes))


def done_here(
    runs: Set[str], keys: Set[str], dask_worker: Any
) -> tuple[tuple[Span, ...], tuple[Arrival, ...]]:
    """The activity of a worker for these runs, and the transfers of their data and of `keys`."""
    plugin = dask_worker.plugins.get(NAME)
    seen = list(plugin.seen) if plugin else []
    spans = tuple(span for run in runs for span in spans_here(run))
    # the name of a run stands between two dashes in the keys of its data
    mine = (it for it in seen if it.key in keys or not runs.isdisjoint(it.key.split("-")))
    return spans, tuple(mine)
