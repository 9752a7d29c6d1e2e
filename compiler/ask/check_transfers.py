"""check_transfers: each transfer of a program compared with the copy of the graph that it is for.

The items run in order, kernels on NumPy. A transfer is wrong where it does not move the elements
of its region, element by element, and where what it brings is no value that the graph copies,
though its source holds the elements of one.
"""

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from compiler.ask.checking import Row, copies
from compiler.core.dtypes import Array
from compiler.graph.interpret import evaluate_all
from compiler.graph.kinds.placement import Copy
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.run.bindings import Values, graph_inputs
from compiler.schedule import interpret as schedule_interpreter
from compiler.schedule.host import Host
from compiler.schedule.items import Kernel, MemoryTransfer, ScheduleItem
from compiler.schedule.regions import contiguous_strides
from compiler.stages.stages import ProgramStages

STAGE = "transfers"


def has_transfers(compilation: ProgramStages) -> bool:
    """True if the program moves anything by a transfer."""
    return any(isinstance(i.operation, MemoryTransfer) for i in compilation.schedule.items)


def check_transfers(compilation: ProgramStages, values: Values) -> Row:
    """True if every transfer is right, and of the first wrong one what it leaves."""
    held: dict[Buffer, Array] = dict(copies(compilation))
    host, copied = Host(), _copied(compilation, values)
    for item in compilation.schedule.items:
        operation = item.operation
        for buffer in operation.arguments:
            if buffer not in held:
                held[buffer] = _poisoned(buffer)
        arrays = [held[buffer] for buffer in operation.arguments]
        if isinstance(operation, Kernel):
            schedule_interpreter.run_kernel(operation, arrays, values)
            continue
        before = arrays[0].copy() if arrays else np.zeros(0)
        host.run(operation, arrays)
        if isinstance(operation, MemoryTransfer):
            wrong = _wrong(operation, arrays, before, copied)
            if wrong:
                return Row(STAGE, False, np.inf, np.inf, f"{_word(item, operation)} {wrong}")
    return Row(STAGE, True, 0.0, 0.0)


def _poisoned(buffer: Buffer) -> Array:
    memory = np.empty(buffer.size, buffer.dtype.numpy)
    memory.view(np.uint8)[...] = 0 if buffer.dtype.kind == "bool" else 0xFF
    return memory


def _word(item: ScheduleItem, each: MemoryTransfer) -> str:
    way = f"{each.source_device} → {each.destination_device}"
    return f"item {item.item_id} ({each.name}, {way})"


def _copied(compilation: ProgramStages, values: Values) -> list[Array]:
    """The values of all copies in the graph as it is scheduled, and the first states of its loops,
    flat."""
    records = [record for record in compilation.passes if record.stage == "graph"]
    root: Any = records[-1].after if records else compilation.written
    assert isinstance(root, Sink)
    value_of: Mapping[TensorNode, Array] = evaluate_all(root.sources, graph_inputs(root, values))
    loops = (node for node in value_of if isinstance(node, Repeat))
    first = {s for node in loops for s in node.sources[: node.states]}
    copies = (node for node in value_of if isinstance(node, Copy) or node in first)
    return [value_of[node].reshape(-1) for node in copies]


def _wrong(each: MemoryTransfer, arrays: list[Array], before: Array, copied: list[Array]) -> str:
    """The problem of a transfer that has run; "" where it has none."""
    destination, source = arrays
    meant = before.copy()
    into = _places(each.dims, each.destination_strides, each.destination_offset)
    meant[into] = source[_places(each.dims, each.source_strides, each.source_offset)]
    different = np.flatnonzero(_bits(meant) != _bits(destination))
    if different.size:
        at = int(different[0])
        return f"leaves {destination[at]} at element {at} instead of {meant[at]}"
    moved = _bits(destination)
    values = [_bits(v) for v in copied if v.dtype == source.dtype and v.size == moved.size]
    if any(np.array_equal(v, moved) for v in values):
        return ""
    elements = _bits(source)
    if any(np.isin(value, elements).all() for value in values):
        return "brings other elements of its source than the graph copies"
    return ""


def _places(dims: tuple[int, ...], strides: tuple[int, ...] | None, offset: int) -> Array:
    """The positions of the elements of a region, in order."""
    axes = zip(dims, strides or contiguous_strides(dims), strict=True)
    steps = [np.arange(extent) * stride for extent, stride in axes]
    return reduce(np.add.outer, steps, np.array(offset)).reshape(-1)


def _bits(array: Array) -> Array:
    """The elements as integers: NaN equals NaN."""
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")
