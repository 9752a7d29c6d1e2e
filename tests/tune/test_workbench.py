"""The workbench: real kernels on data of their own; wrong results never pass."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.loops.choices import PLAIN, parse
from compiler.pipeline.kernels import CompiledKernel
from compiler.tune import workbench
from compiler.tune.duel import LEAST_ROUNDS
from compiler.tune.trials import Refused
from compiler.tune.workbench import Workbench, difference, random_array


def bench(value: Tensor, **given: Any) -> Workbench:
    options = Options(cache=False, **given)
    ((body, name),) = compiler.compile(value, options)._scheduled.outlined.bodies.items()
    return Workbench(name, body, options)


def ones(*shape: int, dtype: type = np.float32) -> Tensor:
    return Tensor(np.ones(shape, dtype))


def test_choices_are_timed() -> None:
    made = bench(ones(1000) * 2.0 + ones(1000))
    took = made.measure(made.default.choices, float("inf"))
    assert 0 < took < 1
    assert 0 < made.measure(parse("tile i0 8; vectorize i0.1"), took) < 1


def test_pairs_are_as_many_as_asked_for() -> None:
    made = bench(ones(1000) * 2.0)
    made.measure(made.default.choices, float("inf"))
    pairs = made.compare(made.default.choices, PLAIN, 6, 60.0)
    assert len(pairs) == 6 and all(a > 0 and b > 0 for a, b in pairs)
    assert len(made.compare(made.default.choices, PLAIN, 99, 0.0)) == LEAST_ROUNDS


REFUSED = {
    "an axis that is none": ("tile i7 16", "no axis i7"),
    "an axis too long to unroll": ("unroll i0", "1000 iterations"),
    "code that was measured": ("reorder i0", "the same code"),
}


@pytest.mark.parametrize(("choices", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_legal_or_new_is_refused(choices: str, why: str) -> None:
    made = bench(ones(1000) * 2.0, loops="plain")
    made.measure(PLAIN, float("inf"))
    with pytest.raises(Refused, match=why):
        made.measure(parse(choices), 1.0)


def test_what_is_estimated_far_slower_does_not_run() -> None:
    made = bench(ones(256, 256) @ ones(256, 256))
    made.measure(made.default.choices, float("inf"))
    with pytest.raises(Refused, match="slower than the default"):
        made.measure(PLAIN, 1.0)


def test_what_goes_wrong_in_a_pass_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench(ones(1000) * 2.0)

    def broken(*args: object) -> CompiledKernel:
        raise KeyError("a pass")

    monkeypatch.setattr(workbench, "compile_kernel", broken)
    with pytest.raises(Refused, match="KeyError"):
        made.measure(PLAIN, 1.0)


def test_wrong_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = bench(ones(64) * 3.0)
    other = bench(ones(64) * 3.5)
    made.measure(made.default.choices, float("inf"))
    right = workbench.compile_kernel

    def wrong(name: str, body: Any, options: Options, number: int) -> CompiledKernel:
        return replace(right(name, other.default.body, options, number), body=body)

    monkeypatch.setattr(workbench, "compile_kernel", wrong)
    with pytest.raises(Refused, match="another result"):
        made.measure(parse("tile i0 8; vectorize i0.1"), 1.0)
    with pytest.raises(Refused, match="another result"):
        made.compare(made.default.choices, PLAIN, 3, 1.0)


def test_what_is_changed_in_place_is_restored() -> None:
    made = bench(ones(64).realize().scatter_add(0, [1, 1, 5], ones(3)))
    made.measure(made.default.choices, float("inf"))
    assert made._data is not None and made._data.in_place
    one, two = (made._runner(made.default.choices).results() for _ in range(2))
    assert one and all(np.array_equal(one[slot], two[slot]) for slot in one)
    assert any(not np.array_equal(one[slot], made._data.originals[slot]) for slot in one)


DTYPES = (dtypes.bool_, dtypes.int8, dtypes.uint64, dtypes.float16, dtypes.float32, dtypes.float64)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_data_are_small_aligned_and_the_same(dtype: DType) -> None:
    one, two = (random_array(dtype, 5000, np.random.default_rng(3)) for _ in range(2))
    assert one.ctypes.data % 64 == 0 and one.dtype == dtype.numpy and np.array_equal(one, two)
    assert len(np.unique(one)) > 1 and one.min() >= 0 and one.max() < 8


def f32(*values: float) -> Any:
    return np.array(values, np.float32)


DIFFERENCES = {
    "equal": (f32(1, 2), f32(1, 2), 1, False),
    "one unit": (f32(1, 2), f32(1, 2 + 2e-7), 1, False),
    "far apart": (f32(1, 2), f32(1, 2.1), 1, True),
    "more is allowed of a fold": (f32(1, 1000), f32(1, 1000.02), 10_000, False),
    "not of one that folds nothing": (f32(1, 1000), f32(1, 1000.02), 1, True),
    "both are no number": (f32(np.nan, 1), f32(np.nan, 1), 1, False),
    "one is no number": (f32(1, 1), f32(np.nan, 1), 1, True),
    "whole numbers": (np.arange(3), np.arange(3), 9, False),
    "other whole numbers": (np.arange(3), np.arange(3) + 1, 9, True),
    "nothing at all": (f32(), f32(), 1, False),
}


@pytest.mark.parametrize(("one", "two", "folded", "differs"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_what_counts_as_another_result(one: Any, two: Any, folded: int, differs: bool) -> None:
    assert bool(difference(one, two, folded)) is differs


def test_choices_are_timed_beside_the_default() -> None:
    made = bench(ones(1000) * 2.0 + ones(1000))
    pairs = made.beside(parse("tile i0 8; vectorize i0.1"), 0.002)
    assert len(pairs) >= LEAST_ROUNDS and all(0 < t < 1 for pair in pairs for t in pair)
    assert len(made.beside(PLAIN, 0.0)) == 2  # one run takes longer than there is time
    with pytest.raises(Refused, match="no axis i7"):
        made.beside(parse("tile i7 16"), 0.0)
