"""The results of each network, and their file."""

import json
import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.networks.alone import Alone, total_ns
from benchmarks.networks.kernels import KernelTime, far
from benchmarks.results import OURS, Entry

PEERS = ("torch", "torch.compile")


@dataclass(slots=True)
class Found:
    """One network.

    `entries` has ourselves and the peers; `kept` are the seconds of compiling in a process that
    finds its machine code on disk; `items` and `kernels` are those of one run.
    """

    name: str
    about: str
    entries: dict[str, Entry] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    kept: float | None = None
    items: int = 0
    kernels: tuple[KernelTime, ...] = ()
    alone: tuple[Alone, ...] = ()

    def ratio(self, peer: str) -> float | None:
        """How many times faster than a peer we are: the median over rounds."""
        ours, theirs = self.entries.get(OURS), self.entries.get(peer)
        if ours is None or theirs is None:
            return None
        pairs = zip(theirs.rounds, ours.rounds, strict=False)
        return statistics.median(t / o for t, o in pairs)

    @property
    def plain(self) -> tuple[KernelTime, ...]:
        """The kernels without vectors."""
        return tuple(kernel for kernel in self.kernels if kernel.plain)

    @property
    def far(self) -> tuple[KernelTime, ...]:
        """The kernels that are far from their roofline, and matter."""
        return far(self.kernels)

    @property
    def kernels_ns(self) -> float:
        """Nanoseconds of all kernels of one run."""
        return sum(kernel.ns for kernel in self.kernels)

    @property
    def alone_ns(self) -> float:
        """Nanoseconds of all its operations run alone."""
        return total_ns(self.alone)

    @property
    def beside_alone(self) -> float | None:
        """How many times as long as its operations alone the kernels take."""
        return self.kernels_ns / self.alone_ns if self.kernels and self.alone_ns else None


@dataclass(frozen=True, slots=True)
class Results:
    """A run."""

    machine: dict[str, Any]
    threads: int
    networks: tuple[Found, ...]

    def ratios(self, peer: str) -> list[float]:
        """Those that are known, in the order of the networks."""
        return [ratio for it in self.networks if (ratio := it.ratio(peer)) is not None]

    def mean(self, peer: str) -> float | None:
        """The geometric mean of the ratios to a peer."""
        ratios = self.ratios(peer)
        return statistics.geometric_mean(ratios) if ratios else None


def to_json(results: Results) -> str:
    """As text; the inverse of `from_json`."""
    return json.dumps(asdict(results), indent=1) + "\n"


def from_json(text: str) -> Results:
    """The results that a text holds."""
    data = json.loads(text)
    return Results(data["machine"], data["threads"], tuple(map(_found, data["networks"])))


def _found(row: dict[str, Any]) -> Found:
    entries = {name: _entry(fields) for name, fields in row["entries"].items()}
    return Found(**row | {
        "entries": entries,
        "kernels": tuple(KernelTime(**it) for it in row["kernels"]),
        "alone": tuple(Alone(**it) for it in row["alone"]),
    })  # fmt: skip


def _entry(fields: dict[str, Any]) -> Entry:
    return Entry(**fields | {name: tuple(fields[name]) for name in ("spread", "rounds")})
