"""Arrays with pages before and after them that no access survives."""

import ctypes
import mmap
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from compiler.device import cpu
from compiler.device.program import Program

Array = np.ndarray[Any, Any]
Side = Literal["left", "right"]
PAGE = mmap.PAGESIZE
NO_ACCESS, READ_ONLY, ALL = 0, mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


class Guarded:
    """Memory for `nbytes`, from the first byte behind a guard page or up to the last before one.

    What is left of its pages is full of a pattern.
    """

    def __init__(self, nbytes: int, side: Side) -> None:
        self._pages = max(-(-nbytes // PAGE), 1) * PAGE
        self._map = mmap.mmap(-1, self._pages + 2 * PAGE)
        whole = np.frombuffer(self._map, np.uint8)
        self._inner = whole[PAGE : PAGE + self._pages]
        self._inner[...] = 0x5A
        begin = self._pages - nbytes if side == "right" else 0
        self.bytes = self._inner[begin : begin + nbytes]
        self._rest = np.ones(self._pages, np.bool_)
        self._rest[begin : begin + nbytes] = False
        address = whole.ctypes.data
        _protect(address, PAGE, NO_ACCESS)
        _protect(address + PAGE + self._pages, PAGE, NO_ACCESS)

    def freeze(self) -> None:
        """From now on nothing is written here either."""
        _protect(self._inner.ctypes.data, self._pages, READ_ONLY)

    @property
    def is_intact(self) -> bool:
        """True if nothing was written outside the memory, within its pages."""
        return bool((self._inner[self._rest] == 0x5A).all())


def guarded(values: Array, side: Side) -> tuple[Guarded, Array]:
    """A copy of a flat array, guarded."""
    made = Guarded(values.nbytes, side)
    held = made.bytes.view(values.dtype)
    held[...] = values
    return made, held


def _protect(address: int, nbytes: int, how: int) -> None:
    if _libc.mprotect(address, nbytes, how):
        raise OSError(ctypes.get_errno(), "mprotect")


def run(
    program: Program, values: Sequence[Array], side: Side, given: Mapping[str, int] | None = None
) -> Array:
    """The first argument after a run on copies of `values`; `given` are variables."""
    pairs = [guarded(value, side) for value in values]
    for memory, _ in pairs[1:]:
        memory.freeze()
    scratch: list[Guarded] = []

    def allocate(nbytes: int) -> Array:
        scratch.append(Guarded(-(-nbytes // 64) * 64, side))
        return scratch[-1].bytes

    before, cpu.scratch_memory = cpu.scratch_memory, allocate
    try:
        numbers = [(given or {}).get(name, 0) for name in program.variables]
        program.execute([held.ctypes.data for _, held in pairs], numbers)
    finally:
        cpu.scratch_memory = before
    assert all(memory.is_intact for memory, _ in pairs), "something was written outside a buffer"
    assert all(memory.is_intact for memory in scratch), "something was written outside scratch"
    return pairs[0][1].copy()
