"""The data of `Buffer` nodes: arrays with the lifetime of their nodes."""

import itertools
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Array, DType
from compiler.core.errors import DataError, InternalError
from compiler.core.node import Reference, unlike_others
from compiler.device.allocator import address_of
from compiler.device.remote import Data
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import LARGEST, Buffer, Shape, TensorNode

_numbers = itertools.count(1)
_by_number: "WeakValueDictionary[int, Data]" = WeakValueDictionary()
_references: dict[int, Any] = _by_number.data  # type: ignore[attr-defined]
_forget = _by_number._remove  # type: ignore[attr-defined]  # to set an item costs twice as much
_hold = object.__setattr__


Rank: TypeAlias = tuple[bool, int]
_declared: "WeakKeyDictionary[TensorNode, int]" = WeakKeyDictionary()
_lifted: "WeakSet[Buffer]" = WeakSet()


def declare(placeholder: TensorNode) -> TensorNode:
    """Number a placeholder among the tensors; anew if it is declared again."""
    _declared[placeholder] = next(_numbers)
    return placeholder


def rank_of(node: TensorNode) -> Rank:
    """The sort key of an input of a program: tensors in order of creation, then lifted arrays."""
    if isinstance(node, Buffer):
        return node in _lifted, node.unique
    return False, _declared.get(node, LARGEST)


def new_buffer(
    array: Data,
    name: str = "",
    device: str = "CPU",
    shape: Shape | None = None,
    is_lifted: bool = False,
) -> Buffer:
    """A new Buffer on `device` that shares `array`: later writes to the array are visible.

    The array must be C-contiguous, aligned and of native byte order (`InternalError`). `shape` is
    that of the Buffer if the array has only its first rows. `is_lifted`: an operation introduced
    the array, so that it is no tensor of the user.
    """
    if isinstance(array, np.ndarray):
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned and array.dtype.isnative):
            raise InternalError("buffer", "the array is not row-major, aligned and native")
    shape = array.shape if shape is None else shape
    node = fresh(array, shape, dtypes.parse(array.dtype), device, name)
    if is_lifted:
        _lifted.add(node)
    return node


def next_number() -> int:
    """The number for a Buffer that is created later."""
    return next(_numbers)


def fresh(
    array: Data, shape: Shape, dtype: DType, device: str, name: str = "", number: int = 0
) -> Buffer:
    """As `new_buffer`, without checks of the array, which has this shape and type;
    `number` is one of `next_number`."""
    number = number or next(_numbers)
    node: Buffer = unlike_others(Buffer, (), number, shape, dtype, name, device)
    _hold(node, "memory", array)
    reference = Reference(array, _forget)
    reference.key = number
    _references[number] = reference
    return node


def holding(array: Data, buffers: "dict[Any, Buffer]", device: str = "CPU") -> Buffer:
    """The Buffer in `buffers` that holds this memory, or a new one, which is added to it.

    Two Buffers that alias one memory would be two values; a write to one would change the other.
    """
    place = place_of(array, device)
    buffer = buffers.get(place) if array.size else None
    if buffer is None:
        buffer = buffers[place] = new_buffer(array, device=device)
    return buffer


def place_of(array: Data, device: str) -> tuple[Any, ...]:
    """A key that identifies an array in memory."""
    place = address_of(array) if isinstance(array, np.ndarray) else id(array.cell)
    return place, array.shape, array.dtype, device


def data(node: Buffer) -> Array:
    """The array of `node`, fetched if a worker has it; raises as `held` does."""
    elements = held(node)
    return elements if isinstance(elements, np.ndarray) else elements.fetch()


def held(node: Buffer) -> Data:
    """The data of `node`, here or on a worker; `InternalError` for a node without data,
    `DataError` for a placeholder.

    A pass may have rebuilt the node without its source line: the number still finds the data,
    and from then on either node keeps the array alive.
    """
    if node.unique == PLACEHOLDER:
        raise DataError(
            "run", f"placeholder {node.name} has no data", got="nothing",
            expected=f"{node.dtype} {node.shape}",
            hint=f"give them: compile(…).run(inputs={{{node.name!r}: array}})",
        )  # fmt: skip
    array: Data | None = getattr(node, "memory", None)
    if array is not None:
        return array
    array = _by_number.get(node.unique)
    if array is None:
        raise InternalError("buffer", f"no data for buffer {node.unique} {node.name}".rstrip())
    _hold(node, "memory", array)
    return array


def is_shared(node: Buffer) -> bool:
    """True if another buffer in this process aliases its memory, in part or in whole."""
    memory = held(node)
    if not isinstance(memory, np.ndarray):
        return False
    others = (array for number, array in list(_by_number.items()) if number != node.unique)
    begin = address_of(memory)
    end = begin + memory.nbytes
    return any(
        address_of(each) < end and begin < address_of(each) + each.nbytes
        for each in others if isinstance(each, np.ndarray)
    )  # fmt: skip
