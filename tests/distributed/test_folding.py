"""Reductions over an axis that is cut: each block by itself, then a tree."""

from collections.abc import Callable, Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest

from compiler import DataError, Tensor
from compiler.distributed.blockwise import blockwise
from compiler.distributed.folding import AT_ONCE, fold

RNG = np.random.default_rng(29)
A = RNG.standard_normal((100, 12)).astype("float32")
B = RNG.standard_normal((100, 12)).astype("float32")
Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def sync() -> Iterator[None]:
    """Dask in this thread."""
    with dask.config.set(scheduler="sync"):
        yield


PROGRAMS: dict[str, tuple[Callable[[Tensor], Tensor], Any]] = {
    "one axis": (lambda x: x.sum(0), A.sum(0)),
    "kept": (lambda x: (x * 2).sum(0, keepdim=True), (A * 2).sum(0, keepdims=True)),
    "all": (lambda x: (x * x).sum(), (A * A).sum()),
    "mean": (lambda x: x.exp().mean(0), np.exp(A).mean(0)),
    "the other axis": (lambda x: (x * x).sum(1).sqrt(), np.sqrt((A * A).sum(1))),
    "greatest": (lambda x: x.max(), A.max()),
    "least": (lambda x: x.min(0), A.min(0)),
    "product": (lambda x: (x * 0.01 + 1).prod(0), (A * np.float32(0.01) + 1).prod(0)),
    "any": (lambda x: (x > 2).any(0), (A > 2).any(0)),
    "all of them": (lambda x: (x > -2).all(0), (A > -2).all(0)),
    "count": (lambda x: (x > 0).sum(0), (A > 0).sum(0)),
    "then all of it": (lambda x: x.sum(0).softmax(0), np.exp(A.sum(0)) / np.exp(A.sum(0)).sum()),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("chunks", [(30, 12), (7, 5)])
def test_values(name: str, chunks: tuple[int, int]) -> None:
    function, expected = PROGRAMS[name]
    made = blockwise(function)(da.from_array(A, chunks=chunks))
    found = made.compute()
    assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(found, made.compute())


def test_products_over_rows() -> None:
    x, y = da.from_array(A, chunks=(30, 12)), da.from_array(B, chunks=(16, 12))
    np.testing.assert_allclose(blockwise(lambda x: x.T @ x)(x), A.T @ A, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(blockwise(lambda x, y: x.T @ y)(x, y), A.T @ B, rtol=1e-4, atol=1e-4)
    rows = blockwise(lambda x, y: x @ y.T)(x.rechunk((30, 5)), y.rechunk((16, 7)))
    assert rows.chunks[1] == (16,) * 6 + (4,)
    np.testing.assert_allclose(rows, A @ B.T, rtol=1e-4, atol=1e-4)
    weights = Tensor(B[:12, :3].copy())
    found = blockwise(lambda x: (x @ weights).sum(0) * 0.5)(x)
    np.testing.assert_allclose(found, (A @ weights.numpy()).sum(0) * 0.5, rtol=1e-4, atol=1e-4)


def test_whole_numbers_are_exact_however_they_are_cut() -> None:
    x = RNG.integers(-50, 50, (64, 3))
    for rows in (1, 5, 64):
        found = blockwise(lambda x: (x * x).sum(0))(da.from_array(x, chunks=(rows, 3)))
        np.testing.assert_array_equal(found, (x * x).sum(0))


def test_a_tree_of_few_at_once() -> None:
    made = blockwise(lambda x: x.sum(0))(da.from_array(A, chunks=(1, 12)))
    counts = [len(task.dependencies) for task in dict(made.dask).values()
              if hasattr(task, "dependencies")]  # fmt: skip
    assert max(counts) <= AT_ONCE


@pytest.mark.parametrize("function", [
    lambda x: x - x.mean(0), lambda x: x.var(0), lambda x: x.sum(0) + x[0], lambda x: x.argmax(0),
])  # fmt: skip
def test_what_goes_around_a_reduction_is_refused(function: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(DataError, match="axis 0 of argument 0 is cut"):
        blockwise(function)(da.from_array(A, chunks=(30, 12)))


def test_a_function_that_is_another_one_for_blocks() -> None:
    def odd(x: Tensor) -> Tensor:
        return x.sum(0) if x.shape[0] == 100 else x.max(0).min(0, keepdim=True).expand(12)

    with pytest.raises(DataError, match="the function is another one for a block"):
        blockwise(odd)(da.from_array(A, chunks=(30, 12)))


def test_partial_results_are_put_together_as_the_operation_says() -> None:
    parts = np.array([[True, False], [True, False]])
    np.testing.assert_array_equal(fold("sum", parts, (0,), True), [[True, False]])
    np.testing.assert_array_equal(fold("min", A, (0, 1), False), A.min())


def test_chunks_of_no_elements_take_no_part() -> None:
    m = np.arange(1.0, 61.0).reshape(10, 6)
    keep = np.array([n in (1, 9) for n in range(10)])
    x = da.from_array(m, chunks=(2, 3))[da.from_array(keep, chunks=2)].compute_chunk_sizes()
    assert 0 in x.chunks[0]
    for function, right in (
        (lambda t: t.max(), m[keep].max()), (lambda t: t.min(0), m[keep].min(0)),
        (lambda t: (t * 2).relu().max(0), 2 * m[keep].max(0)), (lambda t: t * 2, 2 * m[keep]),
        (lambda t: t.norm(float("inf")), m[keep].max()), (lambda t: t.sum(0), m[keep].sum(0)),
    ):  # fmt: skip
        np.testing.assert_array_equal(blockwise(function)(x).compute(), right)
