"""One capture: a compiled program, and what each of its inputs is.

    argument   the data of the tensor that is given at its place, or of a number
    state      memory of a tensor from around the function, written in place where it is assigned
    random     key and counters of random numbers, new in each call
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from compiler.core.errors import JitError
from compiler.core.lazy import loading
from compiler.core.node import toposort
from compiler.core.origin import caller
from compiler.device.allocator import address_of
from compiler.device.buffers import data as data_of
from compiler.device.buffers import held
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.gradient import Gradient
from compiler.graph.nodes import Buffer, TensorNode
from compiler.graph.words import short
from compiler.replay.arguments import Call, StandIn, buffers_of, stand_in, values_of
from compiler.replay.launch import Launch
from compiler.replay.results import Argument, results_of
from compiler.replay.surroundings import around, collecting
from compiler.replay.walk import Unguarded
from compiler.run import plans, sharding
from compiler.run.native import Changed
from compiler.settings.options import Options
from compiler.tensors import history, live, trees, watching
from compiler.tensors.random import GENERATOR
from compiler.tensors.readers import READERS
from compiler.tensors.value import TensorValue, next_number
from compiler.tensors.variables import is_realized

USUAL = Options()
ANOTHER = "a tensor from around it is another now"


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """What a call of the function led to."""

    result: Any
    """What it returned, arranged as it was: the class of a new tensor in its place, which would be
    computed before what it reads is written; an `Argument` for what it was given."""
    returned: tuple[TensorNode, ...]
    """The new tensors in that."""
    assigned: tuple[Any, ...]
    """Tensors from around it that it assigned; the nodes are what they get."""
    nodes: tuple[TensorNode, ...]
    graded: tuple[tuple[Any, TensorNode | None], ...]
    """Tensors whose `grad` is another afterwards, with that; None for none."""
    drawn: tuple[watching.Drawn, ...]

    @property
    def roots(self) -> tuple[TensorNode, ...]:
        """All that is to be computed."""
        grads = (node for _, node in self.graded if node is not None)
        return (*self.returned, *self.nodes, *grads)


def traced(function: Callable[..., Any], call: Call, given: Sequence[StandIn]) -> Traced:
    """The function called once, on stand-ins; tensors hold afterwards what they held.

    It is called again where a tensor that it assigns, or reads, was not in memory yet.
    """
    args, keywords = trees.like(call.whole, [each.value for each in given])
    while True:
        with watching.watched(next_number()) as watch:
            try:
                result = function(*args, **keywords)
                found = _found(result, watch, given)
            finally:
                watch.undo()
        late = _not_in_memory(found, watch)
        if not late:
            return found
        late[0].realize(*late[1:])


def _found(result: Any, watch: watching.Watch, given: Sequence[StandIn]) -> Traced:
    arguments = {id(each.value): place for place, each in enumerate(given)}
    leaves = trees.flat(result)
    new = {
        id(each): each for each in leaves
        if isinstance(each, TensorValue) and each._number >= watch.first
    }
    assigned = tuple(tensor for tensor, _ in watch.assigned.values())
    nodes = tuple(tensor.node for tensor in assigned)
    is_used = any(isinstance(node, Gradient) for node in toposort(nodes))
    graded: list[tuple[Any, TensorNode | None]] = []
    for tensor, before in watch.graded.values():
        now = getattr(tensor, "_grad", None)
        if now is not before:
            graded.append((tensor, None if now is None or is_used else now.node))
    places = [
        type(e) if id(e) in new else Argument(arguments[id(e)]) if id(e) in arguments else e
        for e in leaves
    ]
    returned = tuple(e.node for e in leaves if id(e) in new)
    shown = trees.like(result, places)
    return Traced(shown, returned, assigned, nodes, tuple(graded), tuple(watch.drawn))


def _not_in_memory(found: Traced, watch: watching.Watch) -> list[Any]:
    """Tensors from around the function that are to be in memory before it is captured."""
    late = [
        tensor for tensor, before in watch.assigned.values()
        if live.storage(before) is None or isinstance(before, Assign)
    ]  # fmt: skip
    order = toposort(found.roots)
    pending = {node for node in order if isinstance(node, Assign) and node not in watch.own}
    if pending:
        numbers = {b.unique for b in map(live.storage, pending) if b is not None}
        late += [tensor for tensor in READERS.of(numbers) if tensor.node in pending]
    return list({id(tensor): tensor for tensor in late}.values())


class Captured:
    """A program captured from one call of a function; `run` does the same on other arguments."""

    def __init__(self, function: Callable[..., Any], call: Call, moving: frozenset[int],
                 options: Options = USUAL) -> None:  # fmt: skip
        self.moving = moving
        first = next_number()
        given = [stand_in(leaf, place in moving) for place, leaf in enumerate(call.leaves)]
        self._given = given
        self._around = around(function, _objects(call))
        self.traced = traced(function, call, given)
        self.wrote = self._around.changed()
        """What the function changed in Python: the program serves for this one call; "" if none."""
        self._refuse_kept(self._tensors_around(function, call), first)
        self.options = options
        self._whole = sharding.in_shards(self.traced.roots)
        self._each = sharding.flat(self._whole)
        with plans.located(self._each, options):
            self.structure, self._buffers = plans.structure_of(self._each, options)
        self._arguments = _places(given, self._buffers)
        known = {number for number, _, _ in self._arguments}
        drawn = {b for key, first, _ in self.traced.drawn for b in (key, first)}
        self._arrays: list[Any] = [
            None if number in known else held(buffer).reshape(-1)
            for number, buffer in enumerate(self._buffers)
        ]
        self._random = {buffer: data_of(buffer) for buffer in drawn}
        addresses = [
            address_of(it) if isinstance(it, np.ndarray) else 0 for it in self._arrays
        ]
        self._written = {self._buffers[n].unique for n in self.structure.written_inputs}
        self._state = self._read_from_around({id(each.value) for each in given}, first)
        self._collecting = history.CHANGES[0], collecting(t for t, _ in self._state)
        self._fixed = _Intervals(self._arrays, self.structure.written_inputs)
        self._has_variables = any(node.extents for node in toposort(self._each))
        self._is_written = frozenset(self.structure.written_inputs)
        self._own = frozenset(id(tensor) for tensor, _ in self._state)
        self._results = results_of(
            self.traced.result, self._whole, len(self.traced.nodes), self.traced.graded,
            self.structure,
        )  # fmt: skip
        self._launch = Launch.of(self.structure, addresses, self._results.wanted)

    @property
    def kernels(self) -> int:
        """How many items a call runs."""
        return len(self.structure.items)

    def _tensors_around(self, function: Callable[..., Any], call: Call) -> Sequence[Any]:
        """The tensors that stand around the function now that it was called."""
        try:
            now = around(function, _objects(call)) if self.wrote else self._around
        except Unguarded:
            return self._around.tensors
        return now.tensors

    def _refuse_kept(self, tensors: Sequence[Any], first: int) -> None:
        """Raise `JitError` where a tensor that the function made of its arguments stays outside."""
        own = {buffer for each in self._given for buffer in each.buffers}
        own |= {b for key, start, _ in self.traced.drawn for b in (key, start)}
        for each in tensors:
            if each._number >= first and not own.isdisjoint(toposort([each.node])):
                raise JitError(
                    "jit", "a tensor that the function made stays outside of it",
                    got=short(each.node), expected="tensors that it returns, or assigns to others",
                    hint="kept.assign(new) writes in place, where kept was there before",
                    origin=each.node.origin,
                )  # fmt: skip

    def _read_from_around(self, given: set[int], first: int) -> list[tuple[Any, TensorNode]]:
        """The tensors from around the function that it reads or assigns, and what they hold."""
        order = set(toposort(self.traced.roots))
        numbers = {each.unique for each in order if isinstance(each, Buffer)}
        read = {
            id(t): t for t in (*READERS.of(numbers), *self._around.tensors)
            if t.node in order and t._number < first and id(t) not in given
        }  # fmt: skip
        read |= {id(tensor): tensor for tensor in self.traced.assigned}
        return [(tensor, tensor.node) for tensor in read.values()]

    def stale(self) -> str:
        """Why the program serves no longer; "" while it does."""
        if why := self._around.changed():
            return why
        for tensor, node in self._state:
            if tensor.node is not node:
                tensor.realize()
                if tensor.node is not node:
                    return f"{ANOTHER}: {short(tensor.node)}"
        changes, before = self._collecting
        if changes != history.CHANGES[0]:
            if before != collecting(tensor for tensor, _ in self._state):
                return "other tensors require gradients"
            self._collecting = history.CHANGES[0], before
        return ""

    def run(self, call: Call) -> Any:
        """The result for other arguments of the same signature; state is written in place."""
        data = list(self._arrays)
        changed: Changed = {}
        for number, place, part in self._arguments:
            data[number] = array = _data(call.leaves[place], part)
            changed[number] = address_of(array) if isinstance(array, np.ndarray) else 0
        if self._written:
            self._refuse_aliases(data)
            self._before_writing()
        for key, first, count in self.traced.drawn:
            for buffer, word in zip((key, first), GENERATOR.take(count), strict=True):
                self._random[buffer].fill(word)
        values = values_of(call.leaves) if self._has_variables else {}
        flat = self._launch.run(data, values, changed)
        history.written_now(self._written)
        return self._results.arranged(flat, values, call.leaves)

    def _refuse_aliases(self, data: Sequence[Any]) -> None:
        """Memory that is written is one input only."""
        for number, _, _ in self._arguments:
            if self._fixed.meets(data, number, number in self._is_written):
                raise JitError(
                    "jit", "an argument shares memory with what the function writes",
                    got=short(self._buffers[number]), expected="memory of its own",
                    hint="clone() it", origin=caller("jit"),
                )  # fmt: skip

    def _before_writing(self) -> None:
        """Other tensors keep their values: what is made of those that will be overwritten is
        computed, and what is in the same memory gets its own."""
        if READERS.are_all(self._written, self._own):
            return
        others = [t for t in READERS.of(self._written) if id(t) not in self._own]
        waiting = [tensor for tensor in others if not is_realized(tensor.node)]
        if waiting:
            waiting[0].realize(*waiting[1:])
        for tensor in others:
            if isinstance(tensor.node, Buffer) and tensor.node.unique in self._written:
                tensor.node = tensor.clone().realize().node
                live.note(tensor)

    def compilation(self) -> Any:
        """The program with all its stages, for `explore`."""
        with loading():
            from compiler.program.compilation import Compilation
        return Compilation(list(self._each), self.options, "jit")


class _Intervals:
    """Where the inputs are that are written and that no argument gives."""

    def __init__(self, arrays: Sequence[Any], written: Sequence[int]) -> None:
        known = (arrays[number] for number in written)
        self.written = sorted(_interval(a) for a in known if isinstance(a, np.ndarray))
        self.begins = [begin for begin, _ in self.written]

    def meets(self, data: Sequence[Any], number: int, is_written: bool) -> bool:
        """Whether an argument meets other memory that is written; one that is written, any."""
        if not isinstance(data[number], np.ndarray):
            return False
        begin, end = _interval(data[number])
        place = bisect_left(self.begins, end)  # what is written does not meet each other
        if place and self.written[place - 1][1] > begin:
            return True
        if not is_written:
            return False
        others = (_interval(a) for n, a in enumerate(data)
                  if n != number and isinstance(a, np.ndarray))  # fmt: skip
        return any(low < end and begin < high for low, high in others)


def _interval(array: Any) -> tuple[int, int]:
    """Where a flat array begins and ends."""
    begin = address_of(array)
    return begin, begin + array.nbytes


def _objects(call: Call) -> tuple[Any, ...]:
    """The arguments that are neither tensors nor numbers."""
    return tuple(leaf for leaf in call.leaves if not isinstance(leaf, TensorValue))


def _places(
    given: Sequence[StandIn], buffers: Sequence[Buffer]
) -> list[tuple[int, int, int]]:
    """For each input that is an argument its number, that argument's place, and which part."""
    numbers = {buffer.unique: number for number, buffer in enumerate(buffers)}
    return [
        (numbers[buffer.unique], place, part)
        for place, each in enumerate(given)
        for part, buffer in enumerate(each.buffers)
        if buffer.unique in numbers
    ]


def _data(leaf: Any, part: int) -> Any:
    """The flat data of an argument."""
    if isinstance(leaf, TensorValue):
        node = leaf.node
        buffer = node if isinstance(node, Buffer) else buffers_of(node)[part]
        return held(buffer).reshape(-1)
    return np.array([leaf], np.int64 if isinstance(leaf, int) else np.float64)

