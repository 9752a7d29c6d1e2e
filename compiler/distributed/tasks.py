"""tasks: the items of a schedule become tasks for workers, and actions of the client.

    Before:  0 copy CPU → DASK   1 copy CPU → DASK:1   2 k0 on DASK:1   3 copy DASK:1 → DASK
             4 k1 on DASK        5 copy DASK → CPU     6 k2 on CPU
    After:   send 0 to DASK, 1 to DASK:1
             tasks   DASK:1: 1 2 3, returns the data of 3    DASK: 0 3 4, returns the data of 5
             gather  5
             item 6, here

A task is a sequence of items on one worker. A short item joins the task before it if, by the
estimates, its operands are ready by then: each task costs Dask about a millisecond. Only the region
of a buffer that a transfer moves is sent.

Relies on: the items are in topological order.
Ensures: tasks form no cycle: a task's rank is above the ranks of the tasks it reads from, and an
item joins a task only if all its operands have a lower rank. A result of a task is never written
again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from compiler.core.errors import InternalError
from compiler.device import device
from compiler.device.dask import DescribedThere
from compiler.device.program import Program
from compiler.distributed.work import Launch, Move, Step, Work
from compiler.graph.devices import is_disk, is_remote
from compiler.graph.nodes import Buffer, Sink
from compiler.llvm.thunk import CORE
from compiler.schedule.analysis import costs
from compiler.schedule.items import (
    HostCallback,
    Kernel,
    MemoryTransfer,
    Operation,
    ScheduleItem,
    Synchronization,
)
from compiler.schedule.kinds import Region
from compiler.schedule.regions import is_dense

Programs: TypeAlias = Mapping[tuple[Sink, str], Program]
JOINED_NS = 5_000_000
"""Estimated nanoseconds up to which items join a task: a task's own cost of a millisecond is small
in comparison. A choice."""


@dataclass(frozen=True, slots=True)
class FromTask:
    """The final content of a register of a task."""

    task: int
    register: int


@dataclass(frozen=True, slots=True)
class FromInput:
    """An input of the program, by its number."""

    number: int


@dataclass(frozen=True, slots=True)
class FromHere:
    """An array sent by the client, by the number of its `Send`."""

    number: int


Source: TypeAlias = FromTask | FromInput | FromHere


@dataclass(slots=True)
class Task:
    """Steps on one worker: registers are numbered through the program."""

    number: int
    device: str
    rank: int = 0
    steps: list[Step] = field(default_factory=list)
    inputs: dict[int, Source] = field(default_factory=dict)
    """The source of each input register."""
    outputs: list[int] = field(default_factory=list)
    apart: set[int] = field(default_factory=set)
    """Registers that are sent separately: to another worker, or to a later run."""
    wanted: set[int] = field(default_factory=set)
    """Registers that the client requests: results, and operands of tasks submitted later."""
    holds: set[int] = field(default_factory=set)
    """Registers with a value: inputs, and those that a step wrote."""
    cost: int = 0
    name: str = "copy"
    longest: int = -1
    begin: int = 0
    """The earliest start, in estimated nanoseconds since the start of the program."""

    @property
    def end(self) -> int:
        """The end, by that estimate."""
        return self.begin + self.cost

    def output(self, register: int) -> FromTask:
        """The register as an output for other tasks."""
        if register not in self.outputs:
            self.outputs.append(register)
        return FromTask(self.number, register)

    def ask_for(self, register: int) -> FromTask:
        """The register as an output for the client."""
        self.apart.add(register)
        self.wanted.add(register)
        return self.output(register)


@dataclass(frozen=True, slots=True)
class Send:
    """Copy a region of one of the client's buffers, packed, for a worker."""

    number: int
    buffer: Buffer
    region: Region | None
    """None: all of it."""
    device: str
    item: int


@dataclass(frozen=True, slots=True)
class Submit:
    """Submit these tasks to the cluster."""

    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Gather:
    """Fetch a result of a task, or an input, into a region of one of the client's buffers."""

    source: Source
    buffer: Buffer
    region: Region | None
    item: int


@dataclass(frozen=True, slots=True)
class Local:
    """Run an item on the client."""

    item: ScheduleItem


