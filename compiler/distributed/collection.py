"""collection: a tensor as a Dask collection: `dask.compute(t)`, `persist`, `visualize`.

    t on workers      its schedule, as the tasks of a run, then its shards
    t on the client   its program as one task on any worker, and its data as further tasks
    t computed        its data, and the futures of data on workers

A program that such a graph cannot express, for example one with a Python callback in the middle, is
computed first: the tensor then has its data.

    name            tensor-1f3a…, by the graph of the tensor and by what its inputs hold
    keys            tensor-1f3a…-0, tensor-1f3a…-1, …: a block for each shard

Dask (2026.8) groups collections by kind when it computes several: of an array, a tensor and another
array requested at once, the tensor's result comes last.
"""

import functools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np
from dask import threaded
from dask._task_spec import DataNode, Task, TaskRef
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph, MaterializedLayer
from distributed import Future

from compiler.core.dtypes import Array
from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.core.written import Unwritable
from compiler.device import dask as cluster
from compiler.device.buffers import held, new_buffer
from compiler.device.disk import file_part
from compiler.device.remote import Data, RemoteData
from compiler.distributed import shipped
from compiler.distributed import tasks as planning
from compiler.distributed.arrays import adopted, engine_in_use, file_block, held_block, shaped_block
from compiler.distributed.engine import DaskEngine, library_of
from compiler.distributed.graphs import argument_of, layers_of
from compiler.distributed.held import Layers, Parent, Submitted, result_of
from compiler.distributed.repair import MARK
from compiler.distributed.tasks import Send, Submit, TaskPlan
from compiler.distributed.work import unpacked
from compiler.graph.decompose import decompose
from compiler.graph.devices import is_remote
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.markers import Placeholder
from compiler.graph.kinds.placement import Multi, multi
from compiler.graph.nodes import Bind, Buffer, Shape, Sink, TensorNode
from compiler.run import plans, sharding
from compiler.run.plans import Structure
from compiler.schedule.kinds import Region
from compiler.schedule.regions import packed
from compiler.settings.options import Options
from compiler.tensor import Tensor
from compiler.tensors.variables import is_realized

Key: TypeAlias = Hashable
USUAL = Options()


@dataclass(frozen=True, slots=True)
class Block:
    """A shard of a tensor as a block: its shape, type and device."""

    shape: Shape
    dtype: "np.dtype[Any]"
    device: str


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """A program whose items all run on workers."""

    structure: Structure
    buffers: tuple[Buffer, ...]
    plan: TaskPlan
    shards: tuple[TensorNode, ...]
    axis: int | None


@dataclass(frozen=True, eq=False)
class Anywhere:
    """A program that is one task, on any worker."""

    made: shipped.Shipped
    buffers: tuple[Buffer, ...]


@dataclass(eq=False)
class Rows:
    """A Dask graph under construction: data, and tasks with their workers."""

    data: dict[Key, Any]
    tasks: dict[Key, Any]
    workers: dict[Key, list[str]]

    def graph(self, name: str) -> HighLevelGraph:
        """Dask's graph."""
        notes = {"workers": self.workers.__getitem__, **MARK} if self.workers else None
        below = f"{name}-data"
        layers = {
            below: MaterializedLayer(self.data), name: MaterializedLayer(self.tasks, notes)
        }  # fmt: skip
        return HighLevelGraph(layers, {below: set(), name: {below}})


_NUMBERS: "WeakKeyDictionary[TensorNode, str]" = WeakKeyDictionary()
_ROUTES: "WeakKeyDictionary[TensorNode, Elsewhere | Anywhere | None]" = WeakKeyDictionary()


def graph(tensor: Tensor) -> HighLevelGraph | None:
    """Dask's graph of a tensor; None for a placeholder, which has no data."""
    if _is_open(tensor.node):
        return None
    node, name = _settled(tensor), name_of(tensor)
    route = None if is_realized(node) else _route(node)
    rows = Rows({}, {}, {})
    if isinstance(route, Elsewhere):
        _add_schedule(rows, name, route, engine_in_use())
    elif isinstance(route, Anywhere):
        refs = [_add_data(rows, held(buffer)) for buffer in route.buffers]
        rows.tasks[f"{name}-0"] = Task(f"{name}-0", perform_program, route.made, *refs)
    else:
        _add_blocks(rows, name, node)
    return rows.graph(name)


def keys(tensor: Tensor) -> list[Key]:
    """The keys of its blocks."""
    name = name_of(tensor)
    return [f"{name}-{n}" for n in range(len(_blocks(tensor)[0]))]


