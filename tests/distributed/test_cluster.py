"""`compiler.cluster`: what it takes, and how long it is in use."""

from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor
from compiler.device import dask

A = np.arange(12.0).reshape(4, 3)


def test_it_is_in_use_within_the_block(client: Any) -> None:
    with compiler.cluster(client) as cluster:
        assert dask.used() is cluster
        assert cluster.workers == ("DASK", "DASK:1")
        assert "DASK:1" in repr(cluster) and "http" in repr(cluster)
    assert dask.used() is None
    with pytest.raises(DataError, match="no cluster is in use"):
        (Tensor(A).to("DASK") * 2).numpy()


def test_it_is_in_use_until_it_is_closed(client: Any) -> None:
    cluster = compiler.cluster(client.scheduler.address).start()
    assert dask.used() is cluster
    np.testing.assert_array_equal((Tensor(A).to("DASK:1") * 2).numpy(), A * 2)
    cluster.close()
    assert dask.used() is None


def test_the_innermost_is_used(client: Any) -> None:
    with compiler.cluster(client) as outer:
        x = (Tensor(A).shard(outer.workers, 0) * 2).realize()
        with compiler.cluster(client, joined=0) as inner:
            assert dask.used() is inner
            np.testing.assert_array_equal((x + 1).numpy(), A * 2 + 1)
        assert dask.used() is outer


def test_what_is_no_cluster_is_refused() -> None:
    with pytest.raises(DataError, match="this is no cluster"):
        compiler.cluster(3).start()
    with pytest.raises(DataError, match="no scheduler answers"):
        compiler.cluster("tcp://127.0.0.1:1", timeout=0.5).start()
    assert dask.used() is None
