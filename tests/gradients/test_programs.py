"""Random programs: gradients equal finite differences, in forward and reverse mode."""

import pytest

from tests.gradients.programs import difference


@pytest.mark.parametrize("seed", range(0, 200, 40))
def test_gradients(seed: int) -> None:
    for one in range(seed, seed + 40):
        assert not difference(one, is_compiled=one % 20 == 0)


@pytest.mark.parametrize("seed", range(1000, 1020, 10))
def test_gradients_of_gradients(seed: int) -> None:
    for one in range(seed, seed + 10):
        assert not difference(one, is_second=True)
