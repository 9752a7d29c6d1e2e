"""jobs: the tasks of a program as jobs: computations and transfers, with their durations and needs.

    task 4 on DASK:1 reads the result        job 9   announced lane 1 is notified: task 2 is done
    of task 2 on DASK, runs k0               job 10  transfer  1,024 bytes from lane 0 to lane 1
                                             job 11  compute   12.4 µs of lane 1
    an input of DASK                         job 0   there     at the start of the run

The tasks are those that a real cluster would get (`tasks.py`): sequences of items on one worker.
Each worker is a lane; the client is the last lane. Inputs of workers are there at the start, as the
data of a training loop are, unless their transfer is requested. A lane fetches the operands of a
task once all its needs have finished.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from compiler.core.errors import DataError
from compiler.distributed import tasks
from compiler.distributed.simulation.cluster import Cluster
from compiler.distributed.tasks import FromHere, FromTask, Gather, Local, Send, Submit, Task
from compiler.distributed.work import Launch, Move
from compiler.graph.devices import is_remote
from compiler.graph.nodes import Buffer, Sink
from compiler.machines.model import LEVELS, MachineModel
from compiler.schedule.analysis import costs
from compiler.schedule.analysis.footprint import lifetimes
from compiler.schedule.analysis.reuse import last_touched
from compiler.schedule.analysis.work import Work, estimate
from compiler.schedule.items import Kernel, Operation, ScheduleItem

CLIENT = "client"
BEGIN = 0
"""The first job."""
MEMORY = LEVELS.index("memory")
Kind: TypeAlias = Literal["begin", "there", "announced", "compute", "transfer"]


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned program: its tasks, and the work of its kernels."""

    items: tuple[ScheduleItem, ...]
    results: tuple[Buffer, ...]
    works: Mapping[Sink, Work]
    """The work of each kernel, independent of the machine."""
    programs: tasks.Programs
    seconds: float
    """Seconds that planning took."""


@dataclass(frozen=True, slots=True)
class Job:
    """A computation of `ns` on the cores of `lane`, or a transfer of `nbytes` from lane `sender`.

    begin: the client's start of the run; there: data present at no cost; announced: the scheduler's
    work and message before a task.
    """

    kind: Kind
    name: str
    lane: int
    depends_on: tuple[int, ...] = ()
    ns: float = 0.0
    nbytes: int = 0
    sender: int = -1
    place: int = 0
    """The priority: of several jobs that can start, the lowest does; of equal ones the first."""
    items: tuple[int, ...] = ()
    """The schedule's items that it runs."""


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of a program, and the names of their lanes."""

    jobs: tuple[Job, ...]
    lanes: tuple[str, ...]
    workers: int
    """The number of workers: the first lanes."""
    items: int
    tasks: int
    placed: int
    """Bytes of inputs that are on workers at the start of the run."""
    peaks: tuple[int, ...]
    """The most bytes alive at once, by lane."""


def jobs_of(planned: Planned, cluster: Cluster, is_placed: bool, joined_ns: int) -> Jobs:
    """The jobs of a program on a cluster.

    `is_placed`: the inputs of workers are there at the start of the run; `joined_ns`: the most
    estimated work that items join to one task. Raises `DataError` if the program uses no worker, or
    more workers than the cluster has.
    """
    _check(planned.items, cluster)
    inputs = {b: None for item in planned.items for b in item.operation.arguments if b.unique >= 0}
    plan = tasks.plan(
        planned.items, planned.results, tuple(inputs), planned.programs, joined_ns
    )  # fmt: skip
    lanes = (*cluster.devices, CLIENT)
    numbers = {name: place for place, name in enumerate(lanes)}
    times = [cluster.shared * ns for ns in _times(planned, numbers, cluster.model)]
    begin = Job("begin", "begin", numbers[CLIENT], ns=cluster.start_ns)
    building = _Building(plan, numbers, times, cluster.model, is_placed, places(plan), [begin])
    for action in plan.actions:
        building.act(action)
    placed = sum(job.nbytes for job in building.jobs if job.kind == "there")
    return Jobs(tuple(building.jobs), lanes, cluster.workers, len(planned.items), len(plan.tasks),
                placed, _peaks(planned, lanes))  # fmt: skip


def places(plan: tasks.TaskPlan) -> Mapping[int, int]:
    """The priority of each task: Dask's own order of the graph if Dask is installed."""
    try:
        from dask.order import order
    except ImportError:
        return {}
    graph = {}
    for task in plan.tasks:
        needed = sorted({it.task for it in task.inputs.values() if isinstance(it, FromTask)})
        graph[str(task.number)] = (places, *map(str, needed))
    order_of_tasks: Mapping[str, int] = order(graph)
    return {int(number): place for number, place in order_of_tasks.items()}


