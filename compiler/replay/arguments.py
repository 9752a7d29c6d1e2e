"""Arguments of a call: tensors, numbers that may change, and fixed values.

A tensor or array is identified by its shape, type, device and variables. A number is identified by
its value until an otherwise equal call has another one: from then on it is traced
(`traced_numbers.py`). Everything else is fixed, by value or by identity (`objects.py`).
"""

import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from compiler.core import dtypes
from compiler.core.node import substitute, toposort
from compiler.device.buffers import data, held, new_buffer
from compiler.graph.kinds.gradient import Recalled, Wrt
from compiler.graph.nodes import Bind, Buffer, Sink, TensorNode
from compiler.replay.objects import signature
from compiler.tensor import Tensor
from compiler.tensors import history, trees
from compiler.tensors.traced_numbers import NumberRecord, is_number
from compiler.tensors.value import TensorValue


@dataclass(frozen=True, slots=True)
class Past:
    """An argument that gradients pass through: its place, and True if it collects them itself."""

    place: int
    is_leaf: bool


Histories: TypeAlias = tuple[Past, ...]
_NONE: frozenset[int] = frozenset()


class Call(NamedTuple):
    """The arguments of one call, in order, with nested tuples, lists and dicts flattened."""

    whole: tuple[tuple[Any, ...], dict[str, Any]]
    leaves: tuple[Any, ...]
    """A Tensor for each array and tensor; a number or a fixed value as it is."""
    numbers: tuple[int, ...]
    """The places of numbers that may change between calls."""
    structure: Hashable
    """The nesting of the arguments, and the content of `histories`."""
    histories: Histories = ()
    """The arguments that gradients pass through."""
    origins: tuple[Any, ...] = ()
    """The original argument of each leaf: a tensor there may have a history next to its value."""

    def key(self, moving: frozenset[int], known: frozenset[int] = _NONE) -> Hashable:
        """The signature. Of numbers at the places `moving` only the kind counts; of tensors at the
        places `known` the elements count, too."""
        parts: list[Hashable] = [self.structure]
        first: dict[int, int] = {}
        for place, leaf in enumerate(self.leaves):
            if isinstance(leaf, Tensor):
                node = leaf.node
                same = first.setdefault(id(node), place)
                same = same if leaf is self.leaves[same] else -1 - same
                parts.append((node.shape, node.dtype, node.devices, node.extents, same))
            elif place in moving:
                parts.append((type(leaf), "moves"))
            else:
                parts.append(signature(leaf))
        if known:
            parts += (data(self.leaves[place].node).tobytes() for place in sorted(known))
        return tuple(parts)


def in_memory(args: tuple[Any, ...], named: dict[str, Any]) -> Call | None:
    """The arguments of a call with only positional tensors in memory, the most common case; else
    None. The same as `read`, in a third of the time."""
    if named:
        return None
    for each in args:
        if type(each) is not Tensor or type(each.node) is not Buffer:
            return None
    histories = _histories(args) if history.is_wanted() else ()
    return Call((args, named), args, (), (len(args), histories), histories, args)


def read(
    args: tuple[Any, ...], named: dict[str, Any], static: Sequence[int | str] = ()
) -> Call:
    """The arguments of a call. Numbers in `static`, by place or keyword, are fixed."""
    leaves: list[Any] = []
    numbers: list[int] = []
    origins: list[Any] = []
    for name, value in (*enumerate(args), *named.items()):
        tensors = [_tensor(each) for each in trees.flat(value)]
        origins += tensors
        parts = [_leaf(each) for each in tensors]
        if name not in static:
            numbers += [place for place, leaf in enumerate(parts, len(leaves)) if is_number(leaf)]
        leaves += parts
    whole = args, named
    is_plain = not named and not any(isinstance(a, list | tuple | Mapping | None) for a in args)
    structure = len(args) if is_plain else _structure(whole, {})
    histories = _histories(origins) if history.is_wanted() else ()
    return Call(
        whole, tuple(leaves), tuple(numbers), (structure, histories), histories, tuple(origins)
    )


def _histories(origins: Sequence[Any]) -> Histories:
    """The arguments that gradients pass through, with the state of their history."""
    pasts: Histories = ()
    for place, origin in enumerate(origins):
        if not isinstance(origin, TensorValue):
            continue
        if history.collects(origin):
            pasts += (Past(place, True),)
        elif history.has_history(origin.node) and origin.dtype.is_float:
            pasts += (Past(place, False),)
    return pasts


def containers(call: Call) -> dict[int, Any]:
    """The tuples, lists and dicts among the arguments, by `id`; without empty tuples, which are all
    equal."""
    by_id: dict[int, Any] = {}
    waiting = [*call.whole[0], *call.whole[1].values()]
    while waiting:
        each = waiting.pop()
        if isinstance(each, tuple | list | Mapping) and each != () and id(each) not in by_id:
            by_id[id(each)] = each
            waiting += each.values() if isinstance(each, Mapping) else each
    return by_id


def is_differentiated(arguments: Any) -> bool:
    """True if an argument stands for that of a function that is being differentiated."""
    lazy = (e.node for e in trees.flat(arguments) if isinstance(e, Tensor) and e.node.sources)
    return any(isinstance(node, Wrt) for each in lazy for node in toposort([each]))


