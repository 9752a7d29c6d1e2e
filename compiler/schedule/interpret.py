"""Runs the kernel graph call by call, and the schedule item by item, on NumPy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from compiler.errors import ScheduleError
from compiler.graph.extents import part_of
from compiler.graph.interpret import interpret as interpret_graph
from compiler.graph.nodes import Buffer, Param, Sink, TensorNode, Variable
from compiler.node import toposort
from compiler.schedule.calls import Call, KernelSink, buffer_of
from compiler.schedule.instantiate import ScheduledCall, ScheduleResult
from compiler.schedule.items import Kernel, ScheduleItem

Array: TypeAlias = "np.ndarray[Any, Any]"
RunKernel: TypeAlias = Callable[[Kernel, Sequence[Array]], object]
Functions: TypeAlias = Mapping[str, Callable[..., object]]
"""What custom calls call, by name: functions of flat arrays, which they may write."""


def interpret_kernels(
    root: KernelSink, inputs: Mapping[Buffer, Array], values: Mapping[str, int] | None = None
) -> list[Array]:
    """The results of a kernel graph as flat arrays: every call once its arguments are there.

    `values` are those of the variables.
    """
    held = dict(inputs)
    for node in toposort([root]):
        if isinstance(node, Call):
            arguments = tuple(buffer_of(a) for a in node.sources)
            run_kernel(Kernel(node.name, node.body, arguments), _bind(arguments, held), values)
    return [held[buffer_of(source)] for source in root.sources]


def interpret(
    items: Sequence[ScheduleItem],
    results: Sequence[Buffer],
    inputs: Mapping[Buffer, Array],
    run: RunKernel,
) -> list[Array]:
    """The results of a schedule as flat arrays; `run` runs one kernel on flat arrays."""
    held = dict(inputs)
    for item in items:
        run(item.operation, _bind(item.operation.arguments, held))
    return [held[buffer] for buffer in results]


def _bind(arguments: Sequence[Buffer], held: dict[Buffer, Array]) -> list[Array]:
    """The arrays of the arguments; what is not there yet is made, full of ones' bits."""
    for buffer in arguments:
        if buffer not in held:
            made = np.empty(buffer.size, buffer.dtype.numpy)
            made.view(np.uint8)[...] = 0 if buffer.dtype.kind == "bool" else 0xFF
            held[buffer] = made
    return [held[buffer] for buffer in arguments]


def run_kernel(
    kernel: Kernel, arguments: Sequence[Array], values: Mapping[str, int] | None = None
) -> None:
    """Run a kernel's body on NumPy; argument 0 is written in place."""
    run_body(kernel.body, arguments, {**(values or {}), **dict(kernel.fixed)})


def run_schedule(schedule: ScheduleResult, functions: Functions | None = None) -> list[Array]:
    """Run every item of a strict schedule in order; the results as flat arrays.

    Raises `ScheduleError` for a variable without a value, and for an unknown function.
    """
    for item in schedule.items:
        run_item(item, functions or {})
    return [buffer.array for buffer in schedule.outputs]


def run_item(item: ScheduledCall, functions: Functions) -> None:
    """Run one item of a strict schedule on its memory."""
    arrays = [buffer.array for buffer in item.buffers]
    name = item.kernel.name
    if item.body is not None:
        run_body(item.body, arrays, item.fixed_variables)
    elif name in functions:
        functions[name](*arrays, **item.fixed_variables)
    else:
        known = ", ".join(sorted(functions)) or "none"
        what = f"custom call {name}: no function of this name is registered"
        raise ScheduleError("schedule interpreter", what, got=name, expected=known)


def run_body(
    body: Sink, arguments: Sequence[Array], variables: Mapping[str, int] | None = None
) -> None:
    """Evaluate the stored values of `body` and write them to its parameters.

    All values are found before the first is written; `variables` are those of the body, by name.
    """
    nodes: list[TensorNode] = toposort([body])
    parameters: dict[TensorNode, Array] = {
        node: _shaped(arguments[node.slot], node) for node in nodes if isinstance(node, Param)
    }
    parameters |= {
        node: _variable(node, variables or {}) for node in nodes if isinstance(node, Variable)
    }
    values = interpret_graph([store.sources[1] for store in body.sources], parameters)
    if len(values) > 1:  # a value may be a view of a parameter that an earlier store writes
        values = [value.copy() for value in values]
    for store, value in zip(body.sources, values, strict=True):
        written = store.sources[0]
        assert isinstance(written, Param)
        arguments[written.slot].reshape(written.shape)[part_of(value.shape)] = value


def _shaped(argument: Array, node: Param) -> Array:
    """A flat argument with the axes of its Param; it may hold fewer rows."""
    is_whole = argument.size == node.size
    return argument.reshape(node.shape if is_whole else (-1, *node.shape[1:]))


def _variable(node: Variable, values: Mapping[str, int]) -> Array:
    """The value of a variable of a body."""
    if node.name not in values:
        what = f"variable {node.name} has no value"
        known = ", ".join(sorted(values)) or "none"
        raise ScheduleError("schedule interpreter", what, got=known, expected=node.name)
    return np.array(values[node.name], np.int64)
