"""Host memory: blocks aligned to 64 bytes, used again once the arrays on them are gone.

The first write to fresh memory makes the system supply every page, which takes longer than many
kernels; a block that was used before has its pages. Block sizes are rounded up to one of four
steps per power of two, so that tensors of about the same size can take each other's place.

An array made here keeps a lease of its block, and so does every view of it. The lease's end only
notes that the block is free: it may come at any point of any thread, where no lock may be waited
for. The next call of the allocator, under its lock, collects what was noted.
"""

import ctypes
import functools
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from compiler.core import forking
from compiler.core.dtypes import DType
from compiler.core.errors import SizeError

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"

ALIGNMENT = 64
"""Bytes: one cache line, and one 512-bit vector."""
LARGEST = 2**62
"""Bytes: more than any address space has."""
KEPT = 2**30
"""Bytes of free blocks that an allocator keeps unless told otherwise. A choice; that keeping pays
was measured on two cores of a Sapphire Rapids class Xeon, at a date not on record: 64 MiB of pages
that were never used take 19 ms, more than most kernels."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """The memory of an allocator, in bytes of blocks: in use now, the most ever in use, free."""

    live: int
    peak: int
    cached: int


@dataclass(frozen=True, slots=True, eq=False)
class MemoryBlock:
    """`size` bytes from `address`, which is a multiple of `ALIGNMENT`; `memory` owns them."""

    size: int
    address: int
    memory: Array


class Lease:
    """The right to use a block: what NumPy keeps as the base of an array and of all its views."""

    __slots__ = ("__array_interface__", "_block", "_freed", "address")

    def __init__(
        self, block: MemoryBlock, freed: "deque[MemoryBlock]", size: int, dtype: DType
    ) -> None:
        self._block = block
        self._freed = freed
        self.address = block.address
        self.__array_interface__ = interface(block.address, size, dtype)

    def __del__(self) -> None:
        self._freed.append(self._block)


class Memory:
    """Memory at an address that somebody else owns, as NumPy's array protocol describes it."""

    __slots__ = ("__array_interface__",)

    def __init__(self, address: int, size: int, dtype: DType) -> None:
        self.__array_interface__ = interface(address, size, dtype)


def interface(address: int, size: int, dtype: DType) -> dict[str, Any]:
    """NumPy's description of `size` elements at `address`."""
    return {
        "version": 3, "shape": (size,), "typestr": _typestr(dtype), "data": (address, False),
    }  # fmt: skip


@functools.cache
def _typestr(dtype: DType) -> str:
    return dtype.numpy.str


def array_at(address: int, size: int, dtype: DType) -> Array:
    """The flat array of `size` elements at `address`; whoever owns them must outlive it."""
    return np.asarray(Memory(address, size, dtype))


_FIRST: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer


def address_of(array: Array) -> int:
    """Where an array begins. NumPy is slow to say; of what was allocated here it is known."""
    lease: object = array.base
    if isinstance(lease, Lease):
        return lease.address
    try:
        return ctypes.addressof(_FIRST(array))
    except (TypeError, ValueError):  # read-only, empty, or of a type that Python does not know
        return int(array.ctypes.data)


