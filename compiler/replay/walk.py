"""A walk through the state that a function may read: from its code to the objects it can reach.

Of modules, classes and objects only attributes that some code names are followed.
"""

import inspect
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from compiler.core.errors import JitError
from compiler.core.origin import caller
from compiler.replay import classes, guards, libraries
from compiler.replay.code import Chain, Reads, reads
from compiler.replay.guards import Guard, Guards
from compiler.tensors.value import TensorValue

MOST = 200_000
"""The maximal number of objects visited; a function that reaches more is not replayed."""


class Unguarded(Exception):
    """A function reads something without a row: the message names it."""


@dataclass(slots=True)
class Surroundings:
    """The state that a function may read, at the time of its capture."""

    guards: Guards = field(default_factory=Guards)
    tensors: list[TensorValue] = field(default_factory=list)
    asks_type: bool = False
    """True if some code calls `type`, which distinguishes traced numbers from plain ones."""
    seen: dict[int, Any] = field(default_factory=dict)
    """The objects visited, by `id`, until the function was called."""

    def changed(self) -> str:
        """The first change, in words; "" if there is none."""
        return self.guards.changed()

    def restore(self) -> None:
        """Undo the function's changes to Python state, before it is called again.

        Raises `JitError` if a change cannot be undone: a second call would apply it twice.
        """
        if left := self.guards.restore():
            raise JitError(
                "jit", "a function has to be called again to be captured, and changed state",
                got=left, expected="state that can be put back", origin=caller("jit"),
                hint="call it without jit, or keep what it changes in tensors",
            )  # fmt: skip

    def forget(self) -> None:
        """The function is captured: drop what only the capture needs."""
        self.guards.forget()
        self.tensors.clear()
        self.seen.clear()


class Row(NamedTuple):
    """One kind of object."""

    name: str
    guarded: str
    """A description of how it is compared."""
    is_kind: Callable[[Any], bool]
    follow: Callable[["Walk", Any, str], None]


