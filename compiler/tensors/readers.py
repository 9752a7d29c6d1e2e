"""Find the tensors that read a buffer, along the edges of the graph, without a scan of all tensors.

    buffer 7 ── read by ──▶ add ── read by ──▶ relu ── held by ──▶ tensor
                            └───── held by ──▶ tensor

Nodes refer to their sources; this index has the opposite direction, for the nodes that tensors
hold. It keeps none of them alive. New tensors are indexed when a buffer is written, many at a time:
a program that writes no buffer only pays for a list entry per tensor. Entries that lead to no live
tensor are removed when they are visited.
"""

import weakref
from collections.abc import Container, Iterable
from contextlib import nullcontext
from typing import Any

from compiler.core import forking, garbage
from compiler.core.node import toposort
from compiler.graph.nodes import Buffer, TensorNode

MOST_NEW = 1024
"""The number of new tensors after which they are indexed without a write; later as many as were
indexed before, so the cost per tensor is constant. The number was chosen, not measured."""
_FEW = 8
"""The number of holders above which dead ones are removed. Not measured."""

LOCK = forking.lock()
"""Held while tensors are searched or change their nodes."""


class Alive:
    """Weak references to objects, in the order in which they were added."""

    __slots__ = ("_limit", "_references")

    def __init__(self) -> None:
        self._references: list[weakref.ref[Any]] = []
        self._limit = _FEW

    def __len__(self) -> int:
        return len(self._references)

    def add(self, new: Any) -> None:
        """Add an object. Dead ones are removed when the list has doubled."""
        self._references.append(weakref.ref(new))
        if len(self._references) > self._limit:
            self._references = [each for each in self._references if each() is not None]
            self._limit = _FEW + 2 * len(self._references)

    def all(self) -> list[Any]:
        """The objects that are alive."""
        return [found for each in self._references if (found := each()) is not None]

    def keep(self, objects: set[Any]) -> None:
        """Keep only these."""
        self._references = [each for each in self._references if each() in objects]
        self._limit = _FEW + 2 * len(self._references)


class Known:
    """The readers and holders of a node."""

    __slots__ = ("is_constant", "readers", "tensors")

    def __init__(self, is_constant: bool = False) -> None:
        self.is_constant = is_constant
        """True for a node that reads no buffer; its readers are not tracked."""
        self.readers = Alive()
        self.tensors = Alive()


class _KnownNodes:
    """The set of nodes with an entry."""

    def __contains__(self, node: object) -> bool:
        return _known(node) is not None


def _known(node: Any) -> Known | None:
    return getattr(node, "known", None)


