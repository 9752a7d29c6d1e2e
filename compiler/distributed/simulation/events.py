"""events: the simulation of jobs on lanes and links, event by event.

    ready       all jobs that a job needs have finished
    scheduled   the scheduler has processed the task: one task after the other, in order of ready
    arrived     the lane has received the task
    start, end  the lane's cores compute; or a transfer occupies the sender's outgoing link and the
                receiver's incoming link
    finish      the end of a job; for a transfer, the end plus the latency

A free lane, or free links, take the arrived job that is first in the program. Each job records the
job that delayed it, so that the critical path can be followed backwards.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compiler.distributed.simulation.cluster import Cluster
from compiler.distributed.simulation.jobs import Job

NOBODY = -1
Step: TypeAlias = Literal["done", "arrived", "begin"]
ORDER: dict[Step, int] = {"done": 0, "arrived": 1, "begin": 2}
"""The order of events at the same time: ends first, starts last, so that a start chooses among all
jobs that arrived."""


@dataclass(slots=True)
class Ran:
    """The times of a job in nanoseconds, and the numbers of the jobs that it waited for."""

    ready: float = 0.0
    scheduled: float = 0.0
    arrived: float = 0.0
    start: float = 0.0
    end: float = 0.0
    finish: float = 0.0
    after: int = NOBODY
    """The needed job that finished last."""
    queued: int = NOBODY
    """The job that occupied the scheduler."""
    behind: int = NOBODY
    """The job that occupied its lane or a link."""


def run(jobs: Sequence[Job], cluster: Cluster, lanes: int) -> list[Ran]:
    """The times of each job."""
    return _Machines(jobs, cluster, lanes).run()


class _Machines:
    """The state of lanes, links and the scheduler at the current time."""

    def __init__(self, jobs: Sequence[Job], cluster: Cluster, lanes: int) -> None:
        self._jobs = jobs
        self._ran = [Ran() for _ in jobs]
        self._is_begun = [False] * len(jobs)
        self._left = [len(set(job.depends_on)) for job in jobs]
        self._dependents: list[list[int]] = [[] for _ in jobs]
        for number, job in enumerate(jobs):
            for needed in set(job.depends_on):
                self._dependents[needed].append(number)
        self._task, self._scheduler = cluster.task_ns, cluster.scheduler_ns
        self._latency, self._rate = cluster.latency_ns, cluster.bytes_per_ns
        self._scheduling = (0.0, NOBODY)
        self._cores = _Resource(lanes)
        self._out, self._in = _Resource(lanes), _Resource(lanes)
        self._events: list[tuple[float, int, int, Step]] = []

    def run(self) -> list[Ran]:
        """Process all events in order; the times of each job."""
        for number, left in enumerate(self._left):
            if not left:
                self._get_ready(number, 0.0)
        while self._events:
            time, _, number, step = heapq.heappop(self._events)
            match step:
                case "done":
                    self._finish(number, time)
                case "arrived":
                    self._arrive(number, time)
                case "begin":
                    self._begin(number, time)
        return self._ran

    def _push(self, time: float, step: Step, number: int) -> None:
        heapq.heappush(self._events, (time, ORDER[step], number, step))

    def _get_ready(self, number: int, time: float) -> None:
        """All jobs that a job needs have finished."""
        ran, job = self._ran[number], self._jobs[number]
        ran.ready = ran.scheduled = time
        ran.arrived = time
        if job.kind in ("compute", "transfer"):
            self._push(time, "arrived", number)
            return
        if job.kind == "begin":
            ran.arrived = time + job.ns
        if job.kind == "announced":
            self._schedule(number, time)
        ran.start = ran.end = ran.finish = ran.arrived
        self._push(ran.finish, "done", number)

    def _schedule(self, number: int, time: float) -> None:
        """The scheduler processes a task and sends it to the worker."""
        ran, (until, last) = self._ran[number], self._scheduling
        if until > time:
            ran.scheduled, ran.queued = until, last
        self._scheduling = ran.scheduled + self._scheduler, number
        ran.arrived = self._scheduling[0] + self._task

    def _arrive(self, number: int, time: float) -> None:
        """A job waits for its lane, or for its links."""
        job = self._jobs[number]
        for resource, lane in self._needed(job):
            heapq.heappush(resource.waiting[lane], (job.place, number))
        self._push(time, "begin", number)

    def _needed(self, job: Job) -> tuple[tuple["_Resource", int], ...]:
        if job.kind == "transfer":
            return (self._out, job.sender), (self._in, job.lane)
        return ((self._cores, job.lane),)

    def _begin(self, number: int, time: float) -> None:
        """Each resource of this job takes the first job that waits for it."""
        for resource, lane in self._needed(self._jobs[number]):
            self._take(resource, lane, time)

    def _take(self, resource: "_Resource", lane: int, time: float) -> None:
        """Start the first waiting job whose resources are all free, if this resource is free."""
        if resource.until[lane] > time:
            return
        put_back = []
        waiting = resource.waiting[lane]
        while waiting:
            place, number = heapq.heappop(waiting)
            if self._is_begun[number]:
                continue  # it began at its other link
            put_back.append((place, number))
            if all(other.until[at] <= time for other, at in self._needed(self._jobs[number])):
                put_back.pop()
                self._start(number, time)
                break
        for one in put_back:
            heapq.heappush(waiting, one)

    def _start(self, number: int, time: float) -> None:
        """A job occupies its lane, or its links."""
        ran, job = self._ran[number], self._jobs[number]
        ran.start, self._is_begun[number] = time, True
        is_sent = job.kind == "transfer"
        ran.end = time + (job.nbytes / self._rate if is_sent else job.ns)
        ran.finish = ran.end + (self._latency if is_sent else 0.0)
        for resource, lane in self._needed(job):
            if resource.until[lane] > ran.arrived and resource.until[lane] == time:
                ran.behind = resource.last[lane]
            resource.until[lane], resource.last[lane] = ran.end, number
        self._push(ran.end, "begin", number)
        self._push(ran.finish, "done", number)

    def _finish(self, number: int, time: float) -> None:
        for dependent in self._dependents[number]:
            self._left[dependent] -= 1
            if not self._left[dependent]:
                self._ran[dependent].after = number
                self._get_ready(dependent, time)


class _Resource:
    """A kind of resource, one per lane: the time until it is occupied, by which job, and the jobs
    that wait for it."""

    def __init__(self, lanes: int) -> None:
        self.until = [0.0] * lanes
        self.last = [NOBODY] * lanes
        self.waiting: list[list[tuple[int, int]]] = [[] for _ in range(lanes)]
