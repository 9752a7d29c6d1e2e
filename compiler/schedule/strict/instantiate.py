"""instantiate: gives a PreSchedule memory and values of variables, so that it can run.

    Before:  item 0 step;  item 0 i = 0, i = 1, i = 2
    After:   0  step  buffers (x, t)  i = 0  after –
             1  step  buffers (x, t)  i = 1  after 0
             2  step  buffers (x, t)  i = 2  after 1

The memory of an After or a lane is looked up in the allocated buffers, then in the inputs; that of
a plain buffer in the inputs, then in the allocated buffers. A buffer that is not found and is only
written is allocated, on the device of the call's first argument that is not on disk, else on the
CPU. A DefineLocal is always allocated. An item has one set of buffers for all its iterations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import Array, DType
from compiler.core.errors import ScheduleError
from compiler.core.node import Node, toposort
from compiler.graph.devices import DEFAULT, is_disk
from compiler.graph.nodes import Buffer, Const, Param, Sink, TensorNode, Variable
from compiler.schedule.dependencies import conflicts, waits_in_iteration
from compiler.schedule.kinds import (
    STORAGE,
    Callable,
    CustomCall,
    DefineLocal,
    KernelSink,
    Transfer,
    access,
    arguments_of,
)
from compiler.schedule.kinds import Storage as StorageNode
from compiler.schedule.prepare import (
    KernelInvocation,
    PreSchedule,
    PreScheduleItem,
    create_pre_schedule,
)
from compiler.schedule.regions import whole_or_region
from compiler.schedule.sources import Names, storage_of, wrappers_of


@dataclass(slots=True, eq=False)
class DeviceBuffer:
    """`size` elements of memory on a device; allocated at its first use."""

    device: str
    dtype: DType
    size: int
    _array: "Array | None" = None

    @property
    def is_disk(self) -> bool:
        """True if the buffer is on a device without computation."""
        return is_disk(self.device)

    @property
    def array(self) -> Array:
        """The elements, flat. New memory is filled with 1 bits, so that reading it shows."""
        if self._array is None:
            self._array = np.empty(self.size, self.dtype.numpy)
            self._array.view(np.uint8)[...] = 0 if self.dtype.kind == "bool" else 0xFF
        return self._array


InputBuffers: TypeAlias = Mapping[Any, DeviceBuffer]
"""Memory by Buffer, Param or DefineLocal."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ScheduledCall:
    """One run of one call, on memory.

    `buffer_ids` and `alias_ids` are the numbers of the storages, and of the nodes around them,
    in the printed kernel graph. `dependencies` are ids of calls, `instance_dependencies`
    positions in the schedule.
    """

    kernel_id: int
    kernel: Callable
    body: Sink | None
    buffers: tuple[DeviceBuffer, ...]
    buffer_ids: tuple[int, ...]
    alias_ids: tuple[int, ...]
    fixed_variables: Mapping[str, int]
    loop_variables: Mapping[str, str]
    """The variables that are loop counters, with their loops; the user cannot set them."""
    dependencies: tuple[int, ...]
    instance_dependencies: tuple[int, ...] = ()

    def with_variables(self, values: Mapping[str, int]) -> "ScheduledCall":
        """The same run with other values; `ScheduleError` for a variable that is a loop counter."""
        for name in values:
            if name in self.loop_variables:
                _refuse_locked(name, self.loop_variables[name])
        return replace(self, fixed_variables={**self.fixed_variables, **values})


@dataclass(frozen=True, slots=True, eq=False)
class ScheduleResult:
    """The runs in order, and the memory of each result, in the sink's order."""

    items: tuple[ScheduledCall, ...]
    output_ids: tuple[int, ...]
    outputs: tuple[DeviceBuffer, ...]


def create_schedule(
    root: KernelSink, inputs: InputBuffers, variables: Mapping[str, int] | None = None
) -> ScheduleResult:
    """`create_pre_schedule`, then `instantiate_schedule`."""
    return instantiate_schedule(create_pre_schedule(root), inputs, variables or {})