def name_of(tensor: Tensor) -> str:
    """A name of the tensor's current value: a hash of its graph and of its inputs' contents."""
    node = _settled(tensor)
    tokens = [_token(held(each)) for each in toposort([node]) if isinstance(each, Buffer)]
    number = "" if is_realized(node) else _NUMBERS.setdefault(node, uuid4().hex)
    return f"tensor-{tokenize(number, tokens, str(node.dtype), node.shape, node.devices)}"


def postcompute(tensor: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """The function that joins blocks to an array, and its arguments, as Dask calls it."""
    return joined_blocks, (_blocks(tensor)[1],)


def postpersist(tensor: Tensor) -> tuple[Any, tuple[Any, ...]]:
    """The function that makes a tensor of a graph that Dask persisted, and its arguments."""
    return persisted, (type(tensor), name_of(tensor), *_blocks(tensor))


def scheduler(tensor: Tensor) -> Any:
    """The scheduler if Dask has no client: the cluster in use, or threads."""
    engine = cluster.used()
    if isinstance(engine, DaskEngine) and _is_for_workers(toposort([tensor.node])):
        return engine.client.get
    return threaded.get


def optimizer() -> Any:
    """Dask's optimisation of a tensor's graph: none, since its kernels are fused already.

    Each call returns a new function: Dask groups collections with the same function, and returns
    results by group instead of in the requested order.
    """
    return functools.partial(unchanged)


def unchanged(graph: Any, keys: object, **options: object) -> Any:
    """The graph."""
    return graph


def joined_blocks(blocks: Sequence[Array], axis: int | None) -> Array:
    """The array of a tensor's blocks, a new one; of replicas, the first."""
    if axis is None or len(blocks) == 1:
        return np.array(blocks[0])
    return np.concatenate(list(blocks), axis)


def persisted(
    results: Mapping[Key, Any], kind: type[Tensor], name: str, blocks: Sequence[Block],
    axis: int | None, *, rename: Mapping[str, str] | None = None,
) -> Tensor:  # fmt: skip
    """The tensor whose blocks Dask holds; blocks of the client stay on the client."""
    named = [f"{name}-{n}" for n in range(len(blocks))]
    values = [results[(rename or {}).get(key, key)] for key in named]
    buffers = [_buffer(value, block) for value, block in zip(values, blocks, strict=True)]
    return kind._of(buffers[0] if len(buffers) == 1 else multi(tuple(buffers), axis))


def perform_program(program: shipped.Shipped, *data: Array) -> Array:
    """The result of a program on its data; runs on any worker."""
    flat = tuple(each.reshape(-1) for each in data)
    (result,) = shipped.run(replace(program, own=flat), (), USUAL)
    return result


def _buffer(value: Any, block: Block) -> Buffer:
    is_future = isinstance(value, Future)
    if is_future and is_remote(block.device):
        return adopted(engine_in_use(), value, block.shape, block.dtype, block.device)
    array = np.array(value.result() if is_future else value, block.dtype, order="C")
    return new_buffer(array, device=block.device)


def _is_open(node: TensorNode) -> bool:
    """True if it reads a placeholder."""
    return any(isinstance(each, Placeholder) for each in toposort([node]))


def _settled(tensor: Tensor) -> TensorNode:
    """The node of the tensor, computed first if no Dask graph can express it."""
    if not is_realized(tensor.node) and _route(tensor.node) is None:
        tensor.realize()
    return tensor.node


def _blocks(tensor: Tensor) -> tuple[tuple[Block, ...], int | None]:
    """The blocks of a tensor, and the sharded axis."""
    node = _settled(tensor)
    route = None if is_realized(node) else _route(node)
    shards: tuple[TensorNode, ...] = (node,)
    axis = None
    if isinstance(route, Elsewhere):
        shards, axis = route.shards, route.axis
    elif isinstance(node, Multi):
        shards, axis = node.sources, node.axis
    return tuple(
        Block(shard.shape, shard.dtype.numpy, (shard.devices or ("CPU",))[0]) for shard in shards
    ), axis


def _route(node: TensorNode) -> Elsewhere | Anywhere | None:
    """The form of a node's program in Dask's graph; None if it cannot be expressed. Cached."""
    if node not in _ROUTES:
        _ROUTES[node] = _found(node)
    return _ROUTES[node]


def _found(node: TensorNode) -> Elsewhere | Anywhere | None:
    order = toposort([node])
    if any(isinstance(each, Assign | Bind) or each.extents for each in order) or _is_open(node):
        return None
    if _is_for_workers(order):
        return _elsewhere(node) if cluster.used() else None
    if len(node.devices) > 1:
        return None
    plain = decompose(Sink((node,)), Provenance())
    _, buffers = plans.without_data(plain.sources)
    try:
        program = shipped.ship(plain.sources, [])
    except Unwritable:
        return None
    return Anywhere(replace(program, own=()), buffers)


def _is_for_workers(order: Sequence[TensorNode]) -> bool:
    return any(is_remote(name) for each in order for name in each.devices)


def _elsewhere(node: TensorNode) -> Elsewhere | None:
    """The program of a node for workers, if the client does nothing in it but send data."""
    (whole,) = sharding.in_shards([node])
    shards = tuple(sharding.flat([whole]))
    structure, buffers = plans.structure_to_run(shards, USUAL)
    plan = planning.plan(structure.items, structure.results, structure.inputs, structure.programs)
    is_all = all(
        isinstance(each, Submit) or (isinstance(each, Send) and each.buffer in structure.inputs)
        for each in plan.actions
    )
    if not is_all or plan.written or None in plan.results:
        return None
    axis = whole.axis if isinstance(whole, Multi) else None
    return Elsewhere(structure, buffers, plan, shards, axis)


def _add_blocks(rows: Rows, name: str, node: TensorNode) -> None:
    """Add the blocks of a computed tensor."""
    for n, shard in enumerate(node.sources if isinstance(node, Multi) else (node,)):
        data = held_block(shard)
        if isinstance(data, RemoteData):
            engine, ref = engine_in_use(), _add_data(rows, data)
            _add_block(rows, f"{name}-{n}", ref, data.shape, engine.at.address(data.device))
        else:
            rows.data[f"{name}-{n}"] = DataNode(f"{name}-{n}", data)


def _add_block(rows: Rows, key: Key, source: Any, shape: Shape, worker: str) -> None:
    rows.tasks[key] = Task(key, shaped_block, source, shape)
    rows.workers[key] = [worker]


def _add_data(rows: Rows, data: Data) -> TaskRef:
    """Add operands of tasks as a node of their own."""
    if isinstance(data, RemoteData):
        result = result_of(data)
        engine_in_use().at.wait(result.run, [result.key])  # where it was lost it is recomputed
        rows.data[result.key] = result.future
        return TaskRef(result.key)
    key, part = f"data-{_token(data)}", file_part(data)
    rows.data[key] = (
        DataNode(key, data) if part is None else Task(key, file_block, part, data.shape, ())
    )
    return TaskRef(key)


def _add_schedule(rows: Rows, name: str, program: Elsewhere, engine: DaskEngine) -> None:
    """Add the tasks of a run."""
    structure, plan = program.structure, program.plan
    engine.refuse(structure.items, structure.results)
    run = Submitted(name, plan, {item.item_id: item for item in structure.items}, {}, [])
    data = [held(buffer) for buffer in program.buffers]
    run.inputs += [_input(rows, each) for each in data]
    if plan.codes:
        library = f"library-{name}"
        rows.data[library] = Task(library, unpacked, library_of(plan, structure.programs))
        run.library = TaskRef(library)
    here = dict(zip(structure.inputs, data, strict=True))
    for action in plan.actions:
        if isinstance(action, Send):
            array = here[action.buffer]
            assert isinstance(array, np.ndarray)
            region = action.region or Region((array.size,))
            part = packed(region, array.reshape(-1))
            run.inline[action.number] = str(_add_data(rows, part).key)
        elif isinstance(action, Submit):
            _add_layers(rows, layers_of(action, run)[0], engine)
    for n, (shard, end) in enumerate(zip(program.shards, plan.results, strict=True)):
        assert end is not None
        worker = engine.at.address(shard.devices[0])
        # the client asks for results, so none is one of several arrays
        _add_block(rows, f"{name}-{n}", argument_of(end, run)[0], shard.shape, worker)


def _add_layers(rows: Rows, layers: Layers, engine: DaskEngine) -> None:
    for device, layer in layers.items():
        rows.tasks.update(layer)
        rows.workers.update((key, [engine.at.address(device)]) for key in layer)


def _input(rows: Rows, data: Data) -> Any:
    if isinstance(data, RemoteData):
        return Parent(str(_add_data(rows, data).key), None, None)
    return file_part(data) or data


def _token(data: Data) -> str:
    """A token of data: the key if a worker holds them, else a hash of the contents."""
    if isinstance(data, RemoteData):
        return str(result_of(data).key)
    return str(tokenize(file_part(data) or data))
