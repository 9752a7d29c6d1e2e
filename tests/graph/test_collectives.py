"""Exchanges between workers: right values in the fewest bytes, by every algorithm and number."""

import random
from collections.abc import Callable

import numpy as np
import pytest

import compiler
from compiler.core.dtypes import float32
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.device.buffers import data, new_buffer
from compiler.graph import collectives
from compiler.graph.collectives import Collective, algorithm_of, bound
from compiler.graph.cse import cse
from compiler.graph.decompose import decompose
from compiler.graph.interpret import interpret
from compiler.graph.kinds.placement import Copy, Joint, Received, multi
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.graph.reshard import even_lengths
from compiler.graph.shard import collectives as rows_of
from compiler.graph.shard import shard
from compiler.graph.simplify import simplify
from compiler.graph.verify import verify
from compiler.graph.words import describe_argument, kind, operation
from compiler.program.compilation import Compilation
from compiler.schedule.interpret import interpret as interpret_schedule
from compiler.schedule.interpret import run_kernel
from compiler.schedule.items import MemoryTransfer, ScheduleItem
from compiler.tensor import Tensor
from tests.evaluate import assert_same

COUNTS = (2, 3, 4, 7, 8, 33)
Array = np.ndarray


def workers(count: int) -> tuple[str, ...]:
    """The first workers of a cluster."""
    return ("DASK", *(f"DASK:{i}" for i in range(1, count)))


def on(count: int, array: Array, axis: int = 0, lengths: tuple[int, ...] = ()) -> Tensor:
    """`array` in shards that the workers have already."""
    cuts = np.cumsum(lengths or even_lengths(array.shape[axis], count))[:-1]
    parts = map(np.ascontiguousarray, np.split(array, cuts, axis))
    pairs = zip(parts, workers(count), strict=True)
    return Tensor._of(multi(tuple(new_buffer(each, device=d) for each, d in pairs), axis))


def exchanged(result: Tensor) -> tuple[TensorNode, tuple[Collective, ...]]:
    """The program after `shard` and `simplify`, verified and compared, and its collectives."""
    plain = decompose(cse(Sink((result.node,)), Provenance()), Provenance())
    simplified = simplify(shard(plain, Provenance()), Provenance())
    verify(simplified, is_decomposed=True, is_sharded=True)
    buffers = [n for n in toposort([plain, simplified]) if isinstance(n, Buffer)]
    inputs = {node: data(node) for node in buffers}
    (got,), (expected,) = (interpret(root.sources, inputs) for root in (simplified, plain))
    assert_same(got, expected, rtol=1e-5)
    return simplified, rows_of(plain)


def sent(root: TensorNode) -> int:
    """Bytes that are copied from one device to another."""
    order: list[TensorNode] = toposort([root])
    copies = [node for node in order if isinstance(node, Copy)]
    return sum(copy.nbytes for copy in copies if copy.devices != copy.sources[0].devices)


def gathered(array: Array, count: int, axis: int = 0) -> int:
    """Bytes that the first worker gets of a result in shards."""
    return array.nbytes - array.nbytes // array.shape[axis] * even_lengths(
        array.shape[axis], count)[0]  # fmt: skip


Program = Callable[[Tensor], Tensor]
REDUCED: Program = lambda x: x + x.sum(0)  # noqa: E731
GATHERED: Program = lambda x: x - x.cumsum(0)  # noqa: E731


