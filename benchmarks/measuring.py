"""measuring: one workload on all peers, interleaved.

Each peer is a process of its own (`benchmarks.worker`), started afresh for each workload with empty
caches. They import side by side; from then on one works at a time. A round measures every entry
once, and every round begins with another one.
"""

import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.instruction_sets import excess
from benchmarks.peers.on_numpy import reference
from benchmarks.results import LIMITS, OURS, Entry, Memory, entry
from benchmarks.workloads import Workload

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = 600.0
COLD = (OURS, "tinygrad")
"""Peers whose first call is measured in several processes."""
THREADS = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip


class WorkerError(Exception):
    """A peer can't run a workload; the message says why."""


def environment(folder: Path, threads: int) -> dict[str, str]:
    """Every cache in an empty folder, every pool as large as there are threads.

    Some caches are found from the home of the user.
    """
    caches = {
        name: str(folder / name.lower())
        for name in ("HOME", "XDG_CACHE_HOME", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
    }
    tinygrad = {"DEV": os.environ.get("DEV", "CPU:LLVM"), "CACHELEVEL": "0"}
    if clang := _clang():
        tinygrad["CC"] = clang
    pools = dict.fromkeys(THREADS, str(threads))
    own = {**caches, **tinygrad, **pools, "PYTHONPATH": str(ROOT)}
    # An installed package has its bytecode: no peer is to compile Python in its first call.
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return kept | own


def _clang() -> str:
    """tinygrad makes its runtime with clang, whatever makes its kernels: any version will do."""
    folders = [Path(f) for f in os.environ.get("PATH", "").split(os.pathsep)]
    names = [path for f in folders for path in f.glob("clang*")]
    numbered = [path for path in names if path.name[5:].lstrip("-").isdigit()]
    numbered.sort(key=lambda path: int(path.name[5:].lstrip("-")))
    plain = [path for path in names if path.name == "clang"]
    found = plain or numbered
    return str(found[-1]) if found else ""


class Named(Protocol):
    """The task of a worker, which its process finds by name."""

    @property
    def name(self) -> str:
        """The name."""


class Worker:
    """A peer's process: `module` answers; it has empty caches, unless a `cache` is given."""

    def __init__(
        self, peer: str, workload: Named, folder: Path, threads: int,
        module: str = "benchmarks.worker", cache: Path | None = None,
    ) -> None:  # fmt: skip
        self.peer = peer
        self.errors = (folder / f"errors-{uuid.uuid4().hex}").open("w+b")
        cache = cache or Path(tempfile.mkdtemp(dir=folder))
        arguments = [peer, workload.name, str(folder), str(threads)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, bufsize=1,
            cwd=ROOT, env=environment(cache, threads),
        )  # fmt: skip

    def ask(self, *command: str) -> dict[str, Any]:
        """The answer to a command."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write("\t".join(command) + "\n")
        except BrokenPipeError:
            raise WorkerError(self._why()) from None
        return self.hear()

    def hear(self) -> dict[str, Any]:
        """The next answer."""
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            raise WorkerError(self._why() if ready else f"no answer in {TIMEOUT:.0f} s")
        answer: dict[str, Any] = json.loads(line)
        if "missing" in answer:
            raise WorkerError(answer["missing"])
        return answer

    def _why(self) -> str:
        """The last line that the process wrote before it ended."""
        self.process.wait()
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"ended with {self.process.returncode}"

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.errors):
            assert pipe is not None
            pipe.close()


@dataclass(slots=True)
class Measured:
    """The findings for one workload."""

    entries: dict[str, Entry] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    memory: Memory | None = None
    limit: float | None = None
    """Bytes or operations a second."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure: rounds, seconds per entry and round, fresh processes for first calls."""

    rounds: int = 7
    seconds: float = 0.08
    starts: int = 3
    isa: str = ""
    """The instruction set that every peer is to keep to; empty: its own choice."""


@contextmanager
def data_of(workload: Workload) -> Iterator[Path]:
    """A folder with the inputs and with what NumPy in float64 makes of them."""
    with tempfile.TemporaryDirectory(prefix="svodviz-bench-") as name:
        folder = Path(name)
        inputs = workload.data()
        for key, value in inputs.items():
            np.save(folder / f"{key}.npy", value)
        np.save(folder / "expected.npy", reference(workload, inputs))
        yield folder


def measure(workload: Workload, peers: Iterable[str], threads: int, effort: Effort) -> Measured:
    """All peers on one workload, interleaved; then first calls in more fresh processes."""
    made = Measured()
    with data_of(workload) as folder:
        with ExitStack() as stack:
            workers = [Worker(peer, workload, folder, threads) for peer in peers]
            for worker in workers:
                stack.callback(worker.close)
            answers = {it: _start(it, workload, made, effort.isa) for it in workers}
            started = {it: answer for it, answer in answers.items() if answer is not None}
            times = rounds_of(started, effort, made.missing)
        _finish(workload, started, times, made)
        for peer in [w.peer for w in started if w.peer in COLD and w.peer in made.entries]:
            more = [_first(peer, workload, folder, threads) for _ in range(effort.starts - 1)]
            firsts = [made.entries[peer].first, *(f for f in more if f is not None)]
            made.entries[peer] = replace(made.entries[peer], first=statistics.median(firsts))
    return made


def _start(
    worker: Worker, workload: Workload, made: Measured, isa: str
) -> dict[str, Any] | None:
    """The entries of one peer: their first calls, checked; none where it does more than `isa`."""
    try:
        made.versions[worker.peer] = worker.hear()["version"]
        answer = worker.ask("start")
    except WorkerError as error:
        made.missing[worker.peer] = str(error)
        return None
    if why := excess(isa, answer["uses"]) if answer["entries"] else "":
        made.missing[worker.peer] = why
        return None
    for name, found in list(answer["entries"].items()):
        if not found["error"] <= workload.tolerance:
            made.missing[name] = f"wrong: {found['error']:.1e} from NumPy in float64"
            del answer["entries"][name]
    return answer


def rounds_of(
    started: dict[Worker, dict[str, Any]], effort: Effort, missing: dict[str, str]
) -> dict[str, list[list[float]]]:
    """The times of all calls of each entry, by rounds; `missing` says which entries failed."""
    entries = [(worker, name) for worker, answer in started.items() for name in answer["entries"]]
    times: dict[str, list[list[float]]] = {name: [] for _, name in entries}
    for number in range(effort.rounds):
        shift = number % max(1, len(entries))
        for worker, name in entries[shift:] + entries[:shift]:
            if name in missing:
                continue
            try:
                answer = worker.ask("measure", name, str(effort.seconds))
            except WorkerError as error:
                missing[name] = str(error)
                continue
            times[name].append(answer["seconds"])
    return times


def _finish(
    workload: Workload,
    started: dict[Worker, dict[str, Any]],
    times: dict[str, list[list[float]]],
    made: Measured,
) -> None:
    """Entries, limit and memory from the answers of the workers."""
    for worker, answer in started.items():
        for name, found in answer["entries"].items():
            if name not in made.missing:
                made.entries[name] = entry(found["first"], found["error"], times[name])
        if worker.peer == LIMITS and LIMITS in made.entries:
            made.limit = answer["amount"] / made.entries.pop(LIMITS).seconds
        if worker.peer == OURS and OURS in made.entries:
            made.memory = Memory(
                answer["peak"], answer["planned"], workload.nbytes, answer["kernels"]
            )


def _first(peer: str, workload: Workload, folder: Path, threads: int) -> float | None:
    """Seconds of the first call in one more fresh process."""
    return first_call(Worker(peer, workload, folder, threads))


def first_call(worker: Worker) -> float | None:
    """Seconds of the first call in a worker's process, which ends; None where it fails."""
    try:
        worker.hear()
        return float(worker.ask("start")["entries"][worker.peer]["first"])
    except WorkerError:
        return None
    finally:
        worker.close()
