"""Memory of the interpreter: flat arrays, with a part of scratch memory for each iteration.

Scratch memory is not initialised. Here it is filled with a pattern that shows where it is read:
NaN for floats, bytes 0xA5 for integers, true for bools.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.core.dtypes import Array, DType
from compiler.core.errors import InternalError
from compiler.loops.interpreted_memory import gather, scatter
from compiler.lowered.machine import Memory


@dataclass(frozen=True, slots=True)
class Cells:
    """A memory of `size` elements; those of an iteration begin at element `start` of `flat`.

    `start` broadcasts against indices; None where all iterations have the same elements. `slot`
    is that of an argument, None for scratch memory.
    """

    name: str
    flat: Array
    size: int
    start: Array | None
    slot: int | None

    def gather(self, index: Array, predicate: Array | None, name: str) -> Array:
        """The elements `index`; 0, and no access, where `predicate` is false.

        Raises `InternalError` with `name` where an index that is accessed is outside.
        """
        return gather(self.flat, self._place(index, predicate, name), predicate, name)

    def scatter(self, index: Array, value: Array, predicate: Array | None, name: str) -> None:
        """Set the elements `index`, except where `predicate` is false.

        Raises `InternalError` as `gather` does.
        """
        scatter(self.flat, self._place(index, predicate, name), value, predicate, name)

    def _place(self, index: Array, predicate: Array | None, name: str) -> Array:
        """The positions of the elements in `flat`, after a check of their bounds."""
        if self.start is None:
            return index
        accessed = index
        if predicate is not None:
            accessed, predicate = np.broadcast_arrays(index, predicate)
            accessed = accessed[predicate]
        outside = accessed[(accessed < 0) | (accessed >= self.size)]
        if outside.size:
            got, expected = f"index {outside.flat[0]}", f"0 to {self.size - 1}"
            problem = "an access is outside its buffer"
            raise InternalError(name, problem, got=got, expected=expected)
        return np.asarray(self.start + index)


def scratch(memory: Memory, iterations: tuple[int, ...]) -> Cells:
    """Scratch memory for each of `iterations` (an axis of lanes, of length 1, is the last)."""
    count = math.prod(iterations)
    start = (np.arange(count) * memory.size).reshape(iterations)
    flat = np.full(count * memory.size, poison(memory.dtype), memory.dtype.numpy)
    return Cells(memory.name, flat, memory.size, start, None)


def poison(dtype: DType) -> Any:
    """The poison value of scratch memory before it is written."""
    if dtype.is_float:
        return dtype.numpy.type(np.nan)
    if dtype.kind == "bool":
        return True
    return np.frombuffer(b"\xa5" * dtype.itemsize, dtype.numpy)[0]
