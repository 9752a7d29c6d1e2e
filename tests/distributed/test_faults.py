"""Whatever happens to workers, the answer is the same, or an error says what happened.

200 runs of this kind: `python -m benchmarks faults`.
"""

import contextlib
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client

import compiler
from compiler import DataError, Tensor
from compiler.core.errors import CompileError
from compiler.device import buffers
from compiler.distributed.local import local_cluster
from compiler.distributed.work import release_here

RNG = np.random.default_rng(11)
X = RNG.standard_normal((600, 200)).astype("float32")
Y = RNG.standard_normal((600, 4)).astype("float32")
Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def own() -> Iterator[Any]:
    """A cluster whose workers may be killed."""
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        local_cluster(2, threads=1) as cluster,
        Client(cluster, set_as_default=False) as client,
        compiler.cluster(client) as made,
    ):
        yield made


def _pids(engine: Any) -> dict[str, int]:
    """The processes of the workers, once two of them answer."""
    found: dict[str, int] = {}
    while len(found) < 2:
        time.sleep(0.05)
        with contextlib.suppress(OSError):  # one is gone, and nobody noticed yet
            found = engine.client.run(os.getpid)
    return found


def _trained(engine: Any, steps: int = 6) -> Array:
    devices = engine.workers
    x, y = Tensor(X).shard(devices, 0).realize(), Tensor(Y).shard(devices, 0).realize()
    w = Tensor(np.zeros((200, 4), "float32")).shard(devices)
    for _ in range(steps):
        w = (w - x.T @ (x @ w - y) * 1e-4).realize()
    return w.numpy()


def test_workers_that_are_killed_change_nothing(own: Any) -> None:
    expected = _trained(own)
    begin = time.monotonic()
    np.testing.assert_array_equal(_trained(own), expected)
    took = time.monotonic() - begin
    for moment in (0.3, 0.8):
        pids = sorted(_pids(own).values())
        timer = threading.Timer(moment * took, os.kill, (pids[-1], signal.SIGKILL))
        timer.start()
        found = _trained(own)
        timer.join()
        np.testing.assert_array_equal(found, expected)
    _pids(own)
    assert own.at.gone


def test_what_killed_workers_held_is_made_again(own: Any) -> None:
    _pids(own)
    x = Tensor(X).shard(own.workers, 0).realize()
    y = (x * 2).realize()
    for pid in _pids(own).values():
        os.kill(pid, signal.SIGKILL)
    np.testing.assert_array_equal(y.numpy(), X * 2)
    np.testing.assert_array_equal((x + 1).numpy(), X + 1)


def test_a_worker_that_stands_still_for_a_while(own: Any) -> None:
    expected = _trained(own, 2)
    pid = next(iter(_pids(own).values()))
    os.kill(pid, signal.SIGSTOP)
    timer = threading.Timer(0.5, os.kill, (pid, signal.SIGCONT))
    timer.start()
    np.testing.assert_array_equal(_trained(own, 2), expected)
    timer.join()


def _limit(nbytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (nbytes, resource.RLIM_INFINITY))


def test_a_worker_without_memory_names_the_line(client: Any) -> None:
    with compiler.cluster(client) as engine:
        engine.client.run(_limit, 2**32)
        try:
            x = Tensor(np.zeros((1, 2**15), "float32")).to("DASK")
            with pytest.raises(CompileError) as caught:
                (x.T + x).realize()  # 4 GB
        finally:
            engine.client.run(_limit, resource.RLIM_INFINITY)
    assert "DASK" in str(caught.value) and "test_faults.py" in str(caught.value)


def _full_disk(nbytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, resource.RLIM_INFINITY))


def test_a_worker_whose_disk_is_full_needs_none(client: Any) -> None:
    with compiler.cluster(client) as engine:
        engine.client.run(_full_disk, 0)
        try:
            found = (Tensor(X).shard(engine.workers, 0) * 1.2345 - 6).numpy()
        finally:
            engine.client.run(_full_disk, resource.RLIM_INFINITY)
    np.testing.assert_allclose(found, X * 1.2345 - 6, rtol=1e-5)


def test_a_worker_of_another_release_is_refused(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with compiler.cluster(client):
        other = f"0{release_here()}"
        monkeypatch.setattr("compiler.distributed.graphs.release_here", lambda: other)
        with pytest.raises(DataError, match="another release of svodviz"):
            (Tensor(X).to("DASK") * 3).realize()


def test_a_client_that_goes_away_leaves_nothing_behind(client: Any) -> None:
    address = client.scheduler.address
    with compiler.cluster(address) as engine:
        held = (Tensor(X).shard(engine.workers, 0) * 5).realize()
        assert any(client.run_on_scheduler(_held).values())
    begin = time.monotonic()
    while any(client.run_on_scheduler(_held).values()) and time.monotonic() - begin < 10:
        time.sleep(0.05)
    assert not any(client.run_on_scheduler(_held).values())
    with pytest.raises(DataError, match="the cluster that has these data is closed"):
        buffers.data(held.node.sources[0])  # type: ignore[arg-type]


def _held(dask_scheduler: Any) -> dict[str, int]:
    """How much each worker holds of what begins with a kernel's name."""
    workers = dask_scheduler.workers.items()
    return {at: sum(str(t.key).startswith("k") for t in it.has_what) for at, it in workers}
