"""prepare: a program as an execution plan, ready to run again and again on other data.

    plan = compiler.prepare(y)
    plan.run()                                 the data y was written with
    plan.run({x: array})    plan.run([array])  other data, by tensor or name, or in order
    plan.run([array], {"n": 50})               other values of variables
    print(plan.explain())                      levels, what overlaps, memory

Inputs are in the order in which the tensors were created (a computed one: when it was realised),
followed by arrays that operations introduced; `print(plan)` lists them. A plan is immutable and
each run has its own memory, so threads may share a plan. The caller owns the results: they share
memory with no input, no tensor and no other result.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy import ndarray

from compiler.core.dtypes import Array
from compiler.core.errors import CompileError, located
from compiler.core.keywords import program_call
from compiler.core.lazy import loading
from compiler.device import buffers, cpu
from compiler.device.allocator import address_of
from compiler.device.remote import Data
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer, Shape, Sink, TensorNode
from compiler.llvm.cache import (
    OBJECT,
    OBJECTS,
    PROGRAM,
    REFUSED,
    TUNING,
    TUNINGS,
    folder_of,
    no_folder,
)
from compiler.pipeline.asked import program_of
from compiler.pipeline.dropped import DROPPED
from compiler.run import numbers, plans, recompiled, remembered
from compiler.run.bindings import Values, bindings_of, sliced
from compiler.run.budget import AtBuffer
from compiler.run.feeding import Given, Inputs, inputs_of, key_of
from compiler.run.launch import Direct, Launch
from compiler.run.native import Changed
from compiler.run.overlap import Level
from compiler.schedule.analysis.share import MemoryPlan
from compiler.settings.options import Cache, Options

Usual: TypeAlias = tuple[int, Shape, "np.dtype[Any]"]
"""An input that needs no conversion: its number in the structure, its shape and its type."""
Quick: TypeAlias = tuple[Direct, Sequence[Usual], frozenset[int]]
"""A run by one foreign call, the inputs in the order of the program, those that need data."""


@dataclass(frozen=True, eq=False)
class ExecutionPlan:
    """A compiled program with the data it was written with; see the module docstring.

    `inputs` are its buffers, in the order in which the user made them.
    """

    structure: plans.Structure
    buffers: tuple[Buffer, ...]
    """The inputs in the order of the structure: as the graph meets them."""
    root: Sink
    """The results as they were written."""
    feed: Inputs
    """The inputs in the order of the program, and the variables."""
    options: Options

    @property
    def inputs(self) -> tuple[Buffer, ...]:
        """The inputs, in the order in which a list of data gives them."""
        return self.feed.buffers

    @cached_property
    def _order(self) -> tuple[int, ...]:
        """For each input of the structure its place in the program."""
        return tuple(self.feed.places[key_of(buffer)] for buffer in self.buffers)

    @cached_property
    def _numbers(self) -> dict[int, int]:
        """For each place in the program the input of the structure."""
        return {place: number for number, place in enumerate(self._order)}

    @property
    def levels(self) -> tuple[Level, ...]:
        """The topological levels: the order of items, and which of them may overlap."""
        return self.structure.steps

    @property
    def memory(self) -> MemoryPlan | None:
        """The plan of intermediate memory; None if memory is not planned."""
        return self.structure.memory

    def run(self, inputs: Given = None, variables: Values | None = None) -> list[Array]:
        """Run the plan: one array per result, owned by the caller and sharing memory with nothing.

        `inputs` replaces data by tensors or their names, `{x: array, "w": array}`, or by position,
        as a list in the order in which the tensors were created (`self.inputs`, and the printed
        plan); other inputs keep their data. `variables` has values by variables or their names;
        a missing one is the number of rows of new data, else the value it was bound to. Raises
        `DataError` for an input that does not exist, is given twice or whose name is not unique,
        for a placeholder without data, and for a value that is missing, outside its bounds or
        contradicts the rows of another input; `ShapeError` and `DTypeError` if the data do not
        fit. Inputs are never written: the program writes in place to a copy.
        """
        direct = self._direct
        if direct is not None and not variables and cpu.MEMORY.budget is None:
            try:
                results = self._directly(inputs, direct)
            except CompileError:
                results = None  # below it is raised again, with the user's line
            if results is not None:
                return results
        return self._run(inputs, variables)

    def _directly(self, inputs: Given, quick: Quick) -> list[Array] | None:
        """The results, by one foreign call; None if data have to be converted or refused."""
        direct, usual, needed = quick
        changed: Changed = {}
        if type(inputs) is list and len(inputs) <= len(usual):
            # the copy keeps the arrays alive, even if another thread changes the list
            arrays = inputs.copy()
            # passing strict=False takes twice as long
            pairs: Iterable[tuple[Usual, Any]] = zip(usual, arrays)  # noqa: B905
        else:
            pairs = [(usual[place], it) for place, it in self.feed.by_place(inputs).items()]
        for (number, shape, dtype), array in pairs:
            if type(array) is not ndarray or array.shape != shape or array.dtype != dtype:
                return None
            flags = array.flags
            if not flags.carray and not (flags.c_contiguous and flags.aligned):
                return None
            changed[number] = address_of(array)
        return direct((), changed, None) if needed <= changed.keys() else None

    @located
    def _run(self, inputs: Given, variables: Values | None) -> list[Array]:
        """The results as of `run`, by the general path."""
        by_place = self.feed.by_place(inputs)
        is_variable = variables or self.feed.bindings.variables
        values = self.feed.values(by_place, variables or {}) if is_variable else {}
        data, addresses = self._data(by_place, values)
        try:
            results = plans.run(self.structure, data, values, addresses)
        except AtBuffer:
            with plans.located(self.root.sources, self.options):
                raise
        flat = [v if isinstance(v, np.ndarray) else v.fetch() for v in results]
        shared = self.structure.shared_results
        flat = [v.copy() if n else v for v, n in zip(flat, shared, strict=True)]
        if self._shapes is not None:
            return [v.reshape(shape) for v, shape in zip(flat, self._shapes, strict=True)]
        return sliced(flat, self.root.sources, values)

    @cached_property
    def _direct(self) -> Quick | None:
        """A run by one foreign call, if machine code does all of it, no input is written or has a
        dynamic extent, no variable has a value, and each result has its own memory. Else None."""
        structure, shapes = self.structure, self._shapes
        is_more = structure.written_inputs or self._rows or self.feed.bindings.variables
        if is_more or shapes is None or any(structure.shared_results):
            return None
        blocks = {block.buffer for block in structure.native.blocks}
        is_whole = all(buffer in blocks and buffer.size == math.prod(shape)
                       for buffer, shape in zip(structure.results, shapes, strict=True))
        direct = self._launch.direct
        if direct is None or not is_whole:
            return None
        usual = [(self._numbers[place], buffer.shape, buffer.dtype.numpy)
                 for place, buffer in enumerate(self.inputs)]
        return direct, usual, self._empty

    @cached_property
    def _launch(self) -> Launch:
        """Runs on the flat data of every input whose memory does not move."""
        unready = {*self._empty, *self.structure.written_inputs, *self._rows}
        arrays = [None if number in unready else buffers.held(buffer).reshape(-1)
                  for number, buffer in enumerate(self.buffers)]
        return Launch.of(self.structure, arrays, shapes=self._shapes)

    @cached_property
    def _shapes(self) -> tuple[tuple[int, ...], ...] | None:
        """The shapes of the results, if each fills its own memory."""
        nodes = self.root.sources
        is_whole = not any(node.extents or isinstance(node, Assign) for node in nodes)
        return tuple(node.shape for node in nodes) if is_whole else None

    def _data(
        self, by_place: Mapping[int, Any], values: Mapping[str, int]
    ) -> tuple[list[Data], list[int]]:
        """The flat data of all inputs, and their addresses: known unless data are passed, or a run
        has to process them."""
        launch = self._launch
        data, addresses = launch.arrays.copy(), launch.addresses[: len(launch.arrays)]
        passed = {self._numbers[place] for place in by_place}
        passed.update(number for number, array in enumerate(data) if array is None)
        for number in passed:
            flat = self.feed.array(self._order[number], by_place, values).reshape(-1)
            is_written = number in self.structure.written_inputs
            data[number] = flat = flat.copy() if is_written else flat
            addresses[number] = address_of(flat)
        return data, addresses

    @cached_property
    def _empty(self) -> frozenset[int]:
        """The inputs without data of their own."""
        return frozenset(n for n, b in enumerate(self.buffers) if b.unique == PLACEHOLDER)

    @cached_property
    def _rows(self) -> tuple[int, ...]:
        """The inputs whose number of rows is a variable."""
        return tuple(self._numbers[place] for place in self.feed.rows)

    def explain(self) -> str:
        """Levels, items and memory as text."""
        lines = []
        for level in self.levels:
            lines.append(str(level))
            for item in (i for group in level.groups for i in group):
                operation = item.operation
                reads = " ".join(self._word(b) for b in operation.reads)
                writes = " ".join(self._word(b) for b in operation.writes)
                lines.append(f"  {item.item_id} {operation.name} reads {reads} writes {writes}")
        return "\n".join([*lines, *([str(self.memory)] if self.memory else [])])

    def _word(self, buffer: Buffer) -> str:
        """The user's name of a buffer."""
        place = buffer.unique - plans.FIRST
        if place < 0:
            return buffer.name
        return self.buffers[place].name or f"input{self._order[place]}"

    def __repr__(self) -> str:
        count = sum(len(level.items) for level in self.levels)
        return f"ExecutionPlan(inputs: {self.feed}; {count} items, {len(self.levels)} levels)"


