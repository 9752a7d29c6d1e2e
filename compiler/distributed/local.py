"""local: a cluster on this machine, a process for each core, on the loopback interface only.

    with local_cluster(2) as cluster, Client(cluster) as client:
        …

A cluster executes any code that it receives: a client that reaches the scheduler has the rights of
the user who started it. So scheduler, workers and dashboard listen on the loopback interface only.
Pass `security`, Dask's `Security`, to keep out other users of the machine, for example
`Security.temporary()`.
"""

import logging
import sys
from typing import TYPE_CHECKING, Any

from compiler.core.errors import DataError, located
from compiler.core.lazy import loading
from compiler.machines.system import core_count

if TYPE_CHECKING:
    from distributed import LocalCluster

LOOPBACK = "127.0.0.1"
HINT = "pip install svodviz[dask]"


@located
def local_cluster(
    workers: int | None = None, *, threads: int | None = None, security: Any = None, **more: Any
) -> "LocalCluster":
    """A `distributed.LocalCluster` of processes that listen on the loopback interface only.

    `workers` processes, one for each physical core by default, of `threads` threads
    each: the cores, shared. `security` is dask's: `Security.temporary()` encrypts, with keys that
    live as long as the cluster (it needs the package cryptography); not the dashboard, which is
    empty where bokeh is not installed. `more` goes to `LocalCluster` as it is, and wins. A script
    calls this under `if __name__ == "__main__":`, since its processes import the script.

    Raises `DataError` where dask's `distributed` is not installed, or a number is less than one.
    """
    cores = core_count()
    count = cores if workers is None else workers
    each = max(1, cores // max(1, count)) if threads is None else threads
    if count < 1 or each < 1:
        raise DataError("local_cluster", "a cluster has a worker at least, of a thread at least",
                        got=f"{count} workers of {each} threads", expected="1 or more")  # fmt: skip
    settings: dict[str, Any] = {
        "host": LOOPBACK,
        # a port that is free: a second cluster does not complain that the first one has its own
        "dashboard_address": f"{LOOPBACK}:0",
        "silence_logs": logging.CRITICAL,
        "processes": True,
        "security": security,
    }
    describe_main()
    settings |= {"n_workers": count, "threads_per_worker": each, **more}
    return distributed().LocalCluster(**settings)


def describe_main() -> None:
    """Give the main module `__spec__`, which Python reads to start a process: the main modules of
    IPython and of xdist's workers may lack it."""
    main = sys.modules["__main__"]
    main.__spec__ = getattr(main, "__spec__", None)


def distributed() -> Any:
    """The module `distributed`. Raises `DataError` if it is not installed."""
    try:
        with loading():
            import distributed
    except ImportError as error:
        what = "dask's package distributed is not installed"
        raise DataError("cluster", what, got=str(error), hint=HINT) from error
    return distributed