class Readers:
    """The live tensors, indexed by the buffers that they need."""

    def __init__(self) -> None:
        self._new: list[weakref.ref[Any]] = []
        self._most_new = MOST_NEW
        self._is_looking = self._is_asked = False
        self._named: dict[int, Alive] = {}
        self._most_named = MOST_NEW
        self._alone: weakref.WeakSet[Alone] = weakref.WeakSet()
        self._watched: set[int] = set()
        """The numbers of the buffers whose `additions` are counted."""
        self.additions = 0
        """How often a reader or holder of one of these buffers was added."""

    def __len__(self) -> int:
        """The number of new tensors and of buffers with an entry."""
        return len(self._new) + len(self._named)

    def note(self, tensor: Any) -> None:
        """Register a tensor that is new, or holds another node."""
        with LOCK:
            self._new.append(weakref.ref(tensor))
            if len(self._new) > self._most_new:
                self._make_room()

    def of(self, numbers: set[int]) -> list[Any]:
        """The tensors that need one of these buffers, oldest first."""
        with LOCK:
            self._is_asked = True
            self._look()
            order = self._above(numbers)
            found = {id(t): t for node in order for t in _held(node)}
            _prune(order, [tensor.node for tensor in found.values()])
            return sorted(found.values(), key=lambda tensor: int(tensor._number))

    def holding(self, node: TensorNode) -> list[Any]:
        """The tensors that hold a node."""
        with LOCK:
            self._look()
            return [] if _known(node) is None else _held(node)

    def are_all(self, numbers: Iterable[int], known: Container[int]) -> bool:
        """True if all tensors that need one of these buffers are among `known`, a set of `id`s. It
        answers what `of` would find in a tenth of the time; False also if it is not certain."""
        with LOCK:
            self._is_asked = True
            self._look()
            named = self._named
            return all(_is_held_by(named[n], known) for n in numbers if n in named)

    def watch(self, alone: "Alone") -> None:
        """Count additions for the buffers of `alone`, for as long as it exists."""
        with LOCK:
            self._alone.add(alone)
            self._watched.update(alone.numbers)

    def counted(self) -> int:
        """The number of additions so far."""
        with LOCK:
            self._look()
            return self.additions

    def _make_room(self) -> None:
        if self._is_asked:
            self._look()
        elif not self._is_looking:
            self._new[:] = [each for each in self._new if each() is not None]
            self._most_new = max(2 * len(self._new), MOST_NEW)

    def _look(self) -> None:
        """Index the new tensors by their nodes. A tensor without a node stays new."""
        if self._is_looking:  # by this thread: garbage collection ran a user's code
            return
        self._is_looking = True
        try:
            new = self._new[:]
            with garbage.put_off() if len(new) > _FEW else nullcontext():
                self._new[: len(new)] = [each for each in new if self._is_without_node(each)]
            self._most_new = max(2 * len(self._new), MOST_NEW)
            self._forget_buffers()
        finally:
            self._is_looking = False

    def _is_without_node(self, reference: Any) -> bool:
        """True if a tensor has no node; otherwise it is indexed."""
        tensor = reference()
        if tensor is None:
            return False
        node = getattr(tensor, "node", None)
        if node is None:
            return True
        if _known(node) is None:
            for each in toposort([node], _KnownNodes()):
                self._enter(each)
        known = _known(node)
        if known is not None:
            known.tensors.add(tensor)
            self._count(node)
        return False

    def _count(self, node: TensorNode) -> None:
        if isinstance(node, Buffer) and node.unique in self._watched:
            self.additions += 1

    def _enter(self, node: TensorNode) -> None:
        """Add a node whose sources have entries."""
        if _known(node) is not None:
            return
        read = [known for each in node.sources if not (known := each.known).is_constant]
        for known in read:
            known.readers.add(node)
        for each in node.sources:
            self._count(each)
        if isinstance(node, Buffer):
            self._named.setdefault(node.unique, Alive()).add(node)
            self._count(node)
        _set(node, Known(is_constant=not read and not isinstance(node, Buffer)))

    def _forget_buffers(self) -> None:
        if len(self._named) > self._most_named:
            self._named = {number: held for number, held in self._named.items() if held.all()}
            self._watched = {n for each in self._alone for n in each.numbers}
            self._most_named = max(2 * len(self._named), MOST_NEW)

    def _above(self, numbers: set[int]) -> list[TensorNode]:
        """These buffers, and all nodes that depend on them."""
        named = [self._named[number] for number in sorted(numbers) if number in self._named]
        stack: list[TensorNode] = [node for held in named for node in held.all()]
        order: dict[TensorNode, None] = {}
        while stack:
            node = stack.pop()
            known = _known(node)
            if known is not None and node not in order:
                order[node] = None
                stack += known.readers.all()
        return list(order)


def _set(node: TensorNode, known: Known | None) -> None:
    object.__setattr__(node, "known", known)


def _held(node: TensorNode) -> list[Any]:
    """The tensors that hold a node."""
    return [tensor for tensor in node.known.tensors.all() if tensor.node is node]


def _is_held_by(buffers: Alive, known: Container[int]) -> bool:
    """True if nothing reads these nodes of one buffer, and only the `known` tensors hold one."""
    for reference in buffers._references:
        if (node := reference()) is None:
            continue
        if node.known.readers.all():
            return False
        for held in node.known.tensors._references:
            tensor = held()
            if tensor is not None and id(tensor) not in known and tensor.node is node:
                return False
    return True


def _prune(order: list[TensorNode], needed: list[TensorNode]) -> None:
    """Remove from the index all nodes of `order` that lead to no tensor."""
    within = set(order)
    useful: set[TensorNode] = set()
    stack = list(needed)
    while stack:
        node = stack.pop()
        if node not in useful:
            useful.add(node)
            stack += [source for source in node.sources if source in within]
    for node in order if len(useful) < len(order) else ():
        if node in useful or isinstance(node, Buffer):
            node.known.readers.keep(useful)
        else:
            _set(node, None)


READERS = Readers()


class Alone:
    """A cached answer: True if the known tensors are the only ones that need some buffers. It is
    checked again only after additions. The caller keeps buffers and tensors alive."""

    def __init__(self, numbers: frozenset[int], known: frozenset[int]) -> None:
        """`known` has the `id`s of tensors."""
        self.numbers = numbers
        self._known = known
        self._additions = -1
        READERS.watch(self)

    def holds(self) -> bool:
        """The answer of `Readers.are_all`."""
        with LOCK:
            now = READERS.counted()
            if now != self._additions:
                if not READERS.are_all(self.numbers, self._known):
                    return False
                self._additions = now
            return True
