"""Machine code in every mode, on any number of threads and at any buffer address, many times."""

import itertools
import threading
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.settings.options import Options
from tests.evaluate import EAGER

Array = np.ndarray[Any, Any]
SETTINGS = [
    Options(mode=mode, threads=threads, machine=EAGER)
    for mode, threads in itertools.product(("fast", "explain"), (1, 2))
]
SIZES = (1, 3, 17, 33, 67)


def program(x: Tensor, w: Tensor) -> Tensor:
    """A product, an epilogue, statistics of rows, and a view of the result."""
    return ((x @ w).relu() + 0.5).softmax(1)[:, 1:]


def expected(x: Array, w: Array) -> Array:
    """The same on NumPy, in float64."""
    y = np.exp(np.maximum(x.astype(np.float64) @ w.astype(np.float64), 0.0) + 0.5)
    return (y / y.sum(1, keepdims=True))[:, 1:]


def apart(*shape: int, seed: int, offset: int) -> Array:
    """An array that begins `offset` bytes behind a multiple of 64."""
    count = int(np.prod(shape))
    memory = np.zeros(count * 4 + 128, np.uint8)
    begin = -memory.ctypes.data % 64 + offset
    values = memory[begin : begin + count * 4].view(np.float32).reshape(shape)
    values[...] = np.random.default_rng(seed).standard_normal(shape)
    return values


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("options", SETTINGS, ids=lambda o: f"{o.mode}-{o.threads}")
def test_modes_threads_and_buffers_anywhere(options: Options, n: int) -> None:
    x, w = apart(5, n, seed=n, offset=4), apart(n, n + 2, seed=n + 1, offset=12)
    plan = compiler.prepare(program(Tensor(x, name="x"), Tensor(w, name="w")), options)
    for offset in (0, 4, 28, 60):
        moved = [apart(5, n, seed=n, offset=offset), apart(n, n + 2, seed=n + 1, offset=offset)]
        np.testing.assert_allclose(plan.run(moved)[0], expected(x, w), 1e-4, 1e-6)


def test_every_stage_agrees_on_transformed_loops() -> None:
    x, w = apart(33, 17, seed=0, offset=4), apart(17, 31, seed=1, offset=4)
    report = compiler.compile(program(Tensor(x), Tensor(w)), SETTINGS[1]).check()
    assert [row for row in report.rows if row.ok is not True] == [], str(report)


def test_a_plan_that_runs_often_and_on_many_threads() -> None:
    x, w = apart(33, 17, seed=0, offset=4), apart(17, 31, seed=1, offset=4)
    plan = compiler.prepare(program(Tensor(x, name="x"), Tensor(w, name="w")), SETTINGS[1])
    first, wrong = plan.run([x, w])[0].copy(), list[int]()

    def runs() -> None:
        for turn in range(250):
            if not np.array_equal(plan.run([x, w])[0], first):
                wrong.append(turn)

    started = [threading.Thread(target=runs) for _ in range(4)]
    for each in started:
        each.start()
    for each in started:
        each.join()
    np.testing.assert_allclose(first, expected(x, w), 1e-4, 1e-6)
    assert wrong == []
