"""prepare: a program as an execution plan, ready to run again and again on other data.

    plan = compiler.prepare(y)
    plan.run()                                 the data y was written with
    plan.run({"x": array})  plan.run([array])  other data, by the name or the place of an input
    plan.run([array], {"n": 50})               other values of variables
    print(plan.explain())                      levels, what overlaps, memory

Inputs are numbered in the order in which the program meets them. A plan is never changed after
it was made, and each run has memory of its own: threads may share a plan.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from compiler import numbers, plans, recompiled
from compiler.bindings import Bindings, Values, bindings_of, sliced
from compiler.budget import RefusedError
from compiler.device import buffers
from compiler.device.allocator import address_of
from compiler.dropped import DROPPED
from compiler.dtypes import parse
from compiler.errors import DataError, DTypeError, ShapeError, located
from compiler.feeding import program_of
from compiler.graph.effects import Assign
from compiler.graph.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer, Prefix, Sink, TensorNode
from compiler.kernels import PROGRAMS
from compiler.keywords import program_call
from compiler.llvm.cache import OBJECT, OBJECTS, REFUSED, TUNING, TUNINGS, folder_of, no_folder
from compiler.node import toposort
from compiler.options import Cache, Options
from compiler.overlap import Level
from compiler.schedule.share import MemoryPlan

Array = np.ndarray[Any, Any]
Given: TypeAlias = Mapping[str, Array] | Sequence[Array]
Usual: TypeAlias = tuple[tuple[int, ...], "np.dtype[Any]"]


@dataclass(frozen=True, eq=False)
class ExecutionPlan:
    """A compiled program with the data it was written with; see the module docstring.

    `inputs` are its buffers, in order.
    """

    structure: plans.Structure
    inputs: tuple[Buffer, ...]
    root: Sink
    """The results as they were written."""
    bindings: Bindings
    """The variables, with the values they were bound to."""
    rows: Mapping[int, str]
    """For each input that has as many rows as a variable says, that variable."""
    options: Options

    @property
    def levels(self) -> tuple[Level, ...]:
        """The waves: what runs after what, and what may overlap."""
        return self.structure.steps

    @property
    def memory(self) -> MemoryPlan | None:
        """Where intermediate values are; None where memory is not planned."""
        return self.structure.memory

    @located
    def run(self, inputs: Given = (), variables: Values | None = None) -> list[Array]:
        """One new array per result.

        `inputs` replaces data by the input's name, or by its place in `self.inputs`; the rest
        stays what it was. `variables` has values by name; one that is not given is what new data
        have rows, else what it was bound to. Raises `DataError` for an input that does not exist
        or whose name is not unique, for a placeholder without data, and for a value that is
        missing or outside its bounds, `ShapeError` and `DTypeError` where the data do not fit.
        Data that the program writes in place are copied first.
        """
        given = {} if isinstance(inputs, tuple) and not inputs else self._by_place(inputs)
        is_variable = variables or self.bindings.variables
        values = self._values(given, variables or {}) if is_variable else {}
        data: Sequence[Array] = self._own
        addresses = self._addresses
        if places := {*self._unready, *given}:
            data, addresses = self._data(places, given, values)
        try:
            flat = plans.run(self.structure, data, values, addresses)
        except RefusedError:
            with plans.located(self.root.sources, self.options):
                raise
        # a result that is an input is not handed out: who writes it would write the data
        same = self.structure.result_inputs
        flat = [v if n is None else v.copy() for v, n in zip(flat, same, strict=True)]
        if self._shapes is not None:
            return [v.reshape(shape) for v, shape in zip(flat, self._shapes, strict=True)]
        return sliced(flat, self.root.sources, values)

    @cached_property
    def _shapes(self) -> tuple[tuple[int, ...], ...] | None:
        """The shapes of the results, where each is all of memory of its own."""
        nodes = self.root.sources
        is_whole = not any(node.extents or isinstance(node, Assign) for node in nodes)
        return tuple(node.shape for node in nodes) if is_whole else None

    def _data(
        self, places: Iterable[int], given: Mapping[int, Array], values: Mapping[str, int]
    ) -> tuple[list[Array], Array]:
        """The flat data of all inputs, those of `places` looked at anew, and where they are."""
        data, addresses = list(self._own), self._addresses.copy()
        for place in places:
            array, usual = given.get(place), self._usual[place]
            if usual is None or array is None or not _is(array, usual):
                array = self._flat(place, given, values)
            data[place] = array.reshape(-1)
            addresses[place] = address_of(array)
        return data, addresses

    @cached_property
    def _usual(self) -> tuple[Usual | None, ...]:
        """Shape and type of each input; None of one that is written or of variable extent."""
        others = {*self.structure.written_inputs, *self.rows}
        return tuple(
            None if n in others else (buffer.shape, buffer.dtype.numpy)
            for n, buffer in enumerate(self.inputs)
        )

    @cached_property
    def _unready(self) -> tuple[int, ...]:
        """The inputs that each run has to look at: without data, written, or of variable extent."""
        empty = (n for n, b in enumerate(self.inputs) if b.unique == PLACEHOLDER)
        return (*empty, *self.structure.written_inputs, *self.rows)

    @cached_property
    def _own(self) -> tuple[Array, ...]:
        """The flat data of every other input: memory stays where it is."""
        none = np.empty(0, np.uint8)
        unready = set(self._unready)
        return tuple(
            none if n in unready else buffers.data(buffer).reshape(-1)
            for n, buffer in enumerate(self.inputs)
        )

    @cached_property
    def _addresses(self) -> Array:
        """Where the data are, for a plan that runs often."""
        return np.array([array.ctypes.data for array in self._own], np.int64)

    def _values(self, given: Mapping[int, Array], variables: Values) -> dict[str, int]:
        """The values of the variables: as given, as new data have rows, as bound."""
        found = {
            name: len(given[place])
            for place, name in self.rows.items()
            if place in given and np.ndim(given[place])
        }
        return self.bindings.checked({**found, **variables})

    def _by_place(self, inputs: Given) -> dict[int, Array]:
        """The arrays given, by the place of their input."""
        if type(inputs) is not list and isinstance(inputs, Mapping):
            return {self._place(name): array for name, array in inputs.items()}
        if type(inputs) is not list and not _is_row(inputs):
            expected = "a dictionary by name, or a list in the order of the inputs"
            raise DataError("run", "these are no inputs", got=type(inputs).__name__,
                            expected=expected)  # fmt: skip
        if len(inputs) > len(self.inputs):
            expected = f"at most {len(self.inputs)}: {self._names()}"
            raise DataError("run", "too many inputs", got=str(len(inputs)), expected=expected)
        return dict(enumerate(inputs))

    def _place(self, name: str) -> int:
        found = [n for n, buffer in enumerate(self.inputs) if buffer.name == name]
        if len(found) == 1 and name:
            return found[0]
        what = "several inputs have this name" if found else "the program has no such input"
        hint = "give a list: inputs are taken in their order" if found else ""
        raise DataError("run", what, got=repr(name), expected=self._names(), hint=hint)

    def _names(self) -> str:
        words = [b.name or f"an unnamed {b.dtype.short}{list(b.shape)}" for b in self.inputs]
        return ", ".join(words) or "no inputs"

    def _flat(
        self, place: int, given: Mapping[int, Array], values: Mapping[str, int]
    ) -> Array:
        """The flat data of one input; of one with a variable extent at least so many rows."""
        buffer, least = self.inputs[place], values.get(self.rows.get(place, ""))
        if place in given:
            array = _fitting(given[place], buffer, place, least)
        else:
            array = buffers.data(buffer)
        if least is not None and len(array) < least:
            what = f"{buffer.name or f'input {place}'} holds fewer rows than a variable says"
            got, expected = f"{len(array)} rows", f"{self.rows[place]} = {least}"
            raise DataError("run", what, got=got, expected=expected)
        flat = array.reshape(-1)
        return flat.copy() if place in self.structure.written_inputs else flat

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
        """A buffer as the user calls it."""
        place = buffer.unique - plans.FIRST
        if place < 0:
            return buffer.name
        return self.inputs[place].name or f"input{place}"

    def __repr__(self) -> str:
        count = sum(len(level.items) for level in self.levels)
        return f"ExecutionPlan({len(self.inputs)} inputs, {count} items, {len(self.levels)} levels)"


def _is_row(inputs: object) -> TypeGuard[Sequence[Array]]:
    return isinstance(inputs, Sequence) and not isinstance(inputs, str)


def _is(array: object, usual: Usual) -> TypeGuard[Array]:
    """Whether `array` can be taken as it is: that is so most times, and quickly seen."""
    if type(array) is not np.ndarray or (array.shape, array.dtype) != usual:
        return False
    flags = array.flags
    return flags.carray or (flags.c_contiguous and flags.aligned)


def _fitting(array: object, buffer: Buffer, place: int, least: int | None) -> Array:
    """`array`, row-major, if it fits `buffer`: of variable extent it may have fewer rows."""
    name = buffer.name or f"input {place}"
    array = np.asarray(array) if isinstance(array, np.generic) else array
    if not isinstance(array, np.ndarray):
        got = type(array).__name__
        raise DataError("run", f"{name} is no array", got=got, expected="a NumPy array")
    is_part = least is not None and array.ndim > 0 and len(array) <= buffer.shape[0]
    is_part = is_part and array.shape[1:] == buffer.shape[1:]
    if array.shape != buffer.shape and not is_part:
        what = f"{name} has another shape"
        raise ShapeError("run", what, got=str(array.shape), expected=str(buffer.shape))
    if parse(array.dtype, "run") is not buffer.dtype:
        what = f"{name} has another type"
        raise DTypeError("run", what, got=str(array.dtype), expected=str(buffer.dtype))
    native = array.astype(buffer.dtype.numpy, copy=False)
    return np.require(native, requirements=["C", "A"])


@program_call
def prepare(*program: object, options: Options | None = None) -> ExecutionPlan:
    """Compile tensors, given one by one or as a list, into a plan. Nothing is run.

    Instead of tensors a function and example inputs for it may be given, and `options` as the
    last of them, as to `compile`. A realised tensor stands for the program it came from. Raises
    `DataError` where there are no tensors.
    """
    return planned(*program_of("prepare", program, options))


def planned(nodes: Sequence[TensorNode], options: Options | None) -> ExecutionPlan:
    """The plan of a program given by its nodes; see `prepare`."""
    options = options or Options()
    root = Sink(tuple(nodes))
    bound = bindings_of(root)
    with plans.located(nodes, options):
        made, found = plans.structure_of(nodes, options)
    return ExecutionPlan(made, found, root, bound, _rows(root, found), options)


def _rows(root: Sink, inputs: Sequence[Buffer]) -> dict[int, str]:
    """The inputs whose first axis is as long as a variable says."""
    places = {buffer.unique: place for place, buffer in enumerate(inputs)}
    return {
        places[node.sources[0].unique]: node.extents[0].name
        for node in toposort([root])
        if isinstance(node, Prefix) and not node.axis and isinstance(node.sources[0], Buffer)
        and node.extents[0] is not None
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class CacheCount:
    """How often something was found, how often it had to be made, and how many are kept."""

    hits: int
    misses: int
    kept: int


@dataclass(frozen=True, slots=True)
class DiskCount:
    """Object code found on disk, the files there, and their bytes.

    `refused` counts files that were not used because somebody else may have written them, by
    reason; `problem` says why nothing is kept on disk, "" where something is.
    """

    hits: int
    files: int
    bytes: int
    refused: tuple[tuple[str, int], ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What is kept between programs: loaded kernels, whole schedules, object code of kernels.

    `objects` counts what was looked for in memory and, where it was not there, on `disk`;
    `shared` the runs that took a schedule made for other numbers; `lines` has those lines of the
    user's for which most programs were compiled.
    """

    programs: CacheCount
    schedules: CacheCount
    objects: CacheCount
    disk: DiskCount
    dropped: int = 0
    """Choices about loops that did not apply and were left out (`dropped.py`)."""
    shared: int = 0
    lines: tuple[recompiled.LineCount, ...] = ()


def cache_info(cache: Cache = True) -> CacheInfo:
    """Hits, misses and entries since the caches were last cleared; `cache` as in `Options`."""
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
    )


def cache_clear(disk: Cache = False) -> None:
    """Forget programs, schedules and lines, and set the counts to 0. Plans that exist keep theirs.

    `disk=True` removes object code and tuned loops in the user's cache folder too; a folder, what
    is in it.
    """
    PROGRAMS.clear()
    plans.STRUCTURES.clear()
    numbers.KINDS.clear()
    recompiled.LINES.clear()
    OBJECTS.clear()
    TUNINGS.clear()
    DROPPED.clear()
    for kind in (OBJECT, TUNING):
        folder = folder_of(disk, kind)
        if folder:
            folder.clear()
