"""How tensors came about, as gradients need it: what requires them, and what made values in memory.

A lazy tensor is its own history. One that was computed is data; where something that requires
gradients led to it, the graph that made it is kept beside its buffer, for as long as that exists.
It reads what its inputs hold now, so it serves no longer once one of them was written.
"""

import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.core.errors import GradientError
from compiler.core.node import substitute, toposort
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.gradient import Recalled, Wrt
from compiler.graph.kinds.markers import Detach
from compiler.graph.nodes import Buffer, Sink, TensorNode
from compiler.graph.words import short
from compiler.tensors import live

LEAVES: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()
"""Tensors that collect gradients, by their number, in the order in which they began to."""


CHANGES = [0]
"""How often a tensor began, or stopped, to collect gradients."""


@dataclass(frozen=True, slots=True)
class _Made:
    """The graph that made a value, and how often each buffer that it reads was written before."""

    recipe: TensorNode
    writes: Mapping[int, int]


_made: "weakref.WeakKeyDictionary[TensorNode, _Made]" = weakref.WeakKeyDictionary()
_writes: dict[int, int] = {}
_marked: list[bool] = []
"""Not empty once a function was differentiated: its arguments are remembered, too."""


def begin_marking() -> None:
    """From now on values computed from what stands for arguments have a history."""
    if not _marked:
        _marked.append(True)


def leaves_in(order: Iterable[TensorNode]) -> list[Any]:
    """The tensors that collect gradients whose values are among these nodes."""
    if not LEAVES:
        return []
    found = set(order)
    return [leaf for leaf in list(LEAVES.values()) if leaf.node in found]


def written_now(numbers: Iterable[int]) -> None:
    """Buffers were written: what was made of them before is no history any more."""
    for number in numbers if LEAVES or _marked else ():
        _writes[number] = _writes.get(number, 0) + 1


def _published(
    before: Sequence[TensorNode], values: Sequence[TensorNode], written: set[int]
) -> None:
    """Values were computed: keep how, where gradients may be wanted, and what was written.

    What collects gradients begins anew where it was assigned: how it was before is no history. Nor
    is it of what no gradient goes through, as running means.
    """
    if not LEAVES and not _marked:
        return
    counts = {number: _writes.get(number, 0) for number in written}
    written_now(written)
    held = {leaf.node for leaf in list(LEAVES.values())}
    wanted = _with_history(toposort(before), held)
    anew = {
        node: value for node, value in zip(before, values, strict=True)
        if isinstance(node, Assign) and (value in held or node not in wanted)
    }  # fmt: skip
    for node, value in zip(before, values, strict=True):
        if node not in wanted or not node.dtype.is_float:
            continue
        if value is node or live.storage(node) is not None:
            continue
        (recipe,) = substitute(Sink((node,)), anew).sources if anew else (node,)
        order = toposort([recipe])
        if value in order:  # it is the memory of what it was computed from
            continue
        if _with_history(order, held):
            read = {each.unique for each in order if isinstance(each, Buffer)}
            now = {number: _writes.get(number, 0) for number in read}
            now |= {n: counts[n] for n in written & _read_before(node, frozenset(anew))}
            _made[value] = _Made(recipe, now)


def _with_history(order: Sequence[TensorNode], held: set[TensorNode]) -> set[TensorNode]:
    """The nodes of `order` that gradients go through, from those that leaves hold on."""
    found: set[TensorNode] = set()
    for node in order:
        if isinstance(node, Detach):
            continue
        is_begin = node in held or node in _made or isinstance(node, Wrt)
        if is_begin or not found.isdisjoint(node.sources):
            found.add(node)
    return found


def _read_before(node: TensorNode, ends: frozenset[TensorNode]) -> set[int]:
    """The numbers of the buffers that are read as they were before the program wrote."""
    found: set[int] = set()
    for each in toposort([node], ends):
        if each in ends:
            continue
        read = each.sources[1:] if isinstance(each, Assign) and not each.parts else each.sources
        found |= {source.unique for source in read if isinstance(source, Buffer)}
    return found


def _beside(before: TensorNode, value: TensorNode) -> TensorNode:
    """The value; where it is the memory of what it was computed from, as that of a detached tensor
    is, with how it came about: another tensor in the same memory has another history."""
    if (not LEAVES and not _marked) or not isinstance(value, Buffer) or not before.dtype.is_float:
        return value
    if value is before or isinstance(before, Recalled) or live.storage(before) is not None:
        return value
    order = toposort([before])
    if value not in order:
        return value
    is_known = leaves_in(order) or any(n in _made or isinstance(n, Wrt) for n in order)
    return Recalled((value, before)) if is_known else value


live.observers.append(_published)
live.histories.append(_beside)


def is_remembered(node: TensorNode) -> bool:
    """Whether it is known what made a value in memory."""
    return node in _made


def remembered(node: TensorNode) -> TensorNode:
    """`node` with what made each value in memory beside it.

    Raises `GradientError` where a value was made of memory that was written since.
    """
    if not _made:
        return node
    done: dict[TensorNode, TensorNode] = {}
    stack: list[tuple[TensorNode, bool]] = [(node, False)]
    while stack:
        each, is_ready = stack.pop()
        if each in done:
            continue
        made = _made.get(each)
        below = each.sources if made is None else (_still_true(each, made),)
        if not is_ready:
            stack.append((each, True))
            stack += [(source, False) for source in below if source not in done]
        elif made is None:
            done[each] = each.with_sources(tuple(done[source] for source in below))
        else:
            done[each] = Recalled((each, done[below[0]]))
    return done[node]


def _still_true(node: TensorNode, made: _Made) -> TensorNode:
    """What made a value, if all that it reads is as it was."""
    if all(_writes.get(number, 0) == before for number, before in made.writes.items()):
        return made.recipe
    raise GradientError(
        "backward", "what a gradient goes through was written since", got=short(node),
        expected="the values that it was computed from",
        hint="take the gradient before assign(…) or x[…] = … writes them",
        origin=made.recipe.origin,
    )  # fmt: skip