@functools.lru_cache(256)
def block_size(nbytes: int) -> int:
    """`nbytes` rounded up to a quarter of a power of two and to a multiple of `ALIGNMENT`."""
    step = max(ALIGNMENT, 1 << max((nbytes - 1).bit_length() - 3, 0))
    return max(-(-nbytes // step) * step, ALIGNMENT)


class Allocator:
    """Gives out aligned memory and takes it back. Any thread may use it at any time.

    `budget` is the most bytes of blocks in use at once (None: no limit); `kept` the most bytes
    of free blocks held back for later, those of the size freed longest ago dropped first.
    """

    def __init__(self, budget: int | None = None, kept: int = KEPT) -> None:
        self.budget = budget
        self.kept = kept
        self._lock = forking.lock()
        self._freed: deque[MemoryBlock] = deque()
        self._free: OrderedDict[int, list[MemoryBlock]] = OrderedDict()
        self._live = self._peak = self._cached = 0
        self._poisoners = 0

    @contextmanager
    def poisoned(self) -> Iterator[None]:
        """Memory given out meanwhile is full of ones' bits: what nobody writes shows, though it
        was right in the run before."""
        self._poisoners += 1
        try:
            yield
        finally:
            self._poisoners -= 1

    def allocate(self, size: int, dtype: DType, name: str = "") -> Array:
        """Uninitialised memory for `size` elements: a flat array, contiguous and writable.

        Raises `SizeError` with the tensor's `name` where the budget does not allow it, before
        anything is allocated, and where the machine has less memory than that.
        """
        nbytes = size * dtype.itemsize
        wanted = block_size(nbytes)
        with self._lock:
            block = self._just_freed(wanted)
            if block is None:
                self._collect()
                self._refuse_over_budget(wanted, nbytes, name)
                block = self._reused(wanted) or self._fresh(wanted, nbytes, name)
                self._live += wanted
                self._peak = max(self._peak, self._live)
        made = np.asarray(Lease(block, self._freed, size, dtype))
        if self._poisoners:
            made.view(np.uint8)[...] = 0xFF
        return made

    def _just_freed(self, wanted: int) -> MemoryBlock | None:
        """The block that was freed last, if it has this size: most runs follow one like them.

        It counts as live still, which a budget must not see.
        """
        if not self._freed or self.budget is not None:
            return None
        block = self._freed.pop()
        if block.size == wanted:
            return block
        self._freed.append(block)
        return None

    @property
    def use(self) -> MemoryUse:
        """Bytes in use, at most in use so far, and free but held."""
        with self._lock:
            self._collect()
            return MemoryUse(self._live, self._peak, self._cached)

    def trim(self, keep: int = 0) -> int:
        """Give free blocks back to the system until at most `keep` bytes are held; the bytes."""
        with self._lock:
            self._collect()
            return self._drop(keep)

    def _collect(self) -> None:
        """Take back the blocks whose leases have ended."""
        while self._freed:
            block = self._freed.popleft()
            self._live -= block.size
            self._cached += block.size
            self._free.setdefault(block.size, []).append(block)
            self._free.move_to_end(block.size)
        self._drop(self.kept)

    def _drop(self, keep: int) -> int:
        """Forget free blocks until `keep` bytes are left; returns the bytes forgotten."""
        before = self._cached
        while self._cached > keep:
            size, blocks = next(iter(self._free.items()))
            blocks.pop(0)
            self._cached -= size
            if not blocks:
                del self._free[size]
        return before - self._cached

    def _refuse_over_budget(self, wanted: int, nbytes: int, name: str) -> None:
        if self.budget is None or self._live + wanted <= self.budget:
            return
        raise SizeError(
            "allocate",
            f"{_title(name)} does not fit in the memory budget",
            got=f"{nbytes:,} bytes, in a block of {wanted:,}",
            expected=f"at most {self.budget:,} bytes, of which {self._live:,} are in use",
        )

    def _reused(self, wanted: int) -> MemoryBlock | None:
        """The free block of this size that was used last: it may still be in the caches."""
        blocks = self._free.get(wanted)
        if not blocks:
            return None
        block = blocks.pop()
        self._cached -= wanted
        if not blocks:
            del self._free[wanted]
        return block

    def _fresh(self, wanted: int, nbytes: int, name: str) -> MemoryBlock:
        """A new block; free ones of other sizes make room for it where they must."""
        if self.budget is not None:
            self._drop(max(self.budget - self._live - wanted, 0))
        try:
            return _new_block(wanted)
        except MemoryError:
            self._drop(0)
        try:
            return _new_block(wanted)
        except MemoryError as error:
            raise SizeError(
                "allocate",
                f"{_title(name)} does not fit: the machine has not enough memory",
                got=f"{nbytes:,} bytes; {self._live:,} are in use",
            ) from error


def _new_block(size: int) -> MemoryBlock:
    if size > LARGEST:
        raise MemoryError(size)
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start: int = memory.ctypes.data
    return MemoryBlock(size, -(-start // ALIGNMENT) * ALIGNMENT, memory)


def _title(name: str) -> str:
    return f"tensor {name}" if name else "a tensor"