Action: TypeAlias = Send | Submit | Gather | Local


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """A schedule for a cluster: the actions of the client in order, and the place of each result at
    the end."""

    actions: tuple[Action, ...]
    results: tuple[Source | None, ...]
    """The source of each result; None for a result on the client."""
    written: Mapping[Buffer, Source]
    """Inputs on workers that the program writes in place, with the sources of their new
    contents."""
    codes: tuple[tuple[Sink, str], ...]
    """The kernels of the library, in its order."""
    sizes: Mapping[int, tuple[int, "np.dtype[np.generic]"]]

    tasks: tuple[Task, ...]
    """All tasks, by number."""
    of: object = None
    """The objects it was built from, kept alive as long as the plan."""
    contents: dict[int, bytes] = field(default_factory=dict)
    """Serialised tasks by number, cached: serialising one takes 0.1 ms."""


def plan(
    items: Sequence[ScheduleItem], results: Sequence[Buffer], inputs: Sequence[Buffer],
    programs: Programs, joined_ns: int = JOINED_NS,
) -> TaskPlan:  # fmt: skip
    """The items as tasks. Items join one task up to `joined_ns` estimated nanoseconds."""
    work = _Planner(programs, joined_ns, {b: n for n, b in enumerate(inputs)})
    cost = {row.item_id: row.cost for row in costs.analyse(items)}
    for item in items:
        work.item(item, cost.get(item.item_id, 0))
    work.flush()
    ends = tuple(work.home(b) if is_remote(b.device) else None for b in results)
    written = {b: work.homes[b] for b in inputs if is_remote(b.device) and b in work.homes}
    for end in (*ends, *written.values()):
        work.ask_for(end)
    return TaskPlan(
        tuple(work.actions), ends, written, tuple(work.codes), work.sizes, tuple(work.tasks)
    )


def work_of(task: Task, plan: TaskPlan, places: Mapping[int, int | None]) -> Work:
    """The work of a task, to be serialised. `places` has, by register, the position of an input in
    a tuple."""
    touched = {r for step in task.steps for r in _registers(step)} | set(task.inputs)
    lasts: dict[int, list[int]] = {}
    last = {r: n for n, step in enumerate(task.steps) for r in _registers(step)}
    for register, number in last.items():
        if register not in task.outputs:
            lasts.setdefault(number, []).append(register)
    return Work(
        steps=tuple(task.steps),
        sizes={register: plan.sizes[register] for register in sorted(touched)},
        inputs=tuple((register, places.get(register)) for register in task.inputs),
        outputs=tuple(task.outputs),
        lasts={number: tuple(registers) for number, registers in lasts.items()},
    )


def _registers(step: Step) -> tuple[int, ...]:
    return step.registers if isinstance(step, Launch) else (step.target, step.source)


