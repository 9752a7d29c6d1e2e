"""arrays: dask arrays become tensors, and tensors dask arrays; the data stay on the workers.

    x = da.from_zarr("data.zarr")              # 8 blocks of rows
    t = Tensor.from_dask(x)                    # in shards: four blocks on DASK, four on DASK:1
    y = (t * 2).to_dask()                      # two blocks, where the shards are

Dask computes each block on the worker of its shard, and tasks that several shards need on any
worker. The tensor holds the futures of the blocks, so Dask can recompute lost ones. No data come to
the client.

Relies on: a result of a task is never written. So blocks and shards share memory.
"""

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
from dask import array as da
from dask._task_spec import Task, TaskRef, convert_legacy_graph
from dask.array.core import slices_from_chunks
from dask.base import flatten, optimize, tokenize
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

from compiler.core import dtypes
from compiler.core.dtypes import Array
from compiler.core.errors import DataError
from compiler.device import dask as cluster
from compiler.device.buffers import held, new_buffer
from compiler.device.disk import FilePart, file_part
from compiler.device.remote import Data, RemoteData
from compiler.distributed.engine import DaskEngine
from compiler.distributed.held import Result, Submitted, result_of
from compiler.distributed.repair import MARK
from compiler.distributed.tasks import TaskPlan
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.kinds.placement import Multi, multi
from compiler.graph.nodes import Buffer, Shape, TensorNode
from compiler.graph.reshard import even_lengths
from compiler.tensors import data as tensor_data
from compiler.tensors.shapes import axis_of
from compiler.tensors.variables import array_of

Key: TypeAlias = Hashable
NOTHING = TaskPlan((), (), {}, (), {}, ())
"""The plan of adopted data: another Dask computation made them, so there are no actions."""
EVERYBODY = -1
"""The owner of a task that several shards need."""


def from_dask(x: Any, axis: int | None = None, devices: Sequence[str] | None = None) -> TensorNode:
    """The tensor of a dask array: see `Tensor.from_dask`."""
    _check(x)
    place = _axis(x, axis)
    if devices is None and cluster.used() is None:
        return tensor_data.tensor(x.compute())
    engine = engine_in_use()
    names = engine.workers if devices is None else tuple(devices)
    if place is None or len(names) == 1:
        return _on_workers(engine, [x], names[:1])[0]
    lengths = even_lengths(x.shape[place], len(names))
    ends = np.cumsum((0, *lengths)).tolist()
    before = (slice(None),) * place
    parts = [x[(*before, slice(*ends[n : n + 2]))] for n in range(len(names))]
    return multi(tuple(_on_workers(engine, parts, names)), place)


def to_dask(node: TensorNode, chunks: Any = None) -> Any:
    """The dask array of a computed value: see `Tensor.to_dask`."""
    shards, axis = [node], None
    if isinstance(node, Multi):
        axis = node.axis
        real = [shard for _, shard in node.real] if axis is not None else []
        shards = real or list(node.sources[:1])
    blocks = [held_block(shard) for shard in shards]
    if len(blocks) == 1 and isinstance(blocks[0], np.ndarray):
        part = file_part(blocks[0])
        if part is not None:
            return _of_file(part, node.shape, "auto" if chunks is None else chunks)
        return da.from_array(blocks[0], chunks=-1 if chunks is None else chunks, name=False)
    name = f"tensor-{uuid4().hex}"
    places = [tuple(n if each == axis else 0 for each in range(len(node.shape)))
              for n in range(len(shards))]  # fmt: skip
    keys = [(name, *place) for place in places]
    lengths: list[tuple[int, ...]] = [(n,) for n in node.shape]
    if axis is not None:
        lengths[axis] = tuple(shard.shape[axis] for shard in shards)
    array = da.Array(_blocks(keys, blocks), name, tuple(lengths), node.dtype.numpy)
    return array if chunks is None else array.rechunk(chunks)


