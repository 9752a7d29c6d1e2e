"""measured: the costs of a task, a message and a byte on a real Dask cluster.

    start       a graph of one empty task: seconds beyond those of the task
    scheduler   many independent empty tasks: seconds per task
    task        a chain of empty tasks on one worker: seconds per task, without the scheduler's
    latency     one byte from worker to worker: additional seconds compared with local data
    link        megabytes from worker to worker: bytes per second beyond the time of one byte
    shared      the time of equal work on all workers at once, relative to one worker alone: workers
                may be processes of one machine

Each figure is the median over rounds. With one worker nothing is sent: link is infinite, latency 0.
"""

import math
import statistics
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

TASKS = 100
"""Empty tasks that are timed together: about half a second on a slow machine."""
ROUNDS = 5
WORK = 2_000_000
"""Steps of a loop that keeps a core busy: about a tenth of a second."""
LARGE = 16 * 2**20
"""Bytes that are sent to measure a link."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds, and bytes a second of `link`."""

    workers: int
    cores: int
    memory: float
    """Bytes of the worker with least memory; 0 if none is reported."""
    start: float
    scheduler: float
    task: float
    latency: float
    link: float
    shared: float
    """A factor: 1 for workers that do not slow each other down."""


def figures(client: Any) -> Figures:
    """The figures of the cluster of a Dask client; takes a few seconds."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    names = list(workers)
    first, last = names[0], names[-1]
    _chain(client, first, TASKS)  # what is loaded the first time is no overhead
    each = _median(lambda: _apart(client, names, TASKS)) / TASKS
    behind = _median(lambda: _chain(client, first, TASKS)) / TASKS
    latency, rate = (0.0, math.inf) if first == last else _links(client, first, last)
    shared = _at_once(client, names) / _at_once(client, [first]) if first != last else 1.0
    cores = min(int(worker["nthreads"]) for worker in workers.values())
    memory = min(float(worker["memory_limit"] or 0) for worker in workers.values())
    start = _median(lambda: _chain(client, first, 0))
    return Figures(
        len(names), cores, memory, max(start - behind, 0.0), each, max(behind - each, 0.0),
        latency, rate, max(shared, 1.0),
    )  # fmt: skip


def _median(took: Callable[[], float]) -> float:
    return statistics.median(took() for _ in range(ROUNDS))


def _apart(client: Any, workers: list[str], count: int) -> float:
    """The seconds of `count` independent tasks on all workers."""
    start = time.perf_counter()
    futures = client.map(_nothing, range(count), pure=False, workers=workers)
    client.gather(futures)
    return time.perf_counter() - start


def _at_once(client: Any, workers: list[str]) -> float:
    """The median seconds of equal work on each of these workers at the same time."""
    seconds = [_busy_all(client, workers) for _ in range(ROUNDS)]
    return statistics.median(seconds)


def _busy_all(client: Any, workers: list[str]) -> float:
    return float(statistics.median(client.run(_busy, workers=workers, wait=True).values()))


def _busy() -> float:
    """The seconds of a loop that occupies a core for about 0.1 s."""
    start, total = time.perf_counter(), 0
    for number in range(WORK):
        total += number
    return time.perf_counter() - start


def _chain(client: Any, worker: str, count: int) -> float:
    """The seconds of a chain of `count` + 1 tasks, each dependent on the one before."""
    name = uuid.uuid4().hex
    graph: dict[str, Any] = {f"{name}-0": (_nothing, 0)}
    for number in range(count):
        graph[f"{name}-{number + 1}"] = (_nothing, f"{name}-{number}")
    start = time.perf_counter()
    client.get(graph, f"{name}-{count}", workers=[worker])
    return time.perf_counter() - start


def _links(client: Any, first: str, last: str) -> tuple[float, float]:
    """Seconds of a message, and bytes a second, from one worker to the other."""
    there = _median(lambda: _sent(client, first, first, 1))
    small = _median(lambda: _sent(client, first, last, 1))
    large = _median(lambda: _sent(client, first, last, LARGE))
    return max(small - there, 0.0), LARGE / max(large - small, 1e-9)


def _sent(client: Any, source: str, destination: str, count: int) -> float:
    """The seconds of a task on one worker that needs `count` bytes of another."""
    data = client.submit(_made, count, pure=False, workers=[source])
    client.submit(_nothing, data, pure=False, workers=[source]).result()
    start = time.perf_counter()
    client.submit(_nothing, data, pure=False, workers=[destination]).result()
    return time.perf_counter() - start


def _made(count: int) -> Any:
    return np.ones(count, np.uint8)


def _nothing(_: object) -> int:
    return 0
