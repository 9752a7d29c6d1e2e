"""zarr: arrays in folders of chunks, each read by the worker that needs it.

    x = Tensor.load("pictures.zarr")        with a cluster in use: in shards, read by its workers

Dask reads the chunks: each worker only those of its own shard. Without a cluster the client reads
all of them.
"""

from pathlib import Path

from compiler.core.errors import DataError
from compiler.core.lazy import loading
from compiler.distributed.arrays import from_dask
from compiler.graph.nodes import TensorNode


def from_zarr(path: Path) -> TensorNode:
    """The array of a Zarr folder. Raises `DataError` if it is no Zarr array, or Zarr is not
    installed."""
    try:
        with loading():
            import dask.array as da
            import zarr
    except ImportError as error:
        raise DataError("load", "Zarr or dask is not installed", got=str(error),
                        hint="pip install svodviz[dask]") from error  # fmt: skip
    try:
        array = zarr.open_array(str(path), mode="r")
    except Exception as error:  # a damaged folder raises many kinds of errors
        got = f"{type(error).__name__}: {error}"
        raise DataError("load", f"{path.name} is no array of Zarr's", got=got) from error
    return from_dask(da.from_zarr(array))
