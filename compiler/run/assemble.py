"""assemble: turn levels of items into steps of the native driver, with words for their arguments.

    Before:  level 0: 0 1 2 (at once: 1 2)          kernels, of one task each
             level 1: 3                             a callback
             level 2: 4                             a kernel of 8 tasks
    After:   steps of one call    thunk of 0, 1 task · `each`, 2 tasks: 1 and 2
             item 3
             steps of one call    thunk of 4, 8 tasks

Kernels of one level that are worth a thread (`overlap.py`) become the tasks of one step, unless
they have several tasks themselves.

A copy between contiguous parts of memory is a step as well, if there are steps of kernels: through
Python it took 10 µs, and each iteration of a counted loop has one for each state.

A long run of steps is split into several calls, so that Ctrl-C is handled between them: before the
first input is written in place, and later only if a copy of the written inputs is cheap.

Relies on: items of one group may run in any order, and at once.
Ensures: groups and levels follow one another; an item without a thunk is a part of its own.
"""

import ctypes
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from compiler.device import device
from compiler.device.program import Program, Task
from compiler.graph.devices import DEFAULT
from compiler.graph.nodes import Buffer, Sink
from compiler.lowered.instructions import LINE
from compiler.machines.system import core_count
from compiler.run.allocation import maker
from compiler.run.native import ARENA, INPUTS, WORDS, ZERO, NativePlan, OwnMemory, StepRun
from compiler.run.overlap import Level
from compiler.schedule.analysis.footprint import made_buffers
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.items import Kernel, MemoryTransfer, ScheduleItem
from compiler.schedule.regions import is_dense
from compiler.settings.options import Cache
from compiler.threads.driver import STEP_BYTES
from compiler.threads.launch import Step, steps_of, stride_of
from compiler.threads.workers import native

Programs: TypeAlias = Mapping[tuple[Sink, str], Program]
Word: TypeAlias = tuple[int, int]
"""The number of a base, and what is added to it."""


def assemble(
    levels: Sequence[Level],
    programs: Programs,
    inputs: Sequence[Buffer],
    memory: MemoryPlan | None,
    threads: int = 0,
    cache: Cache = False,
    estimated: Mapping[int, int] | None = None,
) -> NativePlan:
    """The plan of the items of `levels`; `threads` and `cache` are those of `Options`. `estimated`
    has the known nanoseconds of items, by number."""
    items = [item for level in levels for group in level.groups for item in group]
    work = _Assembly(programs, threads or core_count(), cache)
    work.watch(inputs, items, estimated or {})
    work.name(inputs, items, memory)
    work.has_steps = any(program.task is not None for program in programs.values())
    for level in levels:
        for group, parallel in zip(level.groups, level.parallel, strict=True):
            work.group(group, parallel)

    @functools.cache
    def unstreamed() -> NativePlan:
        others = {key: program.unstreamed() for key, program in programs.items()}
        return assemble(levels, others, inputs, memory, threads, cache, estimated)

    return work.plan(tuple(inputs), memory, unstreamed)


LONG = 100_000_000
"""Nanoseconds of estimated time after which a call of the driver ends, so that Python handles
Ctrl-C. A choice: a tenth of a second is not noticed, and a call takes a millionth of it."""
COPIED, SHARE = 4.0, 0.02
"""The least speed of a copy in bytes per nanosecond, and the share of a program's time that copies
of written inputs may take. Choices."""


