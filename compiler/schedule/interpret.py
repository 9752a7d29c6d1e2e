"""Runs the kernel graph call by call, and the schedule item by item, on NumPy."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import ScheduleError
from compiler.core.node import toposort
from compiler.graph.extents import part_of
from compiler.graph.interpret import interpret as interpret_graph
from compiler.graph.nodes import Buffer, Param, Sink, Store, TensorNode, Variable
from compiler.graph.parts import slices
from compiler.schedule import kinds
from compiler.schedule.host import Functions, Host
from compiler.schedule.items import Kernel, Operation, ScheduleItem
from compiler.schedule.kinds import CALLABLE, EFFECTS, buffer_of
from compiler.schedule.operations import operations
from compiler.schedule.prepare import create_pre_schedule

RunKernel: TypeAlias = Callable[[Kernel, Sequence[Array]], object]


def interpret_kernels(
    root: kinds.KernelSink,
    inputs: Mapping[Buffer, Array],
    values: Mapping[str, int] | None = None,
    functions: Functions | None = None,
) -> list[Array]:
    """The results of a kernel graph as flat arrays: runs call after call, with loops unrolled.

    `values` has the values of variables.
    """
    held, host = dict(inputs), Host(functions or {})

    def run(kernel: Kernel, arguments: Sequence[Array]) -> None:
        run_kernel(kernel, arguments, values)

    if any(isinstance(node, CALLABLE) for node in toposort([root])):
        for operation in operations(create_pre_schedule(root)):
            _run(operation, _bind(operation.arguments, held), run, host)
    return [held[buffer_of(source)] for source in root.sources if not isinstance(source, EFFECTS)]


def interpret(
    items: Sequence[ScheduleItem],
    results: Sequence[Buffer],
    inputs: Mapping[Buffer, Array],
    run: RunKernel,
    functions: Functions | None = None,
) -> list[Array]:
    """The results of a schedule as flat arrays; `run` runs one kernel on flat arrays."""
    held, host = dict(inputs), Host(functions or {})
    for item in items:
        _run(item.operation, _bind(item.operation.arguments, held), run, host)
    return [held[buffer] for buffer in results]


def _run(operation: Operation, arrays: list[Array], run: RunKernel, host: Host) -> None:
    """Run one operation: a kernel with `run`, all others on the host."""
    if isinstance(operation, Kernel):
        run(operation, arrays)
    else:
        host.run(operation, arrays)


def _bind(arguments: Sequence[Buffer], held: dict[Buffer, Array]) -> list[Array]:
    """The arrays of the arguments; new ones are filled with 1 bits, so that reading them shows."""
    for buffer in arguments:
        if buffer not in held:
            storage = np.empty(buffer.size, buffer.dtype.numpy)
            storage.view(np.uint8)[...] = 0 if buffer.dtype.kind == "bool" else 0xFF
            held[buffer] = storage
    return [held[buffer] for buffer in arguments]


def run_kernel(
    kernel: Kernel, arguments: Sequence[Array], values: Mapping[str, int] | None = None
) -> None:
    """Run a kernel's body on NumPy; it writes its stores to the arguments."""
    run_body(kernel.body, arguments, {**(values or {}), **dict(kernel.fixed)})


def run_body(
    body: Sink, arguments: Sequence[Array], variables: Mapping[str, int] | None = None
) -> None:
    """Evaluate the stored values of `body` and write them to its parameters.

    All values are computed before the first is written; `variables` has those of the body by name.
    """
    parameters = inputs_of(toposort([body]), arguments, variables or {})
    values = interpret_graph([store.sources[1] for store in body.sources], parameters)
    if len(values) > 1:  # a value may be a view of a parameter that an earlier store writes
        values = [value.copy() for value in values]
    for store, value in zip(body.sources, values, strict=True):
        written = store.sources[0]
        assert isinstance(written, Param)
        assert isinstance(store, Store)
        where = slices(store.parts) if store.parts else part_of(value.shape)
        arguments[written.slot].reshape(written.shape)[where] = value


def inputs_of(
    nodes: Sequence[TensorNode], arguments: Sequence[Array], variables: Mapping[str, int]
) -> dict[TensorNode, Array]:
    """The values of the Params and Variables among the nodes of a body."""
    return {
        node: _shaped(arguments[node.slot], node)
        if isinstance(node, Param)
        else _variable(node, variables)
        for node in nodes
        if isinstance(node, Param | Variable)
    }


def _shaped(argument: Array, node: Param) -> Array:
    """A flat argument reshaped to its Param; it may have fewer rows."""
    is_whole = argument.size == node.size
    return argument.reshape(node.shape if is_whole else (-1, *node.shape[1:]))


def _variable(node: Variable, values: Mapping[str, int]) -> Array:
    """The value of a variable of a body."""
    if node.name not in values:
        what = f"variable {node.name} has no value"
        names = ", ".join(sorted(values)) or "none"
        raise ScheduleError("schedule interpreter", what, got=names, expected=node.name)
    return np.array(values[node.name], np.int64)
