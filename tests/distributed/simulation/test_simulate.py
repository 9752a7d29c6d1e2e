"""`simulate`: programs written for 1 … 64 workers, their figures, and refusals."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import compiler
import svodviz
from compiler import Cluster, DataError, Options, Tensor
from compiler.distributed.simulation import cuts
from compiler.distributed.simulation.simulate import simulate
from compiler.distributed.simulation.simulation import Simulation, covered
from compiler.distributed.simulation.sweep import Sweep

CLUSTER = Cluster(workers=64, cores=16, link="10 GB/s", latency="20 µs")
SMALL: dict[str, Callable[[tuple[str, ...]], Any]] = {
    "data parallel": functools.partial(cuts.data_parallel, rows=4096, width=128),
    "tensor parallel": functools.partial(cuts.tensor_parallel, rows=4096, width=128),
    "pipeline": functools.partial(cuts.pipeline, rows=512, width=128, layers=4, parts=8),
}


@functools.cache
def swept() -> Sweep:
    found: Sweep = simulate(SMALL, CLUSTER)
    return found


def test_both_packages_have_it() -> None:
    assert compiler.simulate is svodviz.simulate is simulate
    assert svodviz.Cluster is compiler.Cluster is Cluster


def test_a_sweep_goes_from_one_to_all_workers() -> None:
    found = swept()
    assert found.cuts == tuple(SMALL)
    for name, runs in found.runs.items():
        assert [run.cluster.workers for run in runs] == [1, 2, 4, 8, 16, 32, 64]
        assert runs[0].speedup == pytest.approx(1.0) and runs[0].nbytes == 0
        assert all(sum(run.on_path.values()) == pytest.approx(run.makespan) for run in runs)
        assert found.best(name).makespan == min(run.makespan for run in runs)
    assert not any(found.left_out.values())


def test_what_communication_costs_is_told_with_its_reason() -> None:
    found = swept()
    at = found.crossing("data parallel")
    assert at is not None and at > 1
    runs = {run.cluster.workers: run for run in found.runs["data parallel"]}
    assert runs[at].communication > runs[at].on_path["compute"]
    assert runs[at // 2].communication <= runs[at // 2].on_path["compute"]
    assert f"from {at} workers on communication takes longer" in found.why("data parallel")
    assert "the busiest link carries" in found.why("data parallel")


def test_a_sweep_is_printed_and_drawn() -> None:
    found = swept()
    lines = str(found).splitlines()
    assert lines[0].split()[:4] == ["cut", "workers", "tasks", "time"] and len(lines) == 1 + 21 + 3
    picture = found.plot()
    assert picture == found._repr_html_() and picture.count("<polyline") == 1 + 2 * 3
    assert picture.startswith("<svg") and all(name in picture for name in SMALL)


def test_the_same_again_is_the_same() -> None:
    first, again = (simulate(SMALL["data parallel"], CLUSTER.of(4)) for _ in range(2))
    assert first.ran == again.ran and first.makespan == again.makespan


@pytest.mark.parametrize("cut", SMALL)
def test_better_machines_are_never_slower(cut: str) -> None:
    slow = CLUSTER.of(8)
    made = compiler.compile(SMALL[cut](slow.devices), options=slow.options(Options()))

    def took(cluster: Cluster) -> float:
        return simulate(made, cluster).makespan

    links = [took(replace(slow, link=f"{rate} GB/s")) for rate in (0.1, 1, 10, 100)]
    assert links == sorted(links, reverse=True)
    late = [took(replace(slow, latency=f"{us} µs")) for us in (0, 20, 200)]
    tasks = [took(replace(slow, task=f"{us} µs")) for us in (0, 100, 1000)]
    scheduled = [took(replace(slow, scheduler=f"{us} µs")) for us in (0, 100, 1000)]
    assert all(times == sorted(times) for times in (late, tasks, scheduled))


def test_one_run_says_what_each_worker_did() -> None:
    found = simulate(SMALL["data parallel"], CLUSTER.of(4))
    assert isinstance(found, Simulation) and found.jobs.workers == 4
    assert [it.name for it in found.workers] == ["DASK", "DASK:1", "DASK:2", "DASK:3"]
    for it in found.workers:
        assert it.busy + it.transfer + it.waits == pytest.approx(found.makespan)
    assert sum(it.sent for it in found.workers) == found.nbytes
    assert sum(it.received for it in found.workers) == found.nbytes
    assert found.efficiency == found.speedup / 4 and found.jobs.placed > 0
    text = str(found)
    assert "on 4 workers of 16 cores; 10 GB/s, 20 µs" in text
    assert "critical path: compute" in text and "were on the workers before" in text
    assert found.plot().count("<rect") >= len(found.bars) / 2 and "DASK:3" in found._repr_html_()


def test_what_is_sent_from_here_counts_where_that_is_asked_for() -> None:
    cluster = CLUSTER.of(2)
    there, brought = (simulate(SMALL["data parallel"], cluster, placed=p) for p in (True, False))
    assert brought.jobs.placed == 0 and brought.nbytes == there.nbytes + there.jobs.placed
    assert brought.makespan > there.makespan
    assert brought.workers[-1].name == "client" and brought.workers[-1].sent == there.jobs.placed


def test_tensors_and_compilations_are_taken_as_they_are() -> None:
    x = Tensor.placeholder(256, 64, dtype="float32", name="x")
    w = Tensor.placeholder(64, 64, dtype="float32", name="w")
    y = (x.shard(("DASK", "DASK:1"), 0) @ w.shard(("DASK", "DASK:1"))).relu().to("DASK")
    cluster = CLUSTER.of(2)
    of_tensor = simulate(y, cluster)
    made = compiler.compile(y, options=cluster.options(Options()))
    assert simulate(made, cluster).makespan == pytest.approx(of_tensor.makespan)
    assert simulate([y, y + 1.0], cluster).makespan >= of_tensor.makespan
    alone = (x.to("DASK") @ w.to("DASK")).relu()
    free = simulate(alone, Cluster(workers=1, task=0, scheduler=0, start=0))
    assert free.on_path["compute"] == free.makespan and free.jobs.tasks == 1


def test_memory_that_does_not_suffice_is_told() -> None:
    cluster = replace(CLUSTER.of(2), memory="1 MB")
    found = simulate(SMALL["data parallel"], cluster)
    assert found.too_large == ("DASK", "DASK:1")
    assert "too large: 2 workers would need up to" in str(found)
    assert simulate(SMALL["data parallel"], CLUSTER.of(2)).too_large == ()


def test_a_sweep_ends_when_its_time_is_up() -> None:
    found = simulate(SMALL["tensor parallel"], CLUSTER, workers=(1, 2), seconds=0.0)
    assert found.left_out == {"program": (1, 2)} and found.runs == {"program": ()}
    assert "left out, since the time was up: 1, 2" in str(found)


def nothing(devices: tuple[str, ...]) -> list[Tensor]:
    return []


@pytest.mark.parametrize(
    ("program", "more", "words"),
    [
        (SMALL["data parallel"], {"workers": (0, 1)}, "these are no numbers of workers"),
        (SMALL["data parallel"], {"workers": ()}, "these are no numbers of workers"),
        (Tensor([1.0]), {"workers": (1, 2)}, "a sweep needs a function"),
        (nothing, {}, "nothing to simulate"),
        ("program", {}, "only tensors can be simulated"),
    ],
)
def test_what_is_no_program_is_refused(program: Any, more: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        simulate(program, CLUSTER.of(2), **more)


def test_workers_that_are_not_there_are_refused() -> None:
    x = Tensor.placeholder(8, 8, dtype="float32", name="x")
    with pytest.raises(DataError, match=r"for no worker(.|\n)*shard"):
        simulate(x + 1.0, CLUSTER)
    y = x.to("DASK:5") + 1.0
    with pytest.raises(DataError, match=r"more workers than the cluster has(.|\n)*DASK:5"):
        simulate(y, CLUSTER.of(2))
    with pytest.raises(DataError, match="described by a Cluster"):
        simulate(y, 64)  # type: ignore[call-overload]


def test_covered() -> None:
    assert covered([]) == 0 and covered([(0, 2), (1, 3), (5, 6)]) == 4
