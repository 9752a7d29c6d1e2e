"""One capture: a compiled program, and the sources of its inputs.

    argument   the data of the tensor passed at its place
    number     the result of Python's computations with number arguments
    grad       the data of a tensor's gradient that the function reads
    state      memory of a tensor from outside, written in place if it is assigned
    random     key and counters of random numbers, new in each call
"""

import itertools
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import is_dataclass
from operator import is_
from typing import Any

import numpy as np

from compiler.core.errors import JitError
from compiler.core.lazy import loading
from compiler.core.node import toposort
from compiler.core.origin import caller
from compiler.device.allocator import address_of
from compiler.device.buffers import data as data_of
from compiler.device.buffers import held
from compiler.graph.nodes import Buffer, TensorNode
from compiler.graph.words import short
from compiler.replay.arguments import (
    Call,
    StandIn,
    buffers_of,
    containers,
    flat_data,
    stand_ins,
    values_of,
)
from compiler.replay.grads import Argument, Old
from compiler.replay.objects import are_alike, is_by_value, is_plain
from compiler.replay.pasts import Pasts, Twice
from compiler.replay.results import New, results_of
from compiler.replay.surroundings import around, is_immutable
from compiler.replay.tracing import give_own_memory, traced
from compiler.replay.walk import Unguarded
from compiler.run import plans, sharding
from compiler.run.launch import Launch
from compiler.run.native import Changed
from compiler.settings.options import Options
from compiler.tensors import history, running, trees
from compiler.tensors.placing import check_writable
from compiler.tensors.random import draw
from compiler.tensors.readers import READERS, Alone
from compiler.tensors.running import Run
from compiler.tensors.traced_numbers import NumberIsFixed, NumberRecord
from compiler.tensors.traced_numbers import data_of as number_data
from compiler.tensors.value import TensorValue, next_number
from compiler.tensors.variables import is_realized
from compiler.tensors.watching import Draw, NotCapturedError

USUAL = Options()
_NONE: frozenset[int] = frozenset()
ANOTHER = "a tensor from around it is another now"
DECIDES = "a number decides otherwise"


