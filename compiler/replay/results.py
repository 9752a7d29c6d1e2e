"""What a call of a captured function gives back, made of the memory that its program filled.

    new tensor           the program made it: its memory, in a new buffer
    tensor from around   itself, whether the function assigns it or not
    argument             itself
    grad                 a tensor's, where the function sets it and uses it for no assign
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from compiler.core.dtypes import DType
from compiler.device.buffers import fresh
from compiler.graph.kinds.placement import Multi
from compiler.graph.nodes import Buffer, Shape, TensorNode
from compiler.run.bindings import hold
from compiler.run.plans import Structure
from compiler.tensors import trees
from compiler.tensors.value import TensorValue


@dataclass(frozen=True, slots=True)
class Argument:
    """In the place of what a function was given: its place among the leaves of the call."""

    place: int


@dataclass(frozen=True, slots=True)
class _Made:
    """A node that the program makes: where the memory of it, or of its shards, comes."""

    node: TensorNode
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Plain:
    """A buffer on this machine, of fixed extents."""

    shape: Shape
    dtype: DType
    device: str

    def buffer(self, flat: Any) -> Buffer:
        """One that holds the memory."""
        array = flat if flat.shape == self.shape else flat.reshape(self.shape)
        return fresh(array, self.shape, self.dtype, self.device)


@dataclass(slots=True, eq=False)
class Results:
    """The results of one captured program.

    `shown` is what the function returned, arranged as it was, the class of a tensor in the place of
    a new one; `new` are the nodes of those, `graded` tensors with the node of their `grad`, None
    for none.
    """

    shown: Any
    structure: Structure
    new: list[_Made] = field(default_factory=list)
    graded: list[tuple[Any, _Made | None]] = field(default_factory=list)
    wanted: tuple[int, ...] = ()
    """The numbers of the results of the structure whose memory is asked for."""
    plain: "_Plain | None" = None
    """What one new tensor is held by that is all there is but for gradients that are forgotten, in
    memory that the program made."""

    def arranged(
        self, flat: Sequence[Any], values: dict[str, int], leaves: Sequence[Any]
    ) -> Any:
        """The result, of the memory of each of `wanted`; `leaves` are those of the call."""
        if self.plain is not None:
            for tensor, _ in self.graded:
                tensor._grad = None
            return self.shown._of(self.plain.buffer(flat[0]))
        known: dict[Any, Buffer] = {}
        memory = dict(zip(self.wanted, map(self._own, self.wanted, flat), strict=True))
        for tensor, made in self.graded:
            grad = None if made is None else tensor._new(self._held(made, memory, values, known))
            tensor._grad = grad
        new = iter(self.new)
        return trees.like(self.shown, [
            each._of(self._held(next(new), memory, values, known)) if is_tensor(each)
            else leaves[each.place] if isinstance(each, Argument) else each
            for each in trees.flat(self.shown)
        ])  # fmt: skip

    def _own(self, number: int, flat: Any) -> Any:
        """Memory that no input has: another call may write that."""
        is_input = self.structure.result_inputs[number] is not None
        return flat.copy() if is_input and isinstance(flat, np.ndarray) else flat

    def _held(
        self, made: _Made, memory: dict[int, Any], values: dict[str, int],
        known: dict[Any, Buffer],
    ) -> TensorNode:  # fmt: skip
        devices = self.structure.devices
        nodes = made.node.sources if isinstance(made.node, Multi) else (made.node,)
        found = tuple(
            hold(memory[at], node, values, devices[at], known)
            for node, at in zip(nodes, made.places, strict=True)
        )
        return made.node.with_sources(found) if isinstance(made.node, Multi) else found[0]


def results_of(
    shown: Any, whole: Sequence[TensorNode], assigned: int,
    graded: Sequence[tuple[Any, TensorNode | None]], structure: Structure,
) -> Results:  # fmt: skip
    """What a function gives back that returned `shown`, the class of each new tensor in its place.

    `whole` are the roots of its program, in shards: of its new tensors, of as many others as it
    `assigned`, and of what `graded` has that is not None.
    """
    made: list[_Made] = []
    at = 0
    for node in whole:
        count = len(node.sources) if isinstance(node, Multi) else 1
        made.append(_Made(node, tuple(range(at, at + count))))
        at += count
    count = sum(map(is_tensor, trees.flat(shown)))
    new, rest = made[:count], iter(made[count + assigned :])
    grads = [(tensor, None if node is None else next(rest)) for tensor, node in graded]
    asked = (*new, *(each for _, each in grads if each is not None))
    wanted = tuple(dict.fromkeys(place for each in asked for place in each.places))
    is_one = is_tensor(shown) and not any(each for _, each in grads)
    is_one = is_one and not isinstance(new[0].node, Multi)
    plain = _plain(new[0], structure) if is_one else None
    return Results(shown, structure, new, grads, wanted, plain)


def _plain(made: _Made, structure: Structure) -> _Plain | None:
    """How to hold that, where nothing is to be looked at."""
    (place,), node = made.places, made.node
    is_new = structure.result_inputs[place] is None
    if node.extents or not is_new or structure.is_for_cluster:
        return None
    return _Plain(node.shape, node.dtype, structure.devices[place])


def is_tensor(each: object) -> bool:
    """Whether it is the class of a tensor, in the place of a new one."""
    return isinstance(each, type) and issubclass(each, TensorValue)
