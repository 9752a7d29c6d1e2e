"""Programs that differ in numbers alone are compiled three times, then once for all others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor, Variable
from compiler.run.numbers import APART

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(14)
DATA = RNG.standard_normal((5, 40)).astype(np.float32)
NUMBERS = [*np.linspace(-3, 3, 9).tolist(), 0.0, -0.0, 1.0, 1e-40, float("inf"), float("nan")]


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No program is known, nor kept in a file by another test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiler.cache_clear()


def compiled() -> int:
    """How many programs were compiled."""
    return compiler.cache_info().schedules.misses


def test_a_loop_over_numbers_is_compiled_a_few_times() -> None:
    x = Tensor(DATA)
    for i in range(50):
        np.testing.assert_array_equal((x + float(i)).numpy(), DATA + np.float32(i))
    info = compiler.cache_info()
    assert info.schedules.misses == info.programs.misses == APART + 1
    assert info.shared == 50 - APART - 1


PROGRAMS: dict[str, Callable[[Any, float], Any]] = {
    "add": lambda x, n: x + n,
    "sub": lambda x, n: n - x,
    "mul": lambda x, n: x * n,
    "div": lambda x, n: x / n,
    "max": lambda x, n: x.maximum(n),
    "min": lambda x, n: x.minimum(n),
    "less": lambda x, n: x < n,
    "where": lambda x, n: (x < 0).where(n, x),
    "several": lambda x, n: ((x * n).relu() / 3.0 - n).sum(1),
    "power": lambda x, n: x.abs() ** abs(n),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_bits_are_those_of_the_program_with_the_number_in_it(
    program: Callable[[Any, float], Any],
) -> None:
    x = Tensor(DATA)
    expected = [compiler.compile(program(x, n)).run()[0] for n in NUMBERS]
    shared = [program(x, n).numpy() for n in NUMBERS]
    for ours, theirs in zip(shared, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        signs = np.signbit(ours[ours == 0]) if ours.dtype.kind == "f" else None
        assert signs is None or np.array_equal(signs, np.signbit(theirs[theirs == 0]))


def test_sums_may_be_in_another_order() -> None:
    x = Tensor(DATA)
    for i in range(8):
        made = ((x * float(i)) @ x.swapaxes(0, 1)).numpy()
        np.testing.assert_allclose(made, DATA * np.float32(i) @ DATA.T, rtol=1e-4, atol=1e-4)
    assert compiled() == APART + 1


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float16, np.float64])
def test_other_types(dtype: Any) -> None:
    array = np.arange(10).astype(dtype)
    x = Tensor(array)
    for i in range(12):
        np.testing.assert_array_equal((x * 3 + i).numpy(), array * dtype(3) + dtype(i))
    assert compiled() == APART + 1


def test_only_what_differs_becomes_data() -> None:
    """A number that stays the same stays in the kernel, which may be simpler for it."""
    x = Tensor(DATA)
    for i in range(8):
        (x * 1.0 + float(i)).numpy()
    assert compiled() == APART + 1
    for i in range(8):
        (x * float(i) + 1.0).numpy()
    assert compiled() == APART + 2, "now both are data"


def test_a_power_keeps_its_number() -> None:
    x = Tensor(np.abs(DATA))
    for i in range(8):
        np.testing.assert_allclose((x**i).numpy(), np.abs(DATA) ** i, rtol=1e-5)
    assert compiled() == 8


def test_a_step_that_writes_in_place() -> None:
    w, expected = Tensor(DATA.copy()), DATA.copy()
    for i in range(9):
        w.assign(w - w * (1 / (2 + i)))
        expected -= expected * np.float32(1 / (2 + i))
        np.testing.assert_allclose(w.numpy(), expected, rtol=1e-6)
    assert compiled() == APART + 1


def test_on_another_device_and_with_variables() -> None:
    n = Variable("n", 1, 40)
    for i in range(8):
        there = Tensor(DATA).to("CPU:1") + float(i)
        np.testing.assert_array_equal(there.numpy(), DATA + np.float32(i))
        assert there.device == "CPU:1"
        rows = Tensor(DATA.T[: i + 3].copy(), symbolic={0: n}) + float(i)
        np.testing.assert_array_equal(rows.numpy(), DATA.T[: i + 3] + np.float32(i))
    assert compiled() <= 2 * (APART + 1) + 8


def test_in_shards() -> None:
    for i in range(6):
        cut = Tensor(DATA).shard(("CPU:0", "CPU:1"), axis=1) + float(i)
        np.testing.assert_array_equal(cut.numpy(), DATA + np.float32(i))


def test_plans_have_only_the_inputs_that_were_written() -> None:
    x = Tensor(DATA, name="x")
    for i in range(6):
        (x + float(i)).numpy()
        plan = compiler.prepare(x + float(i))
        assert len(plan.inputs) == 1
        np.testing.assert_array_equal(plan.run()[0], DATA + np.float32(i))
