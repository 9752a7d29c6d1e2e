"""Interned immutable nodes: structure-equal nodes are the same object.

A node class is a frozen dataclass that derives from `Node`; its first field is `sources`, the
nodes it reads, and its other fields are its arguments. Calling the class returns the one node
with these sources and arguments, so equality is identity, a graph snapshot costs nothing, and a
rewrite shares all it did not touch. Nothing here recurses: graphs may be 100,000 nodes deep.
"""

import dataclasses
import weakref
from collections.abc import Container, Hashable, Iterable, Mapping
from typing import Any, Self, TypeVar
from weakref import WeakValueDictionary

from compiler.core import forking
from compiler.core.origin import Origin, state

_table: "WeakValueDictionary[tuple[Any, ...], Any]" = WeakValueDictionary()
_references: dict[tuple[Any, ...], Any] = _table.data  # type: ignore[attr-defined]
_held = _references.get
_forget = _table._remove  # type: ignore[attr-defined]
_lock = forking.lock()


class Reference(weakref.ref[Any]):
    """A table's reference to an object. Python's own takes half a microsecond to be made."""

    __slots__ = ("key",)
    key: Hashable


class Interned(type):
    """Metaclass of nodes: construction looks the node up before it makes a new one."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != len(cls.__match_args__):  # type: ignore[attr-defined]
            args = _positional(cls, args, kwargs)
        key = (cls, state.origin, args)
        held = _held(key)  # the table's own get costs twice as much
        interned = None if held is None else held()
        if interned is not None:
            return interned
        node = super().__call__(*args)
        object.__setattr__(node, "origin", state.origin)
        reference = Reference(node, _forget)
        reference.key = key
        with _lock:
            interned = _references.setdefault(key, reference)()
            if interned is None:  # another thread's, which is gone
                _references[key] = reference
        return node if interned is None else interned


def unlike_others(cls: Any, *args: Any) -> Any:
    """A node with arguments that no node had before: it is not looked up."""
    node = type.__call__(cls, *args)
    object.__setattr__(node, "origin", state.origin)
    reference = Reference(node, _forget)
    reference.key = key = (cls, state.origin, args)
    _references[key] = reference
    return node


def _positional(cls: Any, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments in the order of the fields, defaults filled in."""
    fields = [f for f in dataclasses.fields(cls) if f.init]
    values = list(args)
    for field in fields[len(args) :]:
        if field.name in named:
            values.append(named[field.name])
        elif field.default is not dataclasses.MISSING:
            values.append(field.default)
        else:
            raise TypeError(f"{cls.__name__} misses its field '{field.name}'")
    return tuple(values)


@dataclasses.dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Node(metaclass=Interned):
    """Base of every node of every stage that is a DAG."""

    sources: "tuple[Any, ...]"
    origin: Origin | None = dataclasses.field(init=False)

    @property
    def arguments(self) -> dict[str, Any]:
        """The fields other than `sources`, by name."""
        return {name: getattr(self, name) for name in field_names(type(self))}

    def with_sources(self, sources: tuple[Any, ...]) -> Self:
        """The node of this kind and these arguments that reads `sources` instead."""
        return self if sources == self.sources else self.made_again(sources)

    def made_again(self, sources: tuple[Any, ...]) -> Self:
        """The node of this kind and these arguments that comes from the line that runs now."""
        kind = type(self)
        return kind(sources, *[getattr(self, name) for name in field_names(kind)])

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        return f"{type(self).__name__}({inside})"


def field_names(cls: type[Node]) -> tuple[str, ...]:
    """The names of the arguments of a node class: its fields without `sources`."""
    names: tuple[str, ...] = cls.__match_args__
    return names[1:]


N = TypeVar("N", bound=Node)


def toposort(roots: Iterable[N], leaves: Container[N] = frozenset()) -> list[N]:
    """All nodes reachable from `roots`, sources before users, in a deterministic order.

    The sources of `leaves` are not followed.
    """
    order: list[N] = []
    seen: set[N] = set()
    stack: list[Any] = list(roots)[::-1]  # a None says that the sources of the next are done
    pop = stack.pop
    while stack:
        node = pop()
        if node is None:
            order.append(pop())
        elif node not in seen:
            seen.add(node)
            sources = node.sources
            if not sources or node in leaves:
                order.append(node)
                continue
            stack += (node, None)
            stack += sources[::-1]
    return order


def users(order: Iterable[N]) -> dict[N, list[N]]:
    """For each node of `order` the nodes that read it, once per operand, in order."""
    table: dict[N, list[N]] = {}
    for node in order:
        table.setdefault(node, [])
        for source in node.sources:
            table.setdefault(source, []).append(node)
    return table


def substitute(root: N, replacements: Mapping[Any, Any]) -> N:
    """`root` with the given nodes replaced; everything else is rebuilt only where it must be."""
    done: dict[Any, Any] = dict(replacements)
    for node in toposort([root]):
        if node not in done:
            done[node] = node.with_sources(tuple(done[s] for s in node.sources))
    result: N = done[root]
    return result