def instantiate_schedule(
    pre: PreSchedule, input_buffers: InputBuffers, variables: Mapping[str, int]
) -> ScheduleResult:
    """Give every invocation its memory, its values of variables and its dependencies.

    Raises `ScheduleError` for an unknown buffer, by its id; memory that does not fit its node; a
    value of a loop counter, or out of the variable's bounds; an unknown item.
    """
    allocated: dict[StorageNode, DeviceBuffer] = {}
    templates = [_template(item, pre.names, input_buffers, allocated) for item in pre.items]
    _check_locked(pre, variables)
    values = [_user_values(item, variables, pre.names) for item in pre.items]
    runs = [_run(invocation, templates, values) for invocation in pre.invocations]
    before = _instance_dependencies(pre, runs)
    items = tuple(
        replace(run, instance_dependencies=tuple(sorted(ids)))
        for run, ids in zip(runs, before, strict=True)
    )
    ids = tuple(pre.names[output] for output in pre.outputs)
    outputs = tuple(_existing(o, pre.names, (input_buffers, allocated)) for o in pre.outputs)
    return ScheduleResult(items, ids, outputs)


# --- memory -----------------------------------------------------------------------------------


def _template(
    item: PreScheduleItem,
    names: Names,
    inputs: InputBuffers,
    allocated: dict[StorageNode, DeviceBuffer],
) -> ScheduledCall:
    """The item on its memory, without values of variables."""
    values = arguments_of(item.kernel)
    nodes = [storage_of(value, names) for value in values]
    _check_parameters(item, nodes, names)
    if isinstance(item.kernel, Transfer):
        whole_or_region(item.kernel, nodes[0], nodes[1], names)
    device = _device(item.kernel, nodes, inputs, allocated)
    read, written = access(item.kernel, len(values))
    new = written if isinstance(item.kernel, CustomCall) else written - read
    buffers = []
    for slot, (value, node) in enumerate(zip(values, nodes, strict=True)):
        buffers.append(_find(value, node, names, inputs, allocated, device, slot in new))
    aliases = {names[wrapper] for value in values for wrapper in wrappers_of(value)}
    return ScheduledCall(
        kernel_id=item.kernel_id,
        kernel=item.kernel,
        body=item.body,
        buffers=tuple(buffers),
        buffer_ids=tuple(names[node] for node in nodes),
        alias_ids=tuple(sorted(aliases)),
        fixed_variables={},
        loop_variables={name: names.describe(r) for name, r in item.bound_ranges.items()},
        dependencies=item.dependencies,
    )


def _check_parameters(item: PreScheduleItem, nodes: Sequence[StorageNode], names: Names) -> None:
    """Refuse a call whose arguments do not match its parameters in number, size and type."""
    body: list[TensorNode] = toposort([item.body]) if item.body is not None else []
    for param in (node for node in body if isinstance(node, Param)):
        expected = f"{param.dtype.short}[{param.size}]"
        if param.slot >= len(nodes):
            names.refuse(item.kernel, f"it has no argument {param.slot}", expected=expected)
        value = nodes[param.slot]
        if (value.dtype, value.size) != (param.dtype, param.size):
            what = f"its argument {param.slot}, {names.describe(value)}, does not fit"
            got = f"{value.dtype.short}[{value.size}]"
            names.refuse(item.kernel, what, got=got, expected=expected)


def _device(
    call: Callable, nodes: Sequence[StorageNode], inputs: InputBuffers, allocated: InputBuffers
) -> str:
    """The device on which a call allocates memory: for a transfer, that of its destination."""
    if isinstance(call, Transfer) and isinstance(nodes[0], Buffer):
        return nodes[0].device
    buffers = (allocated.get(node) or inputs.get(node) for node in nodes)
    return next((b.device for b in buffers if b is not None and not b.is_disk), DEFAULT)


