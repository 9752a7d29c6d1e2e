"""Results of a captured function, made from the memory that its program wrote.

    new tensor           computed by the program: its memory, in a new buffer
    outside tensor       itself, whether the function assigns it or not
    argument             itself
    grad                 itself, if a tensor had it before the call

The same holds for each `grad` that the function sets. A new gradient that is used nowhere else
becomes a tensor only when it is read: most training steps never read it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import DType
from compiler.device.buffers import fresh
from compiler.graph.kinds.placement import Multi
from compiler.graph.nodes import Buffer, Shape, TensorNode
from compiler.replay.arguments import Call
from compiler.replay.grads import Argument, Old, Owner
from compiler.run.bindings import hold
from compiler.run.plans import Structure
from compiler.tensors import history, trees
from compiler.tensors.history import History
from compiler.tensors.value import LateTensor


@dataclass(frozen=True, slots=True)
class New:
    """Stands for a new tensor, by its number in the call."""

    number: int


@dataclass(frozen=True, slots=True)
class Shown:
    """The visible results of a call, with `New`, `Argument` and `Old` in place of tensors."""

    result: Any
    """The returned value, in its original structure."""
    kinds: tuple[type, ...]
    """The class of each new tensor."""
    grads: tuple[tuple[Owner | New, Any], ...] = ()
    """Tensors whose `grad` changed, with the new one; None for none."""
    collecting: tuple[tuple[Owner | New, bool], ...] = ()
    """Tensors that started or stopped collecting gradients."""


@dataclass(frozen=True, slots=True)
class _Made:
    """A node that the program computes: the index of its memory, or of that of its shards."""

    node: TensorNode
    places: tuple[int, ...]
    is_apart: bool = False
    """True if an earlier result is equal, but has another history."""


@dataclass(frozen=True, slots=True)
class _Plain:
    """A buffer on this machine, of fixed extents."""

    shape: Shape
    dtype: DType
    device: str

    def buffer(self, flat: Any, number: int = 0) -> Buffer:
        """A buffer with this memory, and this number or a new one."""
        array = flat if flat.shape == self.shape else flat.reshape(self.shape)
        return fresh(array, self.shape, self.dtype, self.device, number=number)


@dataclass(slots=True, eq=False)
class Results:
    """The results of one captured program."""

    shown: Shown
    structure: Structure
    new: list[_Made] = field(default_factory=list)
    wanted: tuple[int, ...] = ()
    """The numbers of the results of the program whose memory is requested."""
    plain: tuple[_Plain | None, ...] = ()
    """The buffer of each new tensor that is a single block of memory from the program."""
    forgotten: tuple[Any, ...] = ()
    """Outside tensors whose `grad` becomes None."""
    grads: tuple[tuple[Owner | New, Any], ...] = ()
    """The other tensors whose `grad` is set, with the new one."""
    is_one: bool = False
    """True if the only visible result is one new tensor."""
    late: tuple[tuple[int, Any, int, Callable[[Any, int], Buffer]], ...] = ()
    """New tensors that are only a gradient, created when it is read: the number and class of each,
    the index of its memory, and a function that returns the node."""
    at_once: tuple[tuple[int, Any, _Plain | None, _Made], ...] = ()
    """The other new tensors."""
    collected: tuple[tuple[Any, int], ...] = ()
    """Outside tensors whose `grad` becomes a new tensor, and its number."""
    has_inputs: bool = False
    """True if a result may be the memory of an input."""

    def made(self, flat: Sequence[Any], values: dict[str, int]) -> list[Any]:
        """The new tensors, from the memory of each of `wanted`."""
        if self.is_one and (plain := self.plain[0]) is not None:
            kind: Any = self.shown.kinds[0]
            return [kind._of(plain.buffer(flat[0]))]
        buffers: dict[Any, Buffer] = {}
        flats = map(self._own, self.wanted, flat) if self.has_inputs else flat
        memory = dict(zip(self.wanted, flats, strict=True))
        tensors: list[Any] = [None] * len(self.new)
        for number, kind, place, buffer in self.late:
            tensors[number] = LateTensor(kind, memory[place], buffer)
        for number, kind, plain, result in self.at_once:
            tensors[number] = kind._of(
                self._held(result, memory, values, buffers) if plain is None
                else _held_once(plain, result, memory, buffers)
            )
        return tensors

    def arranged(self, new: Sequence[Any], call: Call) -> Any:
        """The returned value with these new tensors; each `grad` is set."""
        shown = self.shown
        if self.is_one:
            for tensor in self.forgotten:
                tensor._grad = None
            return new[0]
        leaves = trees.flat(shown.result)
        values = [_of(each, new, call) for each in leaves]
        grads = [_of(grad, new, call) for _, grad in self.grads]
        for tensor in self.forgotten:
            tensor._grad = None
        for tensor, number in self.collected:
            tensor._collected = new[number]
        for (owner, _), grad in zip(self.grads, grads, strict=True):
            _of(owner, new, call)._grad = grad
        for owner, flag in shown.collecting:
            history.collect(_of(owner, new, call), flag)
        return trees.like(shown.result, values)

    def _own(self, number: int, flat: Any) -> Any:
        """Memory that is no input, because another call may write an input."""
        is_input = self.structure.result_inputs[number] is not None
        return flat.copy() if is_input and isinstance(flat, np.ndarray) else flat

    def _held(
        self, result: _Made, memory: dict[int, Any], values: dict[str, int],
        buffers: dict[Any, Buffer],
    ) -> TensorNode:  # fmt: skip
        devices = self.structure.devices
        nodes = result.node.sources if isinstance(result.node, Multi) else (result.node,)
        buffers = {} if result.is_apart else buffers
        held = tuple(
            hold(_copied(memory[at]) if result.is_apart else memory[at], node, values, devices[at],
                 buffers)
            for node, at in zip(nodes, result.places, strict=True)
        )
        return result.node.with_sources(held) if isinstance(result.node, Multi) else held[0]


def _copied(flat: Any) -> Any:
    """A copy for a result that equals another."""
    return flat.copy() if isinstance(flat, np.ndarray) else flat.fetch().copy()


def _held_once(
    plain: _Plain, result: _Made, memory: dict[int, Any], buffers: dict[Any, Buffer]
) -> Buffer:
    """The buffer of a result: equal results share one; for another shape of the same memory it is a
    copy."""
    flat = memory[result.places[0]]
    buffer = buffers.get(id(flat))
    if buffer is None:
        buffer = buffers[id(flat)] = plain.buffer(flat)
    is_same = buffer.shape == plain.shape and not result.is_apart
    return buffer if is_same else plain.buffer(flat.copy())


def _of(each: Any, new: Sequence[Any], call: Call) -> Any:
    """The tensor of this call behind a placeholder; anything else unchanged."""
    kind = type(each)
    if kind is New:
        return new[each.number]
    if kind is Owner:
        return each.tensor(call)
    if kind is Argument:
        return call.leaves[each.place]
    return each.owner.tensor(call)._grad if kind is Old else each


def results_of(
    shown: Shown, whole: Sequence[TensorNode], structure: Structure,
    histories: Sequence[History | None],
) -> Results:  # fmt: skip
    """The results of a function with this visible result. `whole` are the roots of its program, in
    shards, the new tensors first; `histories` describe how they were computed."""
    placed = _placed(shown, whole, structure, histories)
    wanted = tuple(dict.fromkeys(place for each in placed for place in each.places))
    plain = tuple(_plain(each, structure) for each in placed)
    gone, collected, grads = _grads_of(shown)
    is_shown = grads or collected or shown.collecting
    is_one = not is_shown and shown.result == New(0) and len(placed) == 1
    is_late = _late(shown, placed, plain, histories)
    rows = [(n, *row) for n, row in enumerate(zip(shown.kinds, plain, placed, strict=True))]
    return Results(
        shown, structure, placed, wanted, plain, gone, grads, is_one,
        tuple((n, kind, each.places[0], how.buffer) for n, kind, how, each in rows
              if how is not None and n in is_late),
        tuple(row for row in rows if row[0] not in is_late), collected,
        any(structure.result_inputs[place] is not None for place in wanted),
    )  # fmt: skip


def _late(
    shown: Shown, placed: Sequence[_Made], plain: Sequence[_Plain | None],
    histories: Sequence[History | None],
) -> frozenset[int]:  # fmt: skip
    """The numbers of new tensors that are created when they are read: only a gradient, one block of
    memory of their own, without a history."""
    return frozenset(
        number for number in _only_grads(shown)
        if plain[number] is not None and histories[number] is None
        and sum(placed[number].places[0] in each.places for each in placed) == 1
    )


def _placed(
    shown: Shown, whole: Sequence[TensorNode], structure: Structure,
    histories: Sequence[History | None],
) -> list[_Made]:  # fmt: skip
    """The new tensors, each with the numbers of the program's results that are its memory."""
    placed: list[_Made] = []
    at = 0
    first: dict[Any, History | None] = {}
    for node, past in zip(whole[: len(shown.kinds)], histories, strict=False):
        count = len(node.sources) if isinstance(node, Multi) else 1
        places = tuple(range(at, at + count))
        memory = tuple(structure.results[place] for place in places)
        placed.append(_Made(node, places, first.setdefault(memory, past) != past))
        at += count
    return placed


