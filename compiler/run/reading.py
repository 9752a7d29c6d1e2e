"""reading: copy parts of data in memory without compiling a program.

    x[i, j].item()                the element, copied; no kernel is compiled for its place
    x[i], x[2:5], x.T[0]          so are rows, and small parts of any strides

A program that only moves a buffer's elements computes nothing, and each position would need another
program, so compiling it does not pay.
"""

from collections.abc import Sequence

import numpy as np

from compiler.core.dtypes import Array
from compiler.device import buffers, device
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer, TensorNode
from compiler.graph.strides import MOVES, moved

SMALL = 4096
"""Elements of any strides that are copied in less time than a program takes to start: 64 × 64 of a
transposed matrix took 14 µs, a program 11 to 13; 16,384 took 53 (EPYC, AVX2, 2026-11-23)."""
LONG = 2**16
"""Elements in a row, as many as are copied in less time than a program takes to compile: 8 µs of
floats, 24 ms or more (the same machine)."""


def read(nodes: Sequence[TensorNode]) -> list[TensorNode] | None:
    """For each node a Buffer with a copy of its elements; None unless all are parts in memory."""
    parts: dict[TensorNode, TensorNode] = {}
    for node in dict.fromkeys(nodes):
        part = _read(node)
        if part is None:
            return None
        parts[node] = part
    return [parts[node] for node in nodes]


def _read(node: TensorNode) -> Buffer | None:
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
