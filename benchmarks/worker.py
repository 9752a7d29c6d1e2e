"""One peer in a process of its own: `python -m benchmarks.worker PEER WORKLOAD FOLDER THREADS`.

It reads commands, one a line, and answers each with one line of JSON:

    (at the start)           {"version": …}, or {"missing": why} and it ends
    start                    {"entries": {name: {"first": seconds, "error": share}}, "uses": …, …}
    measure NAME SECONDS     {"seconds": [one per call]}

Libraries keep their own thread pools; between two commands nothing runs here, and an answer is
sent only once the process has stopped using its cores: some pools spin after their work.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks import peers
from benchmarks.workloads import WORKLOADS, Array, Workload

WARM_CALLS, WARM_SECONDS, MOST_CALLS = 3, 0.3, 3000
IDLE_STEP, IDLE_SHARE, IDLE_SECONDS = 0.01, 0.05, 0.5


def settle() -> None:
    """Wait until this process no longer uses its cores."""
    end = time.perf_counter() + IDLE_SECONDS
    while time.perf_counter() < end:
        used = time.process_time()
        time.sleep(IDLE_STEP)
        if time.process_time() - used < IDLE_SHARE * IDLE_STEP:
            return


def timed(call: Callable[[], Any]) -> float:
    """Seconds of one call; its result is dropped."""
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    del result
    return seconds


def warm(call: Callable[[], Any]) -> None:
    """Some calls, so that whatever is made late is made."""
    end, calls = time.perf_counter() + WARM_SECONDS, 0
    while calls < WARM_CALLS or (time.perf_counter() < end and calls < 100):
        timed(call)
        calls += 1


def measure(call: Callable[[], Any], seconds: float) -> list[float]:
    """The times of as many calls as fit, at least one, after one that isn't counted."""
    gc.collect()
    end = time.perf_counter() + seconds
    if timed(call) > 4 * seconds:
        return [timed(call)]
    times: list[float] = []
    while not times or (time.perf_counter() < end and len(times) < MOST_CALLS):
        times.append(timed(call))
    return times


def error(result: Array | None, expected: Array) -> float:
    """The greatest difference, as a share of the greatest magnitude that is expected."""
    if result is None:
        return 0.0
    if result.shape != expected.shape:
        raise ValueError(f"shape {result.shape} instead of {expected.shape}")
    scale = float(np.abs(expected).max()) or 1.0
    difference = float(np.abs(result - expected).max()) / scale
    return difference if np.isfinite(difference) else float("inf")


def resident_peak() -> int:
    """The most bytes this process has had in memory; 0 where the system doesn't say."""
    try:
        text = Path("/proc/self/status").read_text()
    except OSError:
        return 0
    return next(1024 * int(r.split()[1]) for r in text.splitlines() if r.startswith("VmHWM"))


class Session:
    """The state of one worker: the calls of its peer for one workload."""

    def __init__(self, peer: str, workload: Workload, folder: Path) -> None:
        self.adapter = peers.adapter(peer)
        self.workload, self.folder = workload, folder
        self.calls: dict[str, Callable[[], Any]] = {}

    def version(self) -> str:
        """The library's version."""
        return self.adapter.version()

    def start(self) -> dict[str, Any]:
        """Make the calls, time the first of each, compare its result, warm it."""
        names = self.workload.inputs
        inputs = {name: np.load(self.folder / f"{name}.npy") for name in names}
        self.calls = self.adapter.programs(self.workload, inputs)
        answer: dict[str, Any] = {"entries": {}}
        for name, call in self.calls.items():
            start = time.perf_counter()
            result = call()
            first = time.perf_counter() - start
            answer["peak"] = max(answer.get("peak", 0), resident_peak())
            value = self.adapter.array(result)
            del result
            expected = np.load(self.folder / "expected.npy", mmap_mode="r")
            answer["entries"][name] = {"first": first, "error": error(value, expected)}
            answer["planned"] = getattr(call, "planned_bytes", 0)
            answer["kernels"] = getattr(call, "kernels", 0)
            del value
            warm(call)
        if amount := getattr(self.adapter, "amount", None):
            answer["amount"] = amount(self.workload.limit) if self.calls else 0.0
        answer["uses"] = self.adapter.uses() if self.calls else ""
        return answer

    def answer(self, command: str) -> dict[str, Any]:
        """Do one command."""
        match command.split("\t"):
            case ["start"]:
                return self.start()
            case ["measure", name, seconds]:
                return {"seconds": measure(self.calls[name], float(seconds))}
        raise ValueError(f"no such command: {command!r}")


class Serving(Protocol):
    """The object that answers the commands of a worker."""

    def version(self) -> str:
        """The library's version."""

    def answer(self, command: str) -> dict[str, Any]:
        """Do one command."""


def serve(threads: str, begin: Callable[[], Serving]) -> None:
    """Answer commands until the input ends. What libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(threads)])
    try:
        session = begin()
    except (ImportError, OSError) as missing:
        print(json.dumps({"missing": f"{type(missing).__name__}: {missing}"}), file=answers)
        return
    print(json.dumps({"version": session.version()}), file=answers)
    for line in sys.stdin:
        result = session.answer(line.rstrip("\n"))
        settle()
        print(json.dumps(result), file=answers)


def main(peer: str, workload: str, folder: str, threads: str) -> None:
    """Serve one workload on one peer."""
    serve(threads, lambda: Session(peer, WORKLOADS[workload], Path(folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
