"""path: the critical path of a simulated run, without a gap.

    0 … 1.0 ms      overhead   k0        scheduled, and announced to DASK:1
    1.0 … 3.2 ms    compute    k0        on DASK:1
    3.2 … 3.9 ms    transfer   copy      DASK:1 → DASK
    3.9 … 3.92 ms   latency    copy

A job that waited for its lane, its link or the scheduler follows the job that occupied them; any
other follows its last need. So each nanosecond has a reason, and the parts add up to the total.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compiler.distributed.simulation.events import NOBODY, Ran
from compiler.distributed.simulation.jobs import Job

Reason: TypeAlias = Literal["compute", "transfer", "latency", "overhead"]
REASONS: tuple[Reason, ...] = ("compute", "transfer", "latency", "overhead")


@dataclass(frozen=True, slots=True)
class Step:
    """A segment of the path: a job, and its activity; times in nanoseconds."""

    job: int
    reason: Reason
    start: float
    end: float

    @property
    def ns(self) -> float:
        """Its length."""
        return self.end - self.start


def path(jobs: Sequence[Job], ran: Sequence[Ran]) -> tuple[Step, ...]:
    """The critical path over machines, from the start of the run; () if nothing takes time."""
    last = max(range(len(jobs)), key=lambda n: (ran[n].finish, -n), default=NOBODY)
    steps: list[Step] = []
    number = last
    while number != NOBODY:
        number = _back(number, jobs, ran, steps)
    return tuple(step for step in reversed(steps) if step.ns > 0)


def _back(number: int, jobs: Sequence[Job], ran: Sequence[Ran], steps: list[Step]) -> int:
    """Append the segments of one job, the last first; return the job whose finish made it ready.

    The jobs that delayed it on its lane, its links and in the scheduler are included.
    """
    steps.append(Step(number, "latency", ran[number].end, ran[number].finish))
    steps.append(_doing(number, jobs, ran))
    while ran[number].behind != NOBODY:
        number = ran[number].behind
        steps.append(_doing(number, jobs, ran))
    steps.append(Step(number, "overhead", ran[number].scheduled, ran[number].arrived))
    while ran[number].queued != NOBODY:
        until, number = ran[number].scheduled, ran[number].queued
        steps.append(Step(number, "overhead", ran[number].scheduled, until))
    return ran[number].after


def _doing(number: int, jobs: Sequence[Job], ran: Sequence[Ran]) -> Step:
    """The segment of a job on its lane or its links."""
    reason: Reason = "transfer" if jobs[number].kind == "transfer" else "compute"
    return Step(number, reason, ran[number].start, ran[number].end)
