"""The clocks of workers against ours."""

from typing import Any

import pytest

from compiler.distributed import clocks
from compiler.distributed.clocks import Clock, Sample, clock_of


def test_the_shortest_round_trip_counts() -> None:
    """A worker 500 ahead of us, which answers late but for once."""
    slow = Sample(asked=1_000, there=1_590, heard=1_100)
    fast = Sample(asked=2_000, there=2_504, heard=2_010)
    assert clock_of([slow, fast, slow]) == Clock(offset=-499, error=5)


@pytest.mark.parametrize(("out", "back"), [(1, 9), (5, 5), (9, 1), (0, 11)])
def test_the_error_is_a_bound(out: int, back: int) -> None:
    ahead = 123_456
    found = clock_of([Sample(7_000, 7_000 + out + ahead, 7_000 + out + back)])
    assert abs(found.offset + ahead) <= found.error


def test_workers_of_this_machine_have_our_clock(client: Any) -> None:
    addresses = list(client.scheduler_info(n_workers=-1)["workers"])
    assert clocks.clocks(client, addresses) == dict.fromkeys(addresses, Clock())


def test_others_are_measured(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their offset is 0 here too; the error has to cover what is found instead."""
    monkeypatch.setattr(clocks, "machine_here", lambda: "another machine")
    addresses = list(client.scheduler_info(n_workers=-1)["workers"])
    found = clocks.clocks(client, addresses)
    assert list(found) == addresses
    assert all(0 < clock.error < 10**9 and abs(clock.offset) <= clock.error
               for clock in found.values())  # fmt: skip


def test_who_does_not_answer_is_left_out(client: Any) -> None:
    assert not clocks.clocks(client, ["tcp://127.0.0.1:9"])
