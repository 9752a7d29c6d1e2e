"""A cluster on this machine: processes that nobody outside can reach, with and without TLS."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from distributed import Client, Security

from compiler import DataError
from compiler.distributed.local import LOOPBACK, local_cluster


def listening(client: Any) -> Iterator[str]:
    """The addresses that the scheduler, the workers and whoever watches over them listen on."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    assert {it.pid for it in processes} >= set(client.run(_pid).values())
    for process in processes:
        for each in process.net_connections("inet"):
            if each.status == psutil.CONN_LISTEN:
                yield each.laddr.ip


def _pid() -> int:
    import os

    return os.getpid()


def test_nothing_listens_beyond_the_loopback(client: Any) -> None:
    assert set(listening(client)) == {LOOPBACK}
    assert len(client.scheduler_info()["workers"]) == 2
    assert _pid() not in client.run(_pid).values()


def test_connections_are_encrypted_where_that_is_asked_for() -> None:
    pytest.importorskip("cryptography")
    security = Security.temporary()
    with local_cluster(1, security=security, threads=2) as cluster:
        with Client(cluster) as client:
            assert client.submit(sum, [1, 2]).result() == 3
            assert set(listening(client)) == {LOOPBACK}
            info = client.scheduler_info()
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        assert all(it.startswith("tls://") for it in info["workers"])
        with pytest.raises((OSError, TypeError)):  # keys of its own are not the cluster's
            Client(address, security=Security.temporary(), timeout="2s")


def test_a_cluster_has_the_size_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    monkeypatch.setattr("compiler.distributed.local.core_count", lambda: 8)
    monkeypatch.setattr(distributed, "LocalCluster", lambda **settings: settings)

    def size(*workers: int, **more: Any) -> tuple[int, int]:
        made: Any = local_cluster(*workers, **more)
        return made["n_workers"], made["threads_per_worker"]

    assert (size(), size(2), size(3), size(100)) == ((8, 1), (2, 4), (3, 2), (100, 1))
    assert size(2, threads=1) == (2, 1)
    assert local_cluster(1, host="10.0.0.1")["host"] == "10.0.0.1"  # the argument wins
    with pytest.raises(DataError, match="a worker at least"):
        local_cluster(0)


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DataError, match="not installed") as caught:
        local_cluster()
    assert "svodviz[dask]" in str(caught.value) and Path(__file__).name in str(caught.value)