class Walk:
    """Follows the state that a function may read."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.found = Surroundings()
        self.names: set[str] = set()
        """The names that code visited so far reads."""
        self.is_dynamic = False
        """True if some of it computes attribute names."""
        self.seen = self.found.seen
        self.waiting: list[tuple[Any, str]] = []
        self.late: list[tuple[Late, set[str]]] = []
        """Objects of which only named attributes count, with the names already visited."""
        self.codes: set[int] = set()
        self.settings: set[str] = set()
        """Settings of Python and NumPy that have a guard."""
        self.guarded: dict[int, set[str]] = {}
        """Keys of dictionaries that have a guard."""

    def look(self, value: Any, where: str) -> None:
        """Add a value to follow."""
        if type(value) in classes.PLAIN or id(value) in self.seen:
            return
        self.seen[id(value)] = value  # kept alive, so that its id stays unique
        if isinstance(value, TensorValue):
            self.found.tensors.append(value)
        else:
            self.waiting.append((value, where))

    def run(self) -> None:
        """Follow all values. New code names more attributes, so objects are visited again."""
        while self.waiting or self._look_by_name():
            while self.waiting:
                if len(self.seen) > MOST:
                    raise Unguarded(f"it reads more than {MOST} objects")
                value, where = self.waiting.pop()
                row = self._row_of(value)
                if row is None:
                    raise Unguarded(f"it reads {described(value, where)}")
                row.follow(self, value, where)

    def guard(self, guard: Guard) -> None:
        """Add a guard for values that are followed by other rules."""
        self.found.guards.apart.append(guard)

    def follow(self, guard: Guard) -> None:
        """Add a guard, and follow its values."""
        self.guard(guard)
        for name, each in zip(guard.names, guard.values, strict=True):
            self.look(each, f"{guard.where}.{name}" if guard.where else str(name))

    def elements(self, where: str, container: Any) -> None:
        """Guard the elements of a container, and follow them."""
        guard = guards.Elements(where, container)
        self.found.guards.elements.append(guard)
        for number, each in enumerate(guard.values):
            self.look(each, f"{where}.{number}")

    def items(self, where: str, held: Any) -> None:
        """Guard the keys and values of a dictionary, and follow them."""
        before = dict(held)
        keys = guards.Elements(where, held, held, before)
        values = guards.Elements(where, held.values(), held, before)
        self.found.guards.elements += (keys, values)
        for key, each in zip(keys.values, values.values, strict=True):
            self.look(key, where)
            self.look(each, f"{where}.{key}")

    def contents(self, where: str, read: Callable[[], Any], array: Any = None) -> None:
        """Guard a value that each read creates anew, from an `array` if given."""
        self.found.guards.whole.append(guards.Contents(where, read, read(), array))

    def once(self, where: str, read: Callable[[], Any]) -> None:
        """Guard a setting of Python or NumPy, once."""
        if where not in self.settings:
            self.settings.add(where)
            self.contents(where, read)

    def names_in(self, where: str, namespace: Any, names: Sequence[str]) -> list[str]:
        """Guard some keys of a dictionary; returns those without a guard before."""
        done = self.guarded.setdefault(id(namespace), set())
        new = [name for name in names if name not in done]
        done.update(new)
        if new:
            self.guard(guards.of_names(where, namespace, new))
        return new

    def by_name(self, where: str, held: "Late") -> None:
        """Guard the attributes that code names, now and when more code is found."""
        self.late.append((held, set()))

    def code(self, function: types.FunctionType) -> None:
        """Follow everything that the code of a function reads."""
        if id(function.__code__) in self.codes:
            return
        self.codes.add(id(function.__code__))
        read = reads(function.__code__)
        self.names |= read.names
        self.is_dynamic |= read.is_dynamic
        if "__subclasses__" in read.names:
            raise Unguarded("it asks a class for its subclasses")
        if read.writes_text:
            self.once("numpy.get_printoptions()", np.get_printoptions)
        for name in read.imports:
            self._imported(name)
        self._globals(function.__globals__, read)

    def _imported(self, name: str) -> None:
        if name not in sys.modules:
            raise Unguarded(f"it imports {name} for the first time")
        parts = name.split(".")
        names = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
        self.names_in("sys.modules", sys.modules, names)
        for each in names:
            self.look(sys.modules[each], each)

    def _globals(self, namespace: dict[str, Any], read: Reads) -> None:
        heads = {chain[0] for chain in read.chains}  # "@…": from a tool that rewrites asserts
        self.names_in("", namespace, sorted(name for name in heads if name[0] != "@"))
        built_in = namespace.get("__builtins__", {})
        built_in = vars(built_in) if isinstance(built_in, types.ModuleType) else built_in
        for chain in read.chains:
            if chain[0] in namespace and chain[0][0] != "@":
                self.chain(namespace[chain[0]], chain)
            elif chain[0] in built_in:
                self.names_in("builtins", built_in, chain[:1])
                self._built_in(chain, built_in[chain[0]])

    def _built_in(self, chain: Chain, value: Any) -> None:
        self.found.asks_type |= value is type
        if not libraries.is_pure(f"builtins.{chain[0]}"):
            raise Unguarded(f"it calls {chain[0]}()")
        if libraries.module_of(value) != "builtins":  # put there by other code
            self.chain(value, chain)

    def chain(self, value: Any, chain: Chain) -> None:
        """Follow attributes that are read directly from a global: of modules only these count."""
        where, rest = chain[0], chain[1:]
        while isinstance(value, types.ModuleType) and rest:
            if classes.is_known_module(value):
                name = ".".join((value.__name__, *rest))
                if not libraries.is_pure(name):
                    raise Unguarded(f"it calls {name}")
                inner = vars(value).get(rest[0])
                if not isinstance(inner, types.ModuleType):
                    self._of_library(value, where, rest[0])
                    return
            held = vars(value)
            self.names_in(where, held, rest[:1])
            if rest[0] not in held:  # the module computes it
                self.look(value, where)
                return
            value, where, rest = held[rest[0]], f"{where}.{rest[0]}", rest[1:]
        if isinstance(value, type) and rest:
            name = ".".join((libraries.module_of(value), value.__qualname__, rest[0]))
            if libraries.is_python(value) and not libraries.is_pure(name):
                raise Unguarded(f"it calls {name}")
        self.names.update(rest)
        self.look(value, where)

    def _of_library(self, module: types.ModuleType, where: str, name: str) -> None:
        """Guard a function, class or constant of a library by identity."""
        held = vars(module)
        value = held.get(name)
        self.found.asks_type |= "type" in _names_of(value)
        if name in held:
            self.names_in(where, held, [name])
            if isinstance(value, types.FunctionType) and not libraries.is_library(value):
                self.look(value, f"{where}.{name}")  # a user's object, put there

    def _row_of(self, value: Any) -> Row | None:
        return next((row for row in self.rows if row.is_kind(value)), None)

    def _look_by_name(self) -> bool:
        for held, done in self.late:
            held.look(self, done)
        return bool(self.waiting)


def _names_of(value: Any) -> tuple[str, ...]:
    """The names in the code of a function; empty for anything else."""
    code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
    return () if code is None else code.co_names


class Late(Protocol):
    """An object of which only the attributes count that code names."""

    def look(self, walk: Walk, done: set[str]) -> None:
        """Guard the attributes that are not `done`."""


@dataclass(slots=True)
class OfModule:
    """A module that is passed as a value, or imported in a function."""

    module: types.ModuleType
    where: str

    def look(self, walk: Walk, done: set[str]) -> None:
        """Guard attributes that code names and that are not `done`."""
        held, is_known = vars(self.module), classes.is_known_module(self.module)
        wanted = [n for n in held if n not in done and (walk.is_dynamic or n in walk.names)]
        if not is_known:
            wanted += sorted(name for name in walk.names - done if name not in held)
            wanted += [n for n in ("__getattr__", "__dir__") if n in held and n not in wanted]
            wanted = [name for name in wanted if name not in done]
        done.update(wanted)
        for name in wanted:
            if is_known and not libraries.is_pure(f"{self.module.__name__}.{name}"):
                raise Unguarded(f"it may call {self.module.__name__}.{name}")
        if not is_known:
            walk.names_in(self.where, held, wanted)
            for name in filter(held.__contains__, wanted):
                walk.look(held[name], f"{self.where}.{name}")


@dataclass(slots=True)
class OfClass:
    """A user's class: its special methods, the attributes that code names, and their number,
    because a new one may shadow that of a base class, or change the result of `hasattr`."""

    kind: type
    where: str

    def look(self, walk: Walk, done: set[str]) -> None:
        """Guard attributes that code names and that are not `done`."""
        held = vars(self.kind)
        if not done:
            done.add("")
            walk.guard(guards.of_size(self.where, held))
            walk.guard(guards.of_parts(self.where, self.kind, ["__mro__"]))
        named = [n for n in ("__name__", "__qualname__") if n in walk.names and n not in done]
        if named:
            walk.guard(guards.of_parts(self.where, self.kind, named))
        done.update(named)
        wanted = [n for n in held if n not in done and self._counts(walk, n)]
        done.update(wanted)
        walk.names_in(self.where, held, wanted)
        for name in wanted:
            walk.look(held[name], f"{self.where}.{name}")

    def _counts(self, walk: Walk, name: str) -> bool:
        if name in _NEVER:
            return False
        is_special = name.startswith("__") and name not in _TEXTS
        return walk.is_dynamic or name in walk.names or is_special


_NEVER = frozenset({
    "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__", "__abstractmethods__",
    "_abc_impl", "__dataclass_params__", "__parameters__", "__orig_bases__", "__annotate__",
    "__annotate_func__", "__annotations_cache__", "__classdictcell__",
})  # fmt: skip
_TEXTS = frozenset({"__module__", "__doc__", "__qualname__", "__name__", "__annotations__"})
"""Attributes of classes and functions that no operation reads unless code names them."""


@dataclass(slots=True)
class OfFunction:
    """A function: its name and its docstring, if code names them."""

    function: types.FunctionType
    where: str

    def look(self, walk: Walk, done: set[str]) -> None:
        """Guard attributes that code names and that are not `done`."""
        names = sorted((_TEXTS & walk.names) - done)
        done.update(names)
        if names:
            walk.follow(guards.of_parts(self.where, self.function, names))


@dataclass(slots=True)
class OfObject:
    """A user's object: its class, and the attributes that code names."""

    value: Any
    where: str

    def look(self, walk: Walk, done: set[str]) -> None:
        """Guard attributes that code names and that are not `done`."""
        held = classes.namespace_of(self.value)
        slots = classes.slots_of(type(self.value))
        of_class = {n for base in type(self.value).__mro__ for n in vars(base)}
        wanted = [
            n for n in sorted({*filter(_is_text, held), *slots, *of_class})
            if n not in done and (walk.is_dynamic or n in walk.names)
        ]
        if done and not wanted:
            return
        done.update(wanted)
        done.add("")
        in_slots = [slots[name] for name in wanted if name in slots]
        names = [name for name in wanted if name in held or name not in slots]
        walk.follow(guards.of_attributes(self.where, self.value, held, names, in_slots))


@dataclass(slots=True)
class OfLock:
    """A lock: `with` leaves it unchanged; whether it is held cannot be compared."""

    where: str

    def look(self, walk: Walk, done: set[str]) -> None:
        """Raise `Unguarded` if code queries its state."""
        if not _ASKS_LOCK.isdisjoint(walk.names):
            raise Unguarded(f"it may ask {self.where or 'a lock'} whether it is held")


_ASKS_LOCK = frozenset({"locked", "acquire", "acquire_lock", "_is_owned", "_recursion_count"})


def _is_text(name: Any) -> bool:
    return isinstance(name, str)


def described(value: Any, where: str) -> str:
    """A description of an object without a row."""
    if isinstance(value, types.BuiltinFunctionType | types.FunctionType | type):
        name = f"{libraries.module_of(value)}.{value.__qualname__}".strip(".")
        return f"{name}, which may give another result in each call"
    kind = type(value)
    name = f"{libraries.module_of(kind)}.{kind.__qualname__}"
    return f"{where or 'an object'}, a {name}, whose state cannot be compared"