Grads: TypeAlias = tuple[
    tuple[Any, ...], tuple[tuple[Any, int], ...], tuple[tuple[Owner | New, Any], ...]
]


def _grads_of(shown: Shown) -> Grads:
    """The outside tensors whose `grad` becomes None, those whose `grad` becomes a new tensor with
    its number, and the other owners of a `grad` with it."""
    gone: list[Any] = []
    collected: list[tuple[Any, int]] = []
    grads: list[tuple[Owner | New, Any]] = []
    for owner, grad in shown.grads:
        around = owner.around if isinstance(owner, Owner) and owner.place is None else None
        if around is not None and grad is None:
            gone.append(around)
        elif around is not None and type(grad) is New:
            collected.append((around, grad.number))
        else:
            grads.append((owner, grad))
    return tuple(gone), tuple(collected), tuple(grads)


def _only_grads(shown: Shown) -> list[int]:
    """The numbers of new tensors that are the gradient of one tensor and nothing else."""
    owners = [owner for owner, _ in (*shown.grads, *shown.collecting)]
    others = {each.number for each in (*trees.flat(shown.result), *owners) if type(each) is New}
    grads = Counter(grad.number for _, grad in shown.grads if type(grad) is New)
    return [number for number, count in grads.items() if count == 1 and number not in others]


def _plain(result: _Made, structure: Structure) -> _Plain | None:
    """A plain buffer for a node, if nothing has to be checked."""
    place, node = result.places[0], result.node
    is_new = structure.result_inputs[place] is None
    if node.extents or not is_new or structure.is_for_cluster or isinstance(node, Multi):
        return None
    return _Plain(node.shape, node.dtype, structure.devices[place])
