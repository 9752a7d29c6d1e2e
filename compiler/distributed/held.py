"""held: runs on a cluster, and what workers hold of them for us.

    Result ── of ──▶ Submitted ── reads ──▶ Result of another run, or of the root of all

A future keeps a result where it is. Where a worker is gone, Dask makes its results again out of
what made them, but not out of what was sent from here: that is kept with the run, to be sent again.
Such a chain of runs ends at a run whose results two workers hold (`DaskEngine`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias
from weakref import WeakSet

import numpy as np

from compiler.device.disk import FilePart
from compiler.device.remote import RemoteData
from compiler.distributed.tasks import TaskPlan
from compiler.schedule.items import ScheduleItem

Array: TypeAlias = "np.ndarray[Any, Any]"
Layers: TypeAlias = dict[str, dict[str, Any]]
"""Nodes of Dask's graph, by device."""
LOST = ("cancelled", "lost")
"""What Dask calls futures of which the data are nowhere."""


class Fetching(Protocol):
    """Who brings results here."""

    def gathered(self, run: "Submitted", futures: Sequence[Any]) -> list[Array]:
        """The arrays of these futures of a run."""
        ...


@dataclass(eq=False)
class Submitted:
    """A run that was given to a cluster, and all that it takes to do it again."""

    name: str
    plan: TaskPlan
    items: Mapping[int, ScheduleItem]
    values: Mapping[str, int]
    inputs: "list[Array | FilePart | Parent]"
    futures: dict[str, Any] = field(default_factory=dict)
    """While it runs, what keeps its tasks."""
    library: Any = None
    """The future of its kernels."""
    sent: dict[str, tuple[Array, str]] = field(default_factory=dict)
    """What was sent from here by key, and to which device: Dask cannot make it again."""
    inline: dict[int, "str | Array"] = field(default_factory=dict)
    """What is sent: small arrays, and keys of `sent`, by their numbers in the plan."""
    graphs: list[tuple[Layers, list[str]]] = field(default_factory=list)
    """What was given to Dask, and the keys that were wanted of it."""
    results: "WeakSet[Result]" = field(default_factory=WeakSet)
    """What is still held of it."""
    depth: int = 0
    """How many runs it takes to do it again; 0 of a root."""
    is_dasks: bool = False
    """Whether Dask can do it again by itself."""

    @property
    def parents(self) -> "Iterable[Parent]":
        """The results of other runs that it reads."""
        return (each for each in self.inputs if isinstance(each, Parent))

    @property
    def sent_bytes(self) -> int:
        """Bytes that are kept for it to be done again."""
        own = sum(array.nbytes for array, _ in self.sent.values())
        return own + sum(p.run.sent_bytes for p in self.parents if p.run is not None)

    def finish(self) -> None:
        """It is done: forget what is not needed to do it again."""
        self.futures.clear()
        if not self.sent and all(p.run is None and p.future is None for p in self.parents):
            self.is_dasks = True
            self.take_root()
            return
        self.depth = 1 + max((p.run.depth for p in self.parents if p.run is not None), default=0)

    def take_root(self) -> None:
        """Whatever happens, its results are there: nothing that made them is needed."""
        self.inputs.clear()
        self.sent.clear()
        self.inline.clear()
        self.graphs.clear()
        self.depth = 0

    @property
    def is_root(self) -> bool:
        """Whether it needs nothing of ours to be done again."""
        return not self.depth


@dataclass(eq=False)
class Result:
    """What a worker holds for us: the future keeps it there."""

    engine: Fetching
    run: Submitted
    key: str
    future: Any

    def __post_init__(self) -> None:
        self.run.results.add(self)

    def fetch(self) -> Array:
        """The elements, brought here; made again where they are nowhere."""
        return self.engine.gathered(self.run, [self.future])[0]


@dataclass(frozen=True, eq=False)
class Parent:
    """A result that a run reads. Where nothing could make it again its future keeps it, else `run`
    makes it, or Dask does, where both are None."""

    key: str
    run: Submitted | None
    future: Any

    @staticmethod
    def of(result: Result) -> "Parent":
        """The result as an input of another run."""
        run = result.run
        if run.is_dasks:
            return Parent(result.key, None, None)
        made, future = (None, result.future) if run.is_root else (run, None)
        return Parent(result.key, made, future)


def result_of(data: RemoteData) -> Result:
    """What a cluster holds of remote data."""
    held = data.cell.held
    assert isinstance(held, Result)
    return held
