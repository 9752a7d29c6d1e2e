"""First and second derivatives, in forward and reverse mode, equal JAX's."""

import pytest

pytest.importorskip("jax")

from tests.gradients import elements, folds, moves, products
from tests.gradients.case import Case, check

CASES = [*elements.CASES, *folds.CASES, *moves.CASES, *products.CASES]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_derivatives(case: Case, dtype: str) -> None:
    check(case, dtype)
