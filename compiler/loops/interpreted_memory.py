"""Memory of the interpreters: flat arrays, and scratch memory that tracks what was written.

Scratch memory has one part per iteration of the loops around its effects, all in one flat array. It
is not initialised: reading an element that was not written is an error.
"""

from typing import Any

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import InternalError
from compiler.ops import updates


class Scratch:
    """The parts of a scratch memory of `size` elements: one for each element of `shape`."""

    def __init__(self, name: str, shape: tuple[int, ...], size: int, dtype: "np.dtype[Any]"):
        self.name = name
        self.start = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape) * size
        self.size = size
        self.flat = np.zeros(self.start.size * size, dtype)
        self.is_written = np.zeros(self.flat.size, np.bool_)

    def gather(self, index: Array, predicate: Array | None) -> Array:
        """The elements `index`; 0, and no access, where `predicate` is false."""
        where = self.places(index, predicate)
        if predicate is None:
            self._check_written(where)
        else:
            self._check_written(where[np.broadcast_to(predicate, where.shape)])
        return gather(self.flat, where, predicate, f"load from {self.name}")

    def scatter(self, index: Array, value: Array, predicate: Array | None) -> None:
        """Write `value` to the elements `index`, except where `predicate` is false."""
        where = self.places(index, predicate)
        scatter(self.flat, where, value, predicate, f"store to {self.name}")
        scatter(self.is_written, where, np.array(True), predicate, f"store to {self.name}")

    def update(self, op: str, places: Array, value: Array) -> None:
        """Combine the elements `places` of `flat` with `value`, one after the other."""
        if updates.UPDATES[op].combine is not None:
            self._check_written(places)
        updates.apply(op, self.flat, places, value)
        self.is_written[places] = True

    def places(self, index: Array, predicate: Array | None) -> Array:
        """The positions in `flat` of the elements `index` of each part.

        Raises `InternalError` if one is outside the memory and its `predicate` is not false.
        """
        index, start = np.broadcast_arrays(index, self.start)
        accessed = index
        if predicate is not None:
            index, start, predicate = np.broadcast_arrays(index, start, predicate)
            accessed = index[predicate]
        outside = accessed[(accessed < 0) | (accessed >= self.size)]
        if outside.size:
            got, expected = f"index {outside.flat[0]}", f"0 … {self.size - 1}"
            problem = "an access is outside its scratch memory"
            raise InternalError(self.name, problem, got=got, expected=expected)
        return np.asarray(start + index)

    def _check_written(self, places: Array) -> None:
        missing = places[~self.is_written[places]]
        if missing.size:
            got = f"element {int(missing.flat[0]) % self.size}"
            problem = "an element is read that was not written"
            raise InternalError(self.name, problem, got=got, expected="one written before")


def gather(buffer: Array, index: Array, predicate: Array | None, name: str) -> Array:
    """The elements `index` of a flat `buffer`; 0, and no access, where `predicate` is false.

    Raises `InternalError` with `name` where an index that is accessed is outside the buffer.
    """
    if predicate is None:
        check_inside(buffer, index, name)
        return np.asarray(buffer[index])
    index, predicate = np.broadcast_arrays(index, predicate)
    result = np.zeros(index.shape, buffer.dtype)
    inside = index[predicate]
    check_inside(buffer, inside, name)
    result[predicate] = buffer[inside]
    return result


def scatter(buffer: Array, index: Array, value: Array, predicate: Array | None, name: str) -> None:
    """Write `value` to the elements `index` of a flat `buffer`, except where `predicate` is false.

    Raises `InternalError` as `gather` does; of equal indices the last one is kept.
    """
    if predicate is None:
        index, value = np.broadcast_arrays(index, value)
    else:
        index, value, predicate = np.broadcast_arrays(index, value, predicate)
        index, value = index[predicate], value[predicate]
    check_inside(buffer, index, name)
    if value.dtype != buffer.dtype:
        got, expected = str(value.dtype), str(buffer.dtype)
        raise InternalError(name, "the value has the wrong type", got=got, expected=expected)
    buffer[index] = value


def check_inside(buffer: Array, index: Array, name: str) -> None:
    """Raise an `InternalError` that names the index if one is outside `buffer`."""
    if not index.size or (index.min() >= 0 and index.max() < buffer.size):
        return
    is_outside = (index < 0) | (index >= buffer.size)
    raise InternalError(
        name,
        "an access is outside its buffer",
        got=f"index {index[is_outside].flat[0]}",
        expected=f"0 … {buffer.size - 1}, for the {buffer.size} elements",
    )
