"""Programs that write memory: what they must take along, and who has to wait for them.

A tensor is a value: writing to the memory of one must not change another. So all tensors that read
a buffer which a program writes are computed in that program, before it is written.

Threads may make, assign and compute tensors at once. A program that writes a buffer runs when none
runs that reads or writes it, and none begins meanwhile. A program that a function of the user's
starts inside another one does not wait, for that could be for ever.
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
"""For each value that an assign waits to write over that assign."""
_numbers = itertools.count(1)
"""Numbers of assigns. Iterating one is a single step, so threads may share it."""
_now: "weakref.WeakKeyDictionary[TensorNode, TensorNode]" = weakref.WeakKeyDictionary()
"""For each assign that took effect where its value is, and for each whose target did the assign
that replaces it: a thread that was about to read it while that happened, reads this."""


observers: list[Callable[[Sequence[TensorNode], Sequence[TensorNode], set[int]], None]] = []
"""Functions that are called with what was computed: the nodes, their values, the buffers written.
They may be called again with the same."""
separations: list[Callable[[Sequence[TensorNode], Sequence[TensorNode]], list[TensorNode]]] = []
"""Functions from nodes and their values to values: nodes with different histories share none."""
histories: list[Callable[[TensorNode, TensorNode], TensorNode]] = []
"""Functions from a node and its value to what a tensor holds from then on."""


def note(tensor: Any) -> None:
    """Remember a tensor that is new, or holds another node, for as long as it exists."""
    READERS.note(tensor)


def storage(node: TensorNode) -> Buffer | None:
    """The buffer that a chain of assigns writes, or the buffer itself; None for other nodes."""
    while isinstance(node, Assign):
        node = node.sources[0]
    return node if isinstance(node, Buffer) else None


def written(order: Sequence[TensorNode]) -> set[int]:
    """The numbers of the buffers that computing the nodes of `order` writes."""
    found = (storage(node) for node in order if isinstance(node, Assign))
    return {buffer.unique for buffer in found if buffer is not None}


def together(given: list[Any]) -> list[Any]:
    """`given`, and every tensor that needs a buffer which computing them writes."""
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
    """A program that computes tensors: `nodes` is what they held when it began."""

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
        """Buffers that the program reads."""
        return self._reads

    @property
    def writes(self) -> frozenset[int]:
        """Buffers that the program writes."""
        return self._writes

    def choose(self, given: list[Any]) -> bool:
        """Choose what is to be computed for `given`; False where that is to be done again."""
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
    """Compute tensors, and what reads memory that is written for them: all of it takes effect, or
    nothing. `computed` gives the values of nodes, and says in `Effects` how far it is.

    What elements are selected from is stored too, where there is room for it."""
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
    """Begin to compute what is not in memory; False where another program runs that excludes it."""
    with LOCK:
        if RUNNING:
            running.settle()
        while not run.choose(given):
            pass
        return running.begin(run)


class _Reading(Run):
    """Memory that is looked at: nobody writes it meanwhile."""

    __slots__ = ("_reads",)
    is_program = False

    def __init__(self, nodes: Sequence[TensorNode]) -> None:
        super().__init__()
        order = toposort(nodes)
        self._reads = frozenset(node.unique for node in order if isinstance(node, Buffer))

    @property
    def reads(self) -> frozenset[int]:
        """The buffers that are looked at."""
        return self._reads


@running.owner
def unchanged(tensors: Sequence[Any], use: Callable[[list[Any]], None]) -> None:
    """Compute tensors and call `use` with tensors of their values at one moment: nobody writes that
    memory before `use` has returned, whatever the tensors are assigned meanwhile."""
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
    """Tensors made of what another thread computed meanwhile read its value.

    Else an assign among it would take effect once more.
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
    """`again`, the waiting assign `node` over what its sources are now. It is a plain value where
    another assign waits to write over the same target: see `claim`."""
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

    One that another thread assigned meanwhile keeps what it holds now. Everything here may be
    done again: an exception may have ended it before.
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
                # of several to one memory, what another thread reads of one is what is there now
                now = made.get(node) or storage(node)
                if now is not None:
                    _now[node] = made[node] = now
        _release(order)
        known = {id(tensor) for tensor in tensors if is_realized(tensor.node)}
        _replace([t for t in READERS.of(set(run.writes)) if id(t) not in known], made)


def claim(target: TensorNode, value: TensorNode, parts: Parts = ()) -> Assign | None:
    """`value` assigned to `parts` of `target`, a Buffer or an Assign; without parts, to all of it.

    None where another assign to it waits: that one will write over the target, so there can be no
    second.
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
    """True if a tensor holds or reads the assign. An exception between a claim and the change of
    the tensor leaves an assign that no tensor needs, alive as long as the exception is."""
    buffer = storage(assign)
    held = READERS.of(set() if buffer is None else {buffer.unique})
    return assign in toposort([tensor.node for tensor in held])


def release(node: TensorNode) -> None:
    """An assign is forgotten: it is never to take effect, and who read it reads its target. May be
    repeated."""
    with LOCK:
        for each in reversed(forms(node)):
            if isinstance(each, Assign):
                _release([each])
                _now[each] = each.sources[0]


def forms(node: TensorNode) -> list[TensorNode]:
    """The node, and of an assign what replaced it since: the same over what its target is now."""
    found = [node]
    while isinstance(node, Assign):
        now = _now.get(node)
        if not isinstance(now, Assign) or now.number != node.number:
            break
        found.append(node := now)
    return found


def _release(order: Sequence[TensorNode]) -> None:
    """The assigns among these nodes wait no more."""
    for node in order:
        if isinstance(node, Assign) and _claims.get(_key(node.sources[0])) is node:
            del _claims[_key(node.sources[0])]


def _key(target: TensorNode) -> tuple[str, int]:
    """A buffer is known by its number: passes may have made its node again."""
    return ("buffer", target.unique) if isinstance(target, Buffer) else ("node", id(target))
