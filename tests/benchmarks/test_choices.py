"""The scan of what is chosen against plain loops: what counts as slower, and that kernels run."""

import pytest

from benchmarks.choices import Case, Pair, cases, chain, measured


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


def test_there_are_many_cases_of_many_kinds() -> None:
    every = list(cases())
    assert len(every) > 60 and len({case.dtype for case in every}) >= 6