@dataclass(slots=True)
class _Assembly:
    """Steps and words so far; `runs` are items, each with the number of steps before it."""

    programs: Programs
    threads: int
    cache: Cache = False
    places: dict[Buffer, Word] = field(default_factory=dict)
    blocks: list[OwnMemory] = field(default_factory=list)
    variables: dict[str, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    parts: list[ScheduleItem | tuple[int, int]] = field(default_factory=list)
    scratch: int = 0
    has_steps: bool = False
    """True if there are kernels that the driver runs."""
    inputs: int = 0
    streamed: set[Buffer] = field(default_factory=set)
    aligned: list[int] = field(default_factory=list)
    estimated: Mapping[int, int] = field(default_factory=dict)
    numbers: dict[Buffer, int] = field(default_factory=dict)
    """The inputs, by number."""
    is_cut: bool = False
    """True if a call may end after a step that writes an input."""
    elapsed: int = 0
    """Nanoseconds of the steps that the open call has."""
    pending: set[int] = field(default_factory=set)
    """The inputs that the open part writes."""
    saved: set[int] = field(default_factory=set)
    """The inputs that are written by parts before it, or by Python."""

    def watch(
        self, inputs: Sequence[Buffer], items: Sequence[ScheduleItem], estimated: Mapping[int, int]
    ) -> None:
        """Record the inputs that are written, and decide whether copies of them are cheap."""
        self.numbers = {buffer: number for number, buffer in enumerate(inputs)}
        self.estimated = estimated
        written = {b for item in items for b in item.operation.writes if b in self.numbers}
        copying = sum(buffer.nbytes for buffer in written) / COPIED
        self.is_cut = copying <= SHARE * sum(estimated.values())

    def _wrote(self, items: Sequence[ScheduleItem], is_python: bool = False) -> None:
        """Record the writes of items, which are in the open part or form a part of their own."""
        written = {self.numbers[b] for item in items for b in item.operation.writes
                   if b in self.numbers}  # fmt: skip
        if is_python:
            self.saved |= written | self.pending
            self.pending, self.elapsed = set(), 0
            return
        self.pending |= written
        self.elapsed += sum(self.estimated.get(item.item_id, 0) for item in items)

    def name(
        self, inputs: Sequence[Buffer], items: Sequence[ScheduleItem], memory: MemoryPlan | None
    ) -> None:
        """Give each buffer and variable its base."""
        shared = {p.buffer: p.offset for p in memory.places} if memory else {}
        self.inputs = len(inputs)
        for number, buffer in enumerate(inputs):
            self.places[buffer] = INPUTS + number, 0
        for buffer in made_buffers(items):
            offset = shared.get(buffer)
            if offset is None:
                self.places[buffer] = INPUTS + len(inputs) + len(self.blocks), 0
                self.blocks.append(OwnMemory(buffer, maker(buffer)))
            else:
                self.places[buffer] = ARENA, offset
        first = INPUTS + len(inputs) + len(self.blocks)
        kernels = [item.operation for item in items if isinstance(item.operation, Kernel)]
        names = dict.fromkeys(name for kernel in kernels for name in kernel.variables)
        self.variables = {name: first + number for number, name in enumerate(names)}

    def group(self, group: Sequence[ScheduleItem], parallel: Sequence[ScheduleItem]) -> None:
        """Add the items of one group: those worth a thread together, the others one by one."""
        beside = [item for item in parallel if self._is_single(item)] if self.threads > 1 else []
        if len(beside) > 1:
            self._together(beside)
        done = {item.item_id for item in beside} if len(beside) > 1 else set()
        for item in group:
            if item.item_id not in done:
                self._item(item)

    def _is_single(self, item: ScheduleItem) -> bool:
        """True if an item is a kernel of one task that the driver can run."""
        program = self._program(item)
        return program is not None and program.task is not None and program.tasks == 1

    def _program(self, item: ScheduleItem) -> Program | None:
        kernel = item.operation
        if not isinstance(kernel, Kernel):
            return None
        return self.programs[kernel.body, device.get(kernel.device).base_key]

    def _item(self, item: ScheduleItem) -> None:
        if self.has_steps and isinstance(item.operation, MemoryTransfer):
            self._transfer(item, item.operation)
            return
        program = self._program(item)
        if program is None or program.task is None:
            self._python(item)
            return
        offset = self._arguments(item, program, program.task)
        steps = steps_of(program.task.address, offset, program.tasks, self.threads)
        self._add(steps, [item])

    def _python(self, item: ScheduleItem) -> None:
        """An item that Python runs: a part of its own."""
        self.parts.append(item)
        self._wrote([item], is_python=True)

    def _transfer(self, item: ScheduleItem, transfer: MemoryTransfer) -> None:
        """Add a copy between contiguous memory as a step; any other transfer is a part."""
        devices = transfer.source_device, transfer.destination_device
        is_here = all(device.get(name).base_key == DEFAULT for name in devices)
        if not is_here or not is_dense(transfer.region):
            self._python(item)
            return
        offset, width = 8 * len(self.words), transfer.source.dtype.itemsize
        sides = ((transfer.destination, transfer.destination_offset),
                 (transfer.source, transfer.source_offset))  # fmt: skip
        for buffer, first in sides:
            base, own = self.places[buffer]
            self.words.append((base, own + first * width))
        self.words.append((ZERO, transfer.nbytes))
        self._add(steps_of(native(self.cache).copy, offset, 1, self.threads), [item])

    def _together(self, items: Sequence[ScheduleItem]) -> None:
        """One step whose tasks are kernels; its words are pairs of thunk and arguments."""
        pairs: list[Word] = []
        for item in items:
            program = self._program(item)
            assert program is not None and program.task is not None
            offset = self._arguments(item, program, program.task)
            pairs += [(ZERO, program.task.address), (WORDS, offset)]
        offset = 8 * len(self.words)
        self.words += pairs
        self._add(steps_of(native(self.cache).each, offset, len(items), self.threads), items)

    def _arguments(self, item: ScheduleItem, program: Program, task: Task) -> int:
        """Append the words of a kernel; returns where they begin, in bytes."""
        kernel, offset = item.operation, 8 * len(self.words)
        assert isinstance(kernel, Kernel)
        fixed = dict(kernel.fixed)
        first = len(self.words)
        self.words += [self.places[kernel.arguments[slot]] for slot in program.slots]
        self.streamed |= {kernel.arguments[slot] for slot in program.aligned}
        streamed = (first + n for n, s in enumerate(program.slots) if s in program.aligned)
        self.aligned += [number for number in streamed if not self._is_whole(*self.words[number])]
        self.words += [
            (ZERO, fixed[name]) if name in fixed else (self.variables[name], 0)
            for name in task.parameters
        ]
        self.scratch = max(self.scratch, task.scratch)
        return offset

    def _is_whole(self, base: int, offset: int) -> bool:
        """True if a word is a cache-aligned address in every run, as in the run's own memory."""
        inputs = range(INPUTS, INPUTS + self.inputs)
        return base not in inputs and offset % LINE == 0

    def _add(self, steps: list[Step], items: Sequence[ScheduleItem] = ()) -> None:
        """Append steps, those of `items`, to the run of steps that is open, or open one."""
        first = len(self.steps)
        self.steps += steps
        if self.elapsed >= LONG and items and (self.is_cut or not self.pending):
            self.saved |= self.pending
            self.pending, self.elapsed = set(), 0
        elif self.parts and isinstance(self.parts[-1], tuple):
            first = self.parts.pop()[0]  # type: ignore[index]
        self.parts.append((first, len(self.steps) - first))
        self._wrote(items)

    def _mark(self) -> int | None:
        """Add a last step that marks completion, if an input is written in place; the number of its
        word."""
        is_native = bool(self.parts) and isinstance(self.parts[-1], tuple)
        if not is_native or not (self.pending or self.saved):
            return None
        place = len(self.words)
        self.words.append((ZERO, 0))
        self._add(steps_of(native(self.cache).mark, 8 * place, 1, self.threads))
        return place

    def plan(
        self,
        inputs: tuple[Buffer, ...],
        memory: MemoryPlan | None,
        unstreamed: Callable[[], NativePlan],
    ) -> NativePlan:
        """All of it, as arrays."""
        mark = self._mark()
        steps = np.array(self.steps, np.int64).reshape(-1, STEP_BYTES // 8)
        words = np.array(self.words, np.int64).reshape(-1, 2)
        address = steps.ctypes.data
        parts = tuple(
            StepRun(address + STEP_BYTES * part[0], part[1]) if isinstance(part, tuple) else part
            for part in self.parts
        )
        only = self._only()
        if steps.size and only is None:
            native(self.cache)
        return NativePlan(
            parts=parts,
            steps=steps,
            programs=tuple(self.programs.values()),
            bases=words[:, 0].copy(),
            offsets=words[:, 1].copy(),
            inputs=inputs,
            blocks=tuple(self.blocks),
            variables=tuple(self.variables),
            memory=memory,
            threads=max((step[4] for step in self.steps), default=1),
            stride=stride_of(self.scratch),
            aligned=np.array(self.aligned, np.int64),
            streamed=frozenset(self.streamed),
            unstreamed=unstreamed,
            mark=mark,
            saved=tuple(sorted(self.saved)),
            only=only,
        )

    def _only(self) -> Callable[[int, int, int], None] | None:
        """The thunk of the one kernel that there is, if it has one task."""
        if len(self.parts) != 1 or len(self.steps) != 1 or self.steps[0][2] != 1:
            return None
        thunk, offset = self.steps[0][:2]
        return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(thunk) if not offset else None
