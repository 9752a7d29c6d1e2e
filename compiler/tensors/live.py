"""Programs that write memory: which tensors they must compute first, and which threads wait.

A tensor is a value: writing to its memory must not change another tensor. So a program that writes
a buffer first computes all tensors that read it.

Threads may make, assign and compute tensors at once. A program that writes a buffer waits until no
other program reads or writes it, and excludes others while it runs. A program that a user's
function starts inside another program does not wait, because it could wait forever.
"""

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from compiler.core import lazy
from compiler.core.effects import Effects
from compiler.core.errors import SizeError
from compiler.core.node import toposort
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import Buffer, Parts, TensorNode
from compiler.tensors import running
from compiler.tensors.readers import LOCK, READERS
from compiler.tensors.running import RUNNING, Run
from compiler.tensors.selected import selected
from compiler.tensors.variables import buffer_under, is_realized

_claims: "weakref.WeakValueDictionary[tuple[str, int], Assign]" = weakref.WeakValueDictionary()
"""For each value that an assign is about to overwrite, that assign."""
_numbers = itertools.count(1)
"""Numbers of assigns. `next` of a count is one step, so threads may share it."""
_now: "weakref.WeakKeyDictionary[TensorNode, TensorNode]" = weakref.WeakKeyDictionary()
"""For each assign that took effect the node of its value; for each whose target changed, the assign
that replaces it. A thread that was about to read the old node reads this one instead."""


observers: list[Callable[[Sequence[TensorNode], Sequence[TensorNode], set[int]], None]] = []
"""Functions called with the nodes that were computed, their values, and the buffers written. They
may be called again with the same arguments."""
separations: list[Callable[[Sequence[TensorNode], Sequence[TensorNode]], list[TensorNode]]] = []
"""Functions from nodes and their values to values: nodes with different histories get separate
ones."""
histories: list[Callable[[TensorNode, TensorNode], TensorNode]] = []
"""Functions from a node and its value to the node that a tensor holds afterwards."""


def note(tensor: Any) -> None:
    """Register a tensor that is new, or holds another node, for as long as it exists."""
    READERS.note(tensor)


def storage(node: TensorNode) -> Buffer | None:
    """The buffer that a chain of assigns writes, or the buffer itself. None for other nodes."""
    while isinstance(node, Assign):
        node = node.sources[0]
    return node if isinstance(node, Buffer) else None


def written(order: Sequence[TensorNode]) -> set[int]:
    """The numbers of the buffers that are written when the nodes of `order` are computed."""
    found = (storage(node) for node in order if isinstance(node, Assign))
    return {buffer.unique for buffer in found if buffer is not None}


def together(given: list[Any]) -> list[Any]:
    """`given`, and every tensor that needs a buffer that computing them overwrites."""
    chosen = list(given)
    looked_at: set[int] = set()
    while True:
        numbers = written(toposort([tensor.node for tensor in chosen])) - looked_at
        if not numbers:
            return chosen
        looked_at |= numbers
        known = {id(tensor) for tensor in chosen}
        chosen += [tensor for tensor in READERS.of(numbers) if id(tensor) not in known]


class Computation(Run):
    """A program that computes tensors; `nodes` are the nodes they held when it began."""

    __slots__ = ("_reads", "_writes", "is_alone", "nodes", "tensors")

    def __init__(self, is_alone: bool = False) -> None:
        super().__init__()
        self.is_alone = is_alone
        """True if the operands of selections are not stored as well."""
        self.tensors: list[Any] = []
        self.nodes: list[TensorNode] = []
        self._reads = self._writes = frozenset[int]()

    @property
    def reads(self) -> frozenset[int]:
        """The numbers of the buffers that the program reads."""
        return self._reads

    @property
    def writes(self) -> frozenset[int]:
        """The numbers of the buffers that the program writes."""
        return self._writes

    def choose(self, given: list[Any]) -> bool:
        """Choose the tensors to compute for `given`. False if the choice has to be repeated."""
        self.tensors = [tensor for tensor in given if not is_realized(tensor.node)]
        self.nodes = [tensor.node for tensor in self.tensors]
        order = toposort(self.nodes)
        others = [] if self.is_alone else selected(self.nodes, order, READERS.holding)
        numbers = written(order)
        if others or numbers:
            self.tensors = together(self.tensors + others)
            self.nodes = [tensor.node for tensor in self.tensors]
            order = toposort(self.nodes)
            numbers = written(order)
        done: dict[TensorNode, TensorNode]
        done = {n: _now[n] for n in order if isinstance(n, Assign) and n in _now}
        if done:
            _replace(self.tensors, done)
            return False
        self._reads = frozenset(node.unique for node in order if isinstance(node, Buffer))
        self._writes = frozenset(numbers)
        return True

    def record(self) -> None:
        """Give the tensors their values."""
        _publish(self)


def compute(
    given: list[Any], computed: Callable[[list[TensorNode], Effects], list[TensorNode]]
) -> None:
    """Compute tensors, together with every tensor that reads memory they overwrite: all of it takes
    effect, or nothing. `computed` returns the values of nodes and records its progress in
    `Effects`.

    Operands of selections are stored, too, if there is room.
    """
    run = Computation()
    try:
        _compute(run, given, computed)
    except (SizeError, MemoryError):
        if len(run.tensors) <= len(given):
            raise
        _compute(Computation(is_alone=True), given, computed)


@running.owner
def _compute(
    run: Computation, given: list[Any],
    computed: Callable[[list[TensorNode], Effects], list[TensorNode]],
) -> None:  # fmt: skip
    try:
        while not _begun(run, given):
            running.wait()
        if run.nodes:
            run.effects.values = computed(run.nodes, run.effects)
        run.effects.is_done = bool(run.nodes)
        running.finish(run)
    except BaseException:
        running.finish(run)
        raise


