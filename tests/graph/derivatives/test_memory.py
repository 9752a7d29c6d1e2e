"""Derivatives of reads and writes at positions, against central differences."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler import Tensor
from tests.differences import assert_gradients

ROWS = np.array([2, 0, 0, -1])
PLACES = np.array([[1, 0, 1, 0], [0, 0, 2, 2]])


def assigned(x: Tensor) -> Tensor:
    y = x * 1
    y[1:, ::2] = x[:2, :2] * 3
    return y * y


def written_twice(x: Tensor) -> Tensor:
    y = x * 2
    y[0] = x[1] * x[2]
    y[0, 1:3] = x[1, :2] ** 2
    return y * x


def assigned_in_memory(x: Tensor) -> Tensor:
    y = Tensor(np.ones((3, 4)))
    y[1:3, 1:3] = x[:2, :2] ** 2
    return y * x


CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "rows": lambda x: x[ROWS] ** 2,
    "rows and columns": lambda x: x[ROWS, np.array([1, 1, 3, 0])] ** 2,
    "mask": lambda x: x * (x > 0),
    "gather": lambda x: x.gather(0, PLACES) ** 2,
    "take_along_axis": lambda x: x.take_along_axis(np.array([[0], [3], [1]]), 1) ** 2,
    "scatter add": lambda x: x.scatter_add(0, PLACES, x[:2] * 2) ** 2,
    "scatter": lambda x: x.scatter(0, PLACES, x[:2] * 2) ** 2,
    "sort": lambda x: x.sort(1)[0] * Tensor(np.arange(4.0)),
    "topk": lambda x: x.topk(2)[0] ** 2,
    "max along": lambda x: x.max(1) * x[:, 0],
    "cumsum": lambda x: x.cumsum(1) ** 2,
    "logsumexp": lambda x: x.logsumexp(1),
    "median": lambda x: x.median(1)[0] if isinstance(x.median(1), tuple) else x.median(1),
    "assigned": assigned,
    "written twice": written_twice,
    "assigned in memory": assigned_in_memory,
}


@pytest.mark.parametrize("name", CASES)
def test_memory(name: str) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, (3, 4))
    assert_gradients(CASES[name], x, orders=1)


def test_an_embedding_adds_up_what_was_read_twice() -> None:
    table = Tensor(np.arange(8.0).reshape(4, 2), requires_grad=True)
    table[np.array([1, 1, 3])].sum().backward()
    assert table.grad is not None
    assert table.grad.numpy().tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]