class Captured:
    """A program captured from one call of a function; `run` does the same for other arguments."""

    def __init__(
        self, function: Callable[..., Any], call: Call, moving: frozenset[int],
        options: Options = USUAL, known: frozenset[int] = _NONE,
    ) -> None:  # fmt: skip
        """`moving` has the places of numbers that may change in later calls, `known` those of
        boolean arguments that have the same elements in all of them."""
        first = next_number()
        self._around = around(function, _objects(call))
        self.options = options
        self.known = known
        try:
            self._capture(function, call, moving, first)
        except (NumberIsFixed, NotCapturedError):
            self._around.restore()
            raise
        except Exception:
            if moving:  # the function is called again with plain numbers
                self._around.restore()
            raise

    def _capture(
        self, function: Callable[..., Any], call: Call, moving: frozenset[int], first: int
    ) -> None:
        """Call the function, and compile the program of its computations."""
        self._trace(function, call, moving)
        self._note_objects(function, call)
        self._refuse_kept(self._tensors_around(function, call), first)
        self._compile()
        inputs = {number for number, _, _ in self._inputs}
        arrays: list[Any] = [
            None if number in inputs else held(buffer).reshape(-1)
            for number, buffer in enumerate(self._buffers)
        ]
        self._note_memory(arrays, inputs, first)
        self._results = results_of(
            self.traced.shown, self._whole, self.structure, self.traced.histories
        )
        is_simple = self._results.is_one and not self._results.forgotten
        self._is_simple = is_simple and not self._pasts.rows
        """True if a call only results in one new tensor."""
        self._launch = Launch.of(self.structure, arrays, self._results.wanted)
        self._around.forget()
        self._guards = self._around.guards

    def _trace(self, function: Callable[..., Any], call: Call, moving: frozenset[int]) -> None:
        """Call the function on stand-ins of the arguments."""
        inside = containers(call)
        if not inside.keys().isdisjoint(self._around.seen):
            raise Unguarded("it reads a tuple, list or dictionary that is also an argument")
        self._standing_containers = frozenset(
            number for number, each in self._around.seen.items()
            if inside and isinstance(each, tuple | list | dict)
        )  # fmt: skip
        if self._around.asks_type:
            moving = frozenset()
        record = self._record = NumberRecord(call.leaves)
        self._given = stand_ins(call.leaves, moving, record, self.known)
        self.traced = traced(function, call, self._given, self._around, record, self.known)
        self._refuse_written_truths()
        self.moving = moving - record.fixed
        self._values: Sequence[Any] = record.values
        """The leaves of the current call, and Python's results from its numbers."""
        record.forget()
        self._shows_numbers = any(
            type(each) is Argument and each.place >= len(call.leaves)
            for each in trees.flat(self.traced.shown.result)
        )
        self._grads = self.traced.grads
        self._reads_grads = self._grads.are_read

    def _note_objects(self, function: Callable[..., Any], call: Call) -> None:
        """Keep the objects that later calls are compared with."""
        self._object_places = tuple(n for n, e in enumerate(call.leaves) if not is_plain(e))
        self._objects = [call.leaves[n] for n in self._object_places]
        self._standing = self._objects_around(function)
        self._standing_ids = frozenset(map(id, self._standing))
        self._shows_objects = any(map(_is_object, trees.flat(self.traced.shown.result)))
        self.wrote = self._around.changed()
        """The Python state that the function changed: the program then serves only this call; "" if
        none."""

    def _compile(self) -> None:
        """Compile the program of the function's computations."""
        self._whole = sharding.in_shards(self.traced.roots)
        self._each = sharding.flat(self._whole)
        with plans.located(self._each, self.options):
            self.structure, self._buffers = plans.structure_of(self._each, self.options)
        self._has_variables = any(node.extents for node in toposort(self._each))
        numbers = [StandIn(None, (each.buffer,)) for each in self._record.inputs]
        self._cells = [*self._given, *self._grads.inputs(), *numbers]
        self._inputs = _places(self._cells, self._buffers)

    def _note_memory(self, arrays: Sequence[Any], inputs: set[int], first: int) -> None:
        """Keep the memory that a run reads and writes. `arrays` are flat, one for each buffer from
        outside; `inputs` are the numbers of the others, which each call passes."""
        draws = [each for each in self.traced.drawn if isinstance(each, Draw)]
        self._random = [data_of(buffer) for draw in draws for buffer in (draw.key, draw.first)]
        self._is_written = frozenset(self.structure.written_inputs)
        self._written = {self._buffers[n].unique for n in self._is_written - inputs}
        self._written_inputs = [each for each in self._inputs if each[0] in self._is_written]
        self._state = self._read_from_around(first)
        self.written = frozenset(self._written)
        """The numbers of the outside buffers that a run writes."""
        self.read = frozenset(b.unique for n, b in enumerate(self._buffers) if n not in inputs)
        """The numbers of the outside buffers that a run reads."""
        self._collecting = history.CHANGES[0], history.collecting(t for t, _ in self._state)
        self._fixed = _Intervals(arrays, self.structure.written_inputs)
        self._own = frozenset(id(tensor) for tensor, _ in self._state)
        self._alone = Alone(self.written, self._own)
        self._twice = Twice(self._state, self._grads, self.traced.roots)
        self._pasts = Pasts(self.traced, self._cells)

    @property
    def asked(self) -> frozenset[int]:
        """The places of numbers that the function branches on."""
        return self._record.asked

    @property
    def kernels(self) -> int:
        """The number of items that a call runs."""
        return len(self.structure.items)

    def _tensors_around(self, function: Callable[..., Any], call: Call) -> Sequence[Any]:
        """The outside tensors after the function was called."""
        try:
            now = around(function, _objects(call)) if self.wrote else self._around
        except Unguarded:
            return self._around.tensors
        return now.tensors

    def _refuse_kept(self, tensors: Sequence[Any], first: int) -> None:
        """Raise `JitError` if a tensor that the function computed from its arguments is stored
        outside."""
        buffers = {buffer for each in self._given for buffer in each.buffers}
        buffers |= {b for each in self._grads.inputs() for b in each.buffers}
        buffers |= {each.buffer for each in self._record.inputs}
        buffers |= {b for d in self.traced.drawn if isinstance(d, Draw) for b in (d.key, d.first)}
        for each in tensors:
            if each._number >= first and not buffers.isdisjoint(toposort([each.node])):
                raise JitError(
                    "jit", "a tensor that the function made is stored outside",
                    got=short(each.node), expected="tensors that it returns, or assigns to others",
                    hint="kept.assign(new) writes a tensor from outside in place",
                    origin=each.node.origin,
                )  # fmt: skip

    def _read_from_around(self, first: int) -> list[tuple[Any, TensorNode]]:
        """The outside tensors that the function reads or assigns, and their nodes."""
        order = set(toposort(self.traced.roots))
        numbers = {each.unique for each in order if isinstance(each, Buffer)}
        inputs = {id(each.value) for each in self._given} | self._grads.ids
        read = {
            id(t): t for t in (*READERS.of(numbers), *self._around.tensors)
            if t.node in order and t._number < first
        }  # fmt: skip
        read |= {id(tensor): tensor for tensor in (*self.traced.assigned, *self.traced.asked)}
        return [(tensor, tensor.node) for n, tensor in read.items() if n not in inputs]

    def stale(self, call: Call) -> str:
        """The reason why the program does not serve this call; "" if it does."""
        if why := self._guards.changed():
            return why
        self._values = call.leaves
        if self._record.steps:
            values = self._record.replayed(call.leaves)
            if values is None:
                return DECIDES
            self._values = values
        standing = self._standing_containers
        if standing and not standing.isdisjoint(containers(call)):
            return "a tuple, list or dictionary among the arguments is also read"
        if self._object_places and not self._are_same_objects(call):
            return "an argument is another object"
        for tensor, node in self._state:
            if tensor.node is not node:
                tensor.realize()
                if tensor.node is not node:
                    return f"{ANOTHER}: {short(tensor.node)}"
        changes, before = self._collecting
        if changes != history.CHANGES[0]:
            if before != history.collecting(tensor for tensor, _ in self._state):
                return "other tensors require gradients"
            self._collecting = history.CHANGES[0], before
        for node, past in self.traced.pasts.items():
            if not history.is_still(node, past):
                return f"{ANOTHER}: {short(node)} has another history"
        return self._grads.changed(call) if self._grads.rows else ""

    def _are_same_objects(self, call: Call) -> bool:
        """True if objects among the arguments are alike; one that the function returns must be
        identical."""
        now = [call.leaves[place] for place in self._object_places]
        if self._shows_objects:
            return all(map(is_, now, self._objects))
        return are_alike(now, self._objects, self._standing_ids)

    def _refuse_written_truths(self) -> None:
        """Raise `NotCapturedError` if the function assigns a boolean argument whose elements it
        read."""
        fixed = {id(self._given[place].value) for place in self.known}
        if any(id(tensor) in fixed for tensor in self.traced.assigned):
            raise NotCapturedError("it assigns a boolean argument whose elements it read",
                                   "return the new ones instead")  # fmt: skip

    def _objects_around(self, function: Callable[..., Any]) -> list[Any]:
        """The objects reachable from outside that could be mistaken for an argument."""
        if not any(map(is_by_value, self._objects)):
            return []
        kinds = {type(e) for e in self._around.seen.values() if is_dataclass(type(e))}
        return [e for e in around(function, tuple(kinds)).seen.values() if is_by_value(e)]

    def serves(self, call: Call) -> bool:
        """True unless a tensor is an argument of this call and also another input, if that would
        compute another function."""
        return not self._twice.is_asked or self._twice.allows(call)

    @running.owner
    def run(self, call: Call) -> tuple[Any] | None:
        """The result for other arguments of the same signature, in a tuple; state is written in
        place. All of it takes effect, or nothing. None if another program that runs excludes it."""
        cells = self._grads.with_leaves(call) if self._reads_grads else call.leaves
        run = _Replay(self, call, cells)
        try:
            if not running.begin(run):
                return None
            self._run(run, call)
            running.finish(run)
        except BaseException:
            running.finish(run)
            raise
        return (run.result,)

    def _run(self, run: "_Replay", call: Call) -> None:
        data = self._launch.arrays.copy()
        changed: Changed = {}
        cells = run.cells
        run.leaves, self._values = self._values, ()
        if self._record.inputs:
            leaves = run.leaves
            numbers = (number_data(leaves[each.at], each.dtype) for each in self._record.inputs)
            run.cells = cells = (*cells, *numbers)
        for number, place, part in self._inputs:
            data[number] = array = flat_data(cells[place], part)
            changed[number] = address_of(array) if isinstance(array, np.ndarray) else 0
        written = self._written
        if self._is_written:
            self._refuse_aliases(data, changed)
            if self.known:
                self._refuse_written_memory(call, data)
            written = self._before_writing(cells)
        words = draw(self.traced.drawn) if self.traced.drawn else ()
        if words:
            for array, word in zip(self._random, itertools.chain(*words), strict=True):
                array.fill(word)
        values = values_of(call.leaves) if self._has_variables else {}
        run.values, run.words, run.written = values, words, written
        self._launch.run(data, values, changed, run.effects)

    def given_to(self, cells: Sequence[Any], is_written: bool = False) -> frozenset[int]:
        """The numbers of the buffers of a call's arguments, or only of those that it writes."""
        inputs = self._written_inputs if is_written else self._inputs
        # numbers, which follow the tensors, may not exist yet
        tensors = ((cells[place], part) for _, place, part in inputs if place < len(cells))
        return frozenset(
            buffers_of(each.node)[part].unique for each, part in tensors
            if isinstance(each, TensorValue)
        )

    def record(self, run: "_Replay") -> Any:
        """The result of a finished run; its effects on other tensors are recorded. May be
        repeated."""
        if run.written:
            history.written_now(run.written)
        if run.new is None:  # a repetition returns the same tensors: another thread may have some
            run.new = self._results.made(run.effects.values, run.values)
        new = run.new
        if self._is_simple:
            return new[0]
        if self._pasts.rows:
            self._pasts.keep(new, run.cells, run.call, run.words)
        call = run.call
        if self._shows_numbers:
            call = call._replace(leaves=tuple(run.leaves))
        return self._results.arranged(new, call)

    def _refuse_aliases(self, data: Sequence[Any], addresses: Changed) -> None:
        """Raise `JitError` if written memory is more than one input."""
        for number, begin in addresses.items():
            if self._fixed.meets(data, number, begin, number in self._is_written):
                raise _shares_memory(self._buffers[number])

    def _refuse_written_memory(self, call: Call, data: Sequence[Any]) -> None:
        """Raise `JitError` if the function writes memory of boolean arguments that are fixed,
        because those are read before."""
        written = [_interval(data[n]) for n in self._is_written if isinstance(data[n], np.ndarray)]
        for place in self.known:
            begin, end = _interval(held(call.leaves[place].node))
            if any(low < end and begin < high for low, high in written):
                raise _shares_memory(call.leaves[place].node)

    def _before_writing(self, cells: Sequence[Any]) -> set[int]:
        """Before the program overwrites memory, compute other tensors that read it, and copy those
        that share it. Returns the numbers of their buffers."""
        written, ids = self._written, self._own
        if self._written_inputs:
            buffers = [buffers_of(cells[place].node)[part]
                       for _, place, part in self._written_inputs]  # fmt: skip
            for buffer in buffers:
                check_writable("jit", buffer)
            written = written | {buffer.unique for buffer in buffers}
            ids = ids | {id(cells[place]) for _, place, _ in self._written_inputs}
            is_alone = READERS.are_all(written, ids)
        else:
            is_alone = self._alone.holds()
        if is_alone:
            return written
        others = [t for t in READERS.of(written) if id(t) not in ids]
        waiting = [tensor for tensor in others if not is_realized(tensor.node)]
        if waiting:
            waiting[0].realize(*waiting[1:])
        for tensor in others:
            if any(buffer.unique in written for buffer in buffers_of(tensor.node)):
                give_own_memory(tensor)
        return written

    def compilation(self) -> Any:
        """The program with all its stages, for `explore`."""
        with loading():
            from compiler.program.compilation import Compilation
        return Compilation(list(self._each), self.options, "jit")


