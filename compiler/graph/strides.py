"""Strides: the distance in memory between neighbouring elements of a value, along each axis.

    x[64,784]              784 1
    permute x              1 784           the same memory, read in another order
    expand of a row        0 1             one element read again
    anything computed      784 1           where it is stored: rows one after the other

A movement of a buffer has the strides with which it reads the buffer, if it is a strided view: a
pad, or a reshape of permuted elements, has none.
"""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from compiler.graph.nodes import Buffer, Expand, Flip, Permute, Reshape, Shrink, TensorNode

View = np.ndarray[Any, Any]
MOVES = Reshape | Permute | Expand | Flip | Shrink


def strides(node: TensorNode) -> tuple[int, ...] | None:
    """The strides of `node` in elements; None where it is no strided view of what it reads."""
    if not isinstance(node, MOVES) or node.extents:
        return _row_by_row(node)
    chain: list[TensorNode] = []
    while isinstance(node, MOVES) and not node.extents:
        chain.append(node)
        node = node.sources[0]
    if not isinstance(node, Buffer):
        return _row_by_row(chain[0])
    view: View | None = _whole(node)
    for move in reversed(chain):
        view = None if view is None else moved(view, move)
    return None if view is None else view.strides


def _row_by_row(node: TensorNode) -> tuple[int, ...]:
    """The strides of a value stored contiguously in row-major order."""
    steps = [1]
    for extent in reversed(node.shape[1:]):
        steps.append(steps[-1] * max(extent, 1))
    return tuple(steps[::-1]) if node.shape else ()


def _whole(node: TensorNode) -> View:
    """A row-major view with one byte per element; it allocates and reads no memory."""
    return as_strided(np.zeros(1, np.int8), node.shape, _row_by_row(node))


def moved(view: View, node: TensorNode) -> View | None:
    """The view after one movement; None where a copy would be needed."""
    match node:
        case Permute():
            return view.transpose(node.order)
        case Expand():
            return np.broadcast_to(view, node.shape)
        case Flip():
            return np.flip(view, node.axes)
        case Shrink():
            return view[tuple(slice(begin, end) for begin, end in node.bounds)]
        case _:
            return _reshaped(view, node.shape)


def _reshaped(view: View, shape: tuple[int, ...]) -> View | None:
    again = view.view()
    try:
        again.shape = shape
    except AttributeError:
        return None
    return again
