"""The critical path: all of the time has a reason."""

from compiler import Cluster
from compiler.distributed.simulation.events import run
from compiler.distributed.simulation.jobs import Job
from compiler.distributed.simulation.path import path

CLUSTER = Cluster(workers=2, link=1e9, latency=5e-9, task=3e-9, scheduler=2e-9, start=7e-9)


def test_the_path_goes_through_who_was_in_the_way() -> None:
    jobs = [
        Job("begin", "begin", 2, ns=7.0),
        Job("announced", "first", 0, (0,)),
        Job("compute", "first", 0, (1,), ns=30.0),
        Job("announced", "second", 0, (0,), place=1),
        Job("compute", "second", 0, (3,), ns=10.0, place=1),
        Job("transfer", "second", 1, (4,), nbytes=20, sender=0),
    ]
    steps = path(jobs, run(jobs, CLUSTER, 3))
    assert [(it.job, it.reason, round(it.ns, 6)) for it in steps] == [
        (0, "overhead", 7), (1, "overhead", 5), (2, "compute", 30), (4, "compute", 10),
        (5, "transfer", 20), (5, "latency", 5),
    ]  # fmt: skip
    assert [round(it.end, 6) for it in steps] == [7, 12, 42, 52, 72, 77]


def test_nothing_has_no_path() -> None:
    assert path([], []) == ()
    jobs = [Job("there", "x", 0)]
    assert path(jobs, run(jobs, CLUSTER, 1)) == ()
