"""Sums of very many terms: right ones are never called wrong, however their terms are added up, and
one term that is lost, or one result in the place of another, is found."""

from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.ask.checking import differences
from compiler.ask.rounding import PRODUCTS, rounding
from compiler.ask.sums import of_products, of_terms
from compiler.graph.interpret import interpret
from compiler.run.bindings import graph_inputs

Array = np.ndarray[Any, Any]


def generator(seed: int = 14) -> np.random.Generator:
    return np.random.default_rng(seed)


def rows(kind: str, count: int, length: int, dtype: str, seed: int = 14) -> Array:
    """Data of one kind, one row for each of `count`."""
    r = generator(seed)
    large = 8.0 if dtype == "float16" else 1e6
    sign = np.where(np.arange(length) % 2, -1.0, 1.0)
    found = {
        "random": lambda: r.standard_normal((count, length)),
        "large": lambda: r.standard_normal((count, length)) * large,
        "cancelling": lambda: sign * (large + r.uniform(0, 1, (count, length))),
        "in halves": lambda: np.sort(sign)[::-1] * (large + r.uniform(0, 1, (count, length))),
        "equal": lambda: np.full((count, length), 0.1),
        "positive": lambda: r.uniform(0, 1, (count, length)),
    }[kind]()
    return found.astype(dtype)


def bounds(tensor: Tensor) -> tuple[Array, Array]:
    """The reference result of a program, and the bounds on its rounding."""
    made = compile(tensor)
    inputs = graph_inputs(made.written, {})
    return interpret(made.written.sources, inputs)[0], rounding(made.written, inputs)[0]


KINDS = ("random", "large", "cancelling", "in halves", "equal", "positive")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_right_product_is_right(kind: str, dtype: str) -> None:
    left, right = rows(kind, 90, 701, dtype), rows("positive", 130, 701, dtype).T
    assert PRODUCTS < 90 * 130 * 701
    tensor = Tensor(left) @ Tensor(np.ascontiguousarray(right))
    want, bound = bounds(tensor)
    for loops in ("auto", "plain"):
        (have,) = compile(tensor, Options(loops=loops)).run()  # type: ignore[arg-type]
        assert not differences(want, have, bound).wrong.any()
    wide = left.astype("float64") @ right.astype("float64")
    assert np.all(np.abs(wide - want.astype("float64")) <= bound)


def test_check_of_a_product_of_400_by_400_is_right() -> None:
    """Each stage was off by more than a fixed tolerance of 1e-5, where sums are close to 0."""
    report = compile(Tensor(rows("random", 400, 400, "float32"))
                     @ Tensor(rows("large", 400, 400, "float32", 2))).check()  # fmt: skip
    assert report.ok, str(report)


@pytest.fixture(scope="module")
def product() -> tuple[Array, Array, Array, Array]:
    """Two matrices, their product, and how far it may be off."""
    left, right = (rows("random", 1024, 1024, "float32", seed) for seed in (1, 2))
    tensor = Tensor(left) @ Tensor(right)
    made = compile(tensor)
    (bound,) = rounding(made.written, graph_inputs(made.written, {}))
    return left, right, made.run()[0], bound


def test_a_product_of_1024_by_1024_is_right(product: tuple[Array, ...]) -> None:
    left, right, have, bound = product
    want = (left.astype("float64") @ right.astype("float64")).astype("float32")
    assert not differences(want, have, bound).wrong.any()
    assert not differences(left @ right, have, bound).wrong.any()


