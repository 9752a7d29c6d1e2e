"""measured: what a cluster of Dask's that is there takes for an item, a message and a byte.

    start       a graph of one empty task: seconds in addition to those of the task
    scheduler   many empty tasks that wait for nothing: seconds for each of them
    task        a chain of empty tasks on one worker: seconds for each, without the scheduler's
    latency     one byte from worker to worker: seconds more than for one that is there
    link        megabytes from worker to worker: bytes in what it takes longer than one byte

    shared      what workers compute all at once takes longer than what one does: they may be
                processes of one machine

Every figure is the median over rounds. Where there is one worker nothing can be sent: link and
latency are then infinite and 0, which is what is sent there.
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
"""Empty tasks that are timed together: as many as take about half a second on a slow machine."""
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
    """Times: 1 of workers that do not get into each other's way."""


def figures(client: Any) -> Figures:
    """Those of the cluster that a client of Dask's is connected to; takes a few seconds."""
    known = client.scheduler_info(n_workers=-1)["workers"]
    names = list(known)
    first, last = names[0], names[-1]
    _chain(client, first, TASKS)  # what is loaded the first time is no overhead
    each = _median(lambda: _apart(client, names, TASKS)) / TASKS
    behind = _median(lambda: _chain(client, first, TASKS)) / TASKS
    latency, rate = (0.0, math.inf) if first == last else _links(client, first, last)
    shared = _at_once(client, names) / _at_once(client, [first]) if first != last else 1.0
    cores = min(int(worker["nthreads"]) for worker in known.values())
    memory = min(float(worker["memory_limit"] or 0) for worker in known.values())
    start = _median(lambda: _chain(client, first, 0))
    return Figures(
        len(names), cores, memory, max(start - behind, 0.0), each, max(behind - each, 0.0),
        latency, rate, max(shared, 1.0),
    )  # fmt: skip


def _median(took: Callable[[], float]) -> float:
    return statistics.median(took() for _ in range(ROUNDS))


def _apart(client: Any, workers: list[str], count: int) -> float:
    """Seconds of so many tasks that wait for nothing, on all workers."""
    start = time.perf_counter()
    futures = client.map(_nothing, range(count), pure=False, workers=workers)
    client.gather(futures)
    return time.perf_counter() - start


def _at_once(client: Any, workers: list[str]) -> float:
    """Seconds of the same work on each of these workers at the same time: that of most of them."""
    found = [_busy_all(client, workers) for _ in range(ROUNDS)]
    return statistics.median(found)


def _busy_all(client: Any, workers: list[str]) -> float:
    return float(statistics.median(client.run(_busy, workers=workers, wait=True).values()))


def _busy() -> float:
    """Seconds of what keeps one core busy for a tenth of one."""
    start, total = time.perf_counter(), 0
    for number in range(WORK):
        total += number
    return time.perf_counter() - start


def _chain(client: Any, worker: str, count: int) -> float:
    """Seconds of a task, and of so many more that each wait for the one before."""
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
    """Seconds of a task on one worker that needs so many bytes of another."""
    data = client.submit(_made, count, pure=False, workers=[source])
    client.submit(_nothing, data, pure=False, workers=[source]).result()
    start = time.perf_counter()
    client.submit(_nothing, data, pure=False, workers=[destination]).result()
    return time.perf_counter() - start


def _made(count: int) -> Any:
    return np.ones(count, np.uint8)


def _nothing(_: object) -> int:
    return 0
