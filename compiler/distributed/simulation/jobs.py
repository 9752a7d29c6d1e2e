"""jobs: the items of a schedule as what machines do, by whom, how long, after what.

    item 4  kernel k0 on DASK:1          job 4  lane 1  12.4 µs of its cores
    item 7  transfer DASK:1 → DASK       job 7  lane 1 sends 1,024 bytes to lane 0
    item 0  transfer CPU → DASK of x     job 0  there when the run begins

Lanes are the workers; behind them stands the client, which has what is on the processor at hand of
a program for workers. An input that goes to a worker is there already, as data of a training loop
are, unless placing is asked for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.core.errors import DataError
from compiler.distributed.simulation.cluster import Cluster
from compiler.graph.devices import is_disk, is_remote
from compiler.graph.nodes import Buffer, Sink
from compiler.machines.model import MachineModel
from compiler.schedule.analysis import costs
from compiler.schedule.analysis.footprint import lifetimes
from compiler.schedule.analysis.reuse import last_touched
from compiler.schedule.analysis.work import Work, estimate
from compiler.schedule.items import Kernel, MemoryTransfer, Operation, ScheduleItem, Synchronization

CLIENT = "client"


@dataclass(frozen=True, slots=True)
class Planned:
    """A program as far as its items are known."""

    items: tuple[ScheduleItem, ...]
    results: tuple[Buffer, ...]
    works: Mapping[Sink, Work]
    """What running each kernel takes, whatever the machine."""
    seconds: float
    """That it took to plan it."""


@dataclass(frozen=True, slots=True)
class Job:
    """One item: `ns` of the cores of `lane`, or `nbytes` sent to it from lane `sender`."""

    name: str
    lane: int
    sender: int
    ns: float
    nbytes: int
    depends_on: tuple[int, ...]
    is_free: bool = False
    """Whether it takes no time: what is there already, and what only orders."""

    @property
    def is_transfer(self) -> bool:
        """Whether it goes over a link."""
        return self.sender != self.lane


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of a program, by item, and whose lanes they are on."""

    jobs: tuple[Job, ...]
    lanes: tuple[str, ...]
    workers: int
    """How many of the lanes are workers: the first ones."""
    placed: int
    """Bytes that are on workers when the run begins, brought there by transfers of the program."""
    peaks: tuple[int, ...]
    """The most bytes alive at once, by lane."""


def jobs_of(planned: Planned, cluster: Cluster, is_placed: bool = True) -> Jobs:
    """The jobs of a program on a cluster; `DataError` where it is for more workers than there are.

    `is_placed`: whether what workers are given by the client is there when the run begins.
    """
    lanes, workers = _lanes(planned.items, cluster)
    model, numbers = cluster.model, {name: place for place, name in enumerate(lanes)}
    written = {b for item in planned.items for b in item.operation.writes}
    places = [_place(item.operation, numbers) for item in planned.items]
    times = _times(planned, places, model)
    made = []
    for item, (sender, lane), ns in zip(planned.items, places, times, strict=True):
        operation, is_sent = item.operation, sender != lane
        is_input = isinstance(operation, MemoryTransfer) and operation.source not in written
        is_there = is_placed and is_sent and is_input and sender >= workers
        nbytes = operation.nbytes if isinstance(operation, MemoryTransfer) and is_sent else 0
        is_free = is_there or isinstance(operation, Synchronization)
        name = f"{operation.name} {nbytes:,} bytes" if is_sent else operation.name
        made.append(Job(name, lane, sender, 0.0 if is_sent else ns, nbytes, item.depends_on,
                        is_free))  # fmt: skip
    placed = sum(job.nbytes for job in made if job.is_free)
    return Jobs(tuple(made), lanes, workers, placed, _peaks(planned, lanes))


def _lanes(items: Sequence[ScheduleItem], cluster: Cluster) -> tuple[tuple[str, ...], int]:
    """The devices in order, workers first; and how many these are.

    A program without any device of a cluster is taken for one whose processors are workers.
    """
    used = {d for item in items for d in item.operation.devices if not is_disk(d)}
    remote = [device for device in used if is_remote(device)]
    workers = sorted(remote or used, key=_number)
    count = _number(workers[-1]) + 1 if workers else 1
    if count > cluster.workers:
        raise DataError("simulate", "the program is for more workers than the cluster has",
                        got=f"{workers[-1]}, worker {count} of {cluster.workers}",
                        expected=f"DASK … {cluster.devices[-1]}")  # fmt: skip
    kind = workers[0].partition(":")[0] if workers else "DASK"
    names = [kind, *(f"{kind}:{number}" for number in range(1, cluster.workers))]
    return (*names, CLIENT), cluster.workers


def _number(device: str) -> int:
    """Which of its kind a device is."""
    return int(device.partition(":")[2] or 0)


def _place(operation: Operation, numbers: Mapping[str, int]) -> tuple[int, int]:
    """The lanes that an item is sent from and done on: the same of what is not sent."""
    client = numbers[CLIENT]
    if isinstance(operation, MemoryTransfer):
        lane = numbers.get(operation.destination_device, client)
        read = operation.source_device
        # A file is read by the worker that needs it.
        return (lane if is_disk(read) else numbers.get(read, client)), lane
    lane = numbers.get(operation.devices[0], client) if operation.devices else client
    return lane, lane


def _times(
    planned: Planned, places: Sequence[tuple[int, int]], model: MachineModel
) -> list[float]:
    """Nanoseconds of each item on the cores of its lane; each lane has caches of its own."""
    by_lane: dict[int, list[ScheduleItem]] = {}
    for item, (_, lane) in zip(planned.items, places, strict=True):
        by_lane.setdefault(lane, []).append(item)
    known: dict[object, float] = {}
    found = [0.0] * len(planned.items)
    for items in by_lane.values():
        alone = [replace(item, item_id=place) for place, item in enumerate(items)]
        for item, since in zip(items, last_touched(alone), strict=True):
            operation = item.operation
            body = operation.body if isinstance(operation, Kernel) else None
            key = (body or costs.bytes_of(operation), *since.items())
            if key not in known:
                work = planned.works.get(body) if body is not None else None
                known[key] = estimate(work, model, since) if work else _roofline(item)
            found[item.item_id] = known[key]
    return found


def _roofline(item: ScheduleItem) -> float:
    """The estimate of an item whose loops are not known."""
    (row,) = costs.analyse([replace(item, item_id=0)])
    return float(row.cost)


def _peaks(planned: Planned, lanes: Sequence[str]) -> tuple[int, ...]:
    """The most bytes alive at once on each lane, items in order; inputs that are sent count where
    they arrive."""
    changes: dict[str, list[tuple[int, int]]] = {name: [] for name in lanes}
    for life in lifetimes(planned.items, planned.results):
        rows = changes.get(life.buffer.device)
        if rows is not None:
            rows += [(life.first, life.buffer.nbytes), (life.last + 1, -life.buffer.nbytes)]
    return tuple(_most(rows) for rows in changes.values())


def _most(changes: list[tuple[int, int]]) -> int:
    """The greatest of the sums, in the order of time; what ends at a time goes first."""
    alive = most = 0
    for _, change in sorted(changes):
        alive += change
        most = max(most, alive)
    return most
