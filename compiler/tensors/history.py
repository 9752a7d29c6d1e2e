"""The history of tensors: the graphs that computed values came from, kept for gradients.

A lazy tensor is its own history. A computed tensor is data; if it depends on something that
requires gradients, the graph that computed it is kept next to its buffer, for as long as the buffer
exists. The graph reads the current values of its inputs, so it is void once one of them is
overwritten.
"""

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from compiler.core.errors import GradientError
from compiler.core.node import substitute, toposort
from compiler.device.buffers import fresh, held
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.gradient import Recalled, Wrt, changed_by
from compiler.graph.nodes import Buffer, Sink, TensorNode, const
from compiler.graph.words import short
from compiler.tensors import live, watching
from compiler.tensors.placing import over

LEAVES: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()
"""Tensors that collect gradients, by number, in the order in which they began to."""
_collects: dict[int, Any] = LEAVES.data  # type: ignore[attr-defined]
"""The same as a plain dict: to test whether it is empty, or contains a tensor, costs a tenth."""


CHANGES = [0]
"""How often a tensor began or stopped to collect gradients."""


@dataclass(slots=True, eq=False)
class Made:
    """The graph that computed a value, and the time when it did."""

    recipe: TensorNode | Callable[[], TensorNode]
    """The graph, or a function that builds it when a derivative needs it."""
    clock: int
    """The write counter when the graph was recorded; -1 if the program overwrote its own inputs."""
    born: int
    """The write counter when the value was computed: once its memory is overwritten, it is data."""
    reads: frozenset[int] | None = None
    """The numbers of the buffers that the graph reads, determined on first use."""

    def graph(self) -> TensorNode:
        """The graph, built on first use."""
        if not isinstance(self.recipe, TensorNode):
            self.recipe = self.recipe()
        return self.recipe

    def is_true(self) -> bool:
        """True if all inputs of the graph still have the same values."""
        if self.reads is None:
            order = toposort([self.graph()])
            self.reads = frozenset(each.unique for each in order if isinstance(each, Buffer))
        return all(_writes.get(number, 0) <= self.clock for number in self.reads)


WRITTEN_BY_ITSELF = -1
"""The clock of values whose own program overwrote their inputs."""
_any: list[bool] = []
"""Not empty once a history was recorded at `TensorNode.made`."""
_keep = object.__setattr__
_clock = [0]
_writes: dict[int, int] = {}
"""The write counter at the last write of each buffer."""
_marked: list[bool] = []
"""Not empty once a function was differentiated: then histories of its arguments are recorded,
too."""
_leaf_buffers: set[int] = set()
"""The numbers of buffers that tensors held when they began to collect gradients."""


def begin_marking() -> None:
    """Record the history of values computed from arguments of differentiated functions from now
    on."""
    if not _marked:
        _marked.append(True)


def is_collecting(tensor: Any) -> bool:
    """True if `backward` collects gradients for a tensor. A captured function is recorded as
    asking."""
    if watch := watching.current():
        watch.note_asked(tensor)
    return collects(tensor)


def collects(tensor: Any) -> bool:
    """The same, without a record in a capture: the compiler asks."""
    return tensor._number in _collects


def collecting(tensors: Iterable[Any]) -> tuple[bool, ...]:
    """For each tensor, True if it collects gradients."""
    return tuple(map(collects, tensors))


def collect(tensor: Any, flag: bool) -> None:
    """Start, or with False stop, collecting gradients for a tensor."""
    if watch := watching.current():
        watch.note_collecting(tensor, tensor._number in LEAVES)
    CHANGES[0] += 1
    if not flag:
        LEAVES.pop(tensor._number, None)
        return
    LEAVES[tensor._number] = tensor
    if isinstance(tensor.node, Buffer) and _made_of(tensor.node) is None:
        _leaf_buffers.add(tensor.node.unique)


def restore(rows: Iterable[tuple[Any, bool]]) -> None:
    """Restore for each tensor whether it collects gradients."""
    for tensor, was in rows:
        collect(tensor, was)


def leaves() -> list[Any]:
    """The tensors that collect gradients now. Other threads may add some meanwhile: the list of
    references is copied in one step, unlike an iteration over the dictionary."""
    return [leaf for each in LEAVES.valuerefs() if (leaf := each()) is not None]


