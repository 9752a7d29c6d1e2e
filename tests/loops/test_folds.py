"""Folds in lanes and several accumulators: how exact sums are, and what special values become."""

import itertools

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.settings.options import Options
from tests.evaluate import TRANSFORMED

CHOSEN = (Options(threads=2), Options(loops="plain"), TRANSFORMED)
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5)


def run(value: Tensor, options: Options) -> np.ndarray:
    """One result."""
    (found,) = compiler.compile(value, options).run()
    return found


@pytest.mark.parametrize("options", CHOSEN[:1])
def test_a_long_sum_of_ones_is_exact(options: Options) -> None:
    """One accumulator of float32 stays at 2**24; several, in lanes, count on."""
    count = 2**24 + 2**20
    assert run(Tensor(np.ones(count, np.float32)).sum(), options) == count


@pytest.mark.parametrize("n", [1000, 2**16 + 3, 2**20])
def test_the_error_of_a_sum_is_that_of_adding_in_pairs(n: int) -> None:
    """Terms that cancel: the error is small against the sum of magnitudes, as that of pairs is."""
    x = np.random.default_rng(n).standard_normal(n).astype(np.float32)
    x = np.concatenate([x, -x[::-1], np.ones(1, np.float32)])
    exact, magnitude = float(x.astype(np.float64).sum()), float(np.abs(x, dtype=np.float64).sum())
    bound = np.log2(x.size) * np.finfo(np.float32).eps * magnitude
    assert abs(float(run(Tensor(x).sum(), CHOSEN[0])) - exact) <= bound


@pytest.mark.parametrize("options", CHOSEN, ids=["chosen", "plain", "eager"])
@pytest.mark.parametrize("n", [1, 3, 17, 31, 33, 67])
def test_special_values_in_every_lane(n: int, options: Options) -> None:
    """A special value at each place of a row, in lanes and in what these leave over."""
    rows = np.ones((len(SPECIAL) * n, n), np.float32)
    for row, (value, place) in enumerate(itertools.product(SPECIAL, range(n))):
        rows[row, place] = value
    x = Tensor(rows)
    with np.errstate(all="ignore"):
        expected = rows.max(1), rows.min(1), rows.sum(1)
    for found, want in zip((x.max(1), x.min(1), x.sum(1)), expected, strict=True):
        np.testing.assert_array_equal(run(found, options), want)


@pytest.mark.parametrize("options", CHOSEN, ids=["chosen", "plain", "eager"])
@pytest.mark.parametrize("n", [1, 16, 17, 67])
def test_sums_of_negative_zeros(n: int, options: Options) -> None:
    """Alone, and with a positive zero: both are zero."""
    zeros = np.full((2, n), -0.0, np.float32)
    zeros[1, n // 2] = 0.0
    np.testing.assert_array_equal(run(Tensor(zeros).sum(1), options), [0.0, 0.0])


@pytest.mark.parametrize("options", CHOSEN, ids=["chosen", "plain", "eager"])
def test_folds_over_nothing(options: Options) -> None:
    x = Tensor(np.ones((33, 0), np.float32))
    np.testing.assert_array_equal(run(x.sum(1), options), np.zeros(33, np.float32))
    np.testing.assert_array_equal(run(x.prod(1), options), np.ones(33, np.float32))
    assert run(x.sum(0), options).shape == (0,)