def _begun(run: Computation, given: list[Any]) -> bool:
    """Begin to compute nodes that are not in memory. False if another program excludes it."""
    with LOCK:
        if RUNNING:
            running.settle()
        while not run.choose(given):
            pass
        return running.begin(run)


class _Reading(Run):
    """A read of memory, during which nobody may write it."""

    __slots__ = ("_reads",)
    is_program = False

    def __init__(self, nodes: Sequence[TensorNode]) -> None:
        super().__init__()
        order = toposort(nodes)
        self._reads = frozenset(node.unique for node in order if isinstance(node, Buffer))

    @property
    def reads(self) -> frozenset[int]:
        """The numbers of the buffers that are read."""
        return self._reads


@running.owner
def unchanged(tensors: Sequence[Any], use: Callable[[list[Any]], None]) -> None:
    """Compute tensors and call `use` with tensors of their values at one moment: that memory is not
    written before `use` has returned, even if the tensors are assigned meanwhile."""
    while True:
        tensors[0].realize(*tensors[1:])
        with LOCK:
            nodes = [tensor.node for tensor in tensors]
            run = _Reading(nodes)
            if all(map(is_realized, nodes)) and running.begin(run):
                break
        running.wait()
    try:
        use([tensor._new(node) for tensor, node in zip(tensors, nodes, strict=True)])
        running.finish(run)
    except BaseException:
        running.finish(run)
        raise


def _replace(tensors: list[Any], made: dict[TensorNode, TensorNode]) -> None:
    """Let tensors that depend on nodes that another thread has computed meanwhile read those
    values.

    Otherwise an assign among the nodes would take effect twice.
    """
    now = dict(made)
    for node in toposort([tensor.node for tensor in tensors]):
        if node in now:
            continue
        if isinstance(node, Assign) and node in _now:
            now[node] = _now[node]
            continue
        again = node.with_sources(tuple([now[source] for source in node.sources]))
        if isinstance(node, Assign) and again is not node:
            _now[node] = again = _moved(node, again)
        now[node] = again
    for tensor in tensors:
        node = now[tensor.node]
        if tensor.node is not node:
            tensor.node = node
            note(tensor)


def _moved(node: Assign, again: Assign) -> TensorNode:
    """`again`: the waiting assign `node` with its current sources. It becomes a plain value if
    another assign waits to write the same target: see `claim`."""
    target, value = again.sources
    key = _key(target)
    if _claims.get(key) in (None, node):
        _claims[key] = again
        return again
    if not again.parts:
        return value
    over: Callable[..., TensorNode] = lazy.load("compiler.tensors.placing", "over")
    return over(target, value, again.parts)


def _publish(run: Computation) -> None:
    """Give each of the tensors its value.

    A tensor that another thread assigned meanwhile keeps that. Every step here can be repeated,
    because an exception may interrupt it.
    """
    tensors, nodes = run.tensors, run.nodes
    for separated in separations:
        run.effects.values = separated(nodes, run.effects.values)
    values = run.effects.values
    order = toposort(nodes)
    made = dict(zip(nodes, values, strict=True))
    for tensor, before, value in zip(tensors, nodes, values, strict=True):
        if tensor.node is not before:
            continue
        if buffer_under(before) is None:
            tensor._recipe = before
        for history in histories:
            value = history(before, value)
        tensor.node = value
        note(tensor)
    for observer in observers:
        observer(nodes, values, set(run.writes))
    if run.writes:
        for node in order:
            if isinstance(node, Assign):
                # of several assigns to one memory, another thread reads the current content
                now = made.get(node) or storage(node)
                if now is not None:
                    _now[node] = made[node] = now
        _release(order)
        known = {id(tensor) for tensor in tensors if is_realized(tensor.node)}
        _replace([t for t in READERS.of(set(run.writes)) if id(t) not in known], made)


def claim(target: TensorNode, value: TensorNode, parts: Parts = ()) -> Assign | None:
    """`value` assigned to `parts` of `target`, a Buffer or an Assign; without parts, to all of it.

    None if another assign to the target is waiting: only one can overwrite it.
    """
    waiting = _claims.get(_key(target))
    if waiting is not None:
        if _is_waiting(waiting):
            return None
        release(waiting)
    made = Assign((target, value), parts, next(_numbers))
    _claims[_key(target)] = made
    return made


def _is_waiting(assign: Assign) -> bool:
    """True if a tensor holds or reads the assign. An exception between the claim and the change of
    the tensor leaves an unused assign, which lives as long as the exception."""
    buffer = storage(assign)
    held = READERS.of(set() if buffer is None else {buffer.unique})
    return assign in toposort([tensor.node for tensor in held])


def release(node: TensorNode) -> None:
    """Forget an assign that must never take effect; its readers read its target. May be
    repeated."""
    with LOCK:
        for each in reversed(forms(node)):
            if isinstance(each, Assign):
                _release([each])
                _now[each] = each.sources[0]


def forms(node: TensorNode) -> list[TensorNode]:
    """The node; for an assign also the nodes that replaced it, with the current target."""
    found = [node]
    while isinstance(node, Assign):
        now = _now.get(node)
        if not isinstance(now, Assign) or now.number != node.number:
            break
        found.append(node := now)
    return found


def _release(order: Sequence[TensorNode]) -> None:
    """Mark the assigns among these nodes as no longer waiting."""
    for node in order:
        if isinstance(node, Assign) and _claims.get(_key(node.sources[0])) is node:
            del _claims[_key(node.sources[0])]


def _key(target: TensorNode) -> tuple[str, int]:
    """The identity of a buffer is its number: passes may have rebuilt its node."""
    return ("buffer", target.unique) if isinstance(target, Buffer) else ("node", id(target))
