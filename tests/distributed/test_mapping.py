"""A function over rows on workers: order, how many are on their way, errors, lost workers."""

import os
import signal
import time
from itertools import islice, pairwise
from typing import Any

import pytest
from distributed import Client

from compiler.distributed.local import local_cluster
from compiler.distributed.mapping import IN_FLIGHT, map_on, places


def workers(client: Any) -> list[str]:
    return list(client.nthreads())


def late(row: int) -> int:
    """The first rows take longest."""
    time.sleep(0.02 * (4 - row) if row < 4 else 0)
    return row * row


def test_results_are_in_order_and_begun_at_once(client: Any) -> None:
    made = map_on(client, workers(client), late, range(9))
    end = time.monotonic() + 10
    while len(made._flow._ended) < 9 and time.monotonic() < end:  # nobody asks
        time.sleep(0.01)
    assert len(made._flow._ended) == 9
    assert list(made) == [row * row for row in range(9)] and list(made) == []
    assert list(map_on(client, workers(client), late, [])) == []


class Common:
    """Counts how often it is unpickled in a process: once for each worker that has it."""

    arrived = 0

    def __init__(self) -> None:
        self.data = bytes(1_000_000)

    def __setstate__(self, state: dict[str, Any]) -> None:
        type(self).arrived += 1
        self.__dict__ |= state

    def __call__(self, row: int) -> tuple[int, int]:
        return os.getpid(), type(self).arrived


def test_the_function_is_sent_once_and_all_workers_take_part(client: Any) -> None:
    client.amm.stop()  # it takes away copies for which a slow client has no rows at the moment
    try:
        found = list(map_on(client, workers(client), Common(), range(12)))
    finally:
        client.amm.start()
    assert {count for _, count in found} == {1}
    assert len({pid for pid, _ in found}) == 2


def test_few_rows_are_on_their_way(client: Any) -> None:
    sent: list[int] = []

    class Rows(list[int]):
        def __getitem__(self, place: Any) -> Any:
            sent.append(place)
            return super().__getitem__(place)

    def blocked(row: int) -> int:
        time.sleep(0.5 if row < 2 else 0.0)
        return row

    made = map_on(client, workers(client), blocked, Rows(range(20)))
    assert len(sent) == 2 * IN_FLIGHT
    assert list(made) == list(range(20)) and sent == list(range(20))


def refused(row: int) -> int:
    if row == 3:
        raise ValueError("row 3 is refused")
    return row


def test_an_error_arrives_in_its_place_and_the_rest_is_cancelled(client: Any) -> None:
    made = map_on(client, workers(client), refused, range(100))
    assert list(islice(made, 3)) == [0, 1, 2]
    with pytest.raises(ValueError, match="row 3 is refused"):
        next(made)
    assert list(made) == []


def test_who_lets_go_cancels_what_is_left(client: Any) -> None:
    made = map_on(client, workers(client), late, range(100))
    assert next(made) == 0
    del made
    end = time.monotonic() + 5

    def left() -> int:
        keys = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
        return sum(str(key).startswith("late-") for key in keys)

    while left() and time.monotonic() < end:
        time.sleep(0.05)
    assert left() == 0


def squared(row: int) -> int:
    return row * row


def test_tasks_are_called_as_the_function_is(client: Any) -> None:
    assert list(map_on(client, workers(client), squared, range(4))) == [0, 1, 4, 9]
    keys = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert "squared" in keys


def test_what_needs_quiet_has_one_worker_of_a_host() -> None:
    hosts = ["tcp://a:1", "tcp://b:1", "tcp://a:2", "tcp://a:3"]
    assert places(hosts, 1) == ["tcp://a:1", "tcp://b:1"]
    assert places(hosts, 2) == ["tcp://a:1", "tcp://a:2", "tcp://b:1"]
    assert sorted(places(hosts)) == sorted(hosts * IN_FLIGHT)


def alone(row: int) -> tuple[float, float, int]:
    start = time.time()
    time.sleep(0.03)
    return start, time.time(), os.getpid()


def test_rows_of_one_host_follow_one_another(client: Any) -> None:
    found = sorted(map_on(client, workers(client), alone, range(4), per_host=1))
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(found))


def killed_once(row: int) -> int:
    time.sleep(0.05)
    return row * row


@pytest.mark.parametrize("count", [1, 2])
def test_a_worker_that_dies_costs_time_alone(count: int) -> None:
    """With one worker, all that was sent is gone."""
    with local_cluster(count, threads=1) as cluster, Client(cluster) as own:
        before = workers(own)
        made = map_on(own, before, killed_once, range(12))
        assert next(made) == 0
        first, *_ = own.run(os.getpid).values()
        os.kill(first, signal.SIGKILL)
        assert list(made) == [row * row for row in range(1, 12)]
        # addresses of those that died are no obstacle
        assert list(map_on(own, before, late, range(5))) == [0, 1, 4, 9, 16]
