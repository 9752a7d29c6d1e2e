"""Tensors are collections of Dask's: computed, kept and drawn by it, alone and with others."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from dask.dot import to_graphviz
from distributed import wait

import compiler
from compiler import DataError, Tensor, custom

RNG = np.random.default_rng(23)
A = RNG.standard_normal((8, 6)).astype("float32")
W = ("DASK", "DASK:1")
Array = np.ndarray[Any, Any]


@pytest.fixture
def sync() -> Iterator[None]:
    """Dask in this thread."""
    with dask.config.set(scheduler="sync"):
        yield


@pytest.fixture
def engine(client: Any) -> Iterator[Any]:
    """The cluster in use."""
    with compiler.cluster(client) as made:
        yield made


def _computed(tensor: Any) -> Any:
    (found,) = dask.compute(tensor)
    return found


def test_a_program_is_one_task(sync: None) -> None:
    y = (Tensor(A) * 2 + Tensor(A[0])).relu()
    assert dask.is_dask_collection(y) and repr(y).endswith("lazy)")
    found = _computed(y)
    np.testing.assert_array_equal(found, np.maximum(A * 2 + A[0], 0))
    assert found.flags.writeable and repr(y).endswith("lazy)")
    graph = y.__dask_graph__()
    assert [key for key in graph if str(key).startswith("tensor-")] == y.__dask_keys__()
    assert len(graph) == 3  # two arrays, one program
    assert "tensor" in str(to_graphviz(dict(graph)))


def test_what_is_computed(sync: None) -> None:
    t = Tensor(A)
    found = _computed(t)
    found[:] = 0
    np.testing.assert_array_equal(t.numpy(), A)
    shards = Tensor(A).shard(("CPU", "CPU:1"), 0)
    np.testing.assert_array_equal(_computed(shards), A)
    np.testing.assert_array_equal(_computed(shards * 2), A * 2)


def test_with_others_in_order(sync: None) -> None:
    y, x = Tensor(A) * 2, da.from_array(A, chunks=(4, 6))
    first, second, third = dask.compute(y, x.max(), {"a": [Tensor(A)]})
    np.testing.assert_array_equal(first, A * 2)
    np.testing.assert_array_equal(third["a"][0], A)
    assert second == A.max()
    assert dask.delayed(np.max)(y).compute() == A.max() * 2


def test_kept_here(sync: None) -> None:
    y = Tensor(A) * 2
    (kept,) = dask.persist(y)
    assert type(kept) is Tensor and kept.device == "CPU" and "lazy" not in repr(kept)
    np.testing.assert_array_equal(kept.numpy(), A * 2)


def test_names_say_what_a_tensor_is() -> None:
    t = Tensor(A.copy())
    y = t * 2
    assert y.__dask_tokenize__() == y.__dask_tokenize__()
    assert y.__dask_tokenize__() != (t * 3).__dask_tokenize__()
    before = t.__dask_tokenize__()
    t.assign(t + 1)
    np.testing.assert_array_equal(_computed(t), A + 1)
    assert t.__dask_tokenize__() != before


def test_programs_that_are_no_graph(sync: None, tmp_path: Path) -> None:
    @custom.host()
    def twice(x: Array) -> Array:
        return x * 2

    np.testing.assert_array_equal(_computed(twice(Tensor(A)) + 1), A * 2 + 1)
    n = compiler.Variable("n", 1, 8)
    np.testing.assert_array_equal(_computed(Tensor(A)[: n.bind(3)] + 1), A[:3] + 1)
    Tensor(A).save(tmp_path / "a.npy")
    loaded = Tensor.load(tmp_path / "a.npy")
    assert isinstance(loaded, Tensor)
    np.testing.assert_array_equal(_computed(loaded + 1), A + 1)
    assert not dask.is_dask_collection(Tensor.placeholder(3, dtype="float32", name="x"))


def test_the_schedule_is_the_graph(engine: Any) -> None:
    x = Tensor(A).shard(W, 0)
    y = (x.T @ x).softmax(1)
    assert len([key for key in y.__dask_graph__() if str(key).startswith("k")]) > 2
    found = _computed(y)
    assert repr(y).endswith("lazy)")
    np.testing.assert_array_equal(found, y.numpy())
    np.testing.assert_array_equal(_computed(y), found)
    assert _computed(x.sum(0)).shape == (6,)


def test_kept_where_its_shards_are(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = da.from_array(A, chunks=(4, 6)) + 1
    y = Tensor.from_dask(x) * 2
    monkeypatch.setattr(engine.client, "gather", lambda *given, **more: pytest.fail("gather"))
    (kept,) = dask.persist(y)
    assert (kept.device, kept.axis) == (W, 0)
    made = kept.to_dask()
    there = engine.client.who_has([wait(f) and f for f in made.dask.values()])
    assert {at for row in there.values() for at in row} == set(engine.addresses)
    monkeypatch.undo()
    np.testing.assert_array_equal((kept + 1).numpy(), (A + 1) * 2 + 1)
    np.testing.assert_array_equal(_computed(kept), (A + 1) * 2)
    (whole,) = dask.persist(Tensor(A).shard(W) * 2)
    assert (whole.device, whole.axis) == (W, None)
    np.testing.assert_array_equal(whole.numpy(), A * 2)


def test_on_workers_with_others(engine: Any) -> None:
    y = Tensor(A).to("DASK:1").tanh()
    here = Tensor(A) * 2
    first, second, third = dask.compute(y, da.ones(6, chunks=2).sum(), here)
    np.testing.assert_allclose(first, np.tanh(A), rtol=1e-5)
    assert second == 6
    np.testing.assert_array_equal(third, A * 2)
    (kept,) = dask.persist(here)
    assert kept.device == "CPU"


def test_what_this_process_has_a_part_in_is_computed_first(engine: Any) -> None:
    y = (Tensor(A).shard(W, 0).max(0).to("CPU") * 3).to("DASK:1") + 1
    np.testing.assert_array_equal(_computed(y), A.max(0) * 3 + 1)


def test_a_tensor_of_workers_without_a_cluster() -> None:
    with pytest.raises(DataError, match="no cluster is in use"):
        dask.compute(Tensor(A).to("DASK") + 1)
