"""Programs that write memory: what they must take along, and who has to wait for them.

A tensor is a value: writing to the memory of one must not change another. So all tensors that read
a buffer which a program writes are computed in that program, before it is written.

Threads may make, assign and compute tensors at once. A program that writes a buffer runs when none
runs that reads or writes it, and none begins meanwhile. A program that a function of the user's
starts inside another one does not wait, for that could be for ever.
"""

import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from compiler.core import forking
from compiler.core.node import substitute, toposort
from compiler.graph.kinds.effects import Assign
from compiler.graph.nodes import Buffer, Parts, Sink, TensorNode
from compiler.tensors.readers import LOCK, READERS
from compiler.tensors.variables import buffer_under, is_realized

_claims: "weakref.WeakValueDictionary[tuple[str, int], Assign]" = weakref.WeakValueDictionary()
"""For each value that an assign waits to write over that assign."""
_done: "weakref.WeakKeyDictionary[TensorNode, TensorNode]" = weakref.WeakKeyDictionary()
"""For each assign that took effect where its value is."""


@dataclass(frozen=True, eq=False, slots=True)
class _Run:
    """A program that runs now."""

    thread: int
    reads: frozenset[int]
    writes: frozenset[int]

    def excludes(self, other: "_Run") -> bool:
        return not (
            self.writes.isdisjoint(other.reads | other.writes)
            and self.reads.isdisjoint(other.writes)
        )


observers: list[Callable[[Sequence[TensorNode], Sequence[TensorNode], set[int]], None]] = []
"""Functions that are told of what was computed: the nodes, their values, the buffers written."""
histories: list[Callable[[TensorNode, TensorNode], TensorNode]] = []
"""Functions from a node and its value to what a tensor holds from then on."""
_running: list[_Run] = []
_ended = threading.Condition(LOCK)


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


@contextmanager
def computing(given: list[Any]) -> Iterator[list[Any]]:
    """The tensors to be computed for `given`; while they are, nobody writes what they read."""
    run: _Run | None = None
    try:
        with _ended:
            while run is None:
                chosen = together([t for t in given if not is_realized(t.node)])
                run = _allowed(chosen)
            _running.append(run)
        yield chosen
    finally:
        with _ended:
            _running[:] = [each for each in _running if each is not run]
            _ended.notify_all()


def _allowed(tensors: list[Any]) -> _Run | None:
    """The run of these tensors; None where they are to be chosen again, if need be after a wait."""
    order = toposort([tensor.node for tensor in tensors])
    done: dict[TensorNode, TensorNode]
    done = {node: _done[node] for node in order if isinstance(node, Assign) and node in _done}
    if done:
        _replace(tensors, done)
        return None
    reads = frozenset(node.unique for node in order if isinstance(node, Buffer))
    run = _Run(threading.get_ident(), reads, frozenset(written(order)))
    if not _must_wait(run):
        return run
    _ended.wait()
    return None


def _must_wait(run: _Run) -> bool:
    if any(other.thread == run.thread for other in _running):
        return False
    return any(run.excludes(other) for other in _running)


def _replace(tensors: list[Any], made: dict[TensorNode, TensorNode]) -> None:
    """Tensors made of what another thread computed meanwhile read its value.

    Else an assign among it would take effect once more.
    """
    nodes = substitute(Sink(tuple(tensor.node for tensor in tensors)), made).sources
    for tensor, node in zip(tensors, nodes, strict=True):
        if tensor.node is not node:
            tensor.node = node
            note(tensor)
    for node in toposort(nodes):
        if isinstance(node, Assign):
            _claims.setdefault(_key(node.sources[0]), node)
            _done.pop(node, None)


def publish(tensors: list[Any], nodes: list[TensorNode], values: list[TensorNode]) -> None:
    """Give each of the tensors its value; `nodes` is what they held when they were chosen.

    One that another thread assigned meanwhile keeps what it holds now.
    """
    with LOCK:
        order = toposort(nodes)
        numbers = written(order)
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
            observer(nodes, values, numbers)
        if numbers:
            _done.update((node, value) for node, value in made.items() if isinstance(node, Assign))
            known = {id(tensor) for tensor in tensors}
            _replace([t for t in READERS.of(numbers) if id(t) not in known], made)
        _release(order)


def claim(target: TensorNode, value: TensorNode, parts: Parts = ()) -> Assign | None:
    """`value` assigned to `parts` of `target`, a Buffer or an Assign; without parts, to all of it.

    None where another assign to it waits: that one will write over the target, so there can be no
    second.
    """
    if _key(target) in _claims:
        return None
    made = Assign((target, value), parts)
    _claims[_key(target)] = made
    _done.pop(made, None)  # an equal one that took effect is the same node
    return made


def release(node: TensorNode) -> None:
    """An assign is forgotten: it is never to take effect."""
    if isinstance(node, Assign):
        _claims.pop(_key(node.sources[0]), None)


def _release(order: list[TensorNode]) -> None:
    """The assigns among these nodes have taken effect."""
    for node in order:
        if isinstance(node, Assign):
            _claims.pop(_key(node.sources[0]), None)


def _key(target: TensorNode) -> tuple[str, int]:
    """A buffer is known by its number: passes may have made its node again."""
    return ("buffer", target.unique) if isinstance(target, Buffer) else ("node", id(target))


def _forget_others() -> None:
    """In a child of `fork` only the thread that called it goes on."""
    _running[:] = [run for run in _running if run.thread == threading.get_ident()]


forking.in_child(_forget_others)
