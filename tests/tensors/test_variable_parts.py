"""Slices, joins and shapes of variable axes, on every engine; memory beyond an end is NaN."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, Variable
from tests.evaluate import ENGINES, assert_same, every_engine

Array = np.ndarray[Any, Any]
HIGH = 6
RNG = np.random.default_rng(11)
ROWS = RNG.standard_normal((HIGH, 4)).astype("f4")
FIXED = RNG.standard_normal((3, 4)).astype("f4")
PLACES = np.array([[1, 0, -1, 1], [0, 1, 1, -2]])
N = Variable("n", 2, HIGH)
K = Variable("k", 0, 2)


def cut(size: int) -> Tensor:
    """`size` rows of a buffer whose other rows are NaN."""
    whole = ROWS.copy()
    whole[size:] = np.nan
    return Tensor(whole)[: N.bind(size)]


def _rolled(a: Array) -> Array:
    return np.concatenate([a[1:], a[:1]])


CASES: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Array], Array]]] = {
    "from 1": (lambda x: x[1:] + 1, lambda a: a[1:] + 1),
    "from 1 of columns": (lambda x: x.T[:, 2:], lambda a: a.T[:, 2:]),
    "but the last": (lambda x: x[:-1] * 2, lambda a: a[:-1] * 2),
    "inside": (lambda x: x[1:-1], lambda a: a[1:-1]),
    "last": (lambda x: x[-1], lambda a: a[-1]),
    "last two": (lambda x: x[-2:], lambda a: a[-2:]),
    "reversed": (lambda x: x[::-1], lambda a: a[::-1]),
    "again cut": (lambda x: x[1:][:-1], lambda a: a[1:][:-1]),
    "up to n - 1": (lambda x: x[: N - 1], lambda a: a[: len(a) - 1]),  # type: ignore[misc]
    "differences": (lambda x: x[1:] - x[:-1], lambda a: a[1:] - a[:-1]),
    "cat with itself": (lambda x: x.cat(x), lambda a: np.concatenate([a, a])),
    "cat with rows": (lambda x: x.cat(FIXED), lambda a: np.concatenate([a, FIXED])),
    "rows with it": (lambda x: Tensor(FIXED).cat(x, FIXED),
                     lambda a: np.concatenate([FIXED, a, FIXED])),
    "cat of columns": (lambda x: x.cat(x + 1, dim=1), lambda a: np.concatenate([a, a + 1], 1)),
    "stack": (lambda x: x.stack(x), lambda a: np.stack([a, a])),
    "roll by parts": (lambda x: x[1:].cat(x[:1]), _rolled),
    "pad": (lambda x: x.pad([(1, 2), None]), lambda a: np.pad(a, ((1, 2), (0, 0)))),
    "pad with 5": (lambda x: x.pad([(1, 2), (0, 1)], 5.0),
                   lambda a: np.pad(a, ((1, 2), (0, 1)), constant_values=5)),
    "pad, then sum": (lambda x: x.exp().pad([(1, 2), None], 3.0).sum(0),
                      lambda a: np.pad(np.exp(a), ((1, 2), (0, 0)), constant_values=3).sum(0)),
    "flat": (lambda x: x.reshape(-1) + 1, lambda a: a.reshape(-1) + 1),
    "flatten": (lambda x: x.flatten().exp(), lambda a: np.exp(a.reshape(-1))),
    "flat of columns": (lambda x: x.T.reshape(-1) * 2, lambda a: a.T.reshape(-1) * 2),
    "flat and back": (lambda x: x.T.reshape(-1).reshape(4, -1), lambda a: a.T),
    "named": (lambda x: x.reshape(N * 2, 2), lambda a: a.reshape(-1, 2)),
    "split a product": (lambda x: x.reshape(N * 4).reshape(2, N, 2),
                        lambda a: a.reshape(2, -1, 2)),
    "rows joined": (lambda x: x.stack(x, x).reshape(-1, 4) @ FIXED.T,
                    lambda a: np.stack([a, a, a]).reshape(-1, 4) @ FIXED.T),
    "batches of rows": (lambda x: (x.stack(x).reshape(-1, 4) + 1).reshape(2, N, 4).sum(1),
                        lambda a: np.stack([a, a]).__add__(1).sum(1)),
    "tile": (lambda x: x.tile(2, 1), lambda a: np.tile(a, (2, 1))),
    "each twice": (lambda x: x.repeat_interleave(2, 0), lambda a: np.repeat(a, 2, 0)),
    "expand": (lambda x: Tensor(FIXED[:1]).expand(N, 4) + x, lambda a: FIXED[:1] + a),
    "known rows": (lambda x: x[[1, 0, -1]], lambda a: a[[1, 0, -1]]),
    "take": (lambda x: x.take([0, 1, 1], 0), lambda a: a.take([0, 1, 1], 0)),
    "gather": (lambda x: x.gather(0, Tensor(PLACES)), lambda a: np.take_along_axis(a, PLACES, 0)),
    "computed rows": (lambda x: x[Tensor(np.array([1, -1])) + 0], lambda a: a[[1, -1]]),
    "mask": (lambda x: x[np.array([True, True, False, False, False, False])], lambda a: a[:2]),
    "tril": (lambda x: (x @ x.T).tril(), lambda a: np.tril(a @ a.T)),
    "triu": (lambda x: (x @ x.T).triu(1), lambda a: np.triu(a @ a.T, 1)),
    "exclusive scan": (lambda x: x.cumsum(0)[:-1].pad([(1, 0), None]),
                       lambda a: np.pad(np.cumsum(a, 0)[:-1], ((1, 0), (0, 0)))),
    "softmax of a cat": (lambda x: x.cat(FIXED).softmax(0), lambda a: _softmax(a)),
    "attention with a cache": (lambda x: (FIXED @ x.cat(FIXED).T).softmax(-1) @ x.cat(FIXED),
                               lambda a: _attention(np.concatenate([a, FIXED]))),
    "arithmetic": (lambda x: x.sum(0) / (N * 2 + 1), lambda a: a.sum(0) / (len(a) * 2 + 1)),
    "a fold of nothing": (lambda x: x[:, :0].exp().sum(1), lambda a: np.zeros(len(a))),
    "scatter": (lambda x: x.scatter(0, Tensor(PLACES), 9.0), lambda a: _scattered(a)),
}  # fmt: skip


def _softmax(a: Array) -> Array:
    powers = np.exp(np.concatenate([a, FIXED]))
    return powers / powers.sum(0)


def _attention(keys: Array) -> Array:
    powers = np.exp(FIXED @ keys.T)
    return powers / powers.sum(1, keepdims=True) @ keys


def _scattered(a: Array) -> Array:
    copied = a.copy()
    np.put_along_axis(copied, PLACES, 9.0, 0)
    return copied


@every_engine
@pytest.mark.parametrize("name", CASES)
def test_parts(name: str, engine: str) -> None:
    _check(name, 5, engine)


@pytest.mark.parametrize("size", [2, 3, HIGH])
@pytest.mark.parametrize("name", CASES)
def test_sizes(name: str, size: int) -> None:
    _check(name, size, "machine")


def _check(name: str, size: int, engine: str) -> None:
    ours, theirs = CASES[name]
    (value,) = ENGINES[engine]([ours(cut(size)).node])
    assert_same(value, theirs(ROWS[:size]).astype("f4"), rtol=3e-5)
