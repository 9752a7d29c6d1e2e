"""Pairs of kernels that could be fused, what fusion would save, and the reasons against it."""

import numpy as np

import compiler
from compiler import Tensor
from compiler.graph.nodes import Buffer, Param, Reduce, Sink, Store
from compiler.machines.model import MachineModel
from compiler.schedule.analysis.opportunities import FusionOpportunity, opportunities
from compiler.schedule.analysis.work import begin_ns
from compiler.schedule.items import Kernel, ScheduleItem
from tests.schedule.items import BODY, buffer, costs, schedule

X = buffer(1, 1000)
A, B, C = (buffer(-n, 1000) for n in (1, 2, 3))


def folding() -> Sink:
    """The body of a reduction."""
    written, read = (Param((), slot, shape, X.dtype) for slot, shape in ((0, (1,)), (1, (1000,))))
    return Sink((Store((written, Reduce((read,), "sum", (0,)))),))


def with_body(item: ScheduleItem, body: Sink) -> ScheduleItem:
    kernel = Kernel("k1", body, item.operation.arguments)
    return ScheduleItem(item.item_id, kernel, item.depends_on, item.dependents)


def test_a_kernel_and_its_only_reader_save_writing_and_reading() -> None:
    items = schedule(((0, 1),), 2, [(A, X), (B, A)])
    (found,) = opportunities(items, costs(5000, 5000), [B], {A: "because"})
    assert (found.first, found.second, found.fusion_type) == (0, 1, "elementwise")
    assert (found.bytes_saved, found.reason) == (2000, "because")


def test_a_value_that_others_read_or_that_is_a_result_is_still_written() -> None:
    items = schedule(((0, 1), (0, 2)), 3, [(A, X), (B, A), (C, A)])
    found = opportunities(items, costs(10, 10, 10), [B, C])
    assert sorted((o.first, o.second, o.bytes_saved) for o in found) == [
        (0, 1, 1000), (0, 2, 1000), (1, 2, 1000),
    ]  # fmt: skip
    items = schedule(((0, 1),), 2, [(A, X), (B, A)])
    (result,) = opportunities(items, costs(10, 10), [A, B])
    assert result.bytes_saved == 1000
    assert result.reason == "b-1 is a result of the program, so it is in memory in any case"


def test_the_score_is_the_share_of_the_estimate() -> None:
    items = schedule(((0, 1),), 2, [(A, X), (B, A)])
    model = MachineModel(launch_ns=100.0, read=(10.0, 1.0, 1.0, 1.0))
    (found,) = opportunities(items, costs(900, 900), [B], model=model)
    assert found.score == (begin_ns(model) + 2000 / 10) / 1800
    (most,) = opportunities(items, costs(1, 1), [B], model=model)
    assert most.score == 1.0


def test_the_kind_says_how_many_of_the_two_reduce() -> None:
    first, second = schedule(((0, 1),), 2, [(A, X), (B, A)])
    mixed = (with_body(first, folding()), second)
    both = (with_body(first, folding()), with_body(second, folding()))
    assert opportunities(mixed, costs(1, 1))[0].fusion_type == "mixed"
    assert opportunities(both, costs(1, 1))[0].fusion_type == "reduction"


def test_neighbours_that_read_the_same_and_do_not_wait_for_each_other() -> None:
    small = buffer(-4, 10)
    items = schedule((), 2, [(A, X), (small, X)])
    (found,) = opportunities(items, costs(1, 1))
    assert found.reason == "different iteration spaces: 1000 and 10"
    same = schedule((), 2, [(A, X), (B, X)])
    assert "a kernel writes one value" in opportunities(same, costs(1, 1))[0].reason
    chained = schedule(((0, 1), (1, 2)), 3, [(A, X), (B, A), (C, X)])
    assert [(o.first, o.second) for o in opportunities(chained, costs(1, 1, 1))] == [(0, 1)]