class _Replay(Run):
    """A run of a captured program."""

    __slots__ = (
        "call", "captured", "cells", "leaves", "new", "result", "values", "words", "written"
    )  # fmt: skip
    leaves: Sequence[Any]
    values: dict[str, int]
    words: Any
    written: set[int]
    result: Any

    def __init__(self, captured: Captured, call: Call, cells: Sequence[Any]) -> None:
        super().__init__()
        self.captured = captured
        self.call = call
        self.cells = cells
        self.new: list[Any] | None = None

    @property
    def reads(self) -> frozenset[int]:
        """The numbers of the buffers of outside tensors and arguments that it reads."""
        return self.captured.read | self.captured.given_to(self.cells)

    @property
    def writes(self) -> frozenset[int]:
        """The numbers of the buffers that it writes."""
        return self.captured.written | self.captured.given_to(self.cells, is_written=True)

    def record(self) -> None:
        """Record the effects."""
        self.result = self.captured.record(self)


class _Intervals:
    """The address ranges of inputs that are written and are not arguments."""

    def __init__(self, arrays: Sequence[Any], written: Sequence[int]) -> None:
        arrays_written = (arrays[number] for number in written)
        self.written = sorted(_interval(a) for a in arrays_written if isinstance(a, np.ndarray))
        self.begins = [begin for begin, _ in self.written]

    def meets(self, data: Sequence[Any], number: int, begin: int, is_written: bool) -> bool:
        """True if an argument that begins at `begin` overlaps other written memory; a written
        argument, any memory. Address 0 stands for memory on a worker."""
        if not begin:
            return False
        end = begin + data[number].nbytes
        place = bisect_left(self.begins, end)  # written ranges do not overlap each other
        if place and self.written[place - 1][1] > begin:
            return True
        if not is_written:
            return False
        others = (_interval(a) for n, a in enumerate(data)
                  if n != number and isinstance(a, np.ndarray))  # fmt: skip
        return any(low < end and begin < high for low, high in others)


