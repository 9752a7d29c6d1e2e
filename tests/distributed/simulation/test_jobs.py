"""The tasks of a program as jobs: whose they are, what waits for what, what is sent."""

from typing import Any

import pytest

from compiler import Cluster, Options, Tensor, compile
from compiler.distributed.simulation.jobs import CLIENT, Job, Jobs, Planned, jobs_of
from compiler.distributed.tasks import JOINED_NS

CLUSTER = Cluster(workers=2, cores=1)


def x(*shape: int, name: str = "x") -> Tensor:
    return Tensor.placeholder(*shape, dtype="float32", name=name)


def jobs(result: Tensor, is_placed: bool = True, joined_ns: int = JOINED_NS) -> Jobs:
    made: Any = compile(result, options=CLUSTER.options(Options()))
    schedule = made.schedule
    rows = zip(schedule.items, schedule.works, strict=True)
    works = {item.operation.body: work for item, work in rows if work}
    planned = Planned(schedule.items, schedule.results, works, made.load(), 0.0)
    return jobs_of(planned, CLUSTER, is_placed, joined_ns)


def rows(made: Jobs) -> list[tuple[str, str, int]]:
    """Kind, lane and bytes of each, but that the client begins."""
    assert made.jobs[0].kind == "begin"
    return [(job.kind, made.lanes[job.lane], job.nbytes) for job in made.jobs[1:]]


def test_a_task_on_one_worker() -> None:
    made = jobs(x(8, 4).to("DASK").exp())
    assert rows(made) == [("there", "DASK", 128), ("announced", "DASK", 0), ("compute", "DASK", 0)]
    assert made.lanes == ("DASK", "DASK:1", CLIENT) and made.placed == 128
    assert made.jobs[3].depends_on == (2,) and set(made.jobs[2].depends_on) == {0, 1}
    assert made.jobs[3].ns > 0 and made.tasks == 1


def test_what_is_sent_from_here_may_be_asked_for() -> None:
    made = jobs(x(8, 4).to("DASK").exp(), is_placed=False)
    assert rows(made)[0] == ("transfer", "DASK", 128) and made.placed == 0
    assert made.lanes[made.jobs[1].sender] == CLIENT


def test_who_reads_data_fetches_them_once() -> None:
    moved = x(8, 4).to("DASK").exp().contiguous().to("DASK:1")
    made = jobs((moved + 1.0).contiguous() * moved.sum(0), joined_ns=0)
    sent = [job for job in made.jobs if job.kind == "transfer"]
    assert [(made.lanes[job.sender], made.lanes[job.lane]) for job in sent] == [("DASK", "DASK:1")]
    assert sent[0].nbytes == 128
    asked: Job = made.jobs[sent[0].depends_on[0]]
    assert asked.kind == "announced" and made.lanes[asked.lane] == "DASK:1"


def test_what_comes_back_is_computed_by_the_client() -> None:
    made = jobs(x(8, 4).to("DASK").exp().to("CPU") + 1.0)
    assert rows(made)[-2:] == [("transfer", CLIENT, 128), ("compute", CLIENT, 0)]


def test_short_items_are_one_task_as_the_cluster_is_given_them() -> None:
    y = x(8, 4).to("DASK").exp().contiguous().sum(0).contiguous() * 2.0
    assert jobs(y).tasks == 1 < jobs(y, joined_ns=0).tasks


@pytest.mark.parametrize("workers", [1, 2])
def test_peaks_count_what_is_alive_on_each_worker(workers: int) -> None:
    made = jobs(x(8, 4).shard(CLUSTER.devices[:workers], 0).exp().sum(0).to("DASK"))
    peaks = dict(zip(made.lanes, made.peaks, strict=True))
    assert peaks["DASK"] >= 128 // workers and bool(peaks["DASK:1"]) == (workers == 2)
