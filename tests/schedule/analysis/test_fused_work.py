"""A fused kernel in place of two: its work, and the estimated change of time with its sign."""

import numpy as np
import pytest

import compiler
from compiler import Compilation, Tensor
from compiler.loops.count import count
from compiler.machines.model import DEFAULT
from compiler.schedule.analysis.fused_work import fused_ns, fused_work
from compiler.schedule.analysis.opportunities import FusionOpportunity
from compiler.schedule.analysis.reuse import last_touched
from compiler.schedule.analysis.traffic import Footprint, Loop
from compiler.schedule.analysis.work import Access, Operation, Stretch, Work, begin_ns, estimate
from compiler.schedule.items import Kernel

EXP, ADD = Operation("exp", 12, 4), Operation("add", 1, 4)
WRITE, READ = Access(0, 4, True, 1, 400), Access(1, 4, False, 1, 400)


def one(operation: Operation) -> Work:
    """A loop of a hundred that reads argument 1 and writes argument 0."""
    stretch = Stretch(100, True, 0, (operation,), (WRITE, READ), block=1)
    loops = (Loop(0, 100, 1),)
    return Work((stretch,), (Footprint(0, True, 4, 400, loops),
                             Footprint(1, False, 4, 400, loops)), 3)  # fmt: skip


def test_what_passes_through_memory_is_neither_written_nor_read() -> None:
    first, second = fused_work(one(EXP), one(ADD), unwritten=[0], unread=[1])
    assert [(it.operations, it.accesses) for it in first.stretches] == [((EXP,), (READ,))]
    assert [(it.operations, it.accesses) for it in second.stretches] == [((ADD,), (WRITE,))]
    assert [(it.slot, it.is_write) for it in first.footprints] == [(1, False)]
    assert [(it.slot, it.is_write) for it in second.footprints] == [(0, True)]


def test_what_is_repeated_is_done_as_often() -> None:
    first, second = fused_work(one(EXP), one(ADD), 4.0)
    assert [it.trips for made in (first, second) for it in made.stretches] == [400, 100]
    assert first.traffic(64, 1e9).read == 4 * second.traffic(64, 1e9).read > 0


def test_one_kernel_is_begun_once_and_does_the_work_of_both() -> None:
    both = estimate(one(EXP), DEFAULT) + estimate(one(ADD), DEFAULT)
    assert fused_ns(fused_work(one(EXP), one(ADD)), DEFAULT) == both - begin_ns(DEFAULT)
    assert fused_ns(fused_work(one(EXP), one(ADD), 1, [0], [1]), DEFAULT) < both - 240


def missed(program: object) -> tuple[Compilation, FusionOpportunity]:
    compilation = compiler.compile(program)
    found = [each for each in compilation.schedule.opportunities if not each.taken]
    return compilation, found[0]


def separately(made: Compilation, found: FusionOpportunity) -> int:
    return sum(made.schedule.analysis[it].estimated_ns for it in (found.first, found.second))


def rng(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(0).standard_normal(shape, np.float32))


def test_the_change_is_the_one_kernel_less_the_two() -> None:
    made, found = missed((rng(64, 32).sum(1).contiguous() * 2).exp())
    bodies = {loops.body: loops.body for loops in made.loops}
    assert len(bodies) == 2
    kernels = [made.schedule.items[it].operation for it in (found.first, found.second)]
    works = [count(it.body) for it in made.loops]
    assert all(isinstance(it, Kernel) for it in kernels)
    passed = kernels[0].writes[0]
    inside = fused_work(*works, 1.0, [kernels[0].arguments.index(passed)],
                        [kernels[1].arguments.index(passed)])  # fmt: skip
    since = last_touched(made.schedule.items, made.schedule.memory_plan)
    expected = fused_ns(inside, DEFAULT, (since[0], since[1])) - separately(made, found)
    assert found.change == pytest.approx(expected, abs=1.0)
    assert found.change < 0 < found.score
    assert str(found).split()[4:6] == [f"−{-found.change / 1000:.2f}", "µs"]


def test_work_that_is_repeated_costs_and_says_so() -> None:
    hidden = (rng(64, 32) @ rng(32, 16)).relu()
    made, found = missed(hidden @ rng(16, 8))
    assert found.change > 0 > found.score
    (fused,) = (it for it in found.reason.numbers if it.name == "as one kernel")
    assert fused.limit == separately(made, found)
    assert fused.value - fused.limit == pytest.approx(found.change)
    assert "+" in str(found)


def test_a_kernel_that_others_read_stays_beside_the_fused_one() -> None:
    x = rng(64, 64)
    compilation = compiler.compile([(w := x.sum(1, keepdim=True).contiguous()) + 1, (x - w).exp()])
    pairs = [it for it in compilation.schedule.opportunities if not it.taken and it.first == 0]
    assert len(pairs) == 2
    for each in pairs:
        (fused,) = (it for it in each.reason.numbers if it.name == "as one kernel")
        assert fused.limit == compilation.schedule.analysis[each.second].estimated_ns


def test_what_was_taken_changed_what_the_partition_compared() -> None:
    schedule = compiler.compile(rng(64, 32).softmax(1)).schedule
    (exp,) = (it for it in schedule.opportunities if it.value.startswith("exp"))
    (choice,) = (n for n in exp.reason.numbers if n.name == "computed where it is read")
    assert choice.limit is not None
    assert exp.change == pytest.approx(choice.value - choice.limit)
