"""Dask arrays become tensors, and tensors dask arrays; nothing comes here on the way."""

import functools
import pickle
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, get_worker, wait

import compiler
from compiler import AxisError, DataError, Tensor
from compiler.device import buffers
from compiler.graph.nodes import Buffer

RNG = np.random.default_rng(17)
A = RNG.standard_normal((24, 5)).astype("float32")
W = ("DASK", "DASK:1")
Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def engine(client: Any) -> Iterator[Any]:
    """The cluster in use."""
    with compiler.cluster(client) as made:
        yield made


def _refuse(name: str, *given: Any, **more: Any) -> None:
    pytest.fail(name)


@pytest.fixture
def apart(engine: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The same where no data may come here, and none go from here."""
    for name in ("gather", "scatter"):
        refuse = functools.partial(_refuse, name)
        monkeypatch.setattr(engine.client, name, refuse)
    return engine


def _port(block: Array) -> Array:
    """A block of the number of the worker's port: who computed it."""
    return np.full(block.shape, int(get_worker().address.rpartition(":")[2]))


def _ports(engine: Any) -> list[int]:
    return [int(at.rpartition(":")[2]) for at in engine.addresses]


def test_without_a_cluster() -> None:
    with dask.config.set(scheduler="sync"):
        t = Tensor.from_dask(da.from_array(A, chunks=(4, 5)) + 1)
        assert t.device == "CPU" and isinstance(t.node, Buffer)
        assert isinstance(buffers.held(t.node), np.ndarray)
        np.testing.assert_array_equal(t.numpy(), A + 1)
        np.testing.assert_array_equal((t.to_dask() - 1).compute(), (A + 1) - 1)
        np.testing.assert_array_equal(Tensor(A).shard(("CPU", "CPU:1"), 0).to_dask().compute(), A)


def test_what_is_refused() -> None:
    x = da.from_array(A, chunks=(4, 5))
    with pytest.raises(DataError, match=r"x\.compute_chunk_sizes\(\)") as caught:
        Tensor.from_dask(x[x[:, 0] > 0])
    assert "test_arrays.py" in str(caught.value)
    with pytest.raises(DataError, match="cannot compute with elements of type complex64"):
        Tensor.from_dask(x.astype("complex64"))
    with pytest.raises(DataError, match="no arrays of NumPy's"):
        Tensor.from_dask(da.ma.masked_array(x, x > 0))
    with pytest.raises(DataError, match="this is no dask array"):
        Tensor.from_dask(A)
    with pytest.raises(DataError, match="no cluster is in use"):
        Tensor.from_dask(x, devices=["DASK"])


def test_a_cluster_in_use_is_what_dask_computes_with(client: Any) -> None:
    with compiler.cluster(client.scheduler.address) as made:
        assert Client.current() is made.client
        found = Tensor.from_dask(da.from_array(A, chunks=(6, 5))).to_dask()
        np.testing.assert_array_equal((found + 1).max(0).compute(), (A + 1).max(0))
    assert Client.current() is client


@pytest.mark.parametrize("chunks", [(4, 5), (7, 5), (24, 2), (10, 3), (1, 2)])
def test_there_and_back(engine: Any, chunks: tuple[int, int]) -> None:
    t = Tensor.from_dask(da.from_array(A, chunks=chunks))
    cut = int(chunks[0] == 24)
    assert t.device == W and t.axis == cut
    assert t.to_dask().chunks[cut] == tuple(shard.shape[cut] for shard in t.shards)
    np.testing.assert_array_equal(t.numpy(), A)
    back = (t * 2).to_dask()
    assert (back.shape, back.dtype) == (A.shape, A.dtype) and back.npartitions == 2
    np.testing.assert_array_equal(back.compute(), A * 2)


def test_data_stay_on_the_workers(apart: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = da.from_array(A, chunks=(4, 5)) + 1
    made = (Tensor.from_dask(x).relu() * 2).to_dask()
    blocks = (made - 1).persist()
    client = apart.client
    wait(blocks)
    for array in (made, blocks):
        there = client.who_has(list(array.dask.values()))
        keys = sorted(array.__dask_keys__(), key=str)
        assert [there[key] for (key,) in keys] == [(at,) for at in apart.addresses]
    monkeypatch.undo()
    np.testing.assert_array_equal(blocks.compute(), np.maximum(A + 1, 0) * 2 - 1)


def test_blocks_are_computed_where_their_shard_is(engine: Any) -> None:
    x = da.from_array(np.zeros((8, 3), int), chunks=(1, 3)).map_blocks(_port, dtype=int)
    found = Tensor.from_dask(x).numpy()
    np.testing.assert_array_equal(found[:, 0], np.repeat(_ports(engine), 4))
    persisted = (x + 0).persist()
    np.testing.assert_array_equal(Tensor.from_dask(persisted).numpy(), persisted.compute())


def test_the_same_cut_as_shard(apart: Any) -> None:
    t = Tensor.from_dask(da.from_array(A, chunks=(7, 5)))
    made = compiler.compile(t + Tensor(A).shard(W, 0))
    between = [row for row in made.transfers if row.source != "CPU"]
    assert [row.nbytes for row in between] == [A.nbytes // 2]  # the result's, to the first


def test_other_axes_and_devices(engine: Any) -> None:
    x = da.from_array(A, chunks=-1)
    assert Tensor.from_dask(x).device == "DASK"
    t = Tensor.from_dask(x, axis=-1)
    assert t.axis == 1 and [s.shape for s in t.shards] == [(24, 3), (24, 2)]
    np.testing.assert_array_equal(t.numpy(), A)
    there = Tensor.from_dask(x.rechunk(5), devices=["DASK:1"])
    assert there.device == "DASK:1"
    np.testing.assert_array_equal((there + 1).to_dask().compute(), A + 1)
    assert Tensor.from_dask(x.sum()).item() == da.from_array(A, chunks=-1).sum().compute()
    with pytest.raises(AxisError):
        Tensor.from_dask(x, axis=2)


def test_shards_without_elements(engine: Any) -> None:
    t = Tensor.from_dask(da.from_array(A[:1], chunks=-1), axis=0)
    assert [s.shape for s in t.shards] == [(1, 5), (0, 5)]
    np.testing.assert_array_equal((t + 1).to_dask().compute(), A[:1] + 1)
    none = Tensor.from_dask(da.from_array(A[:0], chunks=-1), axis=0)
    np.testing.assert_array_equal(none.to_dask().compute(), A[:0])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", ">f4"])
def test_types(engine: Any, dtype: str) -> None:
    x = (A * 3).astype(dtype)
    found = Tensor.from_dask(da.from_array(x, chunks=(6, 5)))
    np.testing.assert_array_equal(found.to_dask().compute(), x)
    np.testing.assert_array_equal(found.cat(found).numpy(), np.concatenate([x, x]))


def test_blocks_that_are_not_row_major(engine: Any) -> None:
    x = da.from_array(np.arange(24.0).reshape(4, 6), chunks=(2, 6)).T[::-1]
    np.testing.assert_array_equal((Tensor.from_dask(x) + 0).numpy(), x.compute())


def test_what_the_user_said_of_tasks_stays(engine: Any) -> None:
    last = engine.addresses[1]
    with dask.annotate(workers=[last]):
        x = da.from_array(np.zeros((4, 3), int), chunks=(1, 3)).map_blocks(_port, dtype=int)
    with dask.config.set({"optimization.fuse.active": False}):
        found = Tensor.from_dask(x).numpy()
    np.testing.assert_array_equal(found, np.full((4, 3), _ports(engine)[1]))


def test_a_block_that_is_something_else(engine: Any) -> None:
    x = da.from_array(A, chunks=(6, 5))
    t = Tensor.from_dask(x.map_blocks(lambda block: block[:2], dtype=A.dtype))
    with pytest.raises(DataError, match="a block is not what the dask array says of it"):
        (t + 1).numpy()


def test_shards_that_are_here_and_chunks(engine: Any) -> None:
    whole = Tensor(A) * 2
    assert whole.to_dask().numblocks == (1, 1)
    assert whole.to_dask(chunks=(10, 5)).chunks == ((10, 10, 4), (5,))
    here = Tensor(A).shard(("CPU", "CPU:1"), 0).to_dask()
    assert here.chunks == ((12, 12), (5,))
    both = Tensor(A).shard(W)  # whole on each: one block
    for made in (whole.to_dask(chunks=7) / 2, here, both.to_dask(), both.to_dask(chunks=4)):
        np.testing.assert_array_equal(made.compute(), A)
    assert not any(block.flags.writeable for block in here.dask.values())


def test_files_are_read_in_blocks(engine: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", A)
    loaded = Tensor.load(tmp_path / "a.npy")
    assert isinstance(loaded, Tensor)
    x = loaded.to_dask(chunks=(10, 3))
    assert x.chunks == ((10, 10, 4), (3, 2)) and loaded.to_dask().npartitions == 1
    np.testing.assert_array_equal(x.compute(), A)
    np.testing.assert_array_equal(Tensor.from_dask(x).numpy(), A)
    np.save(tmp_path / "a.npy", A[:3])
    with pytest.raises(DataError, match="the file here differs from the one"):
        x.compute(scheduler="sync")


def test_arrays_that_are_larger_than_the_memory_of_workers(engine: Any, tmp_path: Path) -> None:
    """Read, computed and folded block by block: no more than a few blocks are there at once."""
    rows, columns, limit = 2**18, 256, 96 * 2**20
    file = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", "float32", (rows, columns))
    file[-1] = 5
    file.flush()
    loaded = Tensor.load(tmp_path / "x.npy")
    assert isinstance(loaded, Tensor)
    x = loaded.to_dask(chunks=(2**13, columns))  # 32 blocks of 8 MiB
    assert x.nbytes == 256 * 2**20 and len(pickle.dumps(dict(x.dask))) < 100_000
    total = compiler.blockwise(lambda x: (x * 2 + 1).relu().sum(0))
    few = total(x[: 2**14]).compute()
    before = engine.client.run(_most_memory)
    np.testing.assert_array_equal(total(x).compute(), np.full(columns, rows + 10))
    np.testing.assert_array_equal(few, np.full(columns, 2**14))
    after = engine.client.run(_most_memory)
    assert all(after[at] - before[at] < limit for at in before)


def _most_memory() -> int:
    """The most bytes that were resident in this process."""
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
