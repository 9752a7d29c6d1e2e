"""measuring: one network on ourselves and the peers, interleaved as in `benchmarks.measuring`.

Then ours alone: the first call in a process that finds the machine code of the first one on disk,
first calls in more processes with empty caches, kernels one by one, operations run alone.
"""

import statistics
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.instruction_sets import excess
from benchmarks.measuring import Effort, Worker, WorkerError, first_call, rounds_of
from benchmarks.networks.alone import Alone, total_ns
from benchmarks.networks.kernels import KernelTime
from benchmarks.networks.network import Network
from benchmarks.networks.results import Found
from benchmarks.results import OURS, entry

MODULE = "benchmarks.networks.worker"
SECONDS, LOOKS = 3.0, 3
"""For our kernels, and again for the operations alone: in all, and how often each."""


class NetworkRun:
    """One network on one machine: what every process of it is started with."""

    def __init__(self, network: Network, folder: Path, threads: int, isa: str = "") -> None:
        self.network, self.folder, self.threads, self.isa = network, folder, threads, isa
        self.made = Found(network.name, network.about)
        self.cache = folder / "cache"
        self.cache.mkdir()
        np.save(folder / "expected.npy", network.expected())

    def worker(self, peer: str, cache: Path | None = None) -> Worker:
        """A process; with empty caches unless some are given."""
        return Worker(peer, self.network, self.folder, self.threads, MODULE, cache)

    def started(self, worker: Worker) -> dict[str, Any] | None:
        """The answer to `start`; None, with the reason kept, where it failed, is wrong, or uses
        another instruction set than it is held to."""
        try:
            self.made.versions[worker.peer] = worker.hear()["version"]
            answer = worker.ask("start")
        except WorkerError as error:
            self.made.missing[worker.peer] = str(error)
            return None
        distance = answer["entries"][worker.peer]["error"]
        why = excess(self.isa, answer["uses"])
        if distance > self.network.tolerance:
            why = f"wrong: {distance:.1e} from NumPy in float64"
        if not why:
            return answer
        self.made.missing[worker.peer] = why
        return None

    def together(self, peers: Sequence[str], effort: Effort) -> None:
        """svodviz and the peers, interleaved; then our kernels and operations."""
        with ExitStack() as stack:
            workers = [self.worker(OURS, self.cache), *map(self.worker, peers)]
            for worker in workers:
                stack.callback(worker.close)
            started = {w: a for w in workers if (a := self.started(w)) is not None}
            times = rounds_of(started, effort, self.made.missing)
            for worker, answer in started.items():
                if worker.peer not in self.made.missing:
                    found = answer["entries"][worker.peer]
                    measured = entry(found["first"], found["error"], times[worker.peer])
                    self.made.entries[worker.peer] = measured
            for worker in workers[1:]:
                worker.close()
            if OURS in self.made.entries:
                self.looked_into(workers[0])

    def looked_into(self, ours: Worker) -> None:
        """Kernels and operations alternately, without other processes; the best try counts."""
        looks: dict[str, list[dict[str, Any]]] = {"kernels": [], "alone": []}
        try:
            for _ in range(LOOKS):
                for command, answers in looks.items():
                    answers.append(ours.ask(command, str(SECONDS / LOOKS)))
        except WorkerError as error:
            self.made.missing["kernels"] = str(error)
            return
        self.made.items = looks["kernels"][0]["items"]
        kernels = (tuple(KernelTime(**it) for it in a["kernels"]) for a in looks["kernels"])
        self.made.kernels = min(kernels, key=lambda found: sum(it.ns for it in found))
        alone = (tuple(Alone(**it) for it in answer["alone"]) for answer in looks["alone"])
        self.made.alone = min(alone, key=total_ns)

    def first_calls(self, starts: int) -> None:
        """Ours in more processes: one that finds machine code on disk, others that do not."""
        entries = self.made.entries
        if OURS not in entries:
            return
        kept = self.first(self.cache)
        self.made.kept = None if kept is None else max(0.0, kept - entries[OURS].seconds)
        more = [first for _ in range(starts - 1) if (first := self.first(None)) is not None]
        median = statistics.median([entries[OURS].first, *more])
        entries[OURS] = replace(entries[OURS], first=median)

    def first(self, cache: Path | None) -> float | None:
        """Seconds of the first call in one more process."""
        return first_call(self.worker(OURS, cache))


def measure(network: Network, peers: Sequence[str], threads: int, effort: Effort) -> Found:
    """All of it for one network."""
    with tempfile.TemporaryDirectory(prefix="svodviz-networks-") as name:
        run = NetworkRun(network, Path(name), threads, effort.isa)
        run.together(peers, effort)
        run.first_calls(effort.starts)
    return run.made
