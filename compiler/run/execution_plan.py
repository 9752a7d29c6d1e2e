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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from compiler.core.errors import CompileError, located
from compiler.core.keywords import program_call
from compiler.core.lazy import loading
from compiler.device import buffers
from compiler.device.allocator import address_of
from compiler.device.remote import Data
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer, Sink, TensorNode
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
from compiler.run.direct import Direct, direct_of
from compiler.run.feeding import Given, Inputs, inputs_of, key_of
from compiler.run.overlap import Level
from compiler.schedule.analysis.share import MemoryPlan
from compiler.settings.options import Cache, Options

Array = np.ndarray[Any, Any]
Usual: TypeAlias = tuple[tuple[int, ...], "np.dtype[Any]"]


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
        if direct is not None and not variables:
            try:
                made = direct.run(inputs)
            except CompileError:
                made = None  # below it is raised again, with the user's line
            if made is not None:
                return made
        return self._run(inputs, variables)

    @located
    def _run(self, inputs: Given, variables: Values | None) -> list[Array]:
        """As `run`, whatever is to be done."""
        given = self.feed.by_place(inputs)
        is_variable = variables or self.feed.bindings.variables
        values = self.feed.values(given, variables or {}) if is_variable else {}
        data: Sequence[Data] = self._own
        addresses = self._addresses
        if numbers := {*self._unready, *(self._numbers[place] for place in given)}:
            data, addresses = self._data(numbers, given, values)
        try:
            made = plans.run(self.structure, data, values, addresses)
        except AtBuffer:
            with plans.located(self.root.sources, self.options):
                raise
        flat = [v if isinstance(v, np.ndarray) else v.fetch() for v in made]
        shared = self.structure.shared_results
        flat = [v.copy() if n else v for v, n in zip(flat, shared, strict=True)]
        if self._shapes is not None:
            return [v.reshape(shape) for v, shape in zip(flat, self._shapes, strict=True)]
        return sliced(flat, self.root.sources, values)

    @cached_property
    def _direct(self) -> Direct | None:
        """Runs that need one foreign call; None if each run needs more."""
        is_more = self.structure.written_inputs or self._rows or self.feed.bindings.variables
        if is_more or self._shapes is None or any(self.structure.shared_results):
            return None
        own = [0 if n in self._unready else at for n, at in enumerate(self._addresses)]
        return direct_of(self.structure, self.feed, self._order, own, self._shapes)

    @cached_property
    def _shapes(self) -> tuple[tuple[int, ...], ...] | None:
        """The shapes of the results, if each fills its own memory."""
        nodes = self.root.sources
        is_whole = not any(node.extents or isinstance(node, Assign) for node in nodes)
        return tuple(node.shape for node in nodes) if is_whole else None

    def _data(
        self, numbers: Iterable[int], given: Mapping[int, Any], values: Mapping[str, int]
    ) -> tuple[list[Data], list[int]]:
        """The flat data of all inputs, those of `numbers` looked up again, and their addresses."""
        data, addresses = list(self._own), self._addresses.copy()
        for number in numbers:
            array, usual = given.get(self._order[number]), self._usual[number]
            if usual is None or array is None or not _is(array, usual):
                array = self._flat(number, given, values)
            data[number] = array.reshape(-1)
            addresses[number] = address_of(array)
        return data, addresses

    @cached_property
    def _usual(self) -> tuple[Usual | None, ...]:
        """Shape and type of each input; None if it is written or has a dynamic extent."""
        others = {*self.structure.written_inputs, *self._rows}
        return tuple(
            None if n in others else (buffer.shape, buffer.dtype.numpy)
            for n, buffer in enumerate(self.buffers)
        )

    @cached_property
    def _rows(self) -> tuple[int, ...]:
        """The inputs whose number of rows is a variable."""
        return tuple(self._numbers[place] for place in self.feed.rows)

    @cached_property
    def _unready(self) -> tuple[int, ...]:
        """The inputs that each run has to process: without data, written, or of dynamic extent."""
        empty = (n for n, b in enumerate(self.buffers) if b.unique == PLACEHOLDER)
        return (*empty, *self.structure.written_inputs, *self._rows)

    @cached_property
    def _own(self) -> tuple[Data, ...]:
        """The flat data of every other input, whose memory does not move."""
        none = np.empty(0, np.uint8)
        unready = set(self._unready)
        return tuple(
            none if n in unready else buffers.held(buffer).reshape(-1)
            for n, buffer in enumerate(self.buffers)
        )

    @cached_property
    def _addresses(self) -> list[int]:
        """The addresses of the data, for a plan that runs often."""
        return [address_of(a) if isinstance(a, np.ndarray) else 0 for a in self._own]

    def _flat(self, number: int, given: Mapping[int, Any], values: Mapping[str, int]) -> Array:
        """The flat data of one input."""
        flat = self.feed.array(self._order[number], given, values).reshape(-1)
        return flat.copy() if number in self.structure.written_inputs else flat

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


def _is(array: object, usual: Usual) -> TypeGuard[Array]:
    """True if `array` needs no conversion: the common case, checked quickly."""
    if type(array) is not np.ndarray or (array.shape, array.dtype) != usual:
        return False
    flags = array.flags
    return flags.carray or (flags.c_contiguous and flags.aligned)


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
        made, found = plans.structure_of(nodes, options)
    return ExecutionPlan(made, found, root, inputs_of(root, bound), options)


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