def leaves_in(order: Iterable[TensorNode]) -> set[TensorNode]:
    """The nodes of `order` held by a tensor with `requires_grad`, now or before a pending write."""
    return _held().intersection(order) if _collects else set()


def written_now(numbers: Collection[int]) -> None:
    """Record that buffers were written: graphs that read them before are void."""
    if numbers and (_collects or _marked):
        _clock[0] += 1
        _writes.update(dict.fromkeys(numbers, _clock[0]))


def is_wanted() -> bool:
    """True if anything may need gradients."""
    return bool(_collects or _marked)


def keep(value: TensorNode, recipe: TensorNode | Callable[[], TensorNode], is_true: bool) -> None:
    """Record that `value` was computed by `recipe`; `is_true` is False if its inputs were
    overwritten since."""
    now = _clock[0]
    _keep(value, "made", Made(recipe, now if is_true else WRITTEN_BY_ITSELF, now))
    if not _any:
        _any.append(True)


@contextmanager
def standing_in(leaves: Sequence[Any], nodes: list[TensorNode]) -> Iterator[None]:
    """Context in which `leaves` stand for tensors that collect gradients, and `nodes`, which may
    grow inside, for values with a history."""
    LEAVES.update((leaf._number, leaf) for leaf in leaves)
    for node in nodes:
        stand_outside(node)
    try:
        yield
    finally:
        for leaf in leaves:
            LEAVES.pop(leaf._number, None)
        for node in nodes:
            _keep(node, "made", None)


def stand_outside(node: TensorNode) -> None:
    """Let a node stand for a value with a history that no derivative may follow
    (`NotCapturedError`)."""
    keep(node, _outside, True)


def _outside() -> NoReturn:
    raise watching.NotCapturedError(
        "a derivative inside would continue through an argument's history",
        "detach() the argument, or let the function that computes it and this one be one function",
    )


def _made_of(node: TensorNode) -> Made | None:
    """The record of how a value in memory was computed, if the memory still holds that value."""
    made: Made | None = getattr(node, "made", None)
    if made is None or not isinstance(node, Buffer):
        return made
    return made if _writes.get(node.unique, 0) <= made.born else None


def has_history(node: TensorNode) -> bool:
    """True if a value in memory depends on something that requires gradients."""
    if not _collects and not _marked:
        return False
    if not isinstance(node, Buffer):
        return node in _with_history(toposort([node]), _held())
    if node.unique in _leaf_buffers and node in _held():
        return True
    return _made_of(node) is not None


def leaf_memory(node: TensorNode) -> TensorNode | None:
    """The memory of a node, if the tensor that held it then began to collect gradients."""
    found = live.storage(node)
    return found if isinstance(found, Buffer) and found.unique in _leaf_buffers else None


def _held() -> set[TensorNode]:
    """The nodes of tensors that collect gradients, and their memory before pending writes: values
    may have been computed from either."""
    nodes = [leaf.node for leaf in leaves()]
    return {*nodes, *filter(None, map(leaf_memory, nodes))}


History = tuple[TensorNode, bool]
"""The graph that computed a value, and True if it is still valid after its program has run."""


def recipes(
    before: Sequence[TensorNode], stored: Sequence[TensorNode | None], written: set[int]
) -> list[History | None]:
    """For each node of a program its history, or None if no gradient passes through it. `stored`
    has the memory of each, where known.

    A tensor that collects gradients starts anew when it is assigned: earlier values are not part of
    its history. Values without gradients, such as running means, have none.
    """
    order = toposort(before)
    held = {node for node in _held() if not _is_later(node, written)}
    wanted = _with_history(order, held)
    values = {node: value for node, value in zip(before, stored, strict=True) if value}
    anew = {node: value for node, value in values.items() if _is_anew(node, value, held, wanted)}
    parts = _parts_of(order, values, anew, written) if written else {}
    ends = frozenset(anew)

    def history(node: TensorNode, value: TensorNode | None) -> History | None:
        if node in parts:
            return parts[node]
        if node not in wanted or node in ends or not node.dtype.is_float or node is value:
            return None
        recipe = _recipe(node, value, anew, held)
        if recipe is None:
            return None
        return recipe, not written or _is_true(node, ends, written, parts)

    return [history(node, value) for node, value in zip(before, stored, strict=True)]


