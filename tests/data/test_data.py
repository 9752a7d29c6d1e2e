"""Batches from arrays and iterables, prefetched on a thread; the progress bar."""

import io
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from compiler import DataError, Tensor, data

X, Y = np.arange(10.0).reshape(10, 1), np.arange(10)


def test_arrays() -> None:
    made = data.batches({"x": X, "y": Tensor(Y)}, 4)
    rows = list(made)
    assert len(made) == 3 and [len(row["x"]) for row in rows] == [4, 4, 2]
    np.testing.assert_array_equal(np.concatenate([row["y"] for row in rows]), Y)
    assert len(data.batches(X, 4, drop_last=True)) == len(list(data.batches(X, 4, drop_last=True)))


def test_each_pass_has_an_order_of_its_own_that_the_seed_decides() -> None:
    def order(made: data.batches) -> list[int]:  # type: ignore[valid-type]
        return [int(n) for _, y in made for n in y]  # type: ignore[attr-defined]

    made = data.batches((X, Y), 3, shuffle=True, seed=5)
    first, second = order(made), order(made)
    assert sorted(first) == sorted(second) == list(range(10)) and first != second
    assert order(data.batches((X, Y), 3, shuffle=True, seed=5)) == first


def test_examples_one_by_one() -> None:
    def examples() -> Iterator[tuple[np.ndarray, int]]:
        for n in range(5):
            yield np.full(2, n), n

    rows = list(data.batches(examples(), 2))
    assert [x.shape for x, _ in rows] == [(2, 2), (2, 2), (1, 2)]
    assert rows[1][1].tolist() == [2, 3]
    with pytest.raises(DataError, match="length is not known"):
        len(data.batches(examples(), 2))


def test_an_error_arrives_at_its_place() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("in the data")

    found = data.prefetch(broken())
    assert next(found) == 1
    with pytest.raises(ValueError, match="in the data"):
        next(found)


def test_who_stops_early_stops_the_thread() -> None:
    def endless() -> Iterator[int]:
        n = 0
        while True:
            yield (n := n + 1)

    found = data.prefetch(endless())
    assert [next(found), next(found)] == [1, 2]
    found.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 5
    while any(t.name == "svodviz-batches" for t in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_the_bar(has_tqdm: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_tqdm:
        monkeypatch.setattr(sys.modules["compiler.data.progress"], "_tqdm", lambda *given: None)
    file = io.StringIO()
    bar = data.progress(data.batches((X, Y), 4, ahead=0), "epoch 1", file)
    for _, y in bar:
        bar.show(Tensor(float(y[0])))
    assert bar.examples == 10 and bar.loss == 0.0
    assert "epoch 1" in file.getvalue() and "loss 0" in file.getvalue()
    assert "examples/s" in file.getvalue()


def test_refused() -> None:
    for make, words in (
        (lambda: data.batches((X, Y[:3]), 2), "differ in length"),
        (lambda: data.batches(X, 0), "no such size"),
        (lambda: data.batches(iter([1]), 2, shuffle=True), "only arrays can be shuffled"),
        (lambda: data.prefetch([1], 0), "no such number"),
    ):
        with pytest.raises(DataError, match=words):
            make()
