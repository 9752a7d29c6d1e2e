"""cluster: the workers of a Dask cluster as devices DASK, DASK:1, …, within a `with` block.

    with compiler.cluster() as cluster:              # processes of this machine
        x = Tensor(a).shard(cluster.workers, axis=0)

    with compiler.cluster("tcp://10.0.0.1:8786"): …  # an existing scheduler
    with compiler.cluster(client): …                 # a Dask client
    cluster = compiler.cluster().start()             # in a notebook, until cluster.close()
"""

from contextlib import ExitStack
from typing import Any

from compiler.core.errors import DataError, located
from compiler.core.lazy import loading
from compiler.device import dask
from compiler.distributed.local import distributed, local_cluster


@located
def cluster(
    client: Any = None, /, *, memory: int | str | None = None, joined: float | None = None,
    **more: Any,
) -> Any:  # fmt: skip
    """A context in which the workers of a cluster are devices, `cluster.workers`. Its `start`
    opens the cluster without a block, until `close`.

    `client` is a `distributed.Client`, a Dask cluster, the address of a scheduler, or None: then
    worker processes are started on this machine, and ended with the block. `more` is passed to
    `local_cluster`, which starts them, or to `distributed.Client`. A program that needs more than
    `memory` of a worker, in bytes or as "2 GB", is refused; the default is the worker's limit in
    Dask. Items that take less than `joined` estimated seconds together become one task; 0 makes a
    task of each item.

    Raises `DataError` if there is no worker, or one has another release of this package.
    """
    return Use(client, memory, joined, more)


class Use:
    """A cluster in use within a `with` block, or from `start` to `close`."""

    def __init__(
        self, client: Any, memory: int | str | None, joined: float | None, more: dict[str, Any]
    ) -> None:
        self._given = client, memory, joined, more
        self._stack = ExitStack()

    def start(self) -> Any:
        """The cluster, in use until its `close` is called."""
        client, memory, joined, more = self._given
        with self._stack as stack:
            connected = _client(client, more, stack)
            engine = _engine(connected, memory, joined, stack)
            stack.callback(dask.use(engine))
            self._stack = stack.pop_all()
        engine.close = self._stack.close
        return engine

    def __enter__(self) -> Any:
        return self.start()

    def __exit__(self, *raised: object) -> None:
        self._stack.close()


def _client(cluster_or_address: Any, more: dict[str, Any], stack: ExitStack) -> Any:
    """The Dask client; one that is opened here is Dask's default in the block, and closed after
    it."""
    there = distributed()
    if isinstance(cluster_or_address, there.Client):
        return cluster_or_address
    if cluster_or_address is None:
        cluster_or_address, more = stack.enter_context(local_cluster(**more)), {}
    if not isinstance(cluster_or_address, str | there.deploy.Cluster):
        raise DataError("cluster", "this is no cluster", got=type(cluster_or_address).__name__,
                        expected="a distributed.Client, a cluster of dask's, or the address of a "
                        'scheduler such as "tcp://10.0.0.1:8786"')  # fmt: skip
    try:
        return stack.enter_context(there.Client(cluster_or_address, **more))
    except OSError as error:
        got, hint = str(cluster_or_address), str(error)
        raise DataError("cluster", "no scheduler answers", got=got, hint=hint) from error


def _engine(
    client: Any, memory: int | str | None, joined: float | None, stack: ExitStack
) -> Any:  # fmt: skip
    """The engine on the present workers of a cluster."""
    with loading():
        from compiler.distributed.arrivals import Arrivals
        from compiler.distributed.connection import JOINING, Connection, other_release
        from compiler.distributed.engine import DaskEngine
        from compiler.distributed.repair import TOPIC, Repair
        from compiler.distributed.tasks import JOINED_NS
        from compiler.distributed.work import release_here

    try:
        client.wait_for_workers(1, timeout=JOINING)
    except TimeoutError as error:
        what, got = f"no worker joined in {JOINING:.0f} s", str(client)
        raise DataError("cluster", what, got=got) from error
    workers = client.scheduler_info(n_workers=-1)["workers"]
    order = sorted(workers, key=lambda at: (_number(workers[at].get("name")), at))
    try:
        releases = client.run(release_here)
    except Exception as error:  # it cannot even be imported there
        raise other_release(f"{type(error).__name__}: {error}") from error
    for release in releases.values():
        if release != release_here():
            raise other_release(str(release))
    try:
        client.register_plugin(Repair())
    except Exception as error:  # the scheduler is a process of its own, maybe elsewhere
        got = f"{type(error).__name__}: {error}"
        hint = "install the same svodviz where the scheduler runs"
        raise DataError("cluster", "it cannot load svodviz", got=got, hint=hint) from error
    client.register_plugin(Arrivals())
    connection = Connection(client, order, _is_direct(client, order[0]))
    client.subscribe_topic(TOPIC, connection.on_event)
    stack.callback(client.unsubscribe_topic, TOPIC)
    limit = None if memory is None else _bytes(memory)
    limits = tuple(limit or int(workers[at].get("memory_limit") or 0) for at in order)
    return DaskEngine(connection, limits, JOINED_NS if joined is None else int(joined * 1e9))


def _is_direct(client: Any, worker: str) -> bool:
    """True if the client can reach the worker directly, not only by the scheduler."""
    key = f"svodviz-probe-{client.id}"
    try:
        client.scatter({key: 0}, workers=[worker], hash=False, direct=True, timeout=5)
    except (OSError, TimeoutError, KeyError):
        return False
    return True


def _bytes(memory: int | str) -> int:
    """Bytes, from a number or Dask's notation. Raises `DataError` for anything else."""
    from dask.utils import parse_bytes

    try:
        size = int(parse_bytes(memory))
    except (ValueError, TypeError) as error:
        raise DataError("cluster", "this is no amount of memory", got=repr(memory),
                        expected='bytes, or "2 GB"') from error  # fmt: skip
    return size


def _number(name: Any) -> int:
    """The sort key of a worker's name: its number if it is one."""
    return name if isinstance(name, int) else 2**31