def _find(
    value: Node,
    node: StorageNode,
    names: Names,
    inputs: InputBuffers,
    allocated: dict[StorageNode, DeviceBuffer],
    device: str,
    is_made_here: bool,
) -> DeviceBuffer:
    """The memory of one argument, looked up in the order of the module docstring."""
    buffer = inputs.get(node) or allocated.get(node)
    is_new = buffer is None and (is_made_here or isinstance(node, DefineLocal))
    if not is_new and not isinstance(value, STORAGE):
        existing = _existing(node, names, (allocated, inputs))
        return allocated.setdefault(node, existing)
    if not is_new:
        return _existing(node, names, (inputs, allocated))
    size = node.size
    return allocated.setdefault(node, DeviceBuffer(device, node.dtype, size))


def _existing(node: StorageNode, names: Names, places: Sequence[InputBuffers]) -> DeviceBuffer:
    """The memory of a node in the first of `places` that has it; it has to fit the node."""
    existing = next((place[node] for place in places if node in place), None)
    if existing is None:
        names.refuse(node, "unknown buffer: it is no input, and no call before makes it")
    if (existing.dtype, existing.size) != (node.dtype, node.size):
        got, expected = (f"{x.dtype.short}[{x.size}]" for x in (existing, node))
        names.refuse(node, "its memory does not fit", got=got, expected=expected)
    return existing


# --- variables --------------------------------------------------------------------------------


def _refuse_locked(name: str, loop: str) -> None:
    what = f"variable {name} is the counter of {loop}: its value cannot be given"
    raise ScheduleError("schedule", what, hint="leave it out of `variables`")


def _free(item: PreScheduleItem) -> dict[str, tuple[int, int]]:
    """The variables that the user sets for an item, with their bounds."""
    free = {name: item.bounds[name] for name in item.runtime_variables}
    body: list[TensorNode] = toposort([item.body]) if item.body is not None else []
    for node in body:
        if isinstance(node, Variable) and node.name not in item.bound_ranges:
            low, high = free.get(node.name, (node.low, node.high))
            free[node.name] = (max(low, node.low), min(high, node.high))
    return free


def _check_locked(pre: PreSchedule, variables: Mapping[str, int]) -> None:
    """Refuse values of variables that are loop counters; the error names the loop."""
    free = {name for item in pre.items for name in _free(item)}
    for item in pre.items:
        for name, counter in item.bound_ranges.items():
            if name in variables and name not in free:
                _refuse_locked(name, pre.names.describe(counter))


def _run(
    invocation: KernelInvocation,
    templates: Sequence[ScheduledCall],
    values: Sequence[Mapping[str, int]],
) -> ScheduledCall:
    """One run, with the user's values, overridden by loop counters."""
    if not 0 <= invocation.item < len(templates):
        what = f"an invocation names item {invocation.item}, which does not exist"
        raise ScheduleError("schedule", what, expected=f"0 … {len(templates) - 1}")
    fixed = {**values[invocation.item], **invocation.fixed_variables}
    return replace(templates[invocation.item], fixed_variables=fixed)


def _user_values(
    item: PreScheduleItem, variables: Mapping[str, int], names: Names
) -> dict[str, int]:
    """The values of the variables that the user sets for an item; bound constants are defaults."""
    values: dict[str, int] = {}
    for name, (low, high) in _free(item).items():
        bound = item.runtime_variables.get(name)
        if name in variables:
            values[name] = variables[name]
        elif isinstance(bound, Const):
            values[name] = int(bound.value)
        if name in values and not low <= values[name] <= high:
            what = f"the value of its variable {name} is out of bounds"
            names.refuse(item.kernel, what, got=str(values[name]), expected=f"{low} … {high}")
    return values


# --- the order of runs ------------------------------------------------------------------------


def _instance_dependencies(pre: PreSchedule, runs: Sequence[ScheduledCall]) -> list[set[int]]:
    """For each run the runs that it depends on: through memory, by waits, and earlier custom calls.
    """
    over_memory = conflicts([_access(run) for run in runs])
    both = zip(over_memory, waits_in_iteration(pre), strict=True)
    return [{*edges, *before} for edges, before in both]


def _access(run: ScheduledCall) -> tuple[list[DeviceBuffer], list[DeviceBuffer]]:
    """The memory a run reads, and that it writes."""
    read, written = access(run.kernel, len(run.buffers))
    return [run.buffers[i] for i in sorted(read)], [run.buffers[i] for i in sorted(written)]
