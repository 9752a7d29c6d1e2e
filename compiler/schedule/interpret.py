"""Runs the kernel graph call by call, and the schedule item by item, on NumPy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from compiler.graph.interpret import interpret as interpret_graph
from compiler.graph.nodes import Buffer, Param, Sink, TensorNode
from compiler.node import toposort
from compiler.schedule.calls import Call, KernelSink, buffer_of
from compiler.schedule.items import Kernel, ScheduleItem

Array: TypeAlias = "np.ndarray[Any, Any]"
RunKernel: TypeAlias = Callable[[Kernel, Sequence[Array]], object]


def interpret_kernels(root: KernelSink, inputs: Mapping[Buffer, Array]) -> list[Array]:
    """The results of a kernel graph as flat arrays: every call once its arguments are there."""
    held = dict(inputs)
    for node in toposort([root]):
        if isinstance(node, Call):
            arguments = tuple(buffer_of(a) for a in node.sources)
            run_kernel(Kernel(node.name, node.body, arguments), _bind(arguments, held))
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


def run_kernel(kernel: Kernel, arguments: Sequence[Array]) -> None:
    """Run a kernel's body on NumPy; argument 0 is written in place."""
    run_body(kernel.body, arguments)


def run_body(body: Sink, arguments: Sequence[Array]) -> None:
    """Evaluate the stored values of `body` and write them to its parameters."""
    nodes: list[TensorNode] = toposort([body])
    parameters: dict[TensorNode, Array] = {
        node: arguments[node.slot].reshape(node.shape) for node in nodes if isinstance(node, Param)
    }
    values = interpret_graph([store.sources[1] for store in body.sources], parameters)
    for store, value in zip(body.sources, values, strict=True):
        written = store.sources[0]
        assert isinstance(written, Param)
        arguments[written.slot][...] = value.reshape(-1)
