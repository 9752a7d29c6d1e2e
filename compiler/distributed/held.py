"""held: runs on a cluster, and the results that workers hold for the client.

    Result ── of ──▶ Submitted ── reads ──▶ Result of another run, or of a root

A future keeps a result on its worker. If a worker is lost, Dask recomputes its results from the
tasks that made them, but not the data that the client had sent: these stay with the run, to be sent
again. A chain of runs ends at a root, whose results the client or two workers hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias
from weakref import WeakSet

from compiler.core.dtypes import Array
from compiler.device.disk import FilePart
from compiler.device.remote import RemoteData
from compiler.distributed.tasks import TaskPlan
from compiler.graph.nodes import Buffer
from compiler.schedule.items import ScheduleItem

Layers: TypeAlias = dict[str, dict[str, Any]]
"""Nodes of Dask's graph, by device."""
LOST = ("cancelled", "lost")
"""Dask's states of futures whose data were lost."""


class Fetching(Protocol):
    """An engine that fetches results to the client."""

    @property
    def client(self) -> Any:
        """Dask's client."""
        ...

    def gathered(self, run: "Submitted", keys: Sequence[str]) -> list[Array]:
        """The arrays of these keys of a run."""
        ...


@dataclass(eq=False)
class Submitted:
    """A run that was submitted to a cluster, and all data needed to repeat it."""

    name: str
    plan: TaskPlan
    items: Mapping[int, ScheduleItem]
    values: Mapping[str, int]
    inputs: "list[Array | FilePart | Parent]"
    futures: dict[str, Any] = field(default_factory=dict)
    """The futures that keep its tasks while it runs."""
    library: Any = None
    """The future of its kernels."""
    sent: dict[str, tuple[Array, str]] = field(default_factory=dict)
    """The data sent from here by key, and to which device: Dask cannot recompute them."""
    inline: dict[int, "str | Array"] = field(default_factory=dict)
    """The data that are sent: small arrays, and keys of `sent`, by their numbers in the plan."""
    graphs: list[tuple[Layers, list[str]]] = field(default_factory=list)
    """The graphs submitted to Dask, and the keys requested of each."""
    results: "WeakSet[Result]" = field(default_factory=WeakSet)
    """The results that are still held."""
    borrowed: list[Any] = field(default_factory=list)
    """Futures of its operands that were recomputed for it."""
    depth: int = 0
    """The number of runs to repeat if its results are lost; 0 for a root."""
    sent_bytes: int = 0
    """Bytes kept for that; data that several runs need count for each."""

    @property
    def parents(self) -> "list[Parent]":
        """The results of other runs that it reads."""
        return [each for each in self.inputs if isinstance(each, Parent)]

    def finish(self) -> None:
        """The run is done: drop what is not needed to repeat it."""
        self.futures.clear()
        self.borrowed.clear()
        runs = [parent.run for parent in self.parents if parent.run is not None]
        self.depth = 1 + max((run.depth for run in runs), default=0)
        sent_bytes = sum(array.nbytes for array, _ in self.sent.values())
        self.sent_bytes = sent_bytes + sum(run.sent_bytes for run in runs)

    def take_root(self, sent: "dict[str, tuple[Array, str]]") -> None:
        """Make the run a root: its results are held twice, or by the client (`sent`)."""
        self.inputs.clear()
        self.inline.clear()
        self.graphs.clear()
        self.sent = sent
        self.depth = self.sent_bytes = 0


@dataclass(eq=False)
class Result:
    """Data that a worker holds; the future keeps them there."""

    engine: Fetching
    run: Submitted
    key: str
    future: Any
    buffer: Buffer

    @property
    def client(self) -> Any:
        """Dask's client, of the cluster that has it."""
        return self.engine.client

    @property
    def nbytes(self) -> int:
        """Bytes of its elements."""
        return self.buffer.nbytes

    @property
    def device(self) -> str:
        """The device of the worker."""
        return self.buffer.device

    def __post_init__(self) -> None:
        self.run.results.add(self)

    def fetch(self) -> Array:
        """The elements, fetched; recomputed if they were lost."""
        return self.engine.gathered(self.run, [self.key])[0]


@dataclass(frozen=True, eq=False)
class Parent:
    """A result that a run reads. `run` can recompute it; it is None for data of a root.

    The future keeps a root's data on its workers, since nothing could recompute them.
    """

    key: str
    run: Submitted | None
    future: Any

    @staticmethod
    def of(result: Result) -> "Parent":
        """The result as an input of another run."""
        is_root = not result.run.depth
        return Parent(result.key, result.run, result.future if is_root else None)


def result_of(data: RemoteData) -> Result:
    """The cluster's handle of remote data."""
    held = data.cell.held
    assert isinstance(held, Result)
    return held