@pytest.fixture
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small values of a test use the algorithms for large ones."""
    monkeypatch.setattr(collectives, "SMALL", 0)


def ones(count: int, width: int) -> Array:
    """Numbers whose sums are exact."""
    return (np.arange(2 * count * width) % 7).reshape(2 * count, width).astype("f4")


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("count", COUNTS)
def test_an_all_reduce_in_parts_moves_the_least(count: int) -> None:
    array = ones(count, 2 * count)
    root, (row,) = exchanged(REDUCED(on(count, array)))
    total = array[0].nbytes
    assert row.algorithm == ("ring" if count <= 32 else "halving") and row.kind == "all-reduce"
    assert row.moved == row.bound == 2 * (count - 1) * total
    assert sent(root) == row.moved + gathered(array, count)
    assert row.devices == workers(count)
    share = 2 * (count - 1) * total // count
    assert row.busiest == share if count <= 32 else share <= row.busiest < 1.3 * share
    steps = count * (count - 1)
    assert row.transfers == 2 * steps if count <= 32 else row.transfers < 2 * count * 6


@pytest.mark.parametrize("count", COUNTS)
def test_what_is_small_goes_along_a_tree(count: int) -> None:
    array = ones(count, 5)
    root, (row,) = exchanged(REDUCED(on(count, array)))
    assert (row.algorithm, row.transfers) == ("tree", 2 * (count - 1))
    assert row.moved == row.bound == 2 * (count - 1) * 20
    assert sent(root) == row.moved + gathered(array, count)
    assert row.busiest <= 20 * count.bit_length()


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("count", COUNTS)
def test_what_one_reads_is_not_sent_back(count: int) -> None:
    root, (row,) = exchanged(on(count, ones(count, 64)).sum(0))
    assert (row.kind, row.algorithm, row.transfers) == ("reduce", "tree", count - 1)
    assert sent(root) == row.moved == row.bound == (count - 1) * 64 * 4


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("count", COUNTS)
def test_an_all_gather_moves_the_least(count: int) -> None:
    array = ones(count, 3)
    root, (row,) = exchanged(GATHERED(on(count, array)))
    assert (row.kind, row.moved, row.bound) == ("all-gather", *[(count - 1) * array.nbytes] * 2)
    assert row.algorithm == ("ring" if count <= 32 else "doubling")
    assert row.transfers == count * (count - 1) if count <= 32 else row.transfers < count * 6
    assert sent(root) == row.moved + gathered(array, count)


@pytest.mark.parametrize("count", COUNTS)
def test_small_shards_are_gathered_by_doubling(count: int) -> None:
    array = ones(count, 3)
    _, (row,) = exchanged(GATHERED(on(count, array)))
    assert row.algorithm == "doubling" and row.moved == row.bound == (count - 1) * array.nbytes
    assert row.transfers <= count * count.bit_length()


def test_a_result_is_gathered_for_one_reader() -> None:
    array = ones(4, 3)
    root, rows = exchanged(on(4, array) * 2)
    assert not rows and sent(root) == array.nbytes * 3 // 4


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("count", COUNTS)
def test_uneven_parts(count: int) -> None:
    """Neither the rows nor what is summed can be cut evenly; some workers have no rows."""
    for rows, width in ((count + 1, count + 2), (2 * count - 1, 1), (count - 1, 3 * count - 1)):
        array = np.arange(rows * width, dtype="f4").reshape(rows, width) % 5
        for make in (REDUCED, GATHERED):
            _, found = exchanged(make(on(count, array)))
            assert all(row.moved == row.bound for row in found)


@pytest.mark.usefixtures("nothing_is_small")
def test_shards_of_any_lengths() -> None:
    array = ones(2, 6)
    for lengths in ((1, 3, 0), (0, 0, 4), (2, 1, 1)):
        for make in (REDUCED, GATHERED):
            exchanged(make(on(3, array, 0, lengths)))
    exchanged(on(3, array, 1) - on(3, array, 1).cumsum(1))


@pytest.mark.usefixtures("nothing_is_small")
def test_what_is_repeated_is_sent_once() -> None:
    for count in (3, 33):
        x = on(count, ones(count, 1)).expand(2 * count, 8)
        _, (row,) = exchanged(GATHERED(x))
        assert row.algorithm == ("ring" if count == 3 else "direct")
        assert row.moved == row.bound == (count - 1) * 2 * count * 4


@pytest.mark.usefixtures("nothing_is_small")
def test_two_readings_are_one_exchange() -> None:
    x = on(3, ones(3, 6))
    _, rows = exchanged(x + x.sum(0) * x.sum(0).exp() + x.max(0))
    assert [row.kind for row in rows] == ["all-reduce"] * 2


def test_one_exchange_after_the_other() -> None:
    x = on(3, ones(3, 6))
    _, rows = exchanged((x - x.max(0)).exp() / (x - x.max(0)).exp().sum(0))
    assert [row.algorithm for row in rows] == ["tree"] * 2


def test_devices_of_this_machine_exchange_as_before() -> None:
    array = ones(2, 3)
    parts = np.split(array, 2)
    shards = tuple(new_buffer(p, device=d) for p, d in zip(parts, ("CPU", "CPU:1"), strict=True))
    _, rows = exchanged(REDUCED(Tensor._of(multi(shards, 0))))
    assert rows == ()


def test_the_algorithm_follows_from_bytes_and_readers() -> None:
    places = workers(40)
    for count, width, op, expected in (
        (2, 1 << 17, "sum", "ring"), (32, 1 << 17, "sum", "ring"), (33, 1 << 17, "sum", "halving"),
        (33, (1 << 17) - 1, "sum", "tree"), (4, 1 << 17, "", "ring"), (4, 1 << 10, "", "doubling"),
        (40, 1 << 17, "", "doubling"),
    ):  # fmt: skip
        nodes = tuple(
            Buffer((), place, (width,), float32, "", places[place]) for place in range(count)
        )
        joint = Joint(nodes, op, 0)
        assert algorithm_of(joint, places[:count]) == expected
        assert algorithm_of(joint, places[:1]) == ("tree" if op else "direct")
        one = (count - 1) * width * 4
        assert (bound(joint, places[:1]), bound(joint, places[:count])) == (
            one, 2 * one if op else count * one)  # fmt: skip


def test_words() -> None:
    x = on(2, ones(2, 3))
    matches: list[Match] = []
    root = decompose(Sink((REDUCED(x).node,)), Provenance())
    shard(root, Provenance(), matches)
    made = [m for m in matches if m.rule == "received"]
    assert len(made) == 2 and all("=" in m.algebra and "collectives" in m.source for m in made)
    received = made[1].before
    assert isinstance(received, Received)
    (joint,) = received.sources
    said = [f"{operation(n)} {describe_argument(n)} {kind(n)}" for n in (joint, received)]
    assert said == ["joint sum memory", "received on DASK:1 memory"]


# --- compiled ---------------------------------------------------------------------------------


def compiled(count: int, array: Array, make: Program) -> Compilation:
    """The program, on shards that are in the memory of the client."""
    return compiler.compile(make(Tensor(array).shard(workers(count), 0)))


def between_workers(items: tuple[ScheduleItem, ...]) -> int:
    """Bytes of the transfers from worker to worker."""
    operations = [item.operation for item in items if isinstance(item.operation, MemoryTransfer)]
    return sum(each.nbytes for each in operations if each.source_device.startswith("DASK"))


TYPES = {
    "float32": REDUCED, "float64": lambda x: x * x.sum(0), "int32": lambda x: x - x.prod(0),
    "bool": lambda x: x ^ x.any(0),
}  # fmt: skip


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_every_stage_agrees(count: int, dtype: str) -> None:
    compilation = compiled(count, ones(count, 7).astype(dtype), TYPES[dtype])
    report = compilation.check()
    assert report.ok and all(r.ok for r in report.rows if "not executable" not in str(r)), report
    (row,) = compilation.collectives
    own = 2 * 7 * compilation.results[0].dtype.itemsize
    assert between_workers(compilation.schedule.items) == row.moved + (count - 1) * own
    assert row.line is not None and row.line.file == __file__


@pytest.mark.usefixtures("nothing_is_small")
@pytest.mark.parametrize("make", [REDUCED, GATHERED], ids=["reduced", "gathered"])
def test_any_order_gives_the_same_bits(make: Program) -> None:
    array = np.random.default_rng(3).normal(size=(12, 10)) * 10.0 ** np.arange(-5, 5)
    compilation = compiled(4, array.astype("f4"), make)
    items = compilation.schedule.items
    (result,) = compilation._scheduled.results
    order: list[TensorNode] = toposort([compilation.simplest])
    inputs = {node: data(node).reshape(-1) for node in order if isinstance(node, Buffer)}
    found = set()
    for seed in range(8):
        shuffled = any_order(items, random.Random(seed))
        (got,) = interpret_schedule(shuffled, [result], inputs, run_kernel)
        found.add(got.tobytes())
    assert len(found) == 1


def any_order(items: tuple[ScheduleItem, ...], chance: random.Random) -> list[ScheduleItem]:
    """The items in an order that their dependencies allow."""
    waits = {item.item_id: set(item.depends_on) for item in items}
    order: list[ScheduleItem] = []
    while waits:
        chosen = chance.choice([place for place, before in waits.items() if not before])
        del waits[chosen]
        order.append(items[chosen])
        for before in waits.values():
            before.discard(chosen)
    return order


def test_the_summary_says_that_the_least_is_moved() -> None:
    compilation = compiled(3, ones(3, 5), REDUCED)
    (line,) = [line for line in compilation.summary().splitlines() if line.startswith("all-reduce")]
    assert line.startswith(
        "all-reduce over 3 devices by tree: moved 80 = 80 bytes at least, 4 transfers (test_coll"
    )
    assert compiler.compile(Tensor(ones(2, 3)) + 1).collectives == ()
    assert "DASK → DASK" in compilation.summary()
    many = compiled(33, ones(33, 2), REDUCED).summary()
    assert "pairs of devices" in many and "DASK → DASK" not in many


def test_seven_exchanges_are_six_lines() -> None:
    def make(x: Tensor) -> Tensor:
        for _ in range(7):
            x = x - x.sum(0) / 8
        return x

    said = compiled(2, ones(2, 3), make).summary().splitlines()
    assert sum(line.startswith("all-reduce") for line in said) == 6
    assert said[-1] == "… more such exchanges: compilation.collectives"
