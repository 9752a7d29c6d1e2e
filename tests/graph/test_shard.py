"""Every rule of `shard`: the same values, on the right devices, with the expected copies."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler.core.errors import DeviceError
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.device.buffers import data, new_buffer
from compiler.graph.cse import cse
from compiler.graph.decompose import decompose
from compiler.graph.interpret import interpret
from compiler.graph.kinds.placement import Copy, Multi, copy_to, multi
from compiler.graph.nodes import Buffer, Contiguous, Sink, TensorNode, Threefry, elementwise
from compiler.graph.reshard import even_lengths, part, stored_bytes
from compiler.graph.shard import reasons, shard, spread
from compiler.graph.verify import verify
from compiler.tensor import Tensor
from tests.evaluate import assert_same

PLACES = ("CPU", "CPU:1", "CPU:2")
X = np.arange(24, dtype="f4").reshape(4, 6) - 7
W = np.arange(30, dtype="f4").reshape(6, 5) / 8


def on(count: int, array: np.ndarray, axis: int | None, lengths: tuple[int, ...] = ()) -> Tensor:
    """`array` in shards that are in memory already."""
    cuts = np.cumsum(lengths or even_lengths(array.shape[axis or 0], count))[:-1]
    parts = [array] * count if axis is None else np.split(array, cuts, axis)
    arrays = [np.ascontiguousarray(each) for each in parts]
    shards = [new_buffer(each, device=PLACES[i]) for i, each in enumerate(arrays)]
    return Tensor._of(multi(tuple(shards), axis))


def apart(node: TensorNode) -> TensorNode:
    """The value with its operations done on each shard; verified, and compared."""
    written = cse(Sink((node,)), Provenance())
    plain = decompose(written, Provenance())
    assert isinstance(plain, Sink)
    result = spread(plain)
    gathered = shard(plain, Provenance())
    verify(plain)
    verify(gathered, is_decomposed=True, is_sharded=True)
    for root in (result, gathered):
        inputs = {n: data(n) for r in (plain, root) for n in toposort([r]) if isinstance(n, Buffer)}
        (expected,) = interpret(plain.sources, inputs)
        (found,) = interpret(root.sources, inputs)
        assert_same(found, expected, rtol=1e-6)
    return result.sources[0]


def moved(node: TensorNode) -> tuple[int, int]:
    """Copies between devices below a node, and their bytes."""
    nodes: list[TensorNode] = toposort([node])
    sizes = [n.nbytes for n in nodes if isinstance(n, Copy) and n.devices != n.sources[0].devices]
    return len(sizes), sum(sizes)


Program = Callable[[int], Tensor]
ROWS: tuple[tuple[str, Program, int | None, tuple[int, int]], ...] = (
    # two devices: the axis of the result, the copies made, their bytes
    ("same axis", lambda n: on(n, X, 0) * on(n, X, 0), 0, (0, 0)),
    ("with a copy on each", lambda n: on(n, X, 0) + on(n, X, None), 0, (0, 0)),
    ("with a constant", lambda n: on(n, X, 1) * 3 + Tensor.ones(6).float(), 1, (0, 0)),
    ("copies alone", lambda n: on(n, X, None).exp(), None, (0, 0)),
    ("other axis", lambda n: on(n, X, 0) + on(n, X, 1), 0, (2, 48)),
    ("other lengths", lambda n: on(n, X, 0) + on(n, X, 0, (3, 1, 0)[:n]), 0, (1, 24)),
    ("bias moved, not rows", lambda n: on(n, X, 0) + on(n, X[0], 0), 0, (2, 24)),
    ("cast", lambda n: on(n, X, 0).cast("int32"), 0, (0, 0)),
    ("bitcast", lambda n: on(n, X, 0).bitcast("int32"), 0, (0, 0)),
    ("contiguous", lambda n: on(n, X, 0).contiguous(), 0, (0, 0)),
    ("reduce another axis", lambda n: on(n, X, 0).sum(1), 0, (0, 0)),
    ("reduce the cut axis", lambda n: on(n, X, 0).sum(0), None, (2, 48)),
    ("reduce all", lambda n: on(n, X, 1).max(), None, (2, 8)),
    ("reduce copies", lambda n: on(n, X, None).min(0), None, (0, 0)),
    ("rows by copies", lambda n: on(n, X, 0) @ on(n, W, None), 0, (0, 0)),
    ("copies by columns", lambda n: on(n, X, None) @ on(n, W, 1), 1, (0, 0)),
    ("columns by rows", lambda n: on(n, X, 1) @ on(n, W, 0), None, (2, 160)),
    ("columns by copies", lambda n: on(n, X, 1) @ on(n, W, None), None, (2, 160)),
    ("copies by rows", lambda n: on(n, X, None) @ on(n, W, 0), None, (2, 160)),
    ("rows by rows", lambda n: on(n, X, 0) @ on(n, W, 0), None, (4, 208)),
    ("rows by columns", lambda n: on(n, X, 0) @ on(n, W, 1), 1, (2, 96)),
    ("reshape, split", lambda n: on(n, X, 0).reshape(2, 2, 6), 0, (0, 0)),
    ("reshape, joined", lambda n: on(n, X, 0).reshape(24), 0, (0, 0)),
    ("reshape, other rows", lambda n: on(n, X, 0).reshape(8, 3), 0, (0, 0)),
    ("reshape, inner axis", lambda n: on(n, X, 1).reshape(2, 2, 6), 2, (0, 0)),
    ("reshape, heads", lambda n: on(n, X, 1).reshape(4, 2, 3), 1, (0, 0)),
    ("reshape, across", lambda n: on(n, X, 0).reshape(3, 8), None, (2, 96)),
    ("reshape, inner joined", lambda n: on(n, X, 1).reshape(24), None, (2, 96)),
    ("reshape, copies", lambda n: on(n, X, None).reshape(24), None, (0, 0)),
    ("reshape, ones", lambda n: on(n, X, 0).reshape(1, 4, 1, 6), 1, (0, 0)),
    ("permute", lambda n: on(n, X, 0).T, 1, (0, 0)),
    ("expand", lambda n: on(n, X[:, :1], 0).expand(4, 9), 0, (0, 0)),
    ("expand the cut axis", lambda n: on(n, X[:1], 0).expand(4, 6), None, (1, 24)),
    ("pad another axis", lambda n: on(n, X, 0).pad(((0, 0), (1, 2))), 0, (0, 0)),
    ("pad the cut axis", lambda n: on(n, X, 0).pad(((1, 2), (0, 0)), value=5), 0, (0, 0)),
    ("shrink another axis", lambda n: on(n, X, 0)[:, 1:3], 0, (0, 0)),
    ("shrink the cut axis", lambda n: on(n, X, 0)[1:4], 0, (0, 0)),
    ("one row", lambda n: on(n, X, 0)[3], 0, (0, 0)),
    ("every other row", lambda n: on(n, X, 0)[::2], 0, (0, 0)),
    ("flip another axis", lambda n: on(n, X, 0).flip(1), 0, (0, 0)),
    ("flip the cut axis", lambda n: on(n, X, 0).flip(0), 0, (2, 96)),
    ("positions on each", lambda n: on(n, X, None)[[3, 0, 9 % 4]], None, (1, 24)),
    ("positions of shards", lambda n: on(n, X, 0).take([3, 1], axis=0), None, (3, 112)),
    ("empty", lambda n: on(n, X[:0], 0) * 2, 0, (0, 0)),
    ("sum of nothing", lambda n: on(n, X[:0], 0).sum(0), None, (1, 24)),
    ("softmax of rows", lambda n: on(n, X, 0).softmax(1), 0, (0, 0)),
    ("softmax of columns", lambda n: on(n, X, 0).softmax(0), 0, (4, 96)),
    ("clone", lambda n: on(n, X, 0).clone(), 0, (0, 0)),
    ("other devices", lambda n: on(n, X, 0).to(("CPU:1", "CPU:2")), 0, (2, 96)),
    ("cut anew", lambda n: on(n, X, 0).shard(("CPU", "CPU:1"), 1), 1, (2, 48)),
    ("copies cut", lambda n: on(n, X, None).shard(("CPU", "CPU:1"), 1), 1, (0, 0)),
    ("gathered", lambda n: on(n, X, 0).to("CPU:1"), None, (1, 48)),
)  # fmt: skip


@pytest.mark.parametrize(("name", "make", "axis", "cost"), ROWS, ids=[row[0] for row in ROWS])
def test_two_devices(name: str, make: Program, axis: int | None, cost: tuple[int, int]) -> None:
    result = apart(make(2).node)
    assert (result.axis if isinstance(result, Multi) else None) == axis
    assert moved(result) == cost


@pytest.mark.parametrize(("name", "make"), [row[:2] for row in ROWS if "devices" not in row[0]],
                         ids=[row[0] for row in ROWS if "devices" not in row[0]])  # fmt: skip
def test_three_devices_with_uneven_shards(name: str, make: Program) -> None:
    apart(make(3).node)


def test_an_all_reduce_moves_the_least_that_is_possible() -> None:
    for count in (2, 3):
        total = apart(on(count, X, 0).sum(0).node)
        assert moved(total) == (2 * (count - 1), 2 * (count - 1) * X[0].nbytes)


def test_a_shard_without_elements_takes_no_part() -> None:
    x = on(3, X[:2], 0)
    assert isinstance(x.node, Multi) and x.node.real_mask == (True, True, False)
    assert moved(apart(x.max(0).node)) == (3, 3 * X[0].nbytes)  # one partial result, two copies
    assert apart(x[:1].min(0).node).devices == PLACES


def test_movement_is_done_again_after_a_copy() -> None:
    row = Tensor(X[0]).reshape(1, 6).expand(1000, 6).node
    assert stored_bytes(row) == X[0].nbytes
    assert part(row, ((10, 20), (2, 4))).shape == (10, 2)
    inner = [n.shape for n in toposort([part(row, ((10, 20), (2, 4)))])]
    assert inner == [(6,), (2,), (1, 2), (10, 2)]


def test_copies_say_why() -> None:
    total = decompose(Sink(((on(2, X, 0).flip(0) + on(2, X, 1)).sum(0).node,)), Provenance())
    said = " | ".join(sorted(set(reasons(total).values())))
    assert "all-reduce: sum over axis 0" in said
    assert "flip of axis 0, which is in shards" in said
    assert "add: its operands are laid out differently" in said


def test_rules_are_recorded_with_their_algebra() -> None:
    matches: list[Match] = []
    shard(Sink(((on(2, X, 0) + 1).node,)), Provenance(), matches)
    assert [m.rule for m in matches] == ["elementwise_of_shards", "sink"]
    assert all("=" in m.algebra and "shard.py:" in m.source for m in matches)


def test_a_program_without_shards_is_left_alone() -> None:
    root = Sink((elementwise("exp", copy_to(new_buffer(X), "CPU:1")),))
    assert shard(root, Provenance()) is root


def test_a_kind_without_a_rule_is_refused() -> None:
    words = on(2, np.arange(4, dtype="u8"), 0).node
    with pytest.raises(DeviceError, match="threefry: cannot be done on shards"):
        shard(Sink((Contiguous((Threefry((words, words)),)),)), Provenance())
