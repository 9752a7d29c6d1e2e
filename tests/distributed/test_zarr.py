"""Zarr folders as tensors: each worker reads its own chunks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor

zarr = pytest.importorskip("zarr", reason="zarr is not installed")
A = np.random.default_rng(5).standard_normal((40, 6)).astype("float32")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of four chunks of rows."""
    path = tmp_path / "x.zarr"
    made = zarr.create_array(str(path), shape=A.shape, chunks=(10, 6), dtype=A.dtype)
    made[...] = A
    return path


def test_without_a_cluster_it_is_read_here(folder: Path) -> None:
    found = Tensor.load(folder)
    assert isinstance(found, Tensor) and found.device == "CPU"
    np.testing.assert_array_equal((found * 2).numpy(), A * 2)


def test_workers_read_their_own_chunks(
    client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with compiler.cluster(client) as engine:
        with monkeypatch.context() as without:
            for name in ("gather", "scatter"):
                without.delattr(type(client), name)
            x = Tensor.load(folder)
            assert isinstance(x, Tensor) and x.device == engine.workers
            y = (x * 2).realize()
        np.testing.assert_array_equal(y.numpy(), A * 2)
        # the rows of the second worker are of no use to the first, and never come there
        (folder / "c" / "0" / "0").rename(folder / "gone")
        again = Tensor.load(folder)
        assert isinstance(again, Tensor)
        np.testing.assert_array_equal(again.numpy()[20:], A[20:])


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "y.zarr").mkdir()
    with pytest.raises(DataError, match=r"y\.zarr is no array of Zarr's"):
        Tensor.load(tmp_path / "y.zarr")
    with pytest.raises(DataError, match="expected: a name that ends in"):
        Tensor(A).save(tmp_path / "y.zarr")
