"""A schedule prepared for execution: steps that one foreign call runs, and items that Python runs.

    parts      steps 0 … 4        one call of the native driver
               item 5             a callback, a transfer, a program without machine code
               steps 5 … 7

Arguments are words of 8 bytes, all in one array. Each is the sum of an offset, which the plan
knows, and a base, which a run supplies: the address of an input, of the arena or of a result, or
the value of a variable. A run writes its bases, adds two arrays and calls: there is no work per
kernel. If the bases are those of the run before, the words are reused.

    word       input 1 + 0        arena + 65,536        variable n + 0        0 + 7

A program that writes an input in place ends with a step that sets a word: it shows whether
everything was written, even if the Python code around the call is interrupted (`core/effects.py`).
Inputs that are written before the last call are copied first, and restored if the run fails.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

import numpy as np

from compiler.core.dtypes import Array, uint8
from compiler.core.effects import Effects
from compiler.device import cpu
from compiler.device.allocator import Maker, address_of
from compiler.device.program import Program
from compiler.graph.nodes import Buffer
from compiler.lowered.instructions import LINE
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.items import ScheduleItem
from compiler.threads.workers import WORKERS, native

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
    """A buffer with its own memory in each run, and the function that allocates it."""

    buffer: Buffer
    make: Maker


KEPT_ARENA = 2**20
"""An arena and scratch memory of at most so many bytes stay for the next run: asking for them takes
longer than a small kernel. Kept, a run of three kernels took 13 instead of 16 to 17 µs with buffers
of 4 kB, 19 instead of 22 with 64 kB, 36 instead of 39 with 256 kB, and no less for certain from
1 MB on (EPYC, AVX2, two busy cores, 2026-11-23)."""
FEW = 16
"""Up to this many words are written one by one, which takes 0.1 µs each; NumPy takes at least 1.5
(EPYC, AVX2, 2026-11-23)."""
Changed: TypeAlias = dict[int, int]
"""Bases of a run that differ from those of the program, by their numbers after `INPUTS`."""


@dataclass(slots=True, eq=False)
class _Workspace:
    """The memory of a run besides its results; the next run reuses it.

    The words were computed from the bases `own`, of which some were `changed`.
    """

    words: Array
    address: int
    each: "memoryview[int]"
    """The words, one by one."""
    arena: Array | None = None
    scratch: Array | None = None
    places: tuple[int, int] = (0, 0)
    """The addresses of the arena and of scratch memory."""
    own: list[int] = field(default_factory=list)
    changed: Changed = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class NativePlan:
    """See the module docstring. It has no state of a run: threads may share it."""

    parts: tuple[StepRun | ScheduleItem, ...]
    steps: Array
    """The words that the runs of steps point to."""
    programs: tuple[Program, ...]
    """The programs that the steps point to, which keep their machine code in memory."""
    bases: Array
    """For each word the number of its base."""
    offsets: Array
    inputs: tuple[Buffer, ...]
    blocks: tuple[OwnMemory, ...]
    variables: tuple[str, ...]
    memory: MemoryPlan | None
    threads: int
    """The most threads that a step can use."""
    stride: int
    """Bytes of scratch memory for each of them."""
    aligned: Array
    """The words that must be cache-aligned addresses, but may not be."""
    streamed: frozenset[Buffer]
    """The buffers that must be aligned to a cache line."""
    unstreamed: "Callable[[], NativePlan]"
    """The plan for a run in which they are not aligned."""
    mark: int | None = None
    """The word that the last step sets, where the program writes inputs and ends with a step."""
    saved: tuple[int, ...] = ()
    """The numbers of inputs that are written before the last part, or by Python."""
    only: Callable[[int, int, int], None] | None = None
    """The only kernel, if the plan is one kernel of one task: it needs no driver."""
    free: "deque[_Workspace]" = field(default_factory=deque)
    """Memory of runs before, for the next one."""

    @cached_property
    def whole(self) -> StepRun | None:
        """The steps of the plan, if one foreign call is all of it, whatever the data are. None
        where there is more to be done, or nothing."""
        part = self.parts[0] if len(self.parts) == 1 and not len(self.aligned) else None
        return part if isinstance(part, StepRun) else None

    @cached_property
    def _uses(self) -> dict[int, tuple[Array, Array]]:
        """The words of each base, by its number behind `INPUTS`, and their offsets."""
        bases = sorted(set(self.bases.tolist()))  # np.unique would import masked arrays: 10 ms
        places = {base: np.flatnonzero(self.bases == base) for base in bases}
        return {base - INPUTS: (at, self.offsets[at]) for base, at in places.items()}

    @cached_property
    def _few_uses(self) -> dict[int, list[tuple[int, int]]]:
        """The same of bases with few words."""
        return {
            number: list(zip(at.tolist(), offsets.tolist(), strict=True))
            for number, (at, offsets) in self._uses.items() if len(at) <= FEW
        }  # fmt: skip

    @cached_property
    def is_kept(self) -> bool:
        """True if the next run can reuse its memory: it is small and was not shared."""
        nbytes = self.stride * self.threads + (self.memory.arena if self.memory else 0)
        return nbytes <= KEPT_ARENA and all(isinstance(part, StepRun) for part in self.parts)

    def run(
        self,
        data: Sequence[Array],
        values: Mapping[str, int],
        python: Callable[[ScheduleItem, Held], None],
        addresses: Sequence[int] | None = None,
        effects: Effects | None = None,
        ready: Callable[[Held], None] | None = None,
    ) -> Held:
        """Run everything; `python` runs an item that is no step. Returns what has a block.

        `data` has a flat array per input; `addresses` says where they are, if that is known.
        `ready` is called with what has a block before anything is written. An exception leaves the
        inputs either unchanged or completely written: `effects` records which.
        """
        bases = [*(map(address_of, data) if addresses is None else addresses)]
        blocks: Held = {}
        for block in self.blocks:
            blocks[block.buffer], address = block.make()
            bases.append(address)
        bases += [values[name] for name in self.variables]
        space = self.workspace(bases, {})
        if len(self.aligned) and (space.words[self.aligned] % LINE).any():
            self._leave(space)
            addresses = bases[: len(self.inputs)]
            return self.unstreamed().run(data, values, python, addresses, effects, ready)
        if ready is not None:
            ready(blocks)
        if effects is None:
            self._undone(space, data, blocks, python)
        else:
            self._parts(space, data, blocks, python, effects)
        self._leave(space)
        return blocks

    def _undone(
        self, space: _Workspace, data: Sequence[Array], blocks: Held,
        python: Callable[[ScheduleItem, Held], None],
    ) -> None:  # fmt: skip
        """Run the parts for a caller that keeps no `Effects`: a failure is undone here."""
        effects = Effects()
        try:
            self._parts(space, data, blocks, python, effects)
        except BaseException:
            if not effects.is_complete:
                effects.undo()
            raise

    def _call(self, part: StepRun, space: _Workspace) -> None:
        """Run the steps of one part."""
        scratch = space.places[1]
        if self.only is not None:
            self.only(space.address, 0, scratch)
            return
        pool = WORKERS.pool(self.threads)
        native().run(pool, part.address, part.count, space.address, scratch, self.stride)

    def _parts(
        self,
        space: _Workspace,
        data: Sequence[Array],
        blocks: Held,
        python: Callable[[ScheduleItem, Held], None],
        effects: Effects,
    ) -> None:
        """Run one part after the other. Between two of them an exception may end the run."""
        if self.saved:
            effects.save([data[number] for number in self.saved])
        held: Held | None = None
        last = len(self.parts) - 1
        for place, part in enumerate(self.parts):
            if isinstance(part, StepRun):
                if place == last and self.mark is not None:
                    effects.expect(space.each, self.mark)
                self._call(part, space)
                continue
            if held is None:
                shared = self._shared(space.arena)
                held = dict(zip(self.inputs, data, strict=True)) | blocks | shared
            python(part, held)
        effects.is_done = True

    def workspace(self, bases: list[int], changed: Changed) -> _Workspace:
        """The memory of a run, its words filled."""
        try:
            space = self.free.pop()
        except IndexError:
            words = np.empty(len(self.bases), np.int64)
            space = _Workspace(words, words.ctypes.data, words.data)
            self._supply(space)
        if space.own is not bases or space.changed != changed:
            if space.own is bases:
                self._change(space, changed)
            elif space.own != bases or space.changed != changed:
                self._fill(space, bases, changed)
            space.own, space.changed = bases, changed
        return space

    def _change(self, space: _Workspace, changed: Changed) -> None:
        """Write the words whose base differs from the run before."""
        before, few, each = space.changed, self._few_uses, space.each
        now = changed
        if before.keys() != now.keys():
            now = {number: space.own[number] for number in before} | changed
        for number, base in now.items():
            if before.get(number) == base:
                continue
            if number in few:
                for place, offset in few[number]:
                    each[place] = base + offset
            elif number in self._uses:
                places, offsets = self._uses[number]
                space.words[places] = offsets + base

    def _fill(self, space: _Workspace, run_bases: list[int], changed: Changed) -> None:
        """Write all words."""
        bases = np.array([0, space.address, space.places[0], *run_bases], np.int64)
        for number, base in changed.items():
            bases[INPUTS + number] = base
        # the numbers are right: "clip" spares a copy that checks them
        np.take(bases, self.bases, out=space.words, mode="clip")
        np.add(space.words, self.offsets, out=space.words)

    def _supply(self, space: _Workspace) -> None:
        """Memory for intermediate values and for tasks."""
        space.arena = self._arena()
        size = self.stride * self.threads
        space.scratch = cpu.scratch_memory(size) if size else None
        pair = [0 if each is None else address_of(each) for each in (space.arena, space.scratch)]
        space.places = pair[0], pair[1]

    def _leave(self, space: _Workspace) -> None:
        """Keep the workspace for the next run, unless it is large or the arena was shared."""
        if self.is_kept and cpu.MEMORY.budget is None:
            self.free.append(space)

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
