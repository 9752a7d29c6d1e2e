"""The timeline of a run on a cluster: what was measured fits what had to be done."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor
from compiler.distributed.bars import HERE, Bar
from compiler.distributed.timeline import Lane, Timeline

RNG = np.random.default_rng(11)
A = RNG.standard_normal((300, 400)).astype("float32")
B = RNG.standard_normal((400, 200)).astype("float32")
W = ("DASK", "DASK:1")


@pytest.fixture(scope="module")
def engine(client: Any) -> Iterator[Any]:
    """The cluster in use."""
    with compiler.cluster(client) as made:
        yield made


@pytest.fixture(scope="module")
def product(engine: Any) -> Any:
    """The timeline of a sum of two products, one on each worker."""
    made = compiler.compile(Tensor(A).shard(W, 1) @ Tensor(B).shard(W, 0))
    np.testing.assert_allclose(made.run()[0], A @ B, rtol=1e-3, atol=1e-3)
    return made, engine.timeline()


def test_each_item_was_seen_on_its_lane(product: Any) -> None:
    made, found = product
    names = {lane.name: n for n, lane in enumerate(found.lanes)}
    assert [lane.name for lane in found.lanes] == ["here", "DASK", "DASK:1"]
    for item in made.schedule.items:
        own = [bar for bar in found.bars if bar.item == item.item_id]
        assert own
        lanes = {bar.lane for bar in own} | {bar.source for bar in own} - {None}
        assert lanes <= {names.get(device, HERE) for device in item.operation.devices}
    assert found.by_item.keys() == {item.item_id for item in made.schedule.items}


def test_bars_end_before_what_needs_them_begins(product: Any) -> None:
    _, found = product
    assert not found.error  # processes of one machine have one clock
    for bar in found.bars:
        assert 0 <= bar.begin <= bar.end <= found.ns
        assert all(found.bars[n].end <= bar.begin for n in bar.needs if bar.kind != "gather"), bar


def test_bytes_are_those_of_the_schedule(product: Any) -> None:
    _, found = product
    assert found.moved == 300 * 200 * 4
    assert found.sent == A.nbytes + B.nbytes
    (came,) = (bar for bar in found.bars if bar.kind == "transfer" and bar.item is not None)
    assert {found.lanes[came.lane].name, found.lanes[came.source].name} == set(W)


def test_the_path_leads_over_both_workers(product: Any) -> None:
    _, found = product
    path = [found.bars[n] for n in found.path]
    assert {bar.lane for bar in path} == {0, 1, 2}
    assert [bar.kind for bar in path].count("transfer") >= 1
    assert all(a.end <= b.begin for a, b in pairwise(path))
    assert path[-1].end == max(bar.end for bar in found.bars)


def test_who_adds_waited_for_the_other_product(product: Any) -> None:
    _, found = product
    (came,) = (n for n, bar in enumerate(found.bars) if bar.kind == "transfer" and bar.item)
    (wait,) = (it for it in found.waits if it.on == came)
    assert wait.lane == found.bars[came].lane
    assert "DASK:1 → DASK" in found.because(wait) or "DASK → DASK:1" in found.because(wait)


def test_the_table(product: Any) -> None:
    text = str(product[1])
    for part in ("one clock", "this process", "longest wait", "critical path", "moved 234 KiB"):
        assert part in text
    assert product[1].dashboard in text


def test_what_is_fetched_and_done_here(engine: Any) -> None:
    x = (Tensor(A).shard(W, 0) * 2).to("CPU").exp()
    np.testing.assert_allclose(x.numpy(), np.exp(A * 2), rtol=1e-4)
    found = engine.timeline()
    assert found.fetched == A.nbytes
    assert {bar.kind for bar in found.bars if bar.lane == HERE} == {
        "send", "submit", "gather", "kernel"}  # fmt: skip


def test_inputs_that_workers_hold(engine: Any) -> None:
    held = Tensor(A).shard(W, 0).realize()
    (held + 1).realize()
    found = engine.timeline()
    assert not found.sent and not found.moved
    Tensor(A).to("DASK").realize().to("DASK:1").realize()
    found = engine.timeline()
    assert found.moved == A.nbytes


def test_a_run_by_name_and_several(engine: Any) -> None:
    for _ in range(2):
        (Tensor(A).to("DASK") + 1).realize()
    names = [each.name for each in engine.noted[-2:]]
    assert engine.timeline(names[0]).run == names[0]
    assert [each.run for each in engine.timelines(2)] == names
    with pytest.raises(DataError, match="the run is not known any more"):
        engine.timeline("nobody")


def test_before_the_first_run(client: Any) -> None:
    with compiler.cluster(client) as fresh, pytest.raises(DataError, match="nothing has run yet"):
        fresh.timeline()


def test_clocks_of_other_machines_are_told() -> None:
    bars = (Bar(1, "kernel", 0, 2_000_000, 0, "k0"),)
    found = Timeline("r", 2_000_000, (Lane("here", ""), Lane("DASK", "tcp://a", 40_000)), bars,
                     again=(0,), lost=("tcp://b",))  # fmt: skip
    assert found.error == 40_000
    text = str(found)
    assert "clocks within ± 40 µs" in text
    assert "lost tcp://b" in text and "computed again: items 0" in text


def test_measuring_keeps_the_run_in_the_middle(product: Any) -> None:
    made, _ = product
    found = made.measure(seconds=0.5)
    assert {it.item_id for it in found.times} == {item.item_id for item in made.schedule.items}
    assert all(it.ns > 0 for it in found.times)
    assert isinstance(found.timeline, Timeline) and found.timeline.moved == 300 * 200 * 4
    np.testing.assert_allclose(found.results[0], A @ B, rtol=1e-3, atol=1e-3)
    text = str(found)
    assert "run on a cluster" in text and "longest wait" in text


def test_data_of_a_worker_that_is_gone() -> None:
    bars = Bar(1, "transfer", 0, 1_000_000, 4, "copy", 64), Bar(1, "kernel", 2_000_000, 3_000_000,
                                                               5, "k0", needs=(0,))  # fmt: skip
    found = Timeline("r", 3_000_000, (Lane("here", ""), Lane("DASK, DASK:1", "tcp://a")), bars)
    assert found.words(0) == "4 copy a lost worker → DASK, DASK:1"
    assert found.because(found.waits[0]) == (
        "4 copy a lost worker → DASK, DASK:1, then 1 ms for Dask"
    )