def _is_anew(
    node: TensorNode, value: TensorNode, held: set[TensorNode], wanted: set[TensorNode]
) -> bool:
    """True for an assignment after which the tensor starts a new history in `value`."""
    if not isinstance(node, Assign):
        return False
    return node not in wanted or (value in held and bool(leaf_memory(value)))


def _parts_of(
    order: Sequence[TensorNode], values: dict[TensorNode, TensorNode],
    anew: dict[TensorNode, TensorNode], written: set[int],
) -> dict[TensorNode, History]:  # fmt: skip
    """The histories of memory that was written in part; each is then recalled from its memory, in
    `anew`."""
    parts: dict[TensorNode, History] = {}
    for node in order:
        if isinstance(node, Assign) and node.parts and node in values and node not in anew:
            parts[node] = _in_parts(node, anew, written, parts)
            anew[node] = Recalled((values[node], parts[node][0]))
    return parts


def _is_later(node: TensorNode, written: set[int]) -> bool:
    """True for memory that the program overwrites, of a tensor that only retains its gradient: the
    old content is another value."""
    return isinstance(node, Buffer) and node.unique in written and leaf_memory(node) is None


def _in_parts(
    node: Assign, anew: dict[TensorNode, TensorNode], written: set[int],
    parts: dict[TensorNode, History],
) -> History:  # fmt: skip
    """The history of memory that was written in part: the old content with the new parts. Old
    content that is plain data is represented by zeros, since no derivative needs it."""
    steps, begin = [node], node.sources[0]
    while isinstance(begin, Assign) and begin.parts and begin not in anew:
        steps.append(begin)
        begin = begin.sources[0]
    is_true, ends = True, frozenset(anew)
    if begin in parts:
        graph, is_true = parts[begin]
    elif isinstance(begin, Assign) and begin not in anew:
        graph = begin.sources[1]
        is_true = _is_true(graph, ends, written, parts)
    elif made := _made_of(begin):
        graph, is_true = made.graph(), made.is_true()
    else:
        graph = const(0, begin.dtype, begin.shape)
    for step in reversed(steps):
        value = step.sources[1]
        is_true = is_true and _is_true(value, ends, written, parts)
        graph = over(graph, value, step.parts)
    return _replaced(graph, anew), is_true


def _replaced(node: TensorNode, anew: dict[TensorNode, TensorNode]) -> TensorNode:
    """A graph with replacements for the nodes where a history starts anew; it may itself be one."""
    return substitute(Sink((node,)), anew).sources[0] if anew else node


def _is_true(
    node: TensorNode, ends: frozenset[TensorNode], written: set[int],
    parts: dict[TensorNode, History],
) -> bool:  # fmt: skip
    """True if nothing that a value was computed from, up to `ends`, was overwritten since."""
    order = toposort([node], ends)
    return written.isdisjoint(_read_before(order, ends)) and all(
        parts[each][1] for each in order if each in parts
    )


def _recipe(
    node: TensorNode, value: TensorNode | None, anew: dict[TensorNode, TensorNode],
    held: set[TensorNode],
) -> TensorNode | None:  # fmt: skip
    """The graph that computed a value. None if the value is the memory of its own input, or if
    nothing in it requires gradients."""
    if isinstance(node, Assign):
        node, value = node.sources[1], None
    elif value is not None and live.storage(node) is not None:
        return None
    recipe = _replaced(node, anew)
    order = toposort([recipe])
    others = held - {node} if node in held else held
    return None if value in order or recipe not in _with_history(order, others) else recipe


def _published(
    before: Sequence[TensorNode], values: Sequence[TensorNode], written: set[int]
) -> None:
    """Record the history of computed values, if gradients may need it, and the writes."""
    if not _collects and not _marked:
        return
    found = recipes(before, values, written)  # first: it reads the record before the write
    written_now(written)
    for value, made in zip(values, found, strict=True):
        if made is not None:
            keep(value, *made)


def _with_history(order: Sequence[TensorNode], held: set[TensorNode]) -> set[TensorNode]:
    """The nodes of `order` that depend on tensors that require gradients."""
    found: set[TensorNode] = set()
    for node in order:
        is_begin = node in held or _made_of(node) is not None or isinstance(node, Wrt)
        if is_begin or not found.isdisjoint(changed_by(node)):
            found.add(node)
    return found