@dataclass(slots=True)
class _Planner:
    """The plan so far; `homes` has the source of the current value of each buffer."""

    programs: Programs
    joined_ns: int
    inputs: Mapping[Buffer, int]
    actions: list[Action] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    open: dict[str, Task] = field(default_factory=dict)
    """The task of each worker that later items may join."""
    busy: dict[str, int] = field(default_factory=dict)
    """The estimated end of each worker's tasks so far."""
    submitted: int = 0
    homes: dict[Buffer, Source] = field(default_factory=dict)
    pending: dict[Buffer, list[Gather]] = field(default_factory=dict)
    """Data to fetch into the client's buffers, once they are needed."""
    registers: dict[Buffer, int] = field(default_factory=dict)
    sizes: dict[int, "tuple[int, np.dtype[np.generic]]"] = field(default_factory=dict)
    codes: dict[tuple[Sink, str], int] = field(default_factory=dict)
    sends: int = 0
    planned: int = 0
    """The item that is being planned."""

    def item(self, item: ScheduleItem, cost: int) -> None:
        """Plan one item."""
        operation, self.planned = item.operation, item.item_id
        places = [is_remote(name) for name in operation.devices]
        if not any(places):
            self._here(item, operation)
        elif isinstance(operation, Kernel):
            self._kernel(item, operation, cost)
        elif isinstance(operation, MemoryTransfer):
            self._transfer(item, operation)
        elif isinstance(operation, HostCallback):
            self._callback(item, operation)
        else:
            assert isinstance(operation, Synchronization)  # tasks wait for what they read

    def flush(self) -> None:
        """Submit what is planned and gather what is pending."""
        if self.submitted < len(self.tasks):
            self.actions.append(Submit(tuple(self.tasks[self.submitted :])))
        self.submitted = len(self.tasks)
        self.open.clear()
        self.actions += [gather for rows in self.pending.values() for gather in rows]
        self.pending.clear()

    def home(self, buffer: Buffer) -> Source | None:
        """The source of the current value of a buffer; None if nothing wrote it yet."""
        number = self.inputs.get(buffer)
        return self.homes.get(buffer) or (None if number is None else FromInput(number))

    def ask_for(self, source: Source | None) -> None:
        """Request `source` for the client if it is a result of a task."""
        if isinstance(source, FromTask):
            self.tasks[source.task].ask_for(source.register)

    def _here(self, item: ScheduleItem, operation: Operation) -> None:
        """Plan an item that the client runs."""
        if any(b in self.pending for b in operation.arguments):
            self.flush()
        self.actions.append(Local(item))

    def _register(self, buffer: Buffer) -> int:
        if buffer not in self.registers:
            self.registers[buffer] = self._new(buffer.size, buffer)
        return self.registers[buffer]

    def _new(self, size: int, like: Buffer) -> int:
        self.sizes[len(self.sizes)] = size, like.dtype.numpy
        return len(self.sizes) - 1

    def _source(self, buffer: Buffer, worker: str) -> Source | None:
        """The source of a buffer for a worker; a buffer on the client is sent."""
        if not is_remote(buffer.device) and not is_disk(buffer.device):
            return self._send(buffer, None, worker)
        return self.home(buffer)

    def _send(self, buffer: Buffer, region: Region | None, worker: str) -> FromHere:
        if buffer in self.pending:
            self.flush()
        self.sends += 1
        self.actions.append(Send(self.sends - 1, buffer, region, worker, self.planned))
        return FromHere(self.sends - 1)

    def _joined(self, worker: str, sources: Sequence[Source | None], cost: int) -> Task:
        """The task for an item with these sources on a worker: the open one, or a new one."""
        task = self.open.get(worker)
        tasks_read = {s.task for s in sources if isinstance(s, FromTask)}
        others = tasks_read - ({task.number} if task else set())
        rank = 1 + max((self.tasks[number].rank for number in others), default=-1)
        there = max((self.tasks[number].end for number in others), default=0)
        is_short = task is not None and (task.cost + cost <= self.joined_ns or not task.cost)
        is_late = task is not None and there > task.end + self.joined_ns
        if task is None or not is_short or rank > task.rank or is_late:
            rank = 1 + max((self.tasks[number].rank for number in tasks_read), default=-1)
            there = max((self.tasks[number].end for number in tasks_read), default=0)
            task = self.open[worker] = Task(len(self.tasks), worker, rank)
            self.tasks.append(task)
            there = max(there, self.busy.get(worker, 0))
        task.begin = max(task.begin, there)
        task.cost += cost
        self.busy[worker] = task.end
        return task

    def _take(self, task: Task, register: int, source: Source | None) -> None:
        """Make a register available in a task, from its source."""
        if register in task.holds or source is None:
            return
        if isinstance(source, FromTask):
            if source.task == task.number:
                return
            maker = self.tasks[source.task]
            maker.output(source.register)
            if maker.device != task.device:
                maker.apart.add(source.register)
            if maker.number < self.submitted:
                maker.ask_for(source.register)
        task.inputs[register] = source
        task.holds.add(register)

    def _kernel(self, item: ScheduleItem, kernel: Kernel, cost: int) -> None:
        read, written = kernel.reads, kernel.writes
        # a kernel may write a part of what it writes to: what was there is needed
        needed = {b: self._source(b, kernel.device) for b in dict.fromkeys((*read, *written))}
        task = self._joined(kernel.device, [*needed.values()], cost)
        for buffer, source in needed.items():
            self._take(task, self._register(buffer), source)
        program = self._program(kernel)
        slots = tuple(self._register(kernel.arguments[slot]) for slot in program.slots)
        fixed = {CORE: 0, **dict(kernel.fixed)}
        values = tuple(fixed.get(name, name) for name in program.variables)
        writes = tuple(self._register(b) for b in written)
        key = kernel.body, device.get(kernel.device).base_key
        code = self.codes.setdefault(key, len(self.codes))
        task.steps.append(Launch(item.item_id, code, slots, writes, values))
        if cost > task.longest:
            task.longest, task.name = cost, kernel.name
        for buffer in written:
            if not is_remote(buffer.device):
                raise InternalError("tasks", f"{kernel.name} writes to memory that is here")
            task.holds.add(self._register(buffer))
            self.homes[buffer] = FromTask(task.number, self._register(buffer))

    def _program(self, kernel: Kernel) -> Program:
        program = self.programs[kernel.body, device.get(kernel.device).base_key]
        assert isinstance(program, DescribedThere)
        return program

    def _transfer(self, item: ScheduleItem, move: MemoryTransfer) -> None:
        source, target = move.source, move.destination
        if not is_remote(move.destination_device):
            self.pending.setdefault(target, []).append(self._leaving(item, move))
        elif is_remote(move.source_device) and move.source_device != move.destination_device:
            self._land(item, move, self._cut(item, move))
        elif is_remote(source.device) or is_disk(source.device):
            self._inside(item, move)
        else:
            self._land(item, move, self._send(source, move.region, move.destination_device))

    def _inside(self, item: ScheduleItem, move: MemoryTransfer) -> None:
        """Plan a copy within a worker, or from a file that it reads."""
        worker, source, target = move.destination_device, move.source, move.destination
        sources = [self.home(source), self.home(target)]
        task = self._joined(worker, sources, 0)
        self._take(task, self._register(source), sources[0])
        self._take(task, self._register(target), sources[1])
        is_whole = is_dense(move.region) and move.region.size == target.size == source.size
        self._move(task, item, target, self._register(source), move.region, is_whole)

    def _move(
        self, task: Task, item: ScheduleItem, target: Buffer, source: int, region: Region,
        is_whole: bool,
    ) -> None:  # fmt: skip
        register = self._register(target)
        if is_whole and register in task.holds and register not in task.inputs:
            is_whole = False  # memory of the task's own: it is written to
        task.steps.append(Move(item.item_id, register, source, region, is_whole))
        task.holds.add(register)
        self.homes[target] = FromTask(task.number, register)

    def _cut(self, item: ScheduleItem, move: MemoryTransfer) -> Source:
        """The source of the elements of a transfer, packed in row-major order."""
        source, worker, region = move.source, move.source_device, move.region
        home = self.home(source)
        is_all = region.size == source.size and is_dense(Region(region.dims, region.source_strides))
        task = self.open.get(worker)
        is_open = isinstance(home, FromTask) and task is not None and home.task == task.number
        if is_all and home is not None and not is_open:
            return home
        task = self._joined(worker, [home], 0)
        register = self._register(source)
        self._take(task, register, home)
        packed = self._new(region.size, source)
        task.steps.append(Move(item.item_id, packed, register, region.taken, is_all))
        return task.output(packed)

    def _land(self, item: ScheduleItem, move: MemoryTransfer, elements: Source) -> None:
        """Plan the copy of received elements into the target's region."""
        target, into = move.destination, move.region.placed
        before = self.home(target)
        is_whole = is_dense(into) and into.size == target.size
        task = self._joined(move.destination_device, [elements, None if is_whole else before], 0)
        if not is_whole:
            self._take(task, self._register(target), before)
        arrived = self._new(into.size, target)
        self._take(task, arrived, elements)
        self._move(task, item, target, arrived, into, is_whole and before is None)

    def _leaving(self, item: ScheduleItem, move: MemoryTransfer) -> Gather:
        """Plan a transfer from a worker to the client."""
        elements = self._cut(item, move)
        self.ask_for(elements)
        return Gather(elements, move.destination, move.region.placed, item.item_id)

    def _callback(self, item: ScheduleItem, callback: HostCallback) -> None:
        """Plan a Python callback: it runs on the client, so its operands are fetched."""
        for buffer in dict.fromkeys(callback.arguments):
            home = self.home(buffer)
            if not is_remote(buffer.device) or home is None:
                continue
            self.ask_for(home)
            self.pending[buffer] = [Gather(home, buffer, None, item.item_id)]
        self.flush()
        self.actions.append(Local(item))
        for buffer in callback.writes:
            if is_remote(buffer.device):
                self.homes[buffer] = self._send(buffer, None, buffer.device)