def _tensor(value: Any) -> Any:
    """A tensor for an array."""
    return Tensor(value) if isinstance(value, np.ndarray) else value


def as_given(call: Call) -> tuple[list[Any], dict[str, Any]]:
    """The arguments for a function that is called without a capture: the original lists and
    dictionaries, so that it may change them, with a tensor for each array."""
    rest = iter(call.origins)
    args, named = call.whole
    return [_as_given(each, rest) for each in args], {
        name: _as_given(each, rest) for name, each in named.items()
    }


def _as_given(value: Any, origins: Iterator[Any]) -> Any:
    tensors = list(itertools.islice(origins, len(trees.flat(value))))
    has_arrays = any(isinstance(each, np.ndarray) for each in trees.flat(value))
    return trees.like(value, tensors) if has_arrays else value


def is_same_tree(now: Any, before: Any) -> bool:
    """True if two structures have identical leaves at the same places."""
    if isinstance(before, list | tuple):
        return len(now) == len(before) and all(map(is_same_tree, now, before))
    if isinstance(before, Mapping):
        return list(now) == list(before) and all(is_same_tree(now[k], before[k]) for k in before)
    return now is before


def _leaf(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value if type(value.node) is Buffer else alone(value.realize())
    return value


def alone(tensor: Tensor) -> Tensor:
    """A tensor without the history that is kept next to its value."""
    node = tensor.node
    return tensor._new(node.sources[0]) if isinstance(node, Recalled) else tensor


def _structure(value: Any, numbers: dict[int, int]) -> Hashable:
    """The nesting of a value. `numbers` has the tuples, lists and dicts before it, by `id`."""
    if value is None:
        return None
    if not isinstance(value, tuple | list | Mapping):
        return "leaf"
    if id(value) in numbers:
        return "same", numbers[id(value)]
    numbers[id(value)] = len(numbers)
    if isinstance(value, tuple | list):
        return (type(value), *(_structure(each, numbers) for each in value))
    items = ((signature(key), _structure(value[key], numbers)) for key in value)
    return (type(value), getattr(value, "default_factory", None), *items)


@dataclass(frozen=True, slots=True)
class StandIn:
    """The tensor that replaces an argument during the capture, and its buffers."""

    value: Any
    buffers: tuple[Buffer, ...]


def stand_in(tensor: Any) -> StandIn:
    """Another tensor on the same memory."""
    under = buffers_of(tensor.node)
    buffers = {b: new_buffer(held(b), b.name, b.device, b.shape) for b in under}
    (node,) = substitute(Sink((tensor.node,)), buffers).sources
    return StandIn(tensor._new(node), tuple(buffers[b] for b in under))


def may_be_known(leaf: Any) -> bool:
    """True for boolean tensors in main memory, whose elements a function may read: as a mask they
    decide a shape."""
    if not isinstance(leaf, TensorValue):
        return False
    node = leaf.node
    is_here = isinstance(node, Buffer) and isinstance(held(node), np.ndarray) and not node.extents
    return is_here and node.dtype is dtypes.bool_


def stand_ins(
    leaves: Sequence[Any], moving: frozenset[int], record: NumberRecord,
    known_places: frozenset[int] = _NONE,
) -> list[StandIn]:  # fmt: skip
    """A stand-in for each leaf. An argument that is passed twice has one, and shared memory is one
    buffer. The places `known_places` get tensors with the same elements in separate memory."""
    by_leaf: dict[int, StandIn] = {}
    by_node: dict[TensorNode, StandIn] = {}
    stands: list[StandIn] = []
    for place, leaf in enumerate(leaves):
        if not isinstance(leaf, TensorValue):
            stands.append(StandIn(record.number(place) if place in moving else leaf, ()))
            continue
        each = by_leaf.get(id(leaf))
        if each is None and place in known_places:
            each = StandIn(Tensor(data(buffers_of(leaf.node)[0]).copy()), ())
        elif each is None and leaf.node in by_node:
            same = by_node[leaf.node]
            each = StandIn(leaf._new(same.value.node), same.buffers)
        each = each or stand_in(leaf)
        by_leaf[id(leaf)] = by_node[leaf.node] = each
        stands.append(each)
    return stands


def buffers_of(node: TensorNode) -> tuple[Buffer, ...]:
    """The memory of a realised tensor: one buffer, or one per shard."""
    return tuple(each for each in toposort([node]) if isinstance(each, Buffer))


def flat_data(leaf: Any, part: int) -> Any:
    """The flat data of an argument; data of a number are already an array."""
    if isinstance(leaf, np.ndarray):
        return leaf
    node = leaf.node
    buffer = node if isinstance(node, Buffer) else buffers_of(node)[part]
    return held(buffer).reshape(-1)


def values_of(leaves: Sequence[Any]) -> dict[str, int]:
    """The values of the variables that the arguments have."""
    values: dict[str, int] = {}
    for leaf in leaves:
        if isinstance(leaf, TensorValue) and leaf.node.extents:
            for node in toposort([leaf.node]):
                if isinstance(node, Bind):
                    values[str(node.sources[0].arguments["name"])] = node.value
    return values

