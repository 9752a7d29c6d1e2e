"""The data behind `Buffer` nodes: arrays that live exactly as long as their nodes."""

import itertools
from collections.abc import Sequence
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from compiler import dtypes
from compiler.errors import InternalError
from compiler.graph.nodes import Buffer

Array: TypeAlias = "np.ndarray[Any, Any]"

_numbers = itertools.count(1)
_by_node: "WeakKeyDictionary[Buffer, Array]" = WeakKeyDictionary()
_by_number: "WeakValueDictionary[int, Array]" = WeakValueDictionary()


def new_buffer(array: Array, name: str = "", device: str = "CPU") -> Buffer:
    """A new Buffer on `device` that holds `array` itself: later writes to the array are seen.

    The array must be C-contiguous, aligned and of native byte order (`InternalError`).
    """
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned and array.dtype.isnative):
        raise InternalError("buffer", "the array is not row-major, aligned and native")
    node = Buffer((), next(_numbers), array.shape, dtypes.parse(array.dtype), name, device)
    _by_node[node] = array
    _by_number[node.unique] = array
    return node


def holding(arrays: Sequence[Array], known: Sequence[Buffer]) -> list[Buffer]:
    """A Buffer for each array: one of `known` where it holds that memory, one for each that is
    new. Two Buffers on one memory would be two values, of which either could be overwritten."""
    found = {_place(data(node)): node for node in known}
    result = []
    for array in arrays:
        node = found.get(_place(array)) if array.size else None
        if node is None:
            node = found[_place(array)] = new_buffer(array)
        result.append(node)
    return result


def _place(array: Array) -> tuple[Any, ...]:
    """What tells one array in memory from another."""
    return array.ctypes.data, array.shape, array.dtype


def data(node: Buffer) -> Array:
    """The array that `node` holds; `InternalError` for a node nobody gave data.

    A pass may have made the node again without its line of origin: the number still finds it,
    and from then on either node keeps the array alive.
    """
    array = _by_node.get(node)
    if array is not None:
        return array
    array = _by_number.get(node.unique)
    if array is None:
        raise InternalError("buffer", f"no data for buffer {node.unique} {node.name}".rstrip())
    _by_node[node] = array
    return array
