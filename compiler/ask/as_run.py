"""as_run: a program run as users run it, and by steps that lead there from its machine code.

    native steps             the items in order, one thread, each buffer in memory of its own
    threads                  tasks of one kernel, and kernels of one level, at once
    memory plan              buffers that are not needed at the same time share memory
    numpy()                  what `.numpy()` and `realize()` run: the data taken from the graph
    prepare().run()          a plan that runs again, on the data it was made with
    prepare().run(inputs)    the same plan on other arrays, given by place

Each step adds one thing, so the first that is wrong says what is at fault; `why` says where. All
run on copies of what the program writes, and memory that they ask for is full of ones' bits.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations

import numpy as np

from compiler.ask.checking import Expected, Row, row_of, run_graph
from compiler.core.dtypes import Array, is_floating
from compiler.core.errors import CompileError
from compiler.device import buffers
from compiler.device.cpu import MEMORY
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer, Sink
from compiler.run import execution, plans
from compiler.run.allocation import alone
from compiler.run.assemble import assemble
from compiler.run.bindings import Values, sliced
from compiler.run.execution_plan import ExecutionPlan, planned
from compiler.run.feeding import key_of
from compiler.run.native import NativePlan
from compiler.run.overlap import Level
from compiler.run.realize import realize
from compiler.schedule.analysis.footprint import made_buffers
from compiler.schedule.analysis.places import Place, name_of, span
from compiler.schedule.host import Host
from compiler.schedule.items import ScheduleItem
from compiler.stages.stages import ProgramStages

STEPS, THREADS, MEMORY_PLAN = "native steps", "threads", "memory plan"
NUMPY, PREPARED, GIVEN = "numpy()", "prepare().run()", "prepare().run(inputs)"
NAMES = STEPS, THREADS, MEMORY_PLAN, NUMPY, PREPARED, GIVEN
"""The steps, in order."""
MOST_PAIRS = 28
"""Pairs of inputs that are exchanged to see whether that is what went wrong."""


@dataclass(frozen=True)
class AsRun:
    """The plan of a program, as users' runs find or make it, and what its runs give."""

    compilation: ProgramStages
    values: Values
    expected: Expected

    @cached_property
    def plan(self) -> ExecutionPlan:
        """The plan that `prepare` makes."""
        return planned(self.compilation.results, self.compilation.options)

    @property
    def structure(self) -> plans.Structure:
        """The items that the plan runs, with all that is the same for every run."""
        return self.plan.structure

    def rows(self) -> Iterator[Row]:
        """The comparison of each step; of a wrong one with its place, as far as known."""
        for name in NAMES:
            yield self.row(name)

    def row(self, name: str) -> Row:
        """The comparison of one step."""
        with MEMORY.poisoned():
            row = row_of(name, self.expected, partial(self.run, name))
            # numbers may be right by luck of what runs first
            overlap = self._overlap(name) if name == MEMORY_PLAN and row.ok else ""
            if overlap:
                return Row(name, False, np.inf, np.inf, overlap)
            why = self.why(name) if row.ok is False else ""
        return replace(row, note=f"{row.note}; {why}") if why else row

    def run(self, name: str) -> list[Array]:
        """The results of one step."""
        match name:
            case "numpy()":
                program = self.compilation
                held = realize(program.results, program.options, self.values, is_tried=True)
                return run_graph(Sink(tuple(held)), self.values)
            case "prepare().run()":
                self.plan.run(variables=self.values)
                return self.plan.run(variables=self.values)
            case "prepare().run(inputs)":
                return self._given(self.data)
        return self._step(name, self.data)

    @property
    def data(self) -> list[Array]:
        """A copy of the data of each input, in the order of the structure."""
        empty = [b.name for b in self.plan.buffers if b.unique == PLACEHOLDER]
        if empty:
            raise CompileError("check", f"placeholder {empty[0]} has no data")
        return [buffers.data(b).copy() for b in self.plan.buffers]

    def _given(self, data: list[Array]) -> list[Array]:
        held = {key_of(b): array for b, array in zip(self.plan.buffers, data, strict=True)}
        return self.plan.run([held[key_of(b)] for b in self.plan.inputs], self.values)

    def _step(self, name: str, data: Sequence[Array]) -> list[Array]:
        """The results of one of the first steps."""
        structure = self.structure
        native = structure.native if name == MEMORY_PLAN else self._native(name)
        # memory that a run left for the next one holds what was right then
        structure = replace(structure, native=replace(native, free=deque()))
        flat = plans.run(structure, [array.reshape(-1) for array in data], self.values)
        here = [each if isinstance(each, np.ndarray) else each.fetch() for each in flat]
        return sliced(here, self.compilation.results, self.values)

    def _native(self, name: str) -> NativePlan:
        """The native plan of the items, each buffer in memory of its own."""
        structure, options = self.structure, self.compilation.options
        if name == THREADS:
            threads = options.threads
            return assemble(structure.steps, structure.programs, structure.inputs, None, threads)
        levels = [Level(n, ((item,),), ((),)) for n, item in enumerate(structure.items)]
        return assemble(levels, structure.programs, structure.inputs, None, 1)

    # -- what is at fault ----------------------------------------------------------------------

    def why(self, name: str) -> str:
        """The place where a wrong step went wrong, in words; "" if that is not known."""
        where = {STEPS: self._item, THREADS: self._item, MEMORY_PLAN: self._overlap}.get(name)
        reasons = [where(name)] if where else []
        if name != NUMPY:
            reasons.append(self._exchanged(name))
        return "; ".join(filter(None, reasons))

    def _item(self, name: str) -> str:
        """The first item that leaves something else than by itself: `item 1 (k1) left 16 …`."""
        right, have = self._memory(None), self._memory(name)
        for item in self.structure.items:
            for buffer in item.operation.writes:
                one, other = right[buffer], have[buffer]
                wrong = np.flatnonzero(one.view(np.uint8) != other.view(np.uint8))
                if wrong.size and not np.array_equal(one, other, equal_nan=is_floating(one.dtype)):
                    return _left(item, wrong // one.itemsize)
        return ""

    def _memory(self, name: str | None) -> dict[Buffer, Array]:
        """Every buffer after a run; without a name of one that runs item by item."""
        structure = self.structure
        held = dict(zip(structure.inputs, (a.reshape(-1) for a in self.data), strict=True))
        host, values = Host(), self.values

        def step(item: ScheduleItem, arrays: dict[Buffer, Array]) -> None:
            execution.step(item, arrays, structure.programs, values, host)

        if name is not None:
            return held | self._native(name).run(list(held.values()), values, step)
        held |= {buffer: alone(buffer) for buffer in made_buffers(structure.items)}
        for item in structure.items:
            step(item, held)
        return held

    def _overlap(self, name: str) -> str:
        """Two buffers at one place that are needed at one time."""
        memory = self.structure.memory
        levels = [tuple(i for group in level.groups for i in group)
                  for level in self.structure.steps]  # fmt: skip
        lives: dict[Buffer, list[int]] = {}
        for number, items in enumerate(levels):
            for buffer in (b for i in items for b in (*i.operation.reads, *i.operation.writes)):
                lives.setdefault(buffer, []).append(number)
        inside = [p for p in memory.places if p.offset is not None and p.size] if memory else []
        for one, other in combinations(inside, 2):
            both = _common(lives[one.buffer], lives[other.buffer])
            if both is not None and _shared(one, other):
                return (f"{name_of(one)} and {name_of(other)} share {_shared(one, other):,} bytes, "
                        f"and both are needed in level {both}")  # fmt: skip
        return ""

    def _exchanged(self, name: str) -> str:
        """Two inputs of one shape and type with which, exchanged, the step is right."""
        run = partial(self._step, name) if name in (STEPS, THREADS, MEMORY_PLAN) else self._given
        inputs = self.plan.buffers
        pairs = [
            (m, n) for m, n in combinations(range(len(inputs)), 2)
            if (inputs[m].shape, inputs[m].dtype) == (inputs[n].shape, inputs[n].dtype)
        ]  # fmt: skip
        for m, n in pairs[:MOST_PAIRS]:
            data = self.data
            data[m], data[n] = data[n], data[m]
            if row_of(name, self.expected, partial(run, data)).ok:
                return f"it is right with inputs {self._word(m)} and {self._word(n)} exchanged"
        return ""

    def _word(self, place: int) -> str:
        return f"{place} ({name})" if (name := self.plan.buffers[place].name) else str(place)


def _left(item: ScheduleItem, wrong: Array) -> str:
    places = np.unique(wrong)
    where = f"elements {places[0]} … {places[-1]}" if len(places) > 1 else f"element {places[0]}"
    return f"item {item.item_id} ({item.operation.name}) leaves {where} different"


def _common(one: Sequence[int], other: Sequence[int]) -> int | None:
    """The first level in which both are needed."""
    first, last = max(min(one), min(other)), min(max(one), max(other))
    return first if first <= last else None


def _shared(one: Place, other: Place) -> int:
    """The bytes in common."""
    (begin, end), (start, stop) = span(one), span(other)
    return max(0, min(end, stop) - max(begin, start))


def as_run(
    compilation: ProgramStages, values: Values, expected: Expected
) -> list[Callable[[], Row]]:
    """The functions that give the row of each step, in order."""
    steps = AsRun(compilation, values, expected)
    return [partial(steps.row, name) for name in NAMES]
