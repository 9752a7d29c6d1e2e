"""Host memory: blocks aligned to 64 bytes, reused once the arrays on them are gone.

The first write to fresh memory causes a page fault for every page, which takes longer than many
kernels; a reused block has its pages. Block sizes are rounded up to one of four steps per power of
two, so that tensors of similar size can reuse each other's blocks.

An array from this allocator holds a lease of its block, and so does every view of it. The end of
the lease only notes that the block is free: it may come at any point of any thread, where waiting
for a lock is not allowed. The next call of the allocator, under its lock, collects these notes.
"""

import ctypes
import functools
import sys
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from compiler.core import forking
from compiler.core.dtypes import Array, DType
from compiler.core.errors import SizeError

Freed: TypeAlias = "deque[MemoryBlock]"
Maker: TypeAlias = "Callable[[], tuple[Array, int]]"
"""Makes an array; returns it with its address."""

ALIGNMENT = 64
"""Bytes: one cache line, and one 512-bit vector."""
LARGEST = 2**62
"""Bytes: more than any address space has."""
KEPT = 2**30
"""Bytes of free blocks that an allocator keeps by default. A choice; that keeping pays was measured
on two cores of a Sapphire Rapids class Xeon, at a date not on record: 64 MiB of pages that were
never used take 19 ms, more than most kernels."""
SMALL = 2**16
"""Bytes: blocks of up to so many are reclaimed without a lock, separately by size. Larger ones may
have to be returned to the system."""
WAITING = 64
"""Free blocks of one size that may wait before all are reclaimed and the excess is returned to the
system. A choice."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """The memory of an allocator, in bytes of blocks: in use now, the most ever in use, free."""

    live: int
    peak: int
    cached: int


@dataclass(frozen=True, slots=True, eq=False)
class MemoryBlock:
    """`size` bytes from `address`, which is a multiple of `ALIGNMENT`; `memory` owns them.

    `freed` is where the block is put when it is free.
    """

    size: int
    address: int
    memory: Array
    freed: Freed


class Lease:
    """The right to use a block: NumPy keeps it as the base of an array and of all its views."""

    __slots__ = ()
    block: MemoryBlock

    def __del__(self) -> None:
        self.block.freed.append(self.block)


@functools.cache
def _leases_of(size: int) -> Any:
    """The class of leases of blocks of `size` bytes: a buffer of those bytes for NumPy.

    Creating an array over such a buffer takes a quarter of the time of NumPy's array interface, a
    dictionary: 0.7 µs instead of 2.6 (EPYC, AVX2, 2026-11-23).
    """
    slots = {"__slots__": ("block",)}
    return type(f"LeaseOf{size}", (Lease, ctypes.c_char * size), slots)


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
    return "|u1" if dtype.is_storage else dtype.numpy.str


def array_at(address: int, size: int, dtype: DType) -> Array:
    """The flat array of `size` elements at `address`; their owner must outlive it."""
    array = np.asarray(Memory(address, size, dtype))
    # the protocol has no word for types that are not NumPy's: they are bytes in it
    return array if array.dtype == dtype.numpy else array.view(dtype.numpy)


_POINTER: Callable[[int], ctypes.c_void_p] = ctypes.c_void_p.from_address
_BEHIND_HEADER = object.__basicsize__
"""The offset, in an array object, of the address of its elements: it has been part of NumPy's ABI
since 1.0."""


def address_of(array: Array) -> int:
    """The address of an array. Asking NumPy takes 1.3 µs, reading the object 0.15 (EPYC, AVX2,
    2026-11-23)."""
    if _IS_BEHIND_HEADER:
        return _POINTER(id(array) + _BEHIND_HEADER).value or 0
    return int(array.ctypes.data)


def _is_behind_header() -> bool:
    """True if the address is at the expected offset, in arrays of several kinds."""
    if sys.implementation.name != "cpython":
        return False
    whole = np.zeros((3, 5), np.int16)
    fixed = np.frombuffer(b"\x01\x02\x03\x04", np.uint8)
    return all(
        _POINTER(id(array) + _BEHIND_HEADER).value == array.ctypes.data
        for array in (whole, whole[1:, 2:], fixed, fixed[1:], np.array(1.5))
    )


_IS_BEHIND_HEADER = _is_behind_header()


@functools.lru_cache(256)
def block_size(nbytes: int) -> int:
    """`nbytes` rounded up to a quarter of a power of two and to a multiple of `ALIGNMENT`."""
    step = max(ALIGNMENT, 1 << max((nbytes - 1).bit_length() - 3, 0))
    return max(-(-nbytes // step) * step, ALIGNMENT)


class Allocator:
    """Allocates aligned memory and reclaims it. Thread-safe.

    `budget` is the most bytes of blocks in use at once (None: no limit); `kept` the most bytes
    of free blocks kept for reuse, of which the least recently freed size is dropped first.
    """

    def __init__(self, budget: int | None = None, kept: int = KEPT) -> None:
        self.budget = budget
        self.kept = kept
        self._lock = forking.lock()
        self._freed: Freed = deque()
        self._small: dict[int, Freed] = {}
        self._free: OrderedDict[int, list[MemoryBlock]] = OrderedDict()
        self._live = self._peak = self._cached = 0
        self._poisoners = 0

    @contextmanager
    def poisoned(self) -> Iterator[None]:
        """Fill memory allocated meanwhile with one bits: elements that are never written show,
        even if the reused block held the right values."""
        self._poisoners += 1
        try:
            yield
        finally:
            self._poisoners -= 1

    def allocate(self, size: int, dtype: DType, name: str = "") -> Array:
        """Uninitialised memory for `size` elements: a flat array, contiguous and writable.

        Raises `SizeError` with the tensor's `name` if the budget does not allow it, before
        anything is allocated, or if the machine has too little memory.
        """
        return self.maker(size, dtype, name)()[0]

    def maker(
        self, size: int, dtype: DType, name: str = "", shape: tuple[int, ...] | None = None
    ) -> Maker:
        """A function that allocates such memory at each call, flat or as an array of `shape`.

        Most runs repeat one before, so it tries the block that was freed last. This block still
        counts as in use, so there must be no budget, and large blocks that wait to be reclaimed
        come first, as there may be too many of them.
        """
        nbytes, numpy = size * dtype.itemsize, dtype.numpy
        wanted = block_size(nbytes)
        extents = (size,) if shape is None else shape
        large, freed, ndarray = self._freed, self._freed_of(wanted), np.ndarray

        def make() -> tuple[Array, int]:
            is_quick = self.budget is None and (freed is large or not large)
            if is_quick and 0 < len(freed) <= WAITING:
                block = self._last(freed, wanted) or self._block(wanted, nbytes, name)
            else:
                block = self._block(wanted, nbytes, name)
            lease = _leases_of(wanted).from_address(block.address)
            lease.block = block
            array: Array = ndarray(extents, numpy, lease)
            if self._poisoners:
                array.reshape(-1).view(np.uint8)[...] = 0xFF
            return array, block.address

        return make

    def small_maker(self, shape: tuple[int, ...], dtype: DType) -> Maker:
        """A function that makes small arrays without alignment, in NumPy's own memory, which is
        fastest. They are not counted."""
        numpy, empty = dtype.numpy, np.empty

        def make() -> tuple[Array, int]:
            array: Array = empty(shape, numpy)
            if self._poisoners:
                array.reshape(-1).view(np.uint8)[...] = 0xFF
            return array, address_of(array)

        return make

    def _freed_of(self, wanted: int) -> Freed:
        """The collection of free blocks of this size."""
        return self._small.setdefault(wanted, deque()) if wanted <= SMALL else self._freed

    def _last(self, freed: Freed, wanted: int) -> MemoryBlock | None:
        """The block that was freed last, if it has this size."""
        try:
            block = freed.pop()
        except IndexError:  # another thread was faster
            return None
        if block.size == wanted:
            return block
        freed.append(block)
        return None

    def _block(self, wanted: int, nbytes: int, name: str) -> MemoryBlock:
        """A free block, or a new one."""
        with self._lock:
            self._collect()
            self._refuse_over_budget(wanted, nbytes, name)
            block = self._reused(wanted) or self._fresh(wanted, nbytes, name)
            self._live += wanted
            self._peak = max(self._peak, self._live)
            return block

    @property
    def use(self) -> MemoryUse:
        """Bytes in use, at most in use so far, and free but held."""
        with self._lock:
            self._collect()
            return MemoryUse(self._live, self._peak, self._cached)

    def trim(self, keep: int = 0) -> int:
        """Return free blocks to the system until at most `keep` bytes are held; bytes returned."""
        with self._lock:
            self._collect()
            return self._drop(keep)

    def _collect(self) -> None:
        """Reclaim the blocks whose leases have ended."""
        for freed in (self._freed, *self._small.copy().values()):
            while block := _popped(freed):
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
        """A new block; free ones of other sizes are dropped if it needs their room."""
        if self.budget is not None:
            self._drop(max(self.budget - self._live - wanted, 0))
        try:
            return _new_block(wanted, self._freed_of(wanted))
        except MemoryError:
            self._drop(0)
        try:
            return _new_block(wanted, self._freed_of(wanted))
        except MemoryError as error:
            raise SizeError(
                "allocate",
                f"{_title(name)} does not fit: the machine has not enough memory",
                got=f"{nbytes:,} bytes; {self._live:,} are in use",
            ) from error


def _popped(freed: Freed) -> MemoryBlock | None:
    """The block that was freed first; another thread may take the last one meanwhile."""
    try:
        return freed.popleft()
    except IndexError:
        return None


def _new_block(size: int, freed: Freed) -> MemoryBlock:
    if size > LARGEST:
        raise MemoryError(size)
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start: int = memory.ctypes.data
    return MemoryBlock(size, -(-start // ALIGNMENT) * ALIGNMENT, memory, freed)


def _title(name: str) -> str:
    return f"tensor {name}" if name else "a tensor"
