"""written: nodes and records as plain data that JSON can hold, and nodes and records made of it.

    rows    [kind, [row of each source, …], argument, …]        one per node, sources first
    value   null, true, 7, 0.5, "text"      itself
            ["t", value, …]                 a tuple
            ["d", "float32"]                an element type
            ["n", 3]                        the node of row 3
            ["f", module, name]             a function of this package, by its place
            ["r", kind, value, …]           a record: a frozen dataclass, field by field

Equal graphs, wherever their nodes were made, have equal rows. Only kinds that the reader and the
writer are given are written or made, and only functions at the top of a file of this package: rows
from anywhere make nothing else. Lines of origin are no part of it.

A kind is known once its file is loaded: `Writer.modules` names the files of all kinds that are
written, and a reader loads them first (`load_kinds`).
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from types import FunctionType
from typing import Any, TypeAlias

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.lazy import load
from compiler.core.node import Node, field_names, toposort
from compiler.core.origin import no_origin

Kinds: TypeAlias = Mapping[str, type]
_PLAIN = (int, str, bool, float, type(None))
_PACKAGE = __name__.partition(".")[0] + "."

FUNCTIONS = ("Custom", "CustomCall")
"""Kinds of nodes, at any stage, that call a function of the user's: one process alone knows it."""


def below(kind: type[Node]) -> Iterator[type[Node]]:
    """The kinds of this package that derive from a kind, but functions of the user's."""
    for each in kind.__subclasses__():
        module = sys.modules.get(each.__module__)
        # a class with slots is made of one without them, which may still be there
        is_whole = module is not None and getattr(module, each.__name__, None) is each
        if is_whole and each.__module__.startswith(_PACKAGE) and each.__name__ not in FUNCTIONS:
            yield each
        yield from below(each)


def place_of(function: object) -> tuple[str, str] | None:
    """Module and name of a function at the top of a file of this package; None for all else."""
    if type(function) is not FunctionType:
        return None
    module, name = function.__module__, function.__name__
    holder = sys.modules.get(module) if module.startswith(_PACKAGE) else None
    is_there = holder is not None and vars(holder).get(name) is function
    return (module, name) if is_there else None


def load_kinds(modules: Iterable[str]) -> None:
    """Load files of this package, in which kinds of nodes are. Raises `ValueError` for others."""
    for module in modules:
        if not module.startswith(_PACKAGE):
            raise ValueError(f"{module!r} is no file of this package")
        load(f"{module}:", "")


class Unwritable(Exception):
    """Something has no written form; `str` is the reason."""


class Writer:
    """Nodes and values, written; `rows` are those of all nodes that they led to."""

    def __init__(self, kinds: Kinds) -> None:
        self.rows: list[list[Any]] = []
        self._names = {kind: name for name, kind in kinds.items()}
        self._places: dict[Node, int] = {}
        self._kinds: set[type] = set()

    @property
    def modules(self) -> list[str]:
        """The files in which the kinds of all rows are, for `load_kinds`."""
        return sorted({kind.__module__ for kind in self._kinds})

    def node(self, root: Node) -> int:
        """The row of a node. Raises `Unwritable` for a kind that is not known."""
        places = self._places
        if root in places:
            return places[root]
        for node in toposort([root]):
            if node in places:
                continue
            kind = type(node)
            self._kinds.add(kind)
            row = [self._name(kind), [places[source] for source in node.sources]]
            row += [self.value(getattr(node, name)) for name in field_names(kind)]
            places[node] = len(self.rows)
            self.rows.append(row)
        return places[root]

    def value(self, value: Any) -> Any:
        """A value as plain data. Raises `Unwritable` for one of a kind that is not known."""
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is tuple:
            return ["t", *map(self.value, value)]
        if kind is DType:
            return ["d", value.name]
        if isinstance(value, Node):
            return ["n", self.node(value)]
        if kind is FunctionType:
            return ["f", *_placed(value)]
        name = self._name(kind)
        return ["r", name, *(self.value(getattr(value, f.name)) for f in fields(value))]

    def _name(self, kind: type) -> str:
        name = self._names.get(kind)
        if name is None:
            raise Unwritable(f"{kind.__name__} has no written form")
        return name


def _placed(function: FunctionType) -> tuple[str, str]:
    place = place_of(function)
    if place is None:
        raise Unwritable(f"the function {function.__qualname__} is known to one process alone")
    return place


class Reader:
    """The object that a `Writer` wrote. Rows that are malformed raise some `Exception`."""

    def __init__(self, kinds: Kinds, rows: Iterable[Sequence[Any]]) -> None:
        self._kinds = kinds
        self._nodes: list[Any] = []
        with no_origin():
            for name, sources, *arguments in rows:
                sources_of = (self._nodes[place] for place in sources)
                self._nodes.append(kinds[name](tuple(sources_of), *map(self.value, arguments)))

    def value(self, written: Any) -> Any:
        """The value of plain data."""
        if not isinstance(written, list):
            return written
        mark, *rest = written
        match mark:
            case "t":
                return tuple(map(self.value, rest))
            case "d":
                return dtypes.parse(rest[0])
            case "n":
                return self._nodes[rest[0]]
            case "r":
                return self._kinds[rest[0]](*map(self.value, rest[1:]))
            case "f":
                return _function(*rest)
        raise ValueError(f"no value begins with {mark!r}")


def _function(module: str, name: str) -> Any:
    """The function at a place. Raises `ValueError` where there is none of this package's."""
    load_kinds([module])
    value = getattr(sys.modules[module], name, None)
    if place_of(value) != (module, name):
        raise ValueError(f"{module} has no function {name!r} of its own")
    return value
