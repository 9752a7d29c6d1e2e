"""`Sweep`: a program, or several partitions of one, on rising numbers of workers.

    cut            workers  tasks     time  speed-up  efficiency  compute  transfers  overhead
    data parallel        1      4  48.0 ms         1       100 %     98 %        0 %       2 %
    data parallel        2      9  25.1 ms      1.91        96 %     95 %        1 %       4 %
    data parallel: communication takes longer than computing from 128 workers on, since …

Speed-ups are over the same partition on one worker. The crossing is the first number of workers
where transfers and latency are more of the critical path than computation. The overhead of tasks,
that is, the time of the scheduler and its messages, often dominates earlier.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compiler.core.printable import ShownAsText, printout
from compiler.core.text import aligned, binary, counted, duration, number, percent
from compiler.distributed.simulation.cluster import Cluster
from compiler.distributed.simulation.pictures import Curve, curves
from compiler.distributed.simulation.simulation import Simulation

HEAD = ("cut", "workers", "tasks", "time", "speed-up", "efficiency", "compute", "transfers",
        "overhead", "moved", "planned in")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Sweep(ShownAsText):
    """The runs by partition, in order of numbers of workers; `left_out` are those not reached."""

    cluster: Cluster
    runs: dict[str, tuple[Simulation, ...]]
    left_out: dict[str, tuple[int, ...]]
    seconds: float
    """Seconds that all of it took."""

    @property
    def cuts(self) -> tuple[str, ...]:
        """The names of the partitions."""
        return tuple(self.runs)

    def best(self, cut: str = "") -> Simulation:
        """The fastest run of one partition or of all; of equal ones, the one with fewer workers."""
        rows = [run for name, runs in self.runs.items() if cut in ("", name) for run in runs]
        return min(rows, key=lambda run: (run.makespan, run.cluster.workers))

    def crossing(self, cut: str = "") -> int | None:
        """The first number of workers where communication is more of the critical path than
        computation; None if there is none. Without a name: of the first partition."""
        return self._first(cut, lambda run: run.communication > run.on_path["compute"])

    def overhead_crossing(self, cut: str = "") -> int | None:
        """The first number of workers where the scheduler and its messages are more of the critical
        path than computation; None if there is none."""
        return self._first(cut, lambda run: run.on_path["overhead"] > run.on_path["compute"])

    def _first(self, cut: str, holds: Callable[[Simulation], bool]) -> int | None:
        runs = self.runs[cut or self.cuts[0]]
        return next((run.cluster.workers for run in runs if holds(run)), None)

    def why(self, cut: str = "") -> str:
        """The crossing and its cause, in a sentence or two."""
        name = cut or self.cuts[0]
        parts = (_communication(self.runs[name], self.crossing(name)),
                 _overhead(self.runs[name], self.overhead_crossing(name)), _best(self.best(name)))
        return f"{name}: {' '.join(part for part in parts if part)}"  # fmt: skip

    def lost(self, cut: str = "") -> tuple[int, str]:
        """The number of workers from which computation is no longer most of the critical path, and
        the kind that is; 0 and "" if there is none."""
        crossed = ((self.crossing(cut), "communication"), (self.overhead_crossing(cut), "overhead"))
        crossings = [(at, what) for at, what in crossed if at is not None]
        return min(crossings, key=lambda it: it[0], default=(0, ""))

    def plot(self) -> str:
        """Speed-up and efficiency over numbers of workers, as SVG."""
        rows = [
            Curve(name, tuple(run.cluster.workers for run in runs),
                  tuple(run.speedup for run in runs), tuple(run.efficiency for run in runs),
                  *self.lost(name))
            for name, runs in self.runs.items() if runs
        ]  # fmt: skip
        return curves(rows, f"Workers of {self.cluster.of(1)}".replace("1 worker of ", ""))

    def _repr_html_(self) -> str:
        return self.plot()

    def __str__(self) -> str:
        return printout(self._lines())

    def _lines(self) -> Iterator[str]:
        rows = [_row(name, run) for name, runs in self.runs.items() for run in runs]
        yield from aligned([HEAD, *rows], range(1, len(HEAD)))
        yield from (self.why(name) for name, runs in self.runs.items() if runs)
        for name, counts in self.left_out.items():
            if counts:
                sizes = ", ".join(f"{count:,}" for count in counts)
                yield f"{name}: left out, since the time was up: {sizes}"


def _row(name: str, run: Simulation) -> tuple[str, ...]:
    whole, part = max(run.makespan, 1e-9), run.on_path
    shares = (part["compute"], run.communication, part["overhead"])
    return (
        name, f"{run.cluster.workers:,}", f"{run.jobs.tasks:,}", duration(run.makespan),
        number(run.speedup), percent(run.efficiency), *(percent(ns / whole) for ns in shares),
        binary(run.nbytes), duration(1e9 * run.seconds),
    )  # fmt: skip


def _communication(runs: tuple[Simulation, ...], at: int | None) -> str:
    """The crossing to communication, with the figures that grew and shrank up to it."""
    if at is None:
        last = runs[-1]
        return (f"up to {counted(last.cluster.workers, 'worker')} computing takes longer than "
                f"communication: {duration(last.on_path['compute'])} of the critical path against "
                f"{duration(last.communication)}.")  # fmt: skip
    place = next(n for n, run in enumerate(runs) if run.cluster.workers == at)
    here = runs[place]
    words = (f"from {counted(at, 'worker')} on communication takes longer than computing: "
             f"{duration(here.communication)} of the critical path, of which "
             f"{duration(here.on_path['latency'])} latency, against "
             f"{duration(here.on_path['compute'])}.")  # fmt: skip
    if not place:
        return words
    before = runs[place - 1]
    return (f"{words} On {counted(before.cluster.workers, 'worker')} it was "
            f"{duration(before.communication)} against {duration(before.on_path['compute'])}: "
            f"{_changed(before, here)}.")  # fmt: skip


def _overhead(runs: tuple[Simulation, ...], at: int | None) -> str:
    """The crossing to the overhead of tasks."""
    here = next((run for run in runs if run.cluster.workers == at), None)
    if here is None:
        return ""
    announced = sum(1 for job in here.jobs.jobs if job.kind == "announced")
    scheduler = duration(announced * here.cluster.scheduler_ns)
    return (f"From {counted(here.cluster.workers, 'worker')} on the overhead of tasks takes longer "
            f"than computing: {duration(here.on_path['overhead'])} of the critical path; the "
            f"scheduler alone is busy for {scheduler}, with {announced:,} messages for "
            f"{here.jobs.tasks:,} tasks and what they give. Fewer, larger tasks would help."
            )  # fmt: skip


def _best(best: Simulation) -> str:
    return (f"It ends first on {counted(best.cluster.workers, 'worker')}, after "
            f"{duration(best.makespan)}, {number(best.speedup)} times as fast as on one."
            )  # fmt: skip


def _changed(before: Simulation, here: Simulation) -> str:
    """The change of the bytes of the busiest link and of the work of the busiest worker."""
    return (f"the busiest worker computes {duration(_busiest(here))} instead of "
            f"{duration(_busiest(before))}, the busiest link carries {binary(_fullest(here))} "
            f"instead of {binary(_fullest(before))}")  # fmt: skip


def _busiest(run: Simulation) -> float:
    return max((it.busy for it in run.workers), default=0.0)


def _fullest(run: Simulation) -> int:
    return max((max(it.sent, it.received) for it in run.workers), default=0)
