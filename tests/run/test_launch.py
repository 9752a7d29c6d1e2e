"""Runs of one foreign call: when there are such, what they do, and that they do nothing else."""

import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor, Variable, prepare
from compiler.core.errors import CompileError, DataError, DTypeError, ShapeError, SizeError
from compiler.device import allocator, cpu
from compiler.device.allocator import address_of
from compiler.run.execution_plan import ExecutionPlan
from compiler.run.launch import SMALL
from compiler.run.native import NativePlan
from compiler.threads.workers import WORKERS, native
from tests.evaluate import assert_same

Array = np.ndarray[Any, Any]
DATA = np.arange(12, dtype="f4").reshape(3, 4)
N = Variable("n", 1, 3)


def direct(plan: ExecutionPlan) -> bool:
    return plan._direct is not None


def assigned() -> Tensor:
    x = Tensor(DATA.copy())
    x.assign(x + 1)
    return x


PLANS: dict[str, tuple[bool, Callable[[], Any]]] = {
    "one kernel": (True, lambda: Tensor(DATA) + 1),
    "two results": (True, lambda: [Tensor(DATA) + 1, Tensor(DATA).sum()]),
    "many kernels": (True, lambda: ((Tensor(DATA) @ Tensor(DATA.T)).softmax() @ Tensor(DATA)) + 1),
    "another device": (True, lambda: Tensor(DATA).to("CPU:1") + 1),
    "an input": (False, lambda: Tensor(DATA)),
    "one result twice": (False, lambda: [Tensor(DATA) + 1] * 2),
    "a variable": (False, lambda: Tensor(DATA, symbolic={0: N}) + 1),
    "written in place": (False, assigned),
    "the interpreter": (False, lambda: Tensor(DATA).to("INTERPRET") + 1),
}


@pytest.mark.parametrize("name", PLANS)
def test_what_is_direct(name: str) -> None:
    is_direct, program = PLANS[name]
    assert direct(prepare(program())) is is_direct


def noted_plan(
    calls: list[str], monkeypatch: pytest.MonkeyPatch, program: Callable[[], Any]
) -> ExecutionPlan:
    """A plan, before its first run, whose foreign calls and allocations are noted."""
    def noting(name: str, usual: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*words: Any) -> Any:
            calls.append(name)
            return usual(*words)

        return noted

    small = cpu.MEMORY.small_maker
    monkeypatch.setattr(cpu.MEMORY, "small_maker", lambda *words: noting("memory", small(*words)))
    plan = prepare(program())
    native = plan.structure.native
    if native.only is not None:
        object.__setattr__(native, "only", noting("foreign", native.only))
    assert plan._direct is not None
    return plan


def test_a_tiny_run_is_one_foreign_call_and_makes_only_its_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiler.cache_clear()
    calls: list[str] = []
    plan = noted_plan(calls, monkeypatch, lambda: Tensor(DATA, name="x") + 1)
    plan.run()
    monkeypatch.setattr(cpu.MEMORY, "_block", None)
    monkeypatch.setattr(NativePlan, "_supply", None)
    monkeypatch.setattr(WORKERS, "pool", None)
    monkeypatch.setattr(ExecutionPlan, "_run", None)
    for number in range(5):
        calls.clear()
        x = DATA * number
        assert_same(plan.run([x])[0], x + 1)
        assert calls == ["memory", "foreign"]


