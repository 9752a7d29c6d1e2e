"""Loops over sharded values: the same values, states keep their layout, few bytes are moved."""

from collections.abc import Callable

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.core.errors import DeviceError
from compiler.graph import collectives
from compiler.graph.kinds.repeat import Repeat
from compiler.schedule.items import Kernel, MemoryTransfer
from tests.evaluate import assert_same

random = np.random.default_rng(7)
X = random.normal(size=(6, 5)).astype("f4")
A = random.normal(size=(7, 7)).astype("f4")
THREE = ("CPU", "CPU:1", "CPU:2")
WORKERS = ("DASK", "DASK:1", "DASK:2")
Devices = tuple[str, ...]
Looped = Tensor | tuple[Tensor, ...]


def power(devices: Devices) -> Looped:
    """The greatest eigenvector of a matrix in shards, from ones in no place."""
    a = Tensor(A).shard(devices, 0)

    def step(_: Tensor, v: Tensor) -> Tensor:
        w = a @ v
        return w / w.norm()

    return compiler.repeat(3, step, Tensor.ones(7).float())


def centred(devices: Devices) -> Looped:
    """Rows that come nearer to their mean, and the number of the iteration."""
    return compiler.repeat(
        4, lambda i, x: x - (x - x.mean(0)) / (i + 2), Tensor(X).shard(devices, 0)
    )


def trained(devices: Devices) -> Looped:
    """Least squares by gradients written by hand: data in shards, weights whole on each."""
    x, y = Tensor(X).shard(devices, 0), Tensor(X[:, :1] * 2 + 1).shard(devices, 0)

    def step(_: Tensor, w: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        error = x @ w + b - y
        return w - x.T @ error / 60, b - error.sum(0) / 60

    first = (Tensor.zeros(*shape).float().shard(devices) for shape in ((5, 1), (1,)))
    return compiler.repeat(5, step, *first)


def swapped(devices: Devices) -> Looped:
    """Two states, cut along different axes, that change places."""
    a, b = Tensor(X).shard(devices, 0), Tensor(X + 1).shard(devices, 1)
    return compiler.repeat(3, lambda _, x, y: (y * 2, x), a, b)


def nested(devices: Devices) -> Looped:
    """A loop in a loop."""

    def outer(_: Tensor, x: Tensor) -> Tensor:
        return compiler.repeat(2, lambda i, s: s + s.max(0) * 0.5 + i, x) / 2

    return compiler.repeat(2, outer, Tensor(X).shard(devices, 0))


def uneven(devices: Devices) -> Looped:
    """A worker without rows."""
    return compiler.repeat(2, lambda _, x: x + x.sum(0), Tensor(X[:2]).shard(devices, 0))


PROGRAMS: tuple[Callable[[Devices], Looped], ...] = (
    power, centred, trained, swapped, nested, uneven,
)  # fmt: skip


def tensors(made: Looped) -> list[Tensor]:
    """The states, one or several."""
    return list(made) if isinstance(made, tuple) else [made]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_as_on_one_device(program: Callable[[Devices], Looped]) -> None:
    results = [each.numpy() for each in tensors(program(THREE))]
    expected = [each.numpy() for each in tensors(program(("CPU",)))]
    for got, wanted in zip(results, expected, strict=True):
        assert_same(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_stage_agrees_on_workers(
    program: Callable[[Devices], Looped], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collectives, "SMALL", 0)
    compilation = compiler.compile(tensors(program(WORKERS)))
    report = compilation.check()
    assert report.ok and all(r.ok for r in report.rows if "not executable" not in str(r)), report
    assert bool(compilation.collectives) == (program is not swapped)
    assert all(row.moved == row.bound for row in compilation.collectives)
    assert all(row.line and row.line.file == __file__ for row in compilation.collectives)


def test_a_step_moves_what_it_sums_and_nothing_else() -> None:
    made = compiler.compile(tensors(trained(WORKERS)))
    rows = made.collectives
    assert [row.kind for row in rows] == ["all-reduce"] * 2
    moves = [i.operation for i in made.schedule.items if isinstance(i.operation, MemoryTransfer)]
    sent = [m.nbytes for m in moves if m.source_device != m.destination_device != "CPU"
            and m.source_device != "CPU"]  # fmt: skip
    assert sum(sent) == sum(row.moved for row in rows) == 5 * 2 * 2 * (5 + 1) * 4
    assert sum(row.transfers for row in rows) == len(sent) == 5 * 2 * 4


def test_a_worker_waits_for_no_other_without_need() -> None:
    looped = compiler.repeat(3, lambda i, x: x * 2 + i, Tensor(X).shard(WORKERS, 0))
    items = compiler.compile(tensors(looped)).schedule.items
    assert len([item for item in items if isinstance(item.operation, Kernel)]) == 10  # one gathers
    kernels = [item for item in items if item.operation.name == "k0"]
    carries = [item for item in items if item.operation.name == "carry"]
    assert len(kernels) == len(carries) == 9
    for item in kernels:
        before = [items[place].operation.devices for place in item.depends_on]
        assert set(before) <= {item.operation.devices}
    assert max(len(item.depends_on) for item in carries) <= 4


def test_more_workers_are_no_more_waits_for_each_item() -> None:
    def waits(count: int) -> float:
        x = Tensor(np.ones((count, 3), "f4")).shard([f"DASK:{n}" for n in range(count)], 0)
        looped = compiler.repeat(2, lambda _, s: s - s.sum(0), x)
        items = compiler.compile(tensors(looped)).schedule.items
        return sum(len(item.depends_on) for item in items) / len(items)

    assert waits(16) < 1.2 * waits(4)


def test_a_state_lies_as_it_began() -> None:
    made, one = centred(THREE), power(THREE)
    assert isinstance(made, Tensor) and isinstance(one, Tensor)
    assert (made.axis, made.device) == (0, THREE)
    assert (one.axis, [s.shape for s in one.shards]) == (0, [(3,), (2,), (2,)])
    first, second = tensors(swapped(THREE))
    assert (first.axis, second.axis) == (0, 1)


def test_the_lines_of_a_step_are_kept() -> None:
    made = compiler.compile(centred(THREE))
    loops = [node for node in made.optimized_graph.nodes if isinstance(node, Repeat)]
    assert len(loops) == 3 and len({loop.body for loop in loops}) == 1
    assert len(made.optimized_graph.lines) > 40
    names = {line.text.rpartition(" ")[2].partition(":")[0] for line in made.optimized_graph.lines}
    assert "test_shard_loops.py" in names


def test_tensors_in_different_places_are_refused() -> None:
    x, y = Tensor(X).shard(THREE, 0), Tensor(X).to("CPU:1")
    with pytest.raises(DeviceError) as caught:
        compiler.repeat(2, lambda _, s: s + 1 + y.sum(), x)
    assert caught.value.operation == "repeat"
    assert caught.value.got == f"{', '.join(THREE)} and CPU:1"
    with pytest.raises(DeviceError) as caught:
        compiler.repeat(2, lambda _, s, t: (s, t), Tensor(X).to("CPU:2"), y)
    assert (caught.value.operation, caught.value.got) == ("repeat", "CPU:2 and CPU:1")
