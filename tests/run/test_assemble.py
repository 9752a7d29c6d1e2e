"""Schedules as steps for the driver: tasks, levels, what Python runs between, errors, threads."""

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor, Variable, custom
from compiler.core import dtypes
from compiler.core.errors import CompileError, DataError
from compiler.device import cpu
from compiler.device.program import Program
from compiler.graph.nodes import Buffer
from compiler.run import overlap
from compiler.run.assemble import assemble
from compiler.run.native import NativePlan, StepRun
from compiler.schedule.analysis.share import share
from compiler.schedule.items import ScheduleItem
from tests.programs_of_tasks import streaming, threaded
from tests.schedule.items import BODY, costs, schedule

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(11)


def array(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def floats(unique: int, size: int) -> Buffer:
    return Buffer((), unique, (size,), dtypes.float32, f"b{unique}")


def nobody(item: ScheduleItem, held: Mapping[Buffer, Array]) -> None:
    raise AssertionError(f"item {item.item_id} is no step")


def chain(
    program: Program, size: int, length: int, options: Mapping[str, int]
) -> tuple[NativePlan, Buffer]:
    """`length` kernels, each on what the one before it made."""
    buffers = [floats(1, size), *(floats(-1 - n, size) for n in range(length))]
    pairs = [(buffers[n + 1], buffers[n]) for n in range(length)]
    items = schedule([(n, n + 1) for n in range(length - 1)], length, pairs)
    programs = {(BODY, "CPU"): program}
    levels = overlap.plan_levels(items, programs, costs(*[1] * length))
    memory = share(items, [buffers[-1]])
    return assemble(levels, programs, [buffers[0]], memory, **options), buffers[-1]


@pytest.mark.parametrize("scratch", (0, 40_001))
@pytest.mark.parametrize("tasks", (1, 2, 3, 100))
@pytest.mark.parametrize("threads", (1, 2, 5))
def test_kernels_of_several_tasks_in_a_chain(tasks: int, threads: int, scratch: int) -> None:
    size = 257
    plan, result = chain(threaded(tasks, size, scratch), size, 6, {"threads": threads})
    assert len(plan.parts) == 1 and len(plan.steps) == 6 and plan.threads == min(tasks, threads)
    for _ in range(3):
        x = array(size)
        np.testing.assert_array_equal(plan.run([x], {}, nobody)[result], x)
    odd, result = chain(threaded(tasks, size, scratch), size, 5, {"threads": threads})
    np.testing.assert_array_equal(odd.run([x], {}, nobody)[result], -x)


@pytest.mark.parametrize("scratch", (0, 40_001))
def test_one_kernel_of_one_task_needs_no_driver(
    scratch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 257
    program = threaded(1, size, scratch)
    monkeypatch.setattr("compiler.run.native.native", None)
    monkeypatch.setattr("compiler.run.assemble.native", None)
    plan, result = chain(program, size, 1, {"threads": 2})
    for x in (array(size), array(size)):
        np.testing.assert_array_equal(plan.run([x], {}, nobody)[result], -x)
    assert plan.only is not None
    monkeypatch.undo()
    for several in (chain(program, size, 2, {}), chain(threaded(2, size, 0), size, 1, {})):
        assert several[0].only is None


@pytest.mark.parametrize(("size", "budget", "is_kept"),
                         [(64, None, True), (64, 2**30, False), (2**17, None, True),
                          (2**18, None, False)])  # fmt: skip
def test_a_small_arena_stays_for_the_next_run(
    size: int, budget: int | None, is_kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu.MEMORY, "budget", budget)
    plan, result = chain(threaded(1, size, 0), size, 6, {"threads": 1})
    data = [array(size), array(size)]
    for x in (data[0], data[0], data[1], data[0]):
        np.testing.assert_array_equal(plan.run([x], {}, nobody)[result], x)
    assert [space.arena is not None for space in plan.free] == [True] * is_kept


def test_a_program_of_several_tasks_by_itself() -> None:
    for scratch in (0, 50_000):
        program = threaded(7, 50, scratch)
        x, out = array(50), np.zeros(50, np.float32)
        program.execute([out.ctypes.data, x.ctypes.data], (0,))
        np.testing.assert_array_equal(out, -x)
        assert program.tasks == 7 and program.task is not None


def test_lines_are_streamed_only_to_whole_lines() -> None:
    """A buffer of the user's may begin anywhere: another program writes it."""
    program, size = streaming(), 64
    assert program.aligned == (0,) and program.unstreamed().aligned == ()
    assert program.unstreamed() is program.unstreamed()
    out, x = floats(1, size), floats(2, size)
    items = schedule((), 1, [(out, x)])
    levels = overlap.plan_levels(items, {(BODY, "CPU"): program}, costs(1))
    plan = assemble(levels, {(BODY, "CPU"): program}, [out, x], None)
    block = np.zeros(64 + 128, np.float32)
    first = -block.ctypes.data % 64 // 4
    for start in (first, first + 1, first + 15, first):
        target, data = block[start : start + size], array(size)
        plan.run([target, data], {}, nobody)
        np.testing.assert_array_equal(target, data)
        target[:] = 0
        program.execute([target.ctypes.data, data.ctypes.data])
        np.testing.assert_array_equal(target, data)
    assert not block[:first].any() and not block[first + size + 15 :].any()


def test_a_schedule_without_items() -> None:
    plan = assemble((), {}, [floats(1, 4)], None)
    assert plan.parts == () and plan.run([array(4)], {}, nobody) == {}


def branches(count: int, size: int) -> tuple[list[Tensor], list[Array]]:
    x = array(size, size)
    others = [array(size, size) for _ in range(count)]
    first = Tensor(x, name="x")
    return [first @ Tensor(w) for w in others], [x @ w for w in others]


@pytest.mark.parametrize("count", (2, 3, 9))
def test_long_kernels_are_the_tasks_of_one_step(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlap, "WORTH_A_THREAD_NS", 1)
    compiler.cache_clear()
    tensors, expected = branches(count, 48)
    for threads, steps in ((1, count), (2, 1), (4, 1)):
        plan = compiler.prepare(tensors, Options(threads=threads))
        native = plan.structure.native
        assert len(native.steps) == steps and native.threads == (1 if steps > 1 else
                                                                 min(threads, count))  # fmt: skip
        for _ in range(20):
            for got, value in zip(plan.run(), expected, strict=True):
                np.testing.assert_allclose(got, value, rtol=1e-3, atol=1e-4)
    compiler.cache_clear()


@custom.host()
def doubled(x: Array) -> Array:
    return 2 * x


@custom.host()
def refused(x: Array) -> Array:
    if x.min() < 0:
        raise ValueError("less than nothing")
    return x


@custom.host()
def nested(x: Array) -> Array:
    return (Tensor(x) @ Tensor(np.eye(len(x), dtype=np.float32)) + 1).numpy()


def kinds(plan: compiler.ExecutionPlan) -> list[str]:
    parts = plan.structure.native.parts
    return ["steps" if isinstance(part, StepRun) else "item" for part in parts]


def test_python_runs_between_two_calls() -> None:
    x = array(6, 6)
    value = Tensor(x, name="x").exp().sum(1)
    plan = compiler.prepare(doubled(value).relu() - 1)
    assert kinds(plan) == ["steps", "item", "steps"]
    for given in (x, array(6, 6)):
        np.testing.assert_allclose(plan.run([given])[0], 2 * np.exp(given).sum(1) - 1, rtol=1e-4)


def test_a_function_that_runs_a_program_itself() -> None:
    x = array(5, 5)
    plan = compiler.prepare(nested(Tensor(x, name="x") * 2).sum(1))
    np.testing.assert_allclose(plan.run()[0], (2 * x + 1).sum(1), rtol=1e-4, atol=1e-5)


def test_a_plan_runs_again_after_an_error() -> None:
    x = np.abs(array(4, 4))
    plan = compiler.prepare(refused(Tensor(x, name="x").sum(1)) + 1)
    for _ in range(3):
        with pytest.raises(CompileError, match="less than nothing"):
            plan.run([-x])
        np.testing.assert_allclose(plan.run()[0], x.sum(1) + 1, rtol=1e-5)


def test_the_interpreting_device_is_run_by_python() -> None:
    x = array(3, 4)
    plan = compiler.prepare(Tensor(x).exp().sum(1), Options(device="INTERPRET"))
    assert set(kinds(plan)) == {"item"}
    np.testing.assert_allclose(plan.run()[0], np.exp(x).sum(1), rtol=1e-5)


def test_counters_and_variables_are_words() -> None:
    x = array(20, 3)
    n = Variable("n", 1, 20)
    looped = compiler.prepare(compiler.repeat(5, lambda i, s: s * 2 + i, Tensor(x, name="x")))
    expected = x
    for i in range(5):
        expected = expected * 2 + np.float32(i)
    np.testing.assert_allclose(looped.run()[0], expected, rtol=1e-5)
    plan = compiler.prepare(Tensor(x[:7], name="x", symbolic={0: n}).exp().sum(0))
    for size in (7, 20, 1):
        got = plan.run([x[:size]])[0]
        np.testing.assert_allclose(got, np.exp(x[:size]).sum(0), rtol=1e-4)


def test_two_plans_at_once() -> None:
    """Each from two Python threads, threaded kernels and branches both."""
    size, wrong = 300, []
    plan, result = chain(threaded(8, size, 40_000), size, 9, {"threads": 3})
    tensors, expected = branches(4, 40)
    other = compiler.prepare(tensors)

    def first(seed: int) -> None:
        for number in range(100):
            x = np.full(size, seed * 1000 + number, np.float32)
            if not np.array_equal(plan.run([x], {}, nobody)[result], -x):
                wrong.append(seed)

    def second(seed: int) -> None:
        for _ in range(100):
            made = other.run()
            if not all(np.allclose(a, b, 1e-3, 1e-4) for a, b in zip(made, expected, strict=True)):
                wrong.append(seed)

    threads = [threading.Thread(target=f, args=(n,)) for n in range(2) for f in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def test_results_that_are_dropped_give_their_memory_back() -> None:
    plan = compiler.prepare(Tensor(array(64, 64), name="x").exp().sum(1, keepdim=True) + 1)
    places = {plan.run()[0].ctypes.data for _ in range(50)}
    assert len(places) <= 2, "the memory of a result that was dropped is used again"


@pytest.mark.parametrize("threads", (-1, 257, 1.5, "2"))
def test_a_number_of_threads_that_is_none_is_refused(threads: Any) -> None:
    with pytest.raises(DataError, match="no such number of threads"):
        Options(threads=threads)


def test_dense_copies_are_steps_and_others_parts() -> None:
    x = array(6, 4)
    for moved, parts in ((lambda t: t[1:3], 1), (lambda t: t[:, 1:3], 3)):
        plan = compiler.prepare(moved(Tensor(x, name="x") * 2).to("CPU:1") + 1)
        assert len(plan.structure.native.parts) == parts
        np.testing.assert_array_equal(plan.run()[0].reshape(moved(x).shape), moved(x) * 2 + 1)


def test_copies_alone_need_no_driver() -> None:
    plan = compiler.prepare(Tensor(array(4), name="x").to("CPU:1"))
    assert not any(isinstance(part, StepRun) for part in plan.structure.native.parts)
