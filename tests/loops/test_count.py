"""The work of loops: trips, strides, vectors, footprints, registers; the space they span."""

from dataclasses import replace

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core.node import toposort
from compiler.loops.count import count
from compiler.loops.nodes import Body, Range
from compiler.loops.space import iteration_space
from compiler.machines.model import DEFAULT, MachineModel
from compiler.machines.named import MACHINES
from compiler.schedule.analysis.traffic import Traffic
from compiler.schedule.analysis.work import UNHIDDEN, Work, added_ns, begin_ns, bound, estimate
from tests.loops.bodies import BODIES


def work(value: Tensor) -> Work:
    (loops,) = compiler.compile(value, Options(loops="plain")).loops
    return count(loops.body)


def data(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor(np.ones(shape, dtype))


def test_elements_one_after_the_other_are_vectors() -> None:
    made = work(data(64, 64) * 2.0 + data(64, 64).exp())
    (stretch,) = made.stretches
    assert stretch.trips == 4096 and stretch.is_vector
    assert sorted(o.name for o in stretch.operations) == ["add", "exp", "mul"]
    found = sorted((a.slot, a.stride, a.is_write) for a in stretch.accesses)
    assert found == [(0, 1, True), (1, 1, False), (2, 1, False)]
    assert made.occupancy == 1.0


def test_a_product_of_matrices_walks_down_columns() -> None:
    made = work(data(32, 48) @ data(48, 24))
    folded, stored = sorted(made.stretches, key=lambda s: -s.trips)
    assert (folded.trips, stored.trips) == (32 * 48 * 24, 32 * 24)
    assert {a.slot: a.stride for a in folded.accesses} == {1: 1, 2: 24}
    assert not folded.is_vector and [o.name for o in folded.operations] == ["fma"]
    assert stored.begun == 32 * 24
    column = next(a for a in folded.accesses if a.slot == 2)
    assert column.reused == 48 * 24 * 4, "the whole matrix comes again for each row"


def test_loops_are_begun_once_for_all_that_stands_side_by_side() -> None:
    (loops,) = compiler.compile(data(128, 64) @ data(64, 128)).loops
    counts = count(loops.body)
    assert any(isinstance(n, Range) and n.level == "vector" for n in toposort([loops.body]))
    begun = sum(s.begun for s in counts.stretches)
    assert 0 < begun < 128 * 128 / 16, "fewer than vectors of the result"


def test_footprints_by_loop() -> None:
    made = work(data(32, 48) @ data(48, 24))
    out, left, right = sorted(made.footprints, key=lambda it: it.slot)
    assert out.is_write and not left.is_write
    assert [[loop.trips for loop in it.loops] for it in (out, left, right)] == [
        [32, 24], [32, 24, 48], [32, 24, 48]
    ]  # fmt: skip
    assert [loop.step for loop in left.loops] == [48, 0, 1]
    assert [left.touched(depth) for depth in range(4)] == [32 * 48 * 4, 48 * 4, 48 * 4, 64]
    assert right.touched(1) == 48 * 24 * 4
    assert right.touched(2) == 48 * 64, "a column is one cache line per row"
    assert len({loop.place for it in made.footprints for loop in it.loops}) == 3, "one nest"


def test_traffic_is_what_a_cache_cannot_hold() -> None:
    made = work(data(1024, 1024) + 1.0)
    size = 4 * 1024 * 1024
    assert made.traffic(3 * size, 2 * size) == Traffic()
    assert made.traffic(1024, 2 * size) == Traffic(size, size)
    assert made.traffic(3 * size, 4 * size) == Traffic(size, size), "others need the cache as well"
    assert made.traffic(3 * size, {0: 4 * size, 1: 2 * size}) == Traffic(0, size)


def test_divisions_of_integers_and_predicates_are_not_vectors() -> None:
    whole = data(1000, dtype="int64") // data(1000, dtype="int64")
    assert not any(s.is_vector for s in work(whole).stretches)
    assert not any(s.is_vector for s in work(data(30, 30).pad(((1, 1), (1, 1)))).stretches)


def test_gathered_elements_have_no_stride() -> None:
    made = work(data(1000)[Tensor(np.arange(500) % 7)])
    strides = {a.slot: a.stride for s in made.stretches for a in s.accesses}
    assert strides[1] is None and strides[2] == 1
    assert made.occupancy == 0.0


def test_short_inner_loops_are_unrolled_away() -> None:
    made = work(data(4, 64, 64).max_pool2d(2))
    trips = sorted(s.trips for s in made.stretches)
    assert trips == [4 * 32 * 32, 4 * 32 * 32 * 4]
    assert all(s.begun == 0 for s in made.stretches), "LLVM leaves no loop of 2 × 2"


def test_registers_are_the_values_alive_at_once() -> None:
    x = data(64)
    assert work(-x).registers == 1
    total = x.exp()
    for scale in range(2, 8):
        total = total + (x * float(scale)).exp() * x
    assert 3 <= work(total).registers <= 16
    assert work(data(32, 48) @ data(48, 24)).registers >= 3


def test_an_estimate_is_of_computing_and_moving_at_once() -> None:
    model = MachineModel(
        cache_bytes=(1000, 10_000, 100_000), read=(100.0, 10.0, 1.0, 0.1),
        write=(100.0, 10.0, 1.0, 0.1), vector_ns=1.0, launch_ns=50.0,
    )  # fmt: skip
    small = work(data(64) + 1.0)
    begun = begin_ns(model)
    assert begun > 50 and estimate(small, model, 512) == begun + 64 * 1.0
    large, moved = work(data(100_000) + 1.0), 800_000 / 0.1 + 800_000 / 1.0 + 800_000 / 10.0
    assert estimate(large, model, 800_000) == pytest.approx(
        begun + moved + UNHIDDEN * 100_000, rel=1e-3
    )
    again, moved = work(data(5000) + 1.0), 40_000 / 1.0 + 40_000 / 10.0
    assert estimate(again, model, 40_000) == pytest.approx(
        begun + moved + UNHIDDEN * 5000, rel=1e-2
    ), "it stays in the third cache"


@pytest.mark.parametrize("name", MACHINES)
def test_estimates_of_named_machines_are_plausible(name: str) -> None:
    values = (data(64, 64).exp() * 2.0, data(128, 128) @ data(128, 128), data(64, 512).sum(1))
    for value in values:
        times = {}
        for machine in (name, "x86-avx512"):
            (loops,) = compiler.compile(value, Options(machine=machine, threads=1)).loops
            known = count(loops.body), replace(MACHINES[machine].model, cores=1)
            times[machine] = estimate(*known) - begin_ns(known[1])
        ratio, model = times[name] / times["x86-avx512"], MACHINES[name].model
        assert 1 / 3 <= ratio <= 100
        narrow = model.multiply_adds * model.vector_bytes / model.cycle_ns < 64 / DEFAULT.cycle_ns
        assert ratio > 1 or not narrow, "half as many lanes in a nanosecond take longer"


def test_where_pages_are_many_they_are_not_looked_up_again() -> None:
    made = work(data(2000, 2048).permute(1, 0).contiguous())
    few, many = replace(DEFAULT, pages=512), replace(DEFAULT, pages=1 << 20)
    assert made.lookups(few) > 0 == made.lookups(many)


def test_more_work_takes_longer() -> None:
    sizes = [work(data(n, n) @ data(n, n)) for n in (8, 32, 128, 512)]
    times = [estimate(w, DEFAULT) for w in sizes]
    assert times == sorted(times) and times[0] >= DEFAULT.launch_ns


def test_size_zero_and_rank_zero_are_counted() -> None:
    for value in (data(0, 4) + 1.0, data(3, 0).sum(1), Tensor(2.0) * 3.0):
        assert estimate(work(value), DEFAULT) >= DEFAULT.launch_ns


def test_tiles_are_counted_by_element() -> None:
    body = BODIES["matmul in tiles"]().body
    counts = count(body)
    (folded,) = [s for s in counts.stretches if s.operations]
    assert folded.trips == 8 * 6 * 32 and folded.is_vector and folded.axis == 1
    loads = {a.slot: (s.trips, s.is_vector) for s in counts.stretches for a in s.accesses}
    assert loads[1] == (2 * 2 * 6 * 4, False), "one element of a row for all lanes"
    assert loads[2] == (2 * 2 * 6 * 16, True), "a vector of columns for all rows"
    assert counts.registers >= 4, "an accumulator for each row"


def operations_of(value: Tensor) -> set[str]:
    return {o.name for s in work(value).stretches for o in s.operations}


def test_a_product_that_is_summed_is_one_multiply_add() -> None:
    assert operations_of(data(32, 48) @ data(48, 24)) == {"fma"}
    assert operations_of(data(32, 48).sum(1)) == {"add"}
    assert operations_of((data(32) * data(32)) + data(32)) == {"mul", "add"}
    whole = data(8, 8, dtype="int32") @ data(8, 8, dtype="int32")
    assert operations_of(whole) == {"simple"}, "integers have no such instruction"


def test_a_multiply_add_takes_its_own_time() -> None:
    value = data(256, 256) @ data(256, 256)
    counts = count(compiler.compile(value, Options(threads=1)).loops[0].body)
    slow, slower = (replace(FLAT, fma_ns=ns, vector_ns=0.001) for ns in (1.0, 3.0))
    times = [estimate(counts, model) - begin_ns(model) for model in (slow, slower)]
    assert times == pytest.approx([256**3, 3 * 256**3], rel=1e-3)
    assert FLAT.operation_ns("fma", 8, True) == 2 * FLAT.operation_ns("fma", 4, True)


FLAT = replace(
    DEFAULT, read=(1e9,) * 4, write=(1e9,) * 4, strided=(1e-9,) * 4, step_ns=1e-9, scalar_ns=1e-9,
    cores=4,
)  # fmt: skip
"""A machine on which moving data takes no time."""


def chosen(value: Tensor, choices: str) -> Work:
    options = Options(loops={"k0": choices})
    return count(compiler.compile(value, options).loops[0].body)


@pytest.mark.parametrize(("tasks", "cores", "expected"), [
    (4, 1, 1000), (4, 2, 500), (4, 4, 250), (4, 8, 250), (3, 2, 668), (3, 4, 334),
])  # fmt: skip
def test_tasks_run_on_as_many_cores_as_there_are(tasks: int, cores: int, expected: int) -> None:
    choices = chosen(data(1000) + 1.0, f"parallelize i0 {tasks}")
    assert choices.tasks == tasks
    model = replace(FLAT, vector_ns=1.0, scalar_ns=1.0, cores=cores)
    assert estimate(choices, model) - begin_ns(model) == pytest.approx(expected)


def test_what_only_the_first_task_does_is_not_shared_out() -> None:
    choices = chosen(data(1150) + 1.0, "tile i0 100; parallelize i0.0 4")
    left = [s for s in choices.stretches if s.tasks == 1]
    shared = [s for s in choices.stretches if s.tasks == 4]
    assert [sum(s.trips for s in each) for each in (shared, left)] == [1100, 50]
    assert {s.share(4) for s in shared} == {3 / 11} and {s.share(4) for s in left} == {1.0}


def test_cores_share_memory_alone() -> None:
    model = replace(DEFAULT, memory_cores=1.5)
    for level in range(4):
        one = model.moving_ns(level, 1e6, 2e6)
        limit = 1.5 if level == 3 else 4
        assert model.moving_ns(level, 1e6, 2e6, 4) == pytest.approx(one / limit)


def test_a_core_loads_while_it_computes() -> None:
    counts = count(BODIES["matmul in tiles"]().body)
    (inside,) = {s.block for s in counts.stretches if s.operations}
    together = [s for s in counts.stretches if s.block == inside]
    units = [sum(each) for each in zip(*(s.busy(DEFAULT) for s in together), strict=True)]
    assert len(together) > 1 and min(units[:2]) > 0
    one = replace(counts, stretches=tuple(together), footprints=())
    begun = sum(s.begun for s in together) * DEFAULT.step_ns
    waits = max(s.waits for s in together) * added_ns(DEFAULT)
    took = (max(*units, waits) + begun) * together[0].share(min(one.tasks, DEFAULT.cores))
    assert estimate(one, DEFAULT) == pytest.approx(begin_ns(DEFAULT) + took)


def test_rows_that_become_columns_in_registers_are_read_in_order() -> None:
    compilation = compiler.compile(data(256, 192).mT.contiguous(), Options(threads=1))
    assert "vectorize" in str(compilation.choices["k0"])
    for stretch in count(compilation.loops[0].body).stretches:
        assert all(access.is_contiguous for access in stretch.accesses)


def test_the_estimate_of_a_product_follows_the_threads_it_runs_on() -> None:
    value = data(512, 512) @ data(512, 512)
    one, two = (compiler.compile(value, Options(threads=n)).schedule.estimated_ns for n in (1, 2))
    assert 1 < (one - begin_ns(DEFAULT)) / (512**3 * DEFAULT.fma_ns) < 1.0 + UNHIDDEN
    assert one / two == pytest.approx(2, rel=0.15)


def test_scratch_memory_is_near() -> None:
    counts = count(BODIES["packed panel"]().body)
    assert {each.slot for each in counts.footprints} == {-1, 0, 1, 2}
    assert counts.traffic(1 << 20, {0: 1e9, 1: 1e9, 2: 1e9}).written == 64 * 4, "not to memory"
    written = {a.slot: s.trips for s in counts.stretches for a in s.accesses if a.is_write}
    assert written == {-1: 2 * 48, 0: 64}


# --- the space ------------------------------------------------------------------------------------


def space(value: Tensor) -> str:
    (loops,) = compiler.compile(value, Options(loops="plain")).loops
    return str(iteration_space(loops.body))


def test_the_space_of_a_product_is_serial() -> None:
    assert space(data(64, 784) @ data(784, 10)) == (
        "space: i0:64, i1:10, r2:784 reduction; serial i0 i1 r2"
    )


SPACES = {
    "matmul in tiles": "space: i0:8, i1:32, r2:6 reduction; block i0; vec i1; serial i0 i1 r2; "
    "unroll i0 by 4; vectorize i1 by 16",
    "masked tail": "space: i0:22; vec i0; serial i0; vectorize i0 by 8",
    "peeled row sum": "space: i0:3, r1:16 reduction, r1.2:5 reduction; vec r1; "
    "serial i0 r1 r1 r1.2; unroll r1 by 2; vectorize r1 by 8",
    "main and rest": "space: i0:3, i1:8, i1.2:3, r2:11 reduction; vec i1; serial i0 i1.2 r2; "
    "vectorize i1 by 8",
    "variable tiles": "space: i0:n ≤ 16, i0.2:n ≤ 4; vec i0; serial i0 i0.2; vectorize i0 by 8",
}


@pytest.mark.parametrize("name", SPACES)
def test_parts_are_tiles(name: str) -> None:
    assert str(iteration_space(BODIES[name]().body)) == SPACES[name]


def test_what_runs_further_is_masked_and_what_is_shared_out_has_tasks() -> None:
    tail = iteration_space(BODIES["masked tail"]().body).space
    assert tail.masked == (0,) and tail.tiles == ((3, 8),)
    tiled = iteration_space(BODIES["matmul in tiles"]().body)
    assert tiled.context.global_dims == (2, 1, 1)
    peeled = iteration_space(BODIES["peeled row sum"]().body).reduction
    assert peeled is not None and peeled.within == "tree" and peeled.axes == (1, 2)


def test_loops_that_become_vectors_are_mapped_so() -> None:
    assert space(data(64, 64) + 1.0) == "space: i2:4096; vec i2; vectorize i2 by 16"
    assert "by 8" in space(data(64, 64, dtype="float64") + 1.0)


def test_a_reduction_in_vectors_is_a_tree() -> None:
    (loops,) = compiler.compile(data(64, 512).sum(1), Options(loops="plain")).loops
    space = iteration_space(loops.body)
    assert space.reduction is not None and space.reduction.within == "tree"
    assert space.reduction.axes == space.space.mapping.vec


def test_every_item_of_a_schedule_has_its_space() -> None:
    schedule = compiler.compile((data(8, 8) @ data(8, 8)).softmax(1)).schedule
    assert len(schedule.spaces) == len(schedule.items)
    assert all(s is not None and s.context.device == "CPU" for s in schedule.spaces)
    (row, *_) = schedule.analysis
    assert row.registers > 0 and 0.0 <= row.occupancy <= 1.0

def test_a_fold_of_one_vector_waits_for_its_last_sum() -> None:
    value = data(1, 16_384).sum(1)
    alone = chosen(value, "tile r0 16 peel; vectorize r0.1")
    several = chosen(value, "tile r0 128 peel; tile r0.1 16 peel; unroll r0.1.0; vectorize r0.1.1")
    assert bound(alone, DEFAULT) == "latency" != bound(several, DEFAULT)
    waited = 16_384 / 16 * added_ns(DEFAULT)
    assert estimate(alone, DEFAULT) > begin_ns(DEFAULT) + waited
    assert estimate(several, DEFAULT) < begin_ns(DEFAULT) + waited
    whole = chosen(data(1, 16_384, dtype="int32").sum(1), "tile r0 16 peel; vectorize r0.1")
    assert all(s.waits == 0 for s in whole.stretches), "integers are added in one cycle"


def test_a_scan_waits_for_its_last_step_and_rows_side_by_side_hide_it() -> None:
    one, several = data(1, 4096).cumsum(1), data(4096, 64).cumsum(1)
    assert not any(s.is_vector for s in work(one).stretches)
    (loops,) = compiler.compile(several, Options(threads=1)).loops
    each = [estimate(made, DEFAULT) / n for made, n in
            ((work(one), 4096), (count(loops.body), 4096 * 64))]  # fmt: skip
    assert each[0] == pytest.approx(1.0, rel=0.2) and each[1] < each[0] / 2
    assert any(s.is_vector for s in count(of_columns()).stretches)


def of_columns() -> Body:
    """Sums down columns, as they are chosen."""
    (loops,) = compiler.compile(data(300, 256).cumsum(0), Options(threads=1)).loops
    return loops.body
