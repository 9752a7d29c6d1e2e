"""Workers, and the kernels of the machine's limits."""

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

from benchmarks import worker
from benchmarks.measuring import ROOT, Effort, Worker, WorkerError, data_of, measure
from benchmarks.workloads import WORKLOADS
from compiler.device import limits

BRIEF = Effort(rounds=2, seconds=0.001, starts=1)


def test_a_workload_on_ourselves_and_numpy() -> None:
    found = measure(WORKLOADS["small_chain"], ["svodviz", "numpy", "limits"], 1, BRIEF)
    assert not found.missing and set(found.entries) == {"svodviz", "numpy"}
    assert all(len(e.rounds) == 2 and e.seconds > 0 for e in found.entries.values())
    assert found.memory is not None and found.memory.kernels > 0 and found.memory.peak > 10**7
    assert found.limit is None, "a chain of small kernels has no limit"


def test_a_worker_that_ends_says_why(tmp_path: Path) -> None:
    with data_of(WORKLOADS["small_chain"]) as folder:
        made = Worker("numpy", WORKLOADS["small_chain"], folder, 1)
        try:
            assert made.hear()["version"] == np.__version__
            with pytest.raises(WorkerError, match="no such command"):
                made.ask("stop")
        finally:
            made.close()


def test_a_peer_that_is_not_installed_is_missing() -> None:
    code = (
        "from benchmarks import peers, worker\n"
        "peers.ADAPTERS['numpy'] = 'benchmarks.peers.on_nothing'\n"
        "worker.main('numpy', 'bmm', '', '1')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert list(json.loads(ran.stdout)) == ["missing"] and "on_nothing" in ran.stdout


def test_calls_are_measured_at_least_once() -> None:
    calls: list[int] = []
    assert len(worker.measure(lambda: calls.append(1), 0.0)) == 1
    assert 10 < len(worker.measure(lambda: calls.append(1), 0.01)) <= worker.MOST_CALLS


@pytest.mark.parametrize("width", limits.CHAINS)
def test_kernels_of_the_limits_are_valid(width: int) -> None:
    llvm.parse_assembly(limits.source(width)).verify()


def test_kernels_of_the_limits_compute_what_they_say() -> None:
    kernels = limits.Kernels()
    count = 4096
    memory = np.zeros(4 * count + 16 + 8192, np.float32)
    start = -memory.ctypes.data % 64 // 4
    a, b, out = (memory[start + n * count : start + (n + 1) * count] for n in range(3))
    a[:], b[:] = np.arange(count) % 7, np.arange(count) % 5
    read = kernels.function("read", 1)
    assert read(a.ctypes.data, count) == a.sum()
    kernels.function("copy", 2)(a.ctypes.data, out.ctypes.data, count)
    np.testing.assert_array_equal(out, a)
    kernels.function("triad", 3)(a.ctypes.data, b.ctypes.data, out.ctypes.data, count)
    np.testing.assert_array_equal(out, a + 3 * b)
    value = kernels.function("fma", 0)(2)
    lanes = kernels.width * limits.CHAINS[kernels.width]
    assert value == pytest.approx(1.75 * lanes) and isinstance(value, float)
    assert ctypes.sizeof(ctypes.c_float) == 4 and kernels.operations(1) >= 2 * lanes
