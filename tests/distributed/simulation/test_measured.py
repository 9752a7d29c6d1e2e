"""The figures of a cluster that is there."""

import math
from typing import Any

import pytest

from compiler import Cluster
from compiler.distributed.simulation import measured


def test_a_cluster_of_processes_is_measured(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"TASKS": 10, "ROUNDS": 2, "WORK": 50_000, "LARGE": 2**20}.items():
        monkeypatch.setattr(measured, name, value)
    found = Cluster.measured(client)
    assert found.workers == 2 and found.cores == 1 and found.shared >= 1
    assert 0 < found.bytes_per_ns < math.inf and found.latency_ns < 1e9
    assert 1e3 < found.scheduler_ns < 1e9 and found.task_ns < 1e9 and found.start_ns < 1e9
    assert found.memory is None or found.memory_bytes > 1e6
    larger = Cluster.measured(client, workers=1024, link="1 GB/s")
    assert (larger.workers, larger.bytes_per_ns) == (1024, 1.0)