def _check(items: Sequence[ScheduleItem], cluster: Cluster) -> None:
    """Raise `DataError` for a program that uses no worker, or a worker that the cluster lacks."""
    used = {d for item in items for d in item.operation.devices if is_remote(d)}
    count = max((int(name.partition(":")[2] or 0) for name in used), default=-1) + 1
    expected = f"DASK … {cluster.devices[-1]}" if cluster.workers > 1 else "DASK"
    if not count:
        raise DataError("simulate", "the program is for no worker of a cluster", got="no DASK",
                        expected=expected, hint='x.shard(("DASK", "DASK:1"), 0), x.to("DASK"); or '
                        "a function f(devices) that writes it")  # fmt: skip
    if count > cluster.workers:
        raise DataError("simulate", "the program is for more workers than the cluster has",
                        got=f"DASK:{count - 1}", expected=expected)  # fmt: skip


@dataclass(slots=True)
class _Building:
    """The jobs so far, and the job that makes each result."""

    plan: tasks.TaskPlan
    numbers: Mapping[str, int]
    times: Sequence[float]
    model: MachineModel
    is_placed: bool
    places: Mapping[int, int]
    """The priority of each task."""
    jobs: list[Job]
    given: dict[FromTask, int] = field(default_factory=dict)
    """The job after which a result of a task is on a lane."""
    fetched: dict[tuple[FromTask, int], int] = field(default_factory=dict)
    sent: dict[int, int] = field(default_factory=dict)
    written: dict[Buffer, int] = field(default_factory=dict)
    """The job that last wrote to memory of the client."""

    def act(self, action: tasks.Action) -> None:
        """Add the jobs of the next action."""
        match action:
            case Send():
                self._send(action)
            case Submit():
                for task in sorted(action.tasks, key=lambda it: (it.rank, it.number)):
                    self._task(task)
            case Gather():
                self._gather(action)
            case Local():
                self._local(action.item)

    def _add(self, job: Job) -> int:
        self.jobs.append(job)
        return len(self.jobs) - 1

    def _send(self, send: Send) -> None:
        """Add the transfer of the client's data to a worker, unless they are there."""
        before = self.written.get(send.buffer)
        size = send.region.size if send.region else send.buffer.size
        nbytes, lane = size * send.buffer.dtype.itemsize, self.numbers[send.device]
        is_there = self.is_placed and before is None
        after = () if is_there else (before or BEGIN,)
        self.sent[send.number] = self._add(
            Job("there" if is_there else "transfer", send.buffer.name or "data", lane, after,
                nbytes=nbytes, sender=self.numbers[CLIENT])
        )  # fmt: skip

    def _task(self, task: Task) -> None:
        """Add the jobs of a task: announcement, transfers of operands, computation."""
        lane = self.numbers[task.device]
        sources = list(dict.fromkeys(task.inputs.values()))
        results = [source for source in sources if isinstance(source, FromTask)]
        here = [self.sent[source.number] for source in sources if isinstance(source, FromHere)]
        waits = (BEGIN, *(self.given[source] for source in results), *here)
        place = self.places.get(task.number, task.number)
        after = tuple(dict.fromkeys(waits))
        announced = self._add(Job("announced", task.name, lane, after, place=place))
        fetched = [self._fetch(source, lane, announced, place) for source in results]
        steps = tuple(dict.fromkeys(step.item for step in task.steps))
        ns = sum(self._step(step) for step in task.steps)
        after = (announced, *(job for job in fetched if job is not None))
        run = self._add(Job("compute", task.name, lane, after, ns, place=place, items=steps))
        for register in task.outputs:
            source, picked = FromTask(task.number, register), run
            # one of several arrays that leaves its worker is what a task of its own gives
            if len(task.outputs) > 1 and register in task.apart:
                picked = self._add(Job("announced", "pick", lane, (run,), place=place))
            self.given[source] = picked

    def _fetch(self, source: FromTask, lane: int, announced: int, place: int) -> int | None:
        """Add the transfer of a result to a lane, once; None if it is there."""
        sender = self.numbers[self.plan.tasks[source.task].device]
        if sender == lane:
            return None
        key = source, lane
        if key not in self.fetched:
            self.fetched[key] = self._add(self._moved(source, sender, lane, announced, place))
        return self.fetched[key]

    def _moved(
        self, source: FromTask, sender: int, lane: int, after: int, place: int = 0
    ) -> Job:  # fmt: skip
        size, dtype = self.plan.sizes[source.register]
        name = self.plan.tasks[source.task].name
        nbytes = size * dtype.itemsize
        return Job("transfer", name, lane, (after,), nbytes=nbytes, sender=sender, place=place)

    def _step(self, step: Launch | Move) -> float:
        """Nanoseconds of a step of a task: a kernel, or a copy in memory."""
        if isinstance(step, Launch):
            return self.times[step.item]
        if step.is_whole:
            return 0.0
        nbytes = step.region.size * self.plan.sizes[step.target][1].itemsize
        return self.model.moving_ns(MEMORY, nbytes, nbytes)

    def _gather(self, gather: Gather) -> None:
        """Add the transfer of a worker's data to the client."""
        if not isinstance(gather.source, FromTask):
            return
        source, client = gather.source, self.numbers[CLIENT]
        sender = self.numbers[self.plan.tasks[source.task].device]
        job = self._moved(source, sender, client, self.given[source])
        self.written[gather.buffer] = self._add(job)

    def _local(self, item: ScheduleItem) -> None:
        """Add an item of the client."""
        operation = item.operation
        writers = (self.written.get(b) for b in (*operation.reads, *operation.writes))
        after = tuple(dict.fromkeys((BEGIN, *(job for job in writers if job is not None))))
        run = self._add(Job("compute", operation.name, self.numbers[CLIENT], after,
                            self.times[item.item_id], items=(item.item_id,)))  # fmt: skip
        self.written |= dict.fromkeys(operation.writes, run)


