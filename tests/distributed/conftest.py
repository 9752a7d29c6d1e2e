"""A cluster for all tests of this folder: its processes start once, where a test asks for them."""

from collections.abc import Iterator
from typing import Any

import pytest
from distributed import Client

from compiler.distributed.local import local_cluster


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    """The client of two processes of one thread each. Tests leave it as they find it: who kills a
    worker has a cluster of its own."""
    with local_cluster(2, threads=1) as cluster, Client(cluster) as made:
        yield made
