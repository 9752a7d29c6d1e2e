"""Constructors against NumPy, on every engine; random ones by their distribution."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import DataError, DTypeError, ShapeError, Tensor
from tests.evaluate import assert_same, evaluate, every_engine

ROWS = ([1, 2, 3], [4.0, 5.0])

CASES: tuple[tuple[str, Callable[[], Tensor], Callable[[], Any]], ...] = (
    ("linspace", lambda: Tensor.linspace(0, 1, 7), lambda: np.linspace(0, 1, 7)),
    ("linspace open", lambda: Tensor.linspace(2, -1, 5, False),
     lambda: np.linspace(2, -1, 5, False)),
    ("linspace one", lambda: Tensor.linspace(3, 9, 1), lambda: np.linspace(3, 9, 1)),
    ("linspace none", lambda: Tensor.linspace(3, 9, 0), lambda: np.linspace(3, 9, 0)),
    ("linspace still", lambda: Tensor.linspace(0.1, 0.1, 4), lambda: np.linspace(0.1, 0.1, 4)),
    ("linspace whole", lambda: Tensor.linspace(-3, 3, 5, dtype="int32"),
     lambda: np.linspace(-3, 3, 5, dtype="int32")),
    ("linspace single", lambda: Tensor.linspace(0, 2, 9, dtype="float32"),
     lambda: np.linspace(0, 2, 9, dtype="float32")),
    ("logspace", lambda: Tensor.logspace(-2, 3, 6), lambda: np.logspace(-2, 3, 6)),
    ("logspace 2", lambda: Tensor.logspace(0, 8, 9, 2, dtype="float32"),
     lambda: np.logspace(0, 8, 9, base=2, dtype="float32")),
    ("tri", lambda: Tensor.tri(3), lambda: np.tri(3)),
    ("tri wide", lambda: Tensor.tri(3, 5, 1, "bool"), lambda: np.tri(3, 5, 1, bool)),
    ("tri low", lambda: Tensor.tri(4, 2, -2), lambda: np.tri(4, 2, -2)),
    ("eye above", lambda: Tensor.eye(3, 4, diagonal=1), lambda: np.eye(3, 4, 1)),
    ("eye below", lambda: Tensor.eye(3, k=-2, dtype="int8"), lambda: np.eye(3, k=-2, dtype="i1")),
    *((f"meshgrid {k} {i}", lambda k=k, i=i: Tensor.meshgrid(*ROWS, indexing=k)[i],
       lambda k=k, i=i: np.meshgrid(*ROWS, indexing=k)[i]) for k in ("xy", "ij") for i in (0, 1)),
    ("meshgrid of one", lambda: Tensor.meshgrid([1, 2])[0], lambda: np.meshgrid([1, 2])[0]),
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_as_numpy(case: Any, engine: str) -> None:
    name, ours, theirs = case
    expected = theirs()
    tolerance = 1e-12 if expected.dtype == np.float64 else 1e-6
    exact = expected.dtype.kind in "ib"
    assert_same(evaluate(ours(), engine), expected, name, rtol=0 if exact else tolerance)


def test_the_ends_of_a_range_are_exact() -> None:
    ends = Tensor.linspace(0.1, 0.7, 1000).numpy()[[0, -1]]
    np.testing.assert_array_equal(ends, [0.1, 0.7])


@every_engine
def test_random_order(engine: str) -> None:
    Tensor.manual_seed(3)
    order = evaluate(Tensor.randperm(20), engine)
    np.testing.assert_array_equal(np.sort(order), np.arange(20))
    assert (order != np.arange(20)).any()
    Tensor.manual_seed(3)
    np.testing.assert_array_equal(Tensor.randperm(20).numpy(), order)
    assert evaluate(Tensor.randperm(0), engine).shape == (0,)


def test_random_numbers_of_a_distribution() -> None:
    Tensor.manual_seed(5)
    level = Tensor.uniform(100, 200, low=-2, high=4).numpy()
    assert level.min() >= -2 and level.max() <= 4 and abs(level.mean() - 1) < 0.05
    bell = Tensor.normal(20_000, mean=3, std=0.5, dtype="float64").numpy()
    assert abs(bell.mean() - 3) < 0.02 and abs(bell.std() - 0.5) < 0.02
    coins = Tensor.full((20_000,), 0.3).bernoulli().numpy()
    assert set(coins) == {0.0, 1.0} and abs(coins.mean() - 0.3) < 0.02
    like = Tensor(np.zeros((2, 3), np.float16))
    assert like.rand_like().dtype == like.randn_like().dtype == like.dtype
    assert like.rand_like("float64").shape == (2, 3)


@every_engine
def test_dropout(engine: str) -> None:
    x = Tensor(np.full((8, 16), 3.0, np.float32))
    got = evaluate(x.dropout(0.25), engine)
    assert_same(np.unique(got), np.array([0, 4], np.float32))
    assert 8 < (got == 0).sum() < 64
    assert all(y.node is x.node for y in (x.dropout(0.5, training=False), x.dropout(0)))
    assert not evaluate(x.dropout(1.0), engine).any()


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda: Tensor.linspace(0, np.inf), DataError, "linspace: the range has no steps"),
        (lambda: Tensor.linspace(0, 1, -1), ShapeError, "linspace: an extent is negative"),
        (lambda: Tensor.meshgrid([1], indexing="yx"), DataError, "meshgrid: no such indexing"),
        (lambda: Tensor.randperm(-1), ShapeError, "randperm: an extent is negative"),
        (lambda: Tensor([1]).bernoulli(), DTypeError, "bernoulli: needs a float type"),
        (lambda: Tensor([1]).rand_like(), DTypeError, "rand: needs a float type"),
        (lambda: Tensor([1]).dropout(), DTypeError, "dropout: needs a float type"),
        (lambda: Tensor([1.0]).dropout(2), DataError, "dropout: no such probability"),
    ],
)
def test_refusals(use: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        use()
