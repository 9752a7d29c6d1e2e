"""remote: elements that a worker of a cluster holds, instead of this process.

Workers hold results of tasks, which are immutable: if a program writes to a tensor in place, its
cell holds another result from then on.
"""

import weakref
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from compiler.core.dtypes import Array
from compiler.graph.nodes import Buffer, Shape


class Held(Protocol):
    """A handle that keeps the result of a task in the memory of workers during its own lifetime."""

    def fetch(self) -> Array:
        """Fetch the elements, flat; they are recomputed if no worker has them any more."""
        ...


@dataclass(eq=False, slots=True)
class Cell:
    """The memory of a tensor on a worker: writing to it replaces the result that it holds."""

    held: Held
    fetched: "weakref.ref[Array] | None" = None


@dataclass(frozen=True, eq=False)
class RemoteData:
    """Elements that a worker holds: an array of `shape` whose memory is a cell.

    Results are immutable, so a copy is another cell that holds the same result.
    """

    cell: Cell
    shape: Shape
    dtype: "np.dtype[Any]"
    device: str

    @staticmethod
    def of(held: Held, buffer: Buffer) -> "RemoteData":
        """The remote data of a buffer, flat."""
        return RemoteData(Cell(held), (buffer.size,), buffer.dtype.numpy, buffer.device)

    @property
    def size(self) -> int:
        """The number of its elements."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        """Bytes in the memory of the worker."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def reshape(self, *shape: Any) -> "RemoteData":
        """The same elements in another shape; -1 stands for the remaining extent."""
        wanted = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        product = int(np.prod([n for n in wanted if n >= 0], dtype=object))
        extents = tuple(n if n >= 0 else self.size // max(product, 1) for n in wanted)
        return RemoteData(self.cell, extents, self.dtype, self.device)

    def copy(self) -> "RemoteData":
        """A copy, which later writes to this one do not change."""
        return RemoteData(Cell(self.cell.held), self.shape, self.dtype, self.device)

    def replace(self, other: "RemoteData") -> None:
        """Replace the elements, after a write."""
        self.cell.held, self.cell.fetched = other.cell.held, None

    def fetch(self) -> Array:
        """The elements, fetched once and shared while in use here."""
        earlier = self.cell.fetched
        array = earlier() if earlier else None
        if array is None:
            array = np.ascontiguousarray(self.cell.held.fetch()).reshape(-1)
            self.cell.fetched = weakref.ref(array)
        return array.reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.fetch(), dtype=dtype, copy=copy)


Data: TypeAlias = "Array | RemoteData"