def _of_file(part: FilePart, shape: Shape, chunks: Any) -> Any:
    """The dask array of a part of a file; a task maps only its own block."""
    lengths = da.core.normalize_chunks(chunks, shape, dtype=part.dtype)
    name = f"file-{tokenize(part, lengths)}"
    places = itertools.product(*(range(len(each)) for each in lengths))
    graph = {
        (name, *place): Task((name, *place), file_block, part, shape, where)
        for place, where in zip(places, slices_from_chunks(lengths), strict=True)
    }
    return da.Array(graph, name, lengths, part.dtype)


def held_block(shard: TensorNode) -> Data:
    """The data of a shard: remote, or a read-only view if the client has them."""
    data = held(shard) if isinstance(shard, Buffer) else array_of(shard)
    if not isinstance(data, np.ndarray):
        return data
    view = data.view()
    view.flags.writeable = False
    return view


def _blocks(keys: Sequence[Key], blocks: Sequence[Data]) -> dict[Key, Any]:
    """Dask's graph of blocks: the client's arrays, and futures of those on workers."""
    graph: dict[Key, Any] = dict(zip(keys, blocks, strict=True))
    for key, data in list(graph.items()):
        if not isinstance(data, RemoteData):
            continue
        result = result_of(data)
        engine = result.engine
        assert isinstance(engine, DaskEngine)
        engine.at.wait(result.run, [result.key])  # where it was lost it is recomputed first
        row = {key: Task(key, shaped_block, TaskRef(result.key), data.shape)}
        note = {"workers": [engine.at.address(data.device)], **MARK}
        layer = MaterializedLayer(row, annotations=note)
        (graph[key],) = engine.client.get(
            HighLevelGraph({"blocks": layer}, {"blocks": set()}), [key], sync=False
        )
    return graph


def adopted(engine: DaskEngine, future: Any, shape: Shape, dtype: Any, device: str) -> Buffer:
    """A Buffer of data that a worker holds from any Dask computation; Dask can recompute them."""
    run = Submitted(f"adopted-{future.key}", NOTHING, {}, {}, [])
    described = Buffer((), PLACEHOLDER, shape, dtypes.parse(dtype), "", device)
    result = Result(engine, run, future.key, future, described)
    return new_buffer(RemoteData.of(result, described).reshape(shape), device=device)


def contiguous_block(block: Any, shape: Shape, dtype: Any) -> Array:
    """A block in row-major order and native byte order; runs on a worker. Raises `DataError` if its
    shape or type is not the array's."""
    array = np.asarray(block)
    if array.shape != shape or array.dtype != dtype:
        raise DataError("from_dask", "a block is not what the dask array says of it",
                        got=f"{array.dtype} {array.shape}",
                        expected=f"{dtype} {shape}")  # fmt: skip
    native = array.dtype.newbyteorder("=")
    return tensor_data.clean(np.require(array, native, ("C_CONTIGUOUS", "ALIGNED")))


def shaped_block(flat: Array, shape: Shape) -> Array:
    """A worker's part of a tensor as a read-only block; runs there."""
    view = flat.reshape(shape).view()
    view.flags.writeable = False
    return view


def file_block(part: FilePart, shape: Shape, where: tuple[slice, ...]) -> Array:
    """A memory-mapped block of a part of a file; runs on the worker that needs it. Raises
    `DataError` if the file there is missing or differs."""
    return np.asarray(part.mapped()).reshape(shape)[where]


def engine_in_use() -> DaskEngine:
    """The cluster in use. Raises `DataError` if there is none."""
    engine = cluster.engine()
    assert isinstance(engine, DaskEngine)
    return engine


def _check(x: Any) -> None:
    """Raise `DataError` unless `x` is a dask array of numbers with known extents."""
    if not isinstance(x, da.Array):
        raise DataError("from_dask", "this is no dask array", got=type(x).__name__,
                        expected="dask.array.Array",
                        hint="Tensor(array) takes NumPy's")  # fmt: skip
    if any(np.isnan(n) for lengths in x.chunks for n in lengths):
        raise DataError("from_dask", "the sizes of some chunks are not known", got=str(x.chunks),
                        expected="sizes", hint="x.compute_chunk_sizes()")  # fmt: skip
    if dtypes.of_numpy(x.dtype.newbyteorder("=")) is None:
        raise DataError("from_dask", f"cannot compute with elements of type {x.dtype}",
                        got=f"a dask array of {x.dtype}", expected="numbers or truth values",
                        hint="convert them first: x.astype(…)")  # fmt: skip
    kind = type(x._meta)
    if not issubclass(kind, np.ndarray) or issubclass(kind, np.ma.MaskedArray):
        raise DataError("from_dask", "the blocks are no arrays of NumPy's", got=kind.__name__,
                        expected="numpy.ndarray",
                        hint="x.map_blocks(f), where f makes one of each")  # fmt: skip