@program_call
def prepare(*program: object, options: Options | None = None) -> ExecutionPlan:
    """Compile tensors, passed one by one or as a list, into a plan. Nothing is run.

    Instead of tensors you can pass a function and example inputs, as to `compile`; `options` is
    the last argument. A realised tensor stands for the program it came from. Raises `DataError`
    if there are no tensors.
    """
    nodes, options = program_of("prepare", program, options)
    return planned(nodes, options or Options())


def planned(nodes: Sequence[TensorNode], options: Options) -> ExecutionPlan:
    """The plan of a program given by its nodes; see `prepare`."""
    root = Sink(tuple(nodes))
    bound = bindings_of(root)
    with plans.located(nodes, options):
        structure, buffers_of_data = plans.structure_of(nodes, options)
    return ExecutionPlan(structure, buffers_of_data, root, inputs_of(root, bound), options)


@dataclass(frozen=True, slots=True)
class CacheCount:
    """Hits and misses of a cache, and the number of its entries."""

    hits: int
    misses: int
    kept: int


@dataclass(frozen=True, slots=True)
class DiskCount:
    """Object code found on disk, the files there, and their bytes.

    `refused` counts files that were not used because another user may have written them, by
    reason; `problem` is the reason why nothing is cached on disk, "" if something is.
    """

    hits: int
    files: int
    bytes: int
    refused: tuple[tuple[str, int], ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RememberedCount:
    """Whole programs found on disk or not, the files there, and their bytes.

    `left` counts programs that were not cached, by reason (`remembered.py`).
    """

    hits: int
    misses: int
    files: int
    bytes: int
    left: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """The contents of the caches between programs: loaded kernels, schedules, object code.

    `objects` counts lookups in memory and, for misses, on `disk`; `shared` counts runs that reused
    a schedule compiled for other scalar constants; `lines` are the user's lines that caused most
    compilations; `remembered` counts programs that an earlier process compiled.
    """

    programs: CacheCount
    schedules: CacheCount
    objects: CacheCount
    disk: DiskCount
    dropped: int = 0
    """Loop choices that did not apply and were dropped (`dropped.py`)."""
    shared: int = 0
    lines: tuple[recompiled.LineCount, ...] = ()
    remembered: RememberedCount = RememberedCount(0, 0, 0, 0)


def cache_info(cache: Cache = True) -> CacheInfo:
    """Hits, misses and entries since the caches were last cleared; `cache` as in `Options`."""
    with loading():  # it imports all passes
        from compiler.pipeline.kernels import PROGRAMS

    folder = folder_of(cache)
    files, size = folder.count() if folder else (0, 0)
    refused = tuple(sorted(REFUSED.items()))
    problem = "" if folder else no_folder(cache) or "the folder is refused"
    return CacheInfo(
        CacheCount(PROGRAMS.hits, PROGRAMS.misses, len(PROGRAMS)),
        CacheCount(plans.STRUCTURES.hits, plans.STRUCTURES.misses, len(plans.STRUCTURES)),
        CacheCount(OBJECTS.hits, OBJECTS.misses, len(OBJECTS)),
        DiskCount(OBJECTS.read, files, size, refused, problem),
        DROPPED.rows,
        numbers.KINDS.shared,
        recompiled.LINES.most(),
        _remembered(cache),
    )


def _remembered(cache: Cache) -> RememberedCount:
    folder, count = folder_of(cache, PROGRAM), remembered.COUNT
    files, size = folder.count() if folder else (0, 0)
    return RememberedCount(count.hits, count.misses, files, size, tuple(sorted(count.left.items())))


def cache_clear(disk: Cache = False) -> None:
    """Forget programs, schedules and lines, and set the counts to 0. Plans that exist keep theirs.

    `disk=True` also removes object code, tuned loops and programs in the user's cache folder; a
    path removes those in that folder.
    """
    with loading():  # it imports all passes
        from compiler.pipeline.kernels import forget

    forget()
    plans.STRUCTURES.clear()
    numbers.KINDS.clear()
    recompiled.LINES.clear()
    OBJECTS.clear()
    TUNINGS.clear()
    DROPPED.clear()
    remembered.forget()
    for kind in (OBJECT, TUNING, PROGRAM):
        folder = folder_of(disk, kind)
        if folder:
            folder.clear()
