"""Programs on the workers of a cluster give what they give here."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor, Variable, custom
from compiler.core.errors import CompileError
from compiler.device.remote import RemoteData

RNG = np.random.default_rng(7)
A = RNG.standard_normal((8, 6)).astype("float32")
B = RNG.standard_normal((6, 5)).astype("float32")
W = ("DASK", "DASK:1")
Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module", params=[None, 0.0], ids=["joined", "single"])
def engine(client: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The cluster in use: with short items joined to tasks, and with a task for each item."""
    with compiler.cluster(client, joined=request.param) as made:
        yield made


def _shards(axis: int | None = 0) -> Tensor:
    return Tensor(A).shard(W, axis)


PROGRAMS: dict[str, tuple[Callable[[], Tensor], Array]] = {
    "elementwise": (lambda: (_shards() * 2 + 1).relu(), np.maximum(A * 2 + 1, 0)),
    "sum over shards": (lambda: _shards().sum(0), A.sum(0)),
    "sum in shards": (lambda: _shards().sum(1), A.sum(1)),
    "product": (lambda: _shards() @ Tensor(B).shard(W), A @ B),
    "shards of columns": (lambda: Tensor(A).shard(W) @ Tensor(B[:, :4]).shard(W, 1), A @ B[:, :4]),
    "sum of products": (lambda: _shards(1) @ Tensor(B).shard(W, 0), A @ B),
    "another axis": (lambda: _shards().shard(W, 1).exp(), np.exp(A)),
    "one device": (lambda: Tensor(A).to("DASK:1").tanh(), np.tanh(A)),
    "from one to another": (lambda: (Tensor(A).to("DASK").exp().to("DASK:1") + 1), np.exp(A) + 1),
    "back here": (lambda: (_shards() * 2).to("CPU").sum(), (A * 2).sum()),
    "here and there": (
        lambda: ((_shards().sum(0).to("CPU") * 3).to("DASK:1") + 1).to("CPU") - 1,
        A.sum(0) * 3,
    ),
    "transposed": (lambda: Tensor(A).to("DASK").T.to("DASK:1") * 1, A.T),
    "a part": (lambda: Tensor(A).to("DASK")[2:5, ::2].to("DASK:1") + 0, A[2:5, ::2]),
    "rank 0": (lambda: Tensor(np.float32(3)).to("DASK").sqrt(), np.sqrt(np.float32(3))),
    "nothing": (lambda: Tensor(A[:0]).to("DASK") + 1, A[:0] + 1),
    "joined": (lambda: _shards().concatenate(_shards(), axis=0), np.concatenate([A, A])),
    "moved only": (lambda: Tensor(A).to("DASK"), A),
    "int": (lambda: Tensor(np.arange(10)).shard(W, 0) // 3, np.arange(10) // 3),
    "softmax": (
        lambda: _shards().softmax(1),
        np.exp(A) / np.exp(A).sum(1, keepdims=True),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(engine: Any, name: str) -> None:
    made, expected = PROGRAMS[name]
    found = made().numpy()
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)
    assert found.dtype == expected.dtype and found.shape == expected.shape


def test_results_stay_with_the_workers_and_are_inputs_of_the_next(engine: Any) -> None:
    hidden = (_shards() * 2).realize()
    data = [compiler.device.buffers.held(shard) for shard in hidden.node.sources]
    assert all(isinstance(each, RemoteData) for each in data)
    np.testing.assert_allclose((hidden + 1).sum().item(), (A * 2 + 1).sum(), rtol=1e-5)
    np.testing.assert_array_equal(hidden.numpy(), A * 2)


def test_several_results(engine: Any) -> None:
    x = _shards()
    y, z = (x + 1), x.sum(0)
    y.realize(z)
    np.testing.assert_array_equal(y.numpy(), A + 1)
    np.testing.assert_allclose(z.numpy(), A.sum(0), rtol=1e-5, atol=1e-6)


def test_writing_in_place(engine: Any) -> None:
    x = Tensor(np.zeros(4, "float32")).to("DASK").realize()
    before = (x + 0).realize()
    for step in range(3):
        x.assign(x + Tensor(np.full(4, step + 1, "float32")).to("DASK"))
        x.realize()
    np.testing.assert_array_equal(x.numpy(), np.full(4, 6))
    np.testing.assert_array_equal(before.numpy(), np.zeros(4))


def test_a_training_step(engine: Any) -> None:
    x, y = A, A @ B
    w = Tensor(np.zeros((6, 5), "float32")).shard(W).realize()
    xs, ys = Tensor(x).shard(W, 0).realize(), Tensor(y).shard(W, 0).realize()
    mine = np.zeros((6, 5), "float32")
    for _ in range(40):
        slope = xs.T @ (xs @ w - ys)
        w = (w - slope * 0.02).realize()
        mine = mine - x.T @ (x @ mine - y) * np.float32(0.02)
    np.testing.assert_allclose(w.numpy(), mine, rtol=1e-4, atol=1e-5)


def test_large_data_are_sent_once(engine: Any) -> None:
    x = RNG.standard_normal((400, 200)).astype("float32")
    held = Tensor(x).shard(W, 0).realize()
    np.testing.assert_allclose(held.sum(0).numpy(), x.sum(0), rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal((held * 2).numpy(), x * 2)


def test_files_are_read_by_workers(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    x = RNG.standard_normal((64, 50)).astype("float32")
    np.save(path, x)
    found = Tensor.load(path).shard(W, 0)
    np.testing.assert_allclose((found * 2).sum(1).numpy(), (x * 2).sum(1), rtol=1e-4)
    compiler.save(tmp_path / "x.safetensors", {"a": Tensor(x[:3]), "b": Tensor(x)})
    other = Tensor.load(tmp_path / "x.safetensors")["b"].shard(W, 0)
    np.testing.assert_array_equal((other + 1).numpy(), x + 1)


def test_functions_of_the_users_run_here(engine: Any) -> None:
    @custom.host()
    def twice(x: Array) -> Array:
        return x * 2

    found = twice(Tensor(A).to("DASK") + 1)
    np.testing.assert_allclose((found - 1).numpy(), (A + 1) * 2 - 1, rtol=1e-6)


def test_variables(engine: Any) -> None:
    n = Variable("n", 1, 8)
    x = Tensor(A).to("DASK")[: n.bind(3)]
    np.testing.assert_allclose(x.sum(0).numpy(), A[:3].sum(0), rtol=1e-5)


def test_a_plan_runs_on_other_data(engine: Any) -> None:
    x = Tensor(A, name="x")
    plan = compiler.prepare((x.shard(W, 0) * 2).to("CPU"))
    np.testing.assert_array_equal(plan.run()[0], A * 2)
    np.testing.assert_array_equal(plan.run({"x": A + 1})[0], (A + 1) * 2)


def test_a_compilation_runs(engine: Any) -> None:
    made = compiler.compile((_shards() * 2).sum(0))
    np.testing.assert_allclose(made.run()[0], (A * 2).sum(0), rtol=1e-5)


def test_a_worker_that_is_not_there(engine: Any) -> None:
    with pytest.raises(DataError, match="it has no worker 7"):
        Tensor(A).to("DASK:7").exp().numpy()


def test_a_task_that_raises_names_the_line(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, A)
    found = Tensor.load(path)
    program = found.to("DASK").exp()
    np.save(path, A[:4])
    with pytest.raises(CompileError, match="file") as caught:
        program.numpy()
    assert "test_engine.py" in str(caught.value)


def test_each_kernel_is_compiled_once_in_each_worker(client: Any) -> None:
    from compiler.distributed.work import compiled_here

    with compiler.cluster(client):
        for _ in range(3):
            (Tensor(A).shard(W, 0) * 2.71828).numpy()
    found = client.run(compiled_here)
    assert all(set(counts.values()) <= {1} for counts in found.values())
    assert all(found.values())


def _incoming(dask_worker: Any) -> list[tuple[str, int]]:
    rows = dask_worker.transfer_incoming_log
    return [(str(key), size) for row in rows for key, size in row["keys"].items()]


def test_workers_exchange_what_they_have_to_and_the_client_nothing(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = Tensor(RNG.standard_normal((600, 300))).shard(W, 0).realize()
    y = x @ (x.T @ x)
    (exchange,) = compiler.compile(y).collectives
    assert exchange.moved == exchange.bound == 2 * 300 * 300 * 8
    for name in ("gather", "scatter"):
        monkeypatch.delattr(type(engine.client), name)
    y.realize()
    run = engine.noted[-1].name
    found = [row for rows in engine.client.run(_incoming).values() for row in rows]
    assert sum(size for key, size in found if run in key) == exchange.bound