def _axis(x: Any, axis: int | None) -> int | None:
    """The axis to shard: the one with the most chunks; None if there is one chunk."""
    if axis is not None:
        return axis_of("from_dask", axis, x.ndim)
    counts = [len(lengths) for lengths in x.chunks]
    return counts.index(max(counts)) if max(counts, default=1) > 1 else None


def _on_workers(engine: DaskEngine, parts: Sequence[Any], names: Sequence[str]) -> list[Buffer]:
    """A Buffer for each part of an array, on its device; empty parts stay on the client."""
    full = [n for n, part in enumerate(parts) if part.size]
    graph, keys = _placed([parts[n] for n in full], [engine.at.address(names[n]) for n in full])
    futures = dict(zip(full, engine.client.get(graph, keys, sync=False), strict=True))
    buffers = []
    for n, (part, name) in enumerate(zip(parts, names, strict=True)):
        dtype = part.dtype.newbyteorder("=")
        if n not in futures:
            buffers.append(new_buffer(np.empty(part.shape, dtype), device=name))
            continue
        buffers.append(adopted(engine, futures[n], part.shape, dtype, name))
    return buffers


def _placed(parts: Sequence[Any], workers: Sequence[str]) -> tuple[Any, list[str]]:
    """Dask's graph of the parts, each one block on its worker, and their keys."""
    whole = optimize(*(part.rechunk(part.shape, method="tasks") for part in parts))
    graph: dict[Key, Any] = {}
    keys = []
    for part, worker in zip(whole, workers, strict=True):
        graph.update(part.__dask_graph__())
        (last,) = flatten(part.__dask_keys__())
        keys.append(f"from_dask-{tokenize(last, worker)}")
        graph[keys[-1]] = Task(keys[-1], contiguous_block, TaskRef(last), part.shape, part.dtype)
    notes = _annotations(parts)
    layers: dict[str, tuple[dict[Key, Any], dict[str, Any]]] = {}
    for key, owner in _owners(graph, keys).items():
        note = dict(notes.get(key, {}))
        if owner != EVERYBODY and "workers" not in note and not isinstance(graph[key], TaskRef):
            note |= {"workers": [workers[owner]], **MARK}
        layers.setdefault(tokenize(note), ({}, note))[0][key] = graph[key]
    layer_of = {name: MaterializedLayer(rows, annotations=note or None)
            for name, (rows, note) in layers.items()}  # fmt: skip
    return HighLevelGraph(layer_of, {name: set() for name in layer_of}), keys


def _annotations(parts: Iterable[Any]) -> dict[Key, Mapping[str, Any]]:
    """The user's annotations with `dask.annotate`, by key."""
    annotations: dict[Key, Mapping[str, Any]] = {}
    for layer in (row for part in parts for row in part.dask.layers.values() if row.annotations):
        for key in layer:
            annotations[key] = {name: value(key) if callable(value) else value
                          for name, value in layer.annotations.items()}  # fmt: skip
    return annotations


def _owners(graph: Mapping[Key, Any], keys: Sequence[str]) -> dict[Key, int]:
    """For each task that `keys` need, the number of the key; `EVERYBODY` if several need it."""
    nodes = convert_legacy_graph(graph)
    owners: dict[Key, int] = {}
    for number, last in enumerate(keys):
        seen, left = {last}, [last]
        while left:
            key = left.pop()
            owners[key] = number if owners.get(key, number) == number else EVERYBODY
            new = {k for k in nodes[key].dependencies if k in nodes} - seen if key in nodes else ()
            seen.update(new)
            left.extend(new)
    return {key: owner for key, owner in owners.items() if key in graph}
