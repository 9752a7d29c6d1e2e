"""`Sweep`: where computing loses, and why, in words."""

import pytest

from compiler import Cluster
from compiler.distributed.simulation.events import run
from compiler.distributed.simulation.jobs import Job, Jobs
from compiler.distributed.simulation.simulation import Simulation
from compiler.distributed.simulation.sweep import Sweep

CLUSTER = Cluster(workers=4, link=1e9, latency=0, task=0, scheduler=1e-9, start=0)


def simulation(workers: int, compute: float, nbytes: int, messages: int) -> Simulation:
    """A run whose critical path has so much of each."""
    jobs = [Job("begin", "begin", 4), *(Job("announced", "t", 0, (0,)) for _ in range(messages))]
    jobs.append(Job("compute", "k", 0, tuple(range(len(jobs))), ns=compute))
    jobs.append(Job("transfer", "k", 1, (len(jobs) - 1,), nbytes=nbytes, sender=0))
    lanes = (*CLUSTER.devices, "client")
    made = Jobs(tuple(jobs), lanes, workers, 1, 1, 0, (0,) * len(lanes))
    ran = tuple(run(jobs, CLUSTER, len(lanes)))
    return Simulation(CLUSTER.of(workers), made, ran, "cut", alone=100.0)


def sweep(*runs: Simulation) -> Sweep:
    return Sweep(CLUSTER, {"cut": runs}, {"cut": ()}, 0.0)


def test_communication_wins() -> None:
    found = sweep(simulation(1, 100, 0, 1), simulation(2, 50, 20, 2), simulation(4, 25, 40, 4))
    assert (found.crossing(), found.overhead_crossing()) == (4, None)
    assert found.lost() == (4, "communication") and found.best().cluster.workers == 4
    assert found.why() == (
        "cut: from 4 workers on communication takes longer than computing: 40 ns of the critical "
        "path, of which 0 ns latency, against 25 ns. On 2 workers it was 20 ns against 50 ns: the "
        "busiest worker computes 25 ns instead of 50 ns, the busiest link carries 40 bytes instead "
        "of 20 bytes. It ends first on 4 workers, after 69 ns, 1.45 times as fast as on one."
    )


def test_overhead_wins() -> None:
    found = sweep(simulation(1, 100, 0, 1), simulation(2, 50, 5, 60))
    assert (found.crossing(), found.overhead_crossing()) == (None, 2)
    assert found.lost() == (2, "overhead")
    assert "up to 2 workers computing takes longer than communication" in found.why()
    assert "the scheduler alone is busy for 60 ns, with 60 messages for 1 task" in found.why()


def test_computing_wins() -> None:
    found = sweep(simulation(1, 100, 0, 1))
    assert found.lost() == (0, "") and found.cuts == ("cut",)
    with pytest.raises(KeyError):
        found.why("another")
