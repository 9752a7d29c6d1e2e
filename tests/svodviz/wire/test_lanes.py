"""Lanes of workers as data for the page."""

from dataclasses import replace

import pytest

from compiler.distributed.bars import Bar
from compiler.distributed.timeline import Lane, Timeline
from svodviz.wire import lanes
from svodviz.wire.lanes import lanes_row
from svodviz.wire.measured import measured_row
from tests.svodviz.poison import POISONS
from tests.svodviz.sample_lanes import DASHBOARD, clustered

BARS = (
    Bar(1, "kernel", 0, 4_000_000, 0, "k0"),
    Bar(1, "move", 4_000_000, 4_000_010, 1, "copy", needs=(0,)),
    Bar(2, "transfer", 4_000_010, 6_000_000, 1, "copy", 64, 1, (1,)),
    Bar(2, "kernel", 7_000_000, 9_000_000, 2, "k1", needs=(2,)),
)
FOUND = Timeline("r", 9_000_000, (Lane("here", ""), Lane("DASK", "tcp://a", 5), Lane("DASK:1",
                 "tcp://b", 7)), BARS, dashboard=DASHBOARD)  # fmt: skip


def test_all_of_it() -> None:
    row = lanes_row(FOUND)
    assert row["lanes"][1] == ("DASK", "tcp://a", 5) and row["error"] == 12
    assert row["bars"][2] == (2, "transfer", 4_000_010, 6_000_000, 1, "copy", 64, 1, [1],
                              "1 copy DASK → DASK:1")  # fmt: skip
    assert row["waits"] == [(2, 0, 7_000_000, 3, 2, 6_000_000,
                             "1 copy DASK → DASK:1, then 1 ms for Dask")]  # fmt: skip
    assert row["path"] == [0, 1, 2, 3] and row["moved"] == 64 and not row["unsent"]


def test_of_very_many_bars_the_longest_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "MOST_BARS", 3)
    row = lanes_row(FOUND)
    assert [bar[1] for bar in row["bars"]] == ["kernel", "transfer", "kernel"]
    assert row["unsent"] == 1 and row["path"] == [0, 1, 2]
    assert row["bars"][1][8] == [] and row["waits"][0][3:5] == (2, 1)


@pytest.mark.parametrize("address", ["javascript:alert(1)", "", "file:///etc/passwd", *POISONS])
def test_only_pages_are_linked(address: str) -> None:
    assert lanes_row(replace(FOUND, dashboard=address))["dashboard"] == ""


def test_a_measurement_has_them() -> None:
    row = measured_row(clustered(2).measure())
    assert [name for name, _, _ in row["lanes"]["lanes"]] == ["here", "DASK", "DASK:1"]
    assert row["lanes"]["moved"] == 32 * 24 * 4
