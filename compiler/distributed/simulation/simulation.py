"""`Simulation`: one predicted run of a program on a cluster.

    64 workers of 16 cores; 10 GB/s, 20 µs; a task 200 µs + 800 µs
    703 items in 256 tasks: 14.2 ms, 21.3 times as fast as one, efficiency 33 %
    critical path: compute 61 %, transfers 30 % (latency 2 %), overhead 9 %
    moved 33.0 MiB in 126 transfers; 266 MiB were on the workers before

    worker   busy            transfer        waits            sent     received  memory
    DASK     7.10 ms  50 %   1.20 ms   8 %   5.90 ms  42 %    …
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from compiler.core.printable import ShownAsText, printout
from compiler.core.text import aligned, binary, counted, duration, number, percent
from compiler.distributed.simulation.cluster import Cluster
from compiler.distributed.simulation.events import Ran
from compiler.distributed.simulation.jobs import Job, Jobs
from compiler.distributed.simulation.path import REASONS, Reason, Step, path
from compiler.distributed.simulation.pictures import Bar, lanes

SHOWN = 8
"""The busiest workers that are printed; three times as many are drawn. By eye."""
HEAD = ("worker", "busy", "", "transfer", "", "waits", "", "sent", "received", "memory")
Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class WorkerTime:
    """The time of one worker in a run, in nanoseconds; `busy` + `transfer` + `waits` is the run.

    `transfer`: it sends or receives and computes nothing; `waits`: neither.
    """

    name: str
    busy: float
    transfer: float
    waits: float
    items: int
    sent: int
    received: int
    peak: int
    """The most bytes alive at once."""


@dataclass(frozen=True, eq=False)
class Simulation(ShownAsText):
    """A run of a program on a cluster. Times are nanoseconds, sizes bytes.

    `ran[i]` has the times of `jobs.jobs[i]`.
    """

    cluster: Cluster
    jobs: Jobs
    ran: tuple[Ran, ...]
    name: str = "program"
    alone: float = 0.0
    """The time of one such worker for the program of one worker; 0 if not known."""
    seconds: float = 0.0
    """Seconds that planning and simulation took."""

    @cached_property
    def makespan(self) -> float:
        """Nanoseconds from the start of the run to the end of the last item."""
        return max((it.finish for it in self.ran), default=0.0)

    @cached_property
    def path(self) -> tuple[Step, ...]:
        """The critical path over machines; its segments cover all of the run."""
        return path(self.jobs.jobs, self.ran)

    @cached_property
    def on_path(self) -> dict[Reason, float]:
        """Nanoseconds of the critical path by reason; they add up to `makespan`."""
        return {r: sum(step.ns for step in self.path if step.reason == r) for r in REASONS}

    @property
    def communication(self) -> float:
        """Nanoseconds of the critical path that are transfers or their latency."""
        return self.on_path["transfer"] + self.on_path["latency"]

    @property
    def because(self) -> str:
        """`compute 61 %, transfers 30 % (latency 2 %), overhead 9 %`: of the critical path."""
        whole, part = max(self.makespan, 1e-9), self.on_path
        late = f" (latency {percent(part['latency'] / whole)})" if part["latency"] else ""
        return (
            f"compute {percent(part['compute'] / whole)}, transfers "
            f"{percent(self.communication / whole)}{late}, overhead "
            f"{percent(part['overhead'] / whole)}"
        )

    @property
    def computing(self) -> float:
        """The sum of the nanoseconds of all items on the workers."""
        return sum(job.ns for job in self.jobs.jobs if job.kind == "compute")

    @property
    def speedup(self) -> float:
        """The speed-up over one such worker: over the program of one worker if known, else over the
        same items run in sequence."""
        announced = sum(1 for job in self.jobs.jobs if job.kind == "announced")
        each = self.cluster.task_ns + self.cluster.scheduler_ns
        serial = self.cluster.start_ns + announced * each + self.computing
        return (self.alone or serial) / max(self.makespan, 1e-9)

    @property
    def efficiency(self) -> float:
        """The speed-up divided by the number of workers: 1 if no worker ever waits."""
        return self.speedup / self.cluster.workers

    @property
    def nbytes(self) -> int:
        """Bytes that links transferred."""
        return sum(job.nbytes for job in self.jobs.jobs if job.kind == "transfer")

    @property
    def transfers(self) -> int:
        """The number of transfers."""
        return sum(1 for job in self.jobs.jobs if job.kind == "transfer")

    @property
    def too_large(self) -> tuple[str, ...]:
        """The workers that need more memory than the cluster's, if that is given."""
        least = self.cluster.memory_bytes
        workers = zip(self.jobs.lanes[: self.jobs.workers], self.jobs.peaks, strict=False)
        return tuple(name for name, peak in workers if peak > least)

    @cached_property
    def workers(self) -> tuple[WorkerTime, ...]:
        """The time of each lane: the workers, then the client if it did anything."""
        by_lane: list[list[tuple[Job, Ran]]] = [[] for _ in self.jobs.lanes]
        for job, ran in zip(self.jobs.jobs, self.ran, strict=True):
            for lane in lanes_of(job):
                by_lane[lane].append((job, ran))
        used = (place for place, rows in enumerate(by_lane) if rows or place < self.jobs.workers)
        return tuple(self._worker(place, by_lane[place]) for place in used)

    def _worker(self, lane: int, rows: list[tuple[Job, Ran]]) -> WorkerTime:
        computing = [(ran.start, ran.end) for job, ran in rows if job.kind == "compute"]
        links = [(ran.start, ran.end) for job, ran in rows if job.kind == "transfer"]
        busy, either = covered(computing), covered([*computing, *links])
        sent = sum(job.nbytes for job, _ in rows if job.sender == lane)
        received = sum(job.nbytes for job, _ in rows if job.lane == lane)
        return WorkerTime(
            self.jobs.lanes[lane], busy, either - busy, self.makespan - either, len(computing),
            sent, received, self.jobs.peaks[lane],
        )  # fmt: skip

    @cached_property
    def bars(self) -> tuple[Bar, ...]:
        """The bars of the picture: each job on its lane, a transfer on both lanes."""
        critical = {step.job for step in self.path if step.reason in ("compute", "transfer")}
        bars = []
        for place, (job, ran) in enumerate(zip(self.jobs.jobs, self.ran, strict=True)):
            name = f"{job.nbytes:,} bytes of {job.name}" if job.nbytes else job.name
            bars += [
                Bar(lane, kind, ran.start, ran.end, name, job.items, place in critical)
                for lane, kind in lanes_of(job).items()
            ]
        return tuple(bars)

    def plot(self) -> str:
        """The lanes of the workers over time, as SVG; of many workers, the busiest."""
        order = sorted(range(len(self.workers)), key=lambda n: (-self.workers[n].busy, n))
        shown = sorted(order[: 3 * SHOWN])
        names = {place: self.jobs.lanes[place] for place in shown}
        return lanes(names, self.bars, self.makespan, f"{self.name}: {self._fast()}")

    def _repr_html_(self) -> str:
        return self.plot()

    def __str__(self) -> str:
        return printout(self._lines())

    def _fast(self) -> str:
        return (f"{duration(self.makespan)} on {counted(self.cluster.workers, 'worker')}, "
                f"{number(self.speedup)} times as fast as one, "
                f"efficiency {percent(self.efficiency)}")  # fmt: skip

    def _lines(self) -> Iterator[str]:
        yield f"{self.name} on {self.cluster}"
        tasks = counted(self.jobs.tasks, "task")
        yield f"{counted(self.jobs.items, 'item')} in {tasks}: {self._fast()}"
        yield f"critical path: {self.because}"
        yield f"moved {binary(self.nbytes)} in {counted(self.transfers, 'transfer')}" + (
            f"; {binary(self.jobs.placed)} were on the workers before" if self.jobs.placed else "")
        if self.too_large:
            most = max(self.jobs.peaks[: self.jobs.workers])
            yield (f"too large: {counted(len(self.too_large), 'worker')} would need up to "
                   f"{binary(most)} of {binary(int(self.cluster.memory_bytes))}")  # fmt: skip
        yield ""
        busiest = sorted(self.workers, key=lambda it: -it.busy)[:SHOWN]
        rows = [self._row(it) for it in self.workers if it in busiest]
        yield from aligned([HEAD, *rows], range(1, len(HEAD)))
        if len(self.workers) > SHOWN:
            yield f"… and {len(self.workers) - SHOWN} more, which compute no longer"

    def _row(self, it: WorkerTime) -> tuple[str, ...]:
        whole = max(self.makespan, 1e-9)
        times = (text for ns in (it.busy, it.transfer, it.waits)
                 for text in (duration(ns), percent(ns / whole)))  # fmt: skip
        return (it.name, *times, binary(it.sent), binary(it.received), binary(it.peak))


def lanes_of(job: Job) -> dict[int, str]:
    """The lanes that show a job, with its kind on each."""
    match job.kind:
        case "compute":
            return {job.lane: "compute"}
        case "transfer":
            return {job.sender: "send", job.lane: "receive"}
    return {}


def covered(spans: list[Span]) -> float:
    """The total length covered by at least one of the spans."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(end - max(start, until), 0.0)
        until = max(until, end)
    return total
