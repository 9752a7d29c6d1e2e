"""Random training programs split into captured functions: all results are as without `jit`."""

import warnings

import pytest

from tests.replay import training_programs


@pytest.mark.parametrize("number", range(12))
def test_as_without_jit(number: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert training_programs.difference(number) == ""
