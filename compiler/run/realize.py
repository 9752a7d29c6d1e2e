"""realize: tensors as data: compiled, run, and held in buffers on the devices they are on.

Parts of data in memory are copied without compiling a program:

    x[i, j].item()                the element, copied; no kernel is compiled for its place
    x[i], x[2:5], x.T[0]          so are rows, and small parts of any strides

A program that only moves a buffer's elements computes nothing, and each position would need another
program, so compiling it does not pay.
"""

from collections.abc import Sequence

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.effects import Effects
from compiler.device import buffers, device
from compiler.device.remote import Data
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.graph.strides import MOVES, moved
from compiler.run import plans, sharding
from compiler.run.bindings import Values, bindings_of, hold
from compiler.settings.options import Options

USUAL = Options()
SMALL = 4096
"""Elements of any strides that are copied in less time than a program takes to start: 64 × 64 of a
transposed matrix took 14 µs, a program 11 to 13; 16,384 took 53 (EPYC, AVX2, 2026-11-23)."""
LONG = 2**16
"""Elements in a row, as many as are copied in less time than a program takes to compile: 8 µs of
floats, 24 ms or more (the same machine)."""


def realize(
    nodes: Sequence[TensorNode],
    options: Options | None = None,
    variables: Values | None = None,
    is_tried: bool = False,
    effects: Effects | None = None,
) -> list[TensorNode]:
    """Compile and run: for each node a Buffer with its value, on its device.

    A value in shards stays so: a Multi of one Buffer per device. Memory has one Buffer: for an
    Assign it is that of its target, for equal nodes it is one. Where an axis has the extent of a
    variable, a Prefix marks how much of the Buffer is the value. Nothing is recorded. `variables`
    are values over those bound; where it `is_tried`, only copies of the inputs are written.

    `effects` get the nodes before anything is written, and whether everything was.
    """
    if options is None and (parts := _in_memory(nodes)) is not None:
        return parts
    whole = sharding.in_shards(nodes)
    each = sharding.flat(whole)
    values = bindings_of(Sink(tuple(nodes))).of_run(variables)
    chosen = options or USUAL
    with plans.located(each, chosen):
        structure, buffers_read = plans.structure_to_run(each, chosen)
    written = structure.written_inputs if is_tried else ()
    data = [buffers.held(b).copy() if n in written else buffers.held(b)
            for n, b in enumerate(buffers_read)]  # fmt: skip
    buffers_at = {
        buffers.place_of(array, b.device): b
        for n, (array, b) in enumerate(zip(data, buffers_read, strict=True)) if n not in written
    }  # fmt: skip
    made_nodes: list[TensorNode] = []

    def ready(flat: Sequence[Data]) -> None:
        rows = zip(flat, each, structure.devices, strict=True)
        held = [hold(value, node, values, where, buffers_at) for value, node, where in rows]
        made_nodes[:] = sharding.regrouped(whole, held)
        if effects is not None:
            effects.values = made_nodes

    with plans.located(each, chosen):
        plans.run(structure, [array.reshape(-1) for array in data], values, None, effects, ready)
    return made_nodes


def _in_memory(nodes: Sequence[TensorNode]) -> list[TensorNode] | None:
    """For each node a Buffer with a copy of its elements; None unless all are parts in memory."""
    parts: dict[TensorNode, TensorNode] = {}
    for node in dict.fromkeys(nodes):
        part = _copied(node)
        if part is None:
            return None
        parts[node] = part
    return [parts[node] for node in nodes]


def _copied(node: TensorNode) -> Buffer | None:
    """A Buffer with a copy of the elements; None for what is computed, or large."""
    if node.size > LONG or not isinstance(node, MOVES):
        return None
    chain: list[TensorNode] = []
    at: TensorNode = node
    while isinstance(at, MOVES) and not at.extents:
        chain.append(at)
        at = at.sources[0]
    if not isinstance(at, Buffer) or not _is_here(at):
        return None
    view: Array | None = buffers.data(at)
    for move in reversed(chain):
        view = None if view is None else moved(view, move)
    if view is None or not (view.size <= SMALL or view.flags.c_contiguous):
        return None
    return buffers.new_buffer(np.array(view, order="C"), device=at.device)


def _is_here(buffer: Buffer) -> bool:
    """True if the data are in memory, and no engine that checks every access has them."""
    if buffer.unique == PLACEHOLDER or not device.get(buffer.device).is_executor:
        return False
    return device.get(buffer.device).base_key == device.CPU.base_key