def _read_before(order: Sequence[TensorNode], ends: frozenset[TensorNode]) -> set[int]:
    """The numbers of the buffers whose old content is read before the program overwrites them."""
    found: set[int] = set()
    for each in order:
        if each in ends:
            continue
        read = each.sources[1:] if isinstance(each, Assign) and not each.parts else each.sources
        found |= {source.unique for source in read if isinstance(source, Buffer)}
    return found


def _separated(nodes: Sequence[TensorNode], values: Sequence[TensorNode]) -> list[TensorNode]:
    """The values. Nodes that are computed together may share one value, such as a tensor and its
    detached copy; all but the first get memory of their own, because their histories differ."""
    if not _collects and not _marked:
        return list(values)
    first: dict[TensorNode, TensorNode] = {}
    return [
        _copied(value)
        if isinstance(value, Buffer) and first.setdefault(value, node) is not node
        and _has_past(node, value)
        else value
        for node, value in zip(nodes, values, strict=True)
    ]  # fmt: skip


def _has_past(node: TensorNode, value: Buffer) -> bool:
    """True if a derivative may need the graph of a node, and its value is none of its own
    inputs."""
    if not node.dtype.is_float or isinstance(node, Recalled) or live.storage(node) is not None:
        return False
    order = toposort([node])
    return value not in order and _is_known(order)


def _is_known(order: Sequence[TensorNode]) -> bool:
    return bool(leaves_in(order)) or any(_made_of(n) or isinstance(n, Wrt) for n in order)


def _copied(value: Buffer) -> Buffer:
    """A copy in other memory. On a worker the copy stays on that worker."""
    array = held(value)
    if not isinstance(array, np.ndarray):
        return value
    return fresh(array.copy(), value.shape, value.dtype, value.device)


def _beside(before: TensorNode, value: TensorNode) -> TensorNode:
    """The value. If it shares the memory of its input, as a detached tensor does, its history is
    attached to the node instead: another tensor in the same memory has another history."""
    if not is_wanted() or not isinstance(value, Buffer) or not before.dtype.is_float:
        return value
    if value is before or isinstance(before, Recalled) or live.storage(before) is not None:
        return value
    order = toposort([before])
    return Recalled((value, before)) if value in order and _is_known(order) else value


live.observers.append(_published)
live.separations.append(_separated)
live.histories.append(_beside)


def is_remembered(node: TensorNode) -> bool:
    """True if the history of a value in memory is recorded."""
    return _made_of(node) is not None


def is_still(node: TensorNode, made: object) -> bool:
    """True if the history of a value in memory is still this one, and valid."""
    return _made_of(node) is made and isinstance(made, Made) and made.is_true()


def remembered(node: TensorNode) -> TensorNode:
    """`node` with the history of each value in memory attached.

    Raises `GradientError` if the inputs of such a value were overwritten since.
    """
    if not _any:
        return node
    done: dict[TensorNode, TensorNode] = {}
    stack: list[tuple[TensorNode, bool]] = [(node, False)]
    while stack:
        each, is_ready = stack.pop()
        if each in done:
            continue
        made = _made_of(each)
        below = changed_by(each) if made is None else (_still_true(each, made),)
        if not is_ready:
            stack.append((each, True))
            stack += [(source, False) for source in below if source not in done]
        elif made is None:
            kept = each.sources[: len(each.sources) - len(below)]  # gradients stop there
            made_of = (*kept, *(done[source] for source in below))
            done[each] = _written_once(each, made_of) if isinstance(each, Assign) else (
                each.with_sources(made_of))
        else:
            done[each] = Recalled((each, done[below[0]]))
    return done[node]


def _written_once(node: Assign, sources: tuple[TensorNode, ...]) -> TensorNode:
    """The assign itself, with its history in a Recalled node. A second Assign with the new sources
    would write the memory again."""
    if sources == node.sources:
        return node
    before, value = sources
    return Recalled((node, over(before, value, node.parts) if node.parts else value))


def _still_true(node: TensorNode, made: Made) -> TensorNode:
    """The history of a value, if all that it reads is unchanged. Raises `GradientError`
    otherwise."""
    if watch := watching.current():
        watch.pasts[node] = made
    if made.is_true():
        return made.graph()
    raise GradientError(
        "backward", "a value that the gradient needs was overwritten", got=short(node),
        expected="the values it was computed from",
        hint="take the gradient before assign(…) or x[…] = … overwrites them",
        origin=made.graph().origin,
    )  # fmt: skip
