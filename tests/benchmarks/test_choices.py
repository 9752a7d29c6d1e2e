"""The scan of what is chosen against plain loops: what counts as slower, and that kernels run."""

import numpy as np
import pytest

import compiler
from benchmarks.choices import Case, Pair, Program, cases, chain, kernels_of, measured
from compiler import Tensor


@pytest.mark.parametrize(("chosen", "plain", "is_slower"), [
    ((1.2e-6, 1.3e-6), (1e-6, 1.1e-6), True),
    ((1.05e-6, 1.3e-6), (1e-6, 1.1e-6), False),
    ((1.2e-6, 1.15e-6), (1e-6, 1.1e-6), False),
    ((12e-9, 13e-9), (10e-9, 11e-9), False),
    ((1e-6, 1e-6), (2e-6, 2e-6), False),
])  # fmt: skip
def test_slower_is_by_share_and_beyond_noise(
    chosen: tuple[float, float], plain: tuple[float, float], is_slower: bool
) -> None:
    assert Pair(chosen, plain).is_slower is is_slower


@pytest.mark.parametrize("case", [
    Case("chain", chain, ((33,),) * 3), Case("sums", lambda x: x.sum(1), ((5, 70),), "int32"),
], ids=lambda case: case.name)  # fmt: skip
def test_both_run_and_agree(case: Case) -> None:
    found = measured(case, 0.0)
    assert all(seconds > 0 for seconds in (*found.chosen, *found.plain))


@pytest.mark.parametrize("program", [lambda x: x + 1, lambda x: (x + 1).sum(0) * x.sum(1)])
def test_what_is_measured_are_the_kernels(program: Program) -> None:
    plan = compiler.prepare(program(Tensor(np.arange(900, dtype=np.float32).reshape(30, 30))))
    expected = plan.run()[0].copy()
    call = kernels_of(plan)
    (result,) = call.memory[1]  # type: ignore[attr-defined]
    result[...] = -1
    call()
    np.testing.assert_array_equal(result, expected)


def test_there_are_many_cases_of_many_kinds() -> None:
    every = list(cases())
    assert len(every) > 60 and len({case.dtype for case in every}) >= 6