def test_a_run_of_many_kernels_is_one_foreign_call(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones((8, 8), np.float32)
    made = Tensor(x)
    for number in range(6):
        made = (made @ Tensor(x * number)).relu()
    calls: list[str] = []
    usual = native()

    def run(*words: int) -> None:
        calls.append("foreign")
        usual.run(*words)

    monkeypatch.setattr("compiler.threads.workers.native", lambda: replace(usual, run=run))
    monkeypatch.setattr(WORKERS, "_made", None)  # nobody is woken
    compiler.cache_clear()
    plan = prepare(made, Options(kernel_operations=1))
    assert len(plan.structure.items) > 3 and plan.structure.native.threads == 1
    for _ in range(3):
        calls.clear()
        plan.run([x])
        assert calls == ["foreign"]


def python_calls(function: Callable[[], object]) -> int:
    """The Python functions that a call runs."""
    count = 0

    def noted(frame: Any, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(noted)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_little_is_done_in_python() -> None:
    """Run, direct, maker, address of input and of result, call, workspace; this file's own."""
    x = DATA.copy()
    plan = prepare(Tensor(x, name="x") + 1)
    plan.run([x])
    assert python_calls(lambda: plan.run([x])) <= 9


@pytest.mark.parametrize("size", (SMALL // 4, SMALL // 4 + 1, 100_000))
def test_results_are_kept_while_the_plan_runs_again(size: int) -> None:
    x = np.arange(size, dtype=np.float32)
    plan = prepare(Tensor(x, name="x") + 1)
    results = [plan.run([x * n])[0] for n in range(4)]
    for number, result in enumerate(results):
        assert result.flags.writeable and result.flags.c_contiguous
        assert_same(result, x * number + 1)
        result[...] = 99
    assert_same(plan.run()[0], x + 1)


def test_data_of_any_kind() -> None:
    plan = prepare(Tensor(DATA, name="x") * 2)
    fixed = DATA.copy()
    fixed.flags.writeable = False
    shifted = np.zeros(49, np.uint8)[1:].view("f4").reshape(3, 4)
    block = prepare(Tensor(DATA) + 1).run()[0]
    for given in (fixed, DATA[::-1], DATA.T.copy().T, DATA.astype(">f4"), shifted, block,
                  block[:, ::-1], DATA.view(np.matrix), Tensor(DATA)):  # fmt: skip
        for inputs in ([given], {"x": given}):
            assert_same(plan.run(inputs)[0], np.asarray(given, "f4") * 2)
    big = np.arange(24, dtype="f4").reshape(6, 4)
    assert_same(plan.run([big[3:]])[0], big[3:] * 2)
    whole = prepare(Tensor(big) + 0.5).run()[0]
    assert_same(plan.run([whole[3:]])[0], whole[3:] * 2)


@pytest.mark.parametrize(("given", "error"), [
    ([DATA[:2]], ShapeError), ([DATA.astype("f8")], DTypeError), ([[1.0]], DataError),
    ([DATA, DATA], DataError), ({"y": DATA}, DataError), ("x", DataError),
])  # fmt: skip
def test_what_does_not_fit_is_refused_with_its_line(
    given: Any, error: type[CompileError]
) -> None:
    plan = prepare(Tensor(DATA, name="x") + 1)
    plan.run()
    with pytest.raises(error) as caught:
        plan.run(given)
    assert "test_launch.py" in str(caught.value) and "plan.run(given)" in str(caught.value)
    assert_same(plan.run([DATA])[0], DATA + 1)


def test_a_placeholder_has_to_be_given_each_time() -> None:
    plan = prepare(Tensor.placeholder(3, 4, dtype="float32", name="x") + Tensor(DATA))
    for _ in range(2):
        with pytest.raises(DataError, match="placeholder x has no data"):
            plan.run()
        assert_same(plan.run([DATA])[0], DATA * 2)


def test_own_data_are_taken_again_where_none_are_given() -> None:
    x, y = Tensor(DATA, name="x"), Tensor(DATA * 10, name="y")
    plan = prepare(x - y)
    assert_same(plan.run([DATA * 2, DATA])[0], DATA)
    assert_same(plan.run([DATA * 2])[0], DATA * 2 - DATA * 10)
    assert_same(plan.run({y: DATA})[0], DATA - DATA)
    assert_same(plan.run()[0], DATA - DATA * 10)


def test_a_budget_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = prepare(Tensor(np.zeros(10_000, "f4")) + 1)
    plan.run()
    monkeypatch.setattr(cpu.MEMORY, "budget", 100)
    with pytest.raises(SizeError, match="memory"):
        plan.run()


def test_threads_share_a_plan_and_keep_what_they_get() -> None:
    plan = prepare((Tensor(np.zeros((8, 8), "f4"), name="x") @ Tensor(np.eye(8, dtype="f4"))) + 1)
    wrong: list[int] = []

    def work(number: int) -> None:
        kept = []
        for turn in range(200):
            x = np.full((8, 8), number * 1000 + turn, np.float32)
            kept.append((plan.run([x])[0], x + 1))
        wrong.extend(number for got, value in kept if (got != value).any())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("array", [
    DATA, DATA[1:, 2:], DATA.T, DATA[::-1], np.zeros((0, 3)), np.array(3.0),
    np.frombuffer(b"some bytes", np.uint8), np.array(["text"]),
], ids=lambda a: str(a.shape))  # fmt: skip
def test_addresses_are_those_that_numpy_gives(
    array: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert address_of(array) == array.ctypes.data
    monkeypatch.setattr(allocator, "_IS_BEHIND_HEADER", False)
    assert address_of(array) == array.ctypes.data