@pytest.mark.parametrize("at", [(0, 0), (511, 300), (1023, 1022)])
def test_one_lost_term_of_a_product_is_found(product: tuple[Array, ...], at: Any) -> None:
    left, right, want, bound = product
    row, column = at
    terms = left[row] * right[:, column]
    lost = np.argsort(np.abs(terms))[terms.size // 10]  # one of the smallest tenth
    have = want.copy()
    have[at] -= terms[lost]
    assert np.argwhere(differences(want, have, bound).wrong).tolist() == [[row, column]]


def test_swapped_results_and_a_small_error_are_found(product: tuple[Array, ...]) -> None:
    _, _, want, bound = product
    have = want.copy()
    have[7, 8], have[8, 7] = want[8, 7], want[7, 8]
    have[3, np.argmax(np.abs(want[3]) > 10)] *= np.float32(1.001)
    assert differences(want, have, bound).wrong.sum() == 3


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_convolutions_are_right_and_a_lost_term_is_found(dtype: str) -> None:
    r = generator()
    x, w = (r.standard_normal(s).astype(dtype) for s in ((2, 16, 30, 30), (24, 16, 3, 3)))
    tensor = Tensor(x).conv2d(Tensor(w), padding=1)
    want, bound = bounds(tensor)
    (have,) = compile(tensor).run()
    assert not differences(want, have, bound).wrong.any()
    have[1, 5, 10, 10] -= x[1, 3, 9, 11] * w[5, 3, 0, 2]
    assert np.argwhere(differences(want, have, bound).wrong).tolist() == [[1, 5, 10, 10]]


LONG = 2**24 + 48


@pytest.mark.parametrize(("kind", "width"), [
    ("random", 1), ("positive", 1), ("cancelling", 1), ("positive", 16), ("random", 16),
])  # fmt: skip
def test_long_sums_are_right(kind: str, width: int) -> None:
    data = rows(kind, 1, LONG, "float32").reshape(-1, width)
    tensor = Tensor(data).sum(0)
    want, bound = bounds(tensor)
    (have,) = compile(tensor).run()
    assert not differences(want, have, bound).wrong.any()
    wide = data.sum(0, dtype="float64").astype("float32")
    assert not differences(want, wide, bound).wrong.any()


def test_an_error_in_a_long_sum_is_found() -> None:
    data = rows("positive", 1, LONG, "float32")[0]
    want, bound = bounds(Tensor(data).sum())
    assert differences(want, want * np.float32(1.002), bound).wrong.all()
    data = data.astype("float64")
    want, bound = bounds(Tensor(data).sum())
    assert differences(want, want - data[12345], bound).wrong.all()
    data = rows("random", 1, LONG, "float32")[0]
    want, bound = bounds(Tensor(data).sum())
    assert bound < 16  # four of the terms


def test_products_that_are_not_computed_have_the_bounds_of_those_that_are() -> None:
    r = generator()
    left, right = r.standard_normal((3, 5, 1, 40)), r.standard_normal((3, 1, 7, 40))
    views = [np.broadcast_to(x.astype("float32"), (3, 5, 7, 40)) for x in (left, right)]
    brought = np.abs(r.standard_normal((3, 5, 1, 40))) * 1e-6
    errors = [np.broadcast_to(brought, (3, 5, 7, 40)), np.zeros(())]
    found = of_products(views, errors, (3,), np.dtype("float32"))
    terms = views[0] * views[1]
    np.testing.assert_allclose(found.value, terms.sum(3, keepdims=True), rtol=1e-4, atol=1e-5)
    own = of_terms(terms, (3,)) + np.abs(terms).sum(3, keepdims=True) * 2.0**-24
    both = own + (np.abs(views[1]) * errors[0]).sum(3, keepdims=True)
    np.testing.assert_allclose(found.error, both, rtol=0.2)


def test_what_the_products_bring_reaches_the_sum() -> None:
    """A value that is off because of what it was made of may be off behind a product as well."""
    x = rows("random", 200, 200, "float32")
    _, bound = bounds((Tensor(x) + 1000.0 - 1000.0) @ Tensor(x))
    _, other = bounds(Tensor(x) @ Tensor(x))
    assert np.all(bound > 20 * other)


def test_large_values_are_followed_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    x = Tensor(rows("random", 60, 90, "float32"))
    tensor = ((x.exp() - 1.0) * x.T.reshape(60, 90)).softmax(1).max(0)
    _, whole = bounds(tensor)
    monkeypatch.setattr("compiler.ask.rounding.BLOCK", 1000)
    monkeypatch.setattr("compiler.ask.sums.BLOCK", 100)
    np.testing.assert_array_equal(bounds(tensor)[1], whole)