def test_what_is_written_in_place_has_to_be_read_first() -> None:
    body = BODY
    first, second = schedule(((0, 1),), 2, [(A, X), (A, A)])
    (found,) = opportunities((with_body(first, body), second), costs(1, 1))
    assert found.reason.startswith("b-1 is written in place")


def test_the_greatest_score_stands_first_and_each_pair_once() -> None:
    large = buffer(-5, 100_000)
    items = schedule(((0, 1), (1, 2)), 3, [(A, X), (large, A, X), (C, large, large)])
    found = opportunities(items, costs(9999, 9999, 9999), [C])
    assert [(o.first, o.second) for o in found] == [(1, 2), (0, 1)]


def test_a_program_says_why_its_kernels_are_not_one() -> None:
    x = Tensor(np.ones((64, 32), np.float32))
    hidden = (x @ Tensor(np.ones((32, 16), np.float32))).relu()
    schedule = compiler.compile([hidden @ Tensor(np.ones((16, 8), np.float32))]).schedule
    (found,) = (each for each in schedule.opportunities if not each.taken)
    assert isinstance(found, FusionOpportunity)
    assert (found.first, found.second, found.fusion_type) == (0, 1, "reduction")
    assert found.bytes_saved == 2 * 64 * 16 * 4
    assert "its index does not use the loop of 8" in found.reason
    assert f"fusion {found}" in str(schedule)


def test_a_program_says_which_values_its_kernels_compute_inside() -> None:
    x = Tensor(np.ones((64, 32), np.float32))
    schedule = compiler.compile([x.softmax(1)]).schedule
    found = {each.value: each for each in schedule.opportunities}
    assert set(found) == {
        "exp f32[64,32]", "sub f32[64,32]", "reduce max f32[64,1]", "reduce sum f32[64,1]",
    }  # fmt: skip
    row = found["reduce max f32[64,1]"]
    assert row.taken and row.first == row.second == 0 and row.fusion_type == "reduction"
    assert row.bytes_saved == 2 * 64 * 4  # written once, read once
    assert row.reason == "computed once per 64, in the loop nest of its only reader"
    assert str(row).endswith(f"✓ reduce max f32[64,1]: {row.reason}")
    assert all(0 < each.score < 1 for each in found.values())
    saved = sum(each.bytes_saved for each in found.values())
    assert str(schedule).splitlines()[-1] == f"fusion ✓ 4 taken, saves {saved:,} bytes"


def test_a_value_computed_in_two_kernels_is_listed_for_both() -> None:
    x = Tensor(np.ones((64, 32), np.float32))
    twice = x + 1
    schedule = compiler.compile([twice.sum(0), twice.sum(1)]).schedule
    rows = [each for each in schedule.opportunities if each.value == "add f32[64,32]"]
    assert [each.first for each in rows] == [0, 1]
    assert [each.bytes_saved for each in rows] == [64 * 32 * 4 * 3 // 2] * 2
    first, *others = schedule.opportunities
    assert not first.taken and all(each.taken for each in others)


def test_axes_of_one_element_make_no_other_iteration_space() -> None:
    column, row = (Buffer((), -n, s, X.dtype, "") for n, s in ((6, (10, 1)), (7, (1, 10))))
    (found,) = opportunities(schedule((), 2, [(column, X), (row, X)]), costs(1, 1))
    assert found.reason == "a kernel writes one value, and here are two of one shape"


def test_kernels_in_a_loop_are_two_for_the_reason_that_was_decided() -> None:
    matrix = Tensor(np.ones((4, 4)))

    def step(i: Tensor, v: Tensor) -> Tensor:
        w = matrix @ v
        return w / (w * w).sum().sqrt()

    found = compiler.compile(compiler.repeat(2, step, Tensor.ones(4))).schedule.opportunities
    found = tuple(each for each in found if not each.taken)
    pairs = [(each.first, each.second) for each in found]
    assert pairs == [(2, 3), (5, 6)]
    assert all("it is read under 2 different indices" in each.reason for each in found)
