"""The share of each tensor node in a kernel's work: the shares sum to the kernel's work."""

import numpy as np
import pytest

import compiler
from compiler import Compilation, Tensor, repeat
from compiler.core import dtypes
from compiler.graph.nodes import Buffer, Cast, Threefry, const, elementwise
from compiler.schedule.analysis.own_work import RANDOM, WHOLE, OwnWork, own_work

X = Buffer((), 1, (10,), dtypes.float32, "x")
FIELDS = ("time", "operations", "read", "written")


def rng(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(0).standard_normal(shape, np.float32))


def network() -> Tensor:
    hidden = (rng(32, 64) @ rng(64, 16) + rng(16)).relu()
    return (hidden - hidden.mean(1, keepdim=True)).softmax(1)


PROGRAMS = [
    network,
    lambda: rng(32, 64).T.contiguous(),
    lambda: rng(8, 8)[Tensor(np.array([1, 2]))].exp(),
    lambda: repeat(3, lambda i, state: (state @ rng(8, 8)).relu(), rng(8, 8)),
    lambda: Tensor.rand(64) + 1,
    lambda: Tensor.ones(16).contiguous(),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_weights_of_every_item_have_a_sum(program: object) -> None:
    compilation: Compilation = compiler.compile(program())  # type: ignore[operator]
    schedule = compilation.schedule
    assert len(schedule.shares) == len(schedule.items)
    for row in schedule.shares:
        for field in FIELDS:
            assert sum(getattr(own, field) for _, own in row) > 0


def test_operations_and_bytes_are_those_of_the_kernel() -> None:
    schedule = compiler.compile(network()).schedule
    for item, row in zip(schedule.analysis, schedule.shares, strict=True):
        assert sum(own.operations for _, own in row) == item.flops
        assert sum(own.written for _, own in row) == item.bytes_written


def test_constants_inputs_and_movement_do_nothing() -> None:
    compilation = compiler.compile(network())
    facts = dict(compilation.optimized_graph.to_networkx().nodes(data=True))
    working = {entity for row in compilation.schedule.shares for entity, _ in row}
    kinds = {facts[entity]["kind"] for entity in working}
    assert kinds and kinds.isdisjoint(("const", "buffer", "movement", "control"))


def test_a_node_reads_through_movement_what_that_reads() -> None:
    compilation = compiler.compile((rng(4, 6).T + rng(6, 4)) * 2.0)
    (row,) = compilation.schedule.shares
    add, multiply = (own for _, own in row)
    assert (add.read, add.written) == (2 * 96, 0)
    assert (multiply.read, multiply.written) == (0, 96)


def test_where_nothing_is_computed_what_is_written_has_all() -> None:
    moved = elementwise("neg", X)
    assert own_work([X], []) == {X: WHOLE}
    twice = elementwise("neg", moved)
    found = own_work([twice, moved], [twice])
    assert found[moved] == OwnWork(10, 10, 40, 0) or found[moved].read == 40
    assert found[twice].written == 40 and found[moved].written == 0


def test_conversions_and_random_bits_take_time_though_they_are_no_arithmetic() -> None:
    key = const(1, dtypes.uint64, (10,))
    wide = Cast((X,), dtypes.float64)
    bits = Threefry((key, key))
    assert own_work([wide, elementwise("neg", wide)], [])[wide].time == 10
    assert own_work([wide, elementwise("neg", wide)], [])[wide].operations == 0
    assert own_work([bits, elementwise("neg", bits)], [])[bits].time == 10 * RANDOM
