"""`Cluster`: its figures, its words, and what it refuses."""

import math
from dataclasses import replace
from typing import Any

import pytest

import compiler
from compiler import Cluster, DataError


def test_figures_are_parsed_and_kept_as_given() -> None:
    made = Cluster(workers=64, cores=16, link="10 GB/s", latency="20 µs", memory="64 GiB")
    times = made.latency_ns, made.task_ns, made.scheduler_ns
    assert made.bytes_per_ns == 10.0 and times == pytest.approx((2e4, 8e5, 2e5))
    assert made.memory_bytes == 64 * 2**30 and Cluster(workers=1).memory_bytes == math.inf
    assert made.model.cores == 16 and made.devices[:2] == ("DASK", "DASK:1")
    assert len(made.devices) == 64 and made == replace(made) and hash(made) == hash(replace(made))
    assert str(made) == "64 workers of 16 cores; 10 GB/s, 20 µs; a task 200 µs + 800 µs; a run 5 ms"
    assert made.of(2).workers == 2 and made.of(2).link == "10 GB/s"


def test_workers_are_machines_like_the_one_at_hand_or_a_named_one() -> None:
    own = compiler.machine()
    assert Cluster(workers=1).model == own
    assert Cluster(workers=1, machine="apple-m1", cores=4).model == replace(
        compiler.machine("apple-m1"), cores=4
    )
    assert Cluster(workers=1, machine=replace(own, cores=3)).model.cores == 3


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ({"workers": 0}, "a cluster has workers"),
        ({"workers": 2.0}, "a cluster has workers"),
        ({"link": "10 GB"}, "link is no such quantity"),
        ({"latency": "20 GB/s"}, "latency is no such quantity"),
        ({"task": -1}, "task is no such quantity"),
        ({"scheduler": "soon"}, "scheduler is no such quantity"),
        ({"memory": "0 GB"}, "memory is no such quantity"),
        ({"cores": -1}, "no such number of threads"),
        ({"machine": "abacus"}, "no such machine"),
        ({"shared": 0.5}, "as long as on a machine of their own"),
    ],
)
def test_what_is_no_cluster_is_refused(field: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError, match=words):
        Cluster(**{"workers": 2} | field)


class NoWorkers:
    """A client of a cluster that has none yet."""

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        return {"workers": {}}


def test_a_cluster_without_workers_cannot_be_measured() -> None:
    with pytest.raises(DataError, match=r"the cluster has no workers(.|\n)*wait_for_workers"):
        Cluster.measured(NoWorkers())
