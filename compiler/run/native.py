"""A schedule made ready: what machine code runs in one foreign call, and what Python runs between.

    parts      steps 0 … 4        one call of the native driver
               item 5             a callback, a transfer, a program without machine code
               steps 5 … 7

Arguments are words of 8 bytes, all in one array. Each is the sum of an offset, which the plan
knows, and a base, which a run gives: the address of an input, of the arena or of a result, or the
value of a variable. A run writes its bases, adds two arrays and calls: nothing per kernel.

    word       input 1 + 0        arena + 65,536        variable n + 0        0 + 7
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import uint8
from compiler.device import cpu
from compiler.device.allocator import address_of
from compiler.device.program import Program
from compiler.graph.nodes import Buffer
from compiler.lowered.instructions import LINE
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.items import ScheduleItem
from compiler.threads.workers import WORKERS, native

Array = np.ndarray[Any, Any]
Held: TypeAlias = dict[Buffer, Array]
ZERO, WORDS, ARENA, INPUTS = 0, 1, 2, 3
"""Bases: 0, the address of the words, that of the arena; inputs, blocks and variables follow."""


@dataclass(frozen=True, slots=True)
class StepRun:
    """Steps for one foreign call: `count` of them, the first one at `address`."""

    address: int
    count: int


@dataclass(frozen=True, slots=True)
class OwnMemory:
    """A buffer that has memory of its own in each run, and what makes it."""

    buffer: Buffer
    allocate: Callable[[], Array]


KEPT_ARENA = 2**20
"""An arena of at most so many bytes stays for the next run: asking for it takes longer than a small
kernel. Kept, a run of three kernels took 13 instead of 16 to 17 µs with buffers of 4 kB, 19 instead
of 22 with 64 kB, 36 instead of 39 with 256 kB, and no less for certain from 1 MB on (EPYC, AVX2,
two busy cores, 2026-11-23)."""


@dataclass(slots=True, eq=False)
class _Workspace:
    """The arrays that a run fills; the next run takes them over.

    `filled` are the bases that the words were made of: most runs have the same.
    """

    bases: Array
    words: Array
    address: int
    arena: Array | None = None
    filled: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class NativePlan:
    """See the module docstring. It keeps nothing of a run: threads may share it."""

    parts: tuple[StepRun | ScheduleItem, ...]
    steps: Array
    """The words that the runs of steps point to."""
    programs: tuple[Program, ...]
    """The programs that the steps point to: machine code is in memory as long as its program is."""
    bases: Array
    """For each word the number of its base."""
    offsets: Array
    inputs: tuple[Buffer, ...]
    blocks: tuple[OwnMemory, ...]
    variables: tuple[str, ...]
    memory: MemoryPlan | None
    threads: int
    """The most that a step can use."""
    stride: int
    """Bytes of scratch memory for each of them."""
    aligned: Array
    """The words that have to be addresses of whole cache lines."""
    unstreamed: "Callable[[], NativePlan]"
    """The plan for a run where they are not."""
    only: Callable[[int, int, int], None] | None = None
    """All there is to run, where that is one kernel of one task: it needs no driver."""
    _free: "deque[_Workspace]" = field(default_factory=deque)

    def run(
        self,
        data: Sequence[Array],
        values: Mapping[str, int],
        python: Callable[[ScheduleItem, Held], None],
        addresses: Array | None = None,
    ) -> Held:
        """Run everything; `python` runs an item that is no step. Returns what has a block.

        `data` has a flat array per input; `addresses` says where they are, if that is known.
        """
        made = {block.buffer: block.allocate() for block in self.blocks}
        if addresses is None:
            addresses = np.array([each.ctypes.data for each in data], np.int64)
        space = self._workspace()
        arena = space.arena if space.arena is not None else self._arena()
        self._fill(space, addresses, arena, made, values)
        if len(self.aligned) and (space.words[self.aligned] % LINE).any():
            self._free.append(space)
            return self.unstreamed().run(data, values, python, addresses)
        scratch = cpu.scratch_memory(self.stride * self.threads) if self.stride else None
        place = 0 if scratch is None else address_of(scratch)
        if self.only is not None:
            self.only(space.address, 0, place)
        else:
            self._parts(space, place, data, made, arena, python)
        self._leave(space, arena)
        return made

    def _parts(
        self,
        space: _Workspace,
        scratch: int,
        data: Sequence[Array],
        made: Held,
        arena: Array | None,
        python: Callable[[ScheduleItem, Held], None],
    ) -> None:
        """Run one part after the other."""
        held: Held | None = None
        pool, call = WORKERS.pool(self.threads), native().run
        for part in self.parts:
            if isinstance(part, StepRun):
                call(pool, part.address, part.count, space.address, scratch, self.stride)
                continue
            if held is None:
                held = dict(zip(self.inputs, data, strict=True)) | made | self._shared(arena)
            python(part, held)

    def _fill(
        self,
        space: _Workspace,
        addresses: Array,
        arena: Array | None,
        made: Held,
        values: Mapping[str, int],
    ) -> None:
        """The words of a run."""
        bases, end = space.bases, INPUTS + len(addresses)
        if arena is not None:
            bases[ARENA] = address_of(arena)
        bases[INPUTS:end] = addresses
        for number, array in enumerate(made.values(), end):
            bases[number] = address_of(array)
        for number, name in enumerate(self.variables, end + len(made)):
            bases[number] = values[name]
        found = bases.tobytes()
        if found == space.filled:
            return
        # the numbers are right: "clip" spares a copy that checks them
        np.take(bases, self.bases, out=space.words, mode="clip")
        np.add(space.words, self.offsets, out=space.words)
        space.filled = found

    def _leave(self, space: _Workspace, arena: Array | None) -> None:
        """The workspace for the next run, with an arena that is small and that nobody else saw."""
        is_kept = arena is not None and arena.nbytes <= KEPT_ARENA and cpu.MEMORY.budget is None
        is_kept = is_kept and all(isinstance(part, StepRun) for part in self.parts)
        space.arena = arena if is_kept else None
        self._free.append(space)

    def _workspace(self) -> _Workspace:
        try:
            return self._free.pop()
        except IndexError:
            pass
        count = INPUTS + len(self.inputs) + len(self.blocks) + len(self.variables)
        bases, words = np.zeros(count, np.int64), np.empty(len(self.bases), np.int64)
        bases[WORDS] = words.ctypes.data
        return _Workspace(bases, words, words.ctypes.data)

    def _arena(self) -> Array | None:
        """Memory that buffers share, one after the other."""
        size = self.memory.arena if self.memory else 0
        name = "the program's intermediate values"
        return cpu.allocate(size, uint8, name) if size else None

    def _shared(self, arena: Array | None) -> Held:
        """The buffers in the arena."""
        if self.memory is None:
            return {}
        whole = np.empty(0, np.uint8) if arena is None else arena
        return {
            p.buffer: whole[p.offset : p.offset + p.buffer.nbytes].view(p.buffer.dtype.numpy)
            for p in self.memory.places
            if p.offset is not None
        }