def _lane(operation: Operation, numbers: Mapping[str, int]) -> int:
    """The lane of an item; for a transfer, its destination."""
    return numbers.get(operation.devices[-1], numbers[CLIENT]) if operation.devices else -1


def _times(planned: Planned, numbers: Mapping[str, int], model: MachineModel) -> list[float]:
    """The nanoseconds of each item on the cores of its lane; each lane has its own caches."""
    by_lane: dict[int, list[ScheduleItem]] = {}
    for item in planned.items:
        by_lane.setdefault(_lane(item.operation, numbers), []).append(item)
    by_kernel: dict[object, float] = {}
    times = [0.0] * len(planned.items)
    for items in by_lane.values():
        alone = [replace(item, item_id=place) for place, item in enumerate(items)]
        for item, since in zip(items, last_touched(alone), strict=True):
            operation = item.operation
            body = operation.body if isinstance(operation, Kernel) else None
            key = (body or costs.bytes_of(operation), *since.items())
            if key not in by_kernel:
                work = planned.works.get(body) if body is not None else None
                by_kernel[key] = estimate(work, model, since) if work else _roofline(item)
            times[item.item_id] = by_kernel[key]
    return times


def _roofline(item: ScheduleItem) -> float:
    """The roofline estimate of an item, for one whose loops are not known."""
    (row,) = costs.analyse([replace(item, item_id=0)])
    return float(row.cost)


def _peaks(planned: Planned, lanes: Sequence[str]) -> tuple[int, ...]:
    """The most bytes alive at once on each lane, in the order of items; sent inputs count at their
    destination."""
    changes: dict[str, list[tuple[int, int]]] = {name: [] for name in lanes}
    for life in lifetimes(planned.items, planned.results):
        rows = changes.get(life.buffer.device)
        if rows is not None:
            rows += [(life.first, life.buffer.nbytes), (life.last + 1, -life.buffer.nbytes)]
    return tuple(_most(rows) for rows in changes.values())


def _most(changes: list[tuple[int, int]]) -> int:
    """The largest prefix sum of the changes in order of time; at one time, decreases go first."""
    alive = most = 0
    for _, change in sorted(changes):
        alive += change
        most = max(most, alive)
    return most
