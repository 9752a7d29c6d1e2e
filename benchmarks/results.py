"""The data of a run, and its file: what `make bench` writes and what tables and bars read.

    {"machine": {…}, "limits": {"read": bytes a second, …, "fma": operations a second},
     "workloads": {name: {entry: {"seconds": …, "first": …, …}}}, "single_thread": …, …}
"""

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

OURS = "svodviz"
LIMITS = "limits"
"""The entry of the machine itself: no peer, so not among the entries of a run."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One peer's times for one workload.

    `seconds` is the median over rounds, `first` the first call in a fresh process, `spread` the
    lower and the upper quartile over all calls, `least` the fastest call, `error` the distance
    from NumPy in float64.
    """

    seconds: float
    first: float
    spread: tuple[float, float]
    least: float
    rounds: tuple[float, ...]
    error: float = 0.0

    @property
    def cold(self) -> float:
        """The seconds of compiling: the first call less a steady one."""
        return max(0.0, self.first - self.seconds)


def entry(first: float, error: float, rounds: Sequence[Sequence[float]]) -> Entry:
    """From the times of all calls, by rounds."""
    medians = tuple(statistics.median(r) for r in rounds)
    calls = sorted(time for r in rounds for time in r)
    low, high = calls[len(calls) // 4], calls[(3 * len(calls)) // 4]
    return Entry(statistics.median(medians), first, (low, high), calls[0], medians, error)


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of one fresh process that ran a program of ours once."""

    peak: int
    planned: int
    data: int
    kernels: int

    @property
    def beyond_data(self) -> int:
        """The peak without inputs and outputs."""
        return self.peak - self.data


Entries = dict[str, dict[str, Entry]]
"""By workload and entry."""


@dataclass(frozen=True, slots=True)
class Run:
    """All workloads with one number of threads.

    `limits` are the medians over all workloads, `limit_nearby` what was measured between the rounds
    of each workload: bytes or operations a second.
    """

    threads: int
    limits: dict[str, float] = field(default_factory=dict)
    limit_nearby: dict[str, float] = field(default_factory=dict)
    workloads: Entries = field(default_factory=dict)
    memory: dict[str, Memory] = field(default_factory=dict)

    def best(self, workload: str, peer: str) -> Entry | None:
        """The faster one of a peer's entries: as users call it, or with outputs made before."""
        found = [
            e for name, e in self.workloads.get(workload, {}).items()
            if name == peer or name == f"{peer} out="
        ]  # fmt: skip
        return min(found, key=lambda e: e.seconds, default=None)

    def ratio(self, workload: str, peer: str) -> float | None:
        """How many times faster than a peer we are: the median over rounds."""
        ours, theirs = self.best(workload, OURS), self.best(workload, peer)
        if ours is None or theirs is None:
            return None
        pairs = zip(theirs.rounds, ours.rounds, strict=False)
        return statistics.median(t / o for t, o in pairs)

    def peers(self) -> list[str]:
        """The entries that occur, in the order in which they occur."""
        names = (name for row in self.workloads.values() for name in row)
        return list(dict.fromkeys(names))


@dataclass(frozen=True, slots=True)
class Results:
    """A whole run of the benchmark."""

    machine: dict[str, Any]
    all_threads: Run
    single_thread: Run | None = None
    missing: dict[str, str] = field(default_factory=dict)
    """Why a peer, or a peer's workload, isn't there."""

    @property
    def name(self) -> str:
        """The machine's name: LLVM's of the processor, and what all were held to."""
        return "-".join(filter(None, (self.machine["llvm_cpu"], self.machine.get("isa", ""))))


def to_json(results: Results) -> str:
    """As text; the inverse of `from_json`."""
    whole = asdict(results.all_threads)
    single = asdict(results.single_thread) if results.single_thread else None
    data = {"machine": results.machine, **whole, "single_thread": single,
            "missing": results.missing}  # fmt: skip
    return json.dumps(data, indent=1) + "\n"


def from_json(text: str) -> Results:
    """The results that a text holds."""
    data = json.loads(text)
    single = data["single_thread"]
    return Results(
        data["machine"], _run(data), _run(single) if single else None, data["missing"]
    )


def read(path: Path) -> Results:
    """The results that a file holds."""
    return from_json(path.read_text())


def _run(data: dict[str, Any]) -> Run:
    workloads = {
        workload: {name: _entry(fields) for name, fields in row.items()}
        for workload, row in data["workloads"].items()
    }
    memory = {name: Memory(**fields) for name, fields in data["memory"].items()}
    return Run(data["threads"], data["limits"], data["limit_nearby"], workloads, memory)


def _entry(fields: dict[str, Any]) -> Entry:
    low, high = fields["spread"]
    return Entry(
        fields["seconds"], fields["first"], (low, high), fields["least"], tuple(fields["rounds"]),
        fields["error"],
    )  # fmt: skip
