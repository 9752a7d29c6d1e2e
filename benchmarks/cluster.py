"""The overhead of an item on a cluster, compared with an empty Dask task:
`python -m benchmarks cluster`.

Two worker processes run a chain of items each, of 16 elements, so that only dispatch takes time:
ours with a task for each item, ours by default (short items fused into one task), and empty Dask
tasks with the same dependencies. Interleaved; medians in milliseconds for each item.
"""

import statistics
import time
from typing import Any

import numpy as np

ITEMS = 100
ROUNDS = 9


def nothing(*given: object) -> None:
    """An empty task."""


def chain(devices: tuple[str, ...]) -> Any:
    """A plan with a chain of `ITEMS` kernels on each device."""
    from compiler import Tensor, prepare

    made = [Tensor(np.ones(16, "float32")).to(device).realize() for device in devices]
    for _ in range(ITEMS):
        made = [(each * 1.0001 + 1).contiguous() for each in made]
    return prepare(made)


def empty(client: Any, addresses: list[str], round_: str) -> None:
    """The same number of Dask's tasks, in chains, each chain on one worker."""
    from dask._task_spec import Task, TaskRef
    from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
    from distributed import wait

    layers, last = {}, []
    for number, address in enumerate(addresses):
        names = [f"empty-{round_}-{number}-{place}" for place in range(ITEMS)]
        pairs = zip(names, [None, *names[:-1]], strict=True)
        nodes = {n: Task(n, nothing, *([TaskRef(before)] if before else [])) for n, before in pairs}
        layers[f"{round_}-{number}"] = MaterializedLayer(nodes, annotations={"workers": [address]})
        last.append(names[-1])
    graph = HighLevelGraph(layers, {name: set() for name in layers})
    with client.as_current():
        wait(client.get(graph, last, sync=False))


def _ms(act: Any, items: int) -> float:
    begin = time.perf_counter()
    act()
    return (time.perf_counter() - begin) / items * 1e3


def main() -> None:
    """Measure, and print."""
    import compiler
    from compiler.distributed.local import local_cluster

    rows: dict[str, list[float]] = {"ours, one by one": [], "ours, joined": [], "Dask, empty": []}
    with local_cluster(2, threads=1) as cluster, cluster.get_client() as client:
        for number in range(ROUNDS + 1):
            for name, joined in (("ours, one by one", 0.0), ("ours, joined", None)):
                with compiler.cluster(client, joined=joined) as engine:
                    plan = chain(engine.workers)
                    plan.run()
                    rows[name].append(_ms(plan.run, ITEMS * len(engine.workers)))
                    at = engine.addresses
            took = _ms(lambda n=number, at=at: empty(client, at, str(n)), ITEMS * len(at))
            rows["Dask, empty"].append(took)
    for name, found in rows.items():
        print(f"{name:18} {statistics.median(found[1:]):.3f} ms an item, "
              f"{min(found[1:]):.3f} … {max(found[1:]):.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