def _interval(array: Any) -> tuple[int, int]:
    """The begin and end address of a flat array."""
    begin = address_of(array)
    return begin, begin + array.nbytes


def _shares_memory(node: TensorNode) -> JitError:
    return JitError(
        "jit", "an argument shares memory that the function writes",
        got=short(node), expected="memory of its own", hint="clone() it", origin=caller("jit"),
    )  # fmt: skip


def _is_object(shown: Any) -> bool:
    """True if a result is an object from before the call."""
    is_known = isinstance(shown, TensorValue | Argument | Old | New)
    return not is_known and not is_immutable(shown)


def _objects(call: Call) -> tuple[Any, ...]:
    """The arguments that are neither tensors nor numbers."""
    return tuple(leaf for leaf in call.leaves if not isinstance(leaf, TensorValue))


def _places(
    stand_ins_of: Sequence[StandIn], buffers: Sequence[Buffer]
) -> list[tuple[int, int, int]]:
    """For each input that is an argument: its number, the place of the argument, and the part of
    it."""
    numbers = {buffer.unique: number for number, buffer in enumerate(buffers)}
    return [
        (numbers[buffer.unique], place, part)
        for place, each in enumerate(stand_ins_of)
        for part, buffer in enumerate(each.buffers)
        if buffer.unique in numbers
    ]
