"""Guards: places that a captured function may read, with their values at capture.

Objects are compared by identity, numbers and text by value, memory of arrays byte by byte. A replay
is allowed if no guard finds a change. If a capture has to call a function twice, guards restore the
values before the second call, as far as they can; after the capture they drop what only restoring
needs.
"""

import math
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter, call, is_, itemgetter
from types import CellType, FunctionType, MemberDescriptorType, MethodType
from typing import Any, TypeAlias

import numpy as np

_ABSENT = object()
_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_ERRORS = (KeyError, AttributeError, ValueError, IndexError)
"""Raised by a place that no longer exists."""
Place: TypeAlias = tuple[Callable[[Any], Any], Any]
"""A function, and the argument for which it returns the value at the place."""


@dataclass(slots=True)
class Guard:
    """The values at some places of one object."""

    where: str
    names: Sequence[Any]
    places: Sequence[Place]
    namespace: Any = ()
    """The dictionary, for places that are keys."""
    is_sized: bool = False
    """True if the length of the dictionary counts, too."""
    values: list[Any] = field(init=False)
    size: int = field(init=False)
    keys: tuple[Any, ...] = field(init=False)
    """All keys of the dictionary if its length counts, until the function is captured."""

    def __post_init__(self) -> None:
        self.values = self.read()
        self.keys = tuple(self.namespace) if self.is_sized else ()
        self.size = len(self.keys)

    def read(self) -> list[Any]:
        """The current values, in order."""
        return [_value(*place) for place in self.places]

    def changed(self) -> str:
        """The name of the first changed value; "" if there is none."""
        now = self.read()
        for name, old, new in zip(self.names, self.values, now, strict=True):
            if old is not new and not is_equal(old, new):
                return f"{self.where}.{name}" if self.where else str(name)
        if self.is_sized and len(self.namespace) != self.size:
            return self.where
        self.values = now
        return ""

    def restore(self) -> None:
        """Restore the values at capture."""
        for (function, key), old, now in zip(self.places, self.values, self.read(), strict=True):
            if old is not now:
                _put(self.namespace, function, key, old)
        if self.is_sized and isinstance(self.namespace, dict):
            for key in self.namespace.keys() - set(self.keys):
                del self.namespace[key]

    def forget(self) -> None:
        """Drop what only `restore` needs."""
        self.keys = ()


def _put(namespace: Any, function: Any, key: Any, old: Any) -> None:
    """Write a value back to a place; does nothing if the place is read-only."""
    owner = getattr(function, "__self__", None)
    if function is _CELL:
        if old is _ABSENT:
            del key.cell_contents
        else:
            key.cell_contents = old
    elif owner is namespace and isinstance(namespace, dict):
        if old is _ABSENT or function.__name__ == "__contains__":
            namespace.pop(key, None)
        else:
            namespace[key] = old
    elif isinstance(owner, MemberDescriptorType):
        if old is _ABSENT:
            owner.__delete__(key)
        else:
            owner.__set__(key, old)


def _value(function: Callable[[Any], Any], key: Any) -> Any:
    try:
        return function(key)
    except _ERRORS:
        return _ABSENT


def is_equal(old: Any, new: Any) -> bool:
    """True for the same number or text of the same type; 0.0 and -0.0 differ."""
    if type(old) is not type(new) or not isinstance(new, _PLAIN):
        return isinstance(old, MethodType) and old == new
    if isinstance(old, float) and isinstance(new, float):
        both_nan = math.isnan(old) and math.isnan(new)
        return both_nan or (old == new and math.copysign(1, old) == math.copysign(1, new))
    if isinstance(old, complex) and isinstance(new, complex):
        return is_equal(old.real, new.real) and is_equal(old.imag, new.imag)
    return bool(old == new)


_CELL = attrgetter("cell_contents")
_OF_FUNCTION = ("__code__", "__defaults__", "__kwdefaults__")
_PARTS = tuple(map(attrgetter, _OF_FUNCTION))
_ALL_PARTS = attrgetter(*_OF_FUNCTION)


def of_cell(where: str, name: str, cell: CellType) -> Guard:
    """A guard of a variable of an enclosing function."""
    return Guard(where, [name], [(_CELL, cell)])


def of_names(where: str, namespace: Mapping[str, Any], names: Sequence[str]) -> Guard:
    """A guard of some keys of a dictionary; missing ones have to stay missing."""
    return Guard(where, names, _places(namespace, names), namespace)


def of_size(where: str, namespace: Mapping[str, Any]) -> Guard:
    """A guard of the number of keys of a dictionary."""
    return Guard(where, [], [], namespace, True)


def of_attributes(
    where: str, value: Any, namespace: Mapping[str, Any], names: Sequence[str], slots: Sequence[Any]
) -> Guard:
    """A guard of the class of an object, the length of its dictionary, and some attributes."""
    places = [(type, value), *_places(namespace, names), *((each.__get__, value) for each in slots)]
    labels = ["__class__", *names, *(each.__name__ for each in slots)]
    return Guard(where, labels, places, namespace, True)


def of_parts(where: str, value: Any, names: Sequence[str]) -> Guard:
    """A guard of attributes that Python does not keep in a dictionary."""
    return Guard(where, names, [(attrgetter(name), value) for name in names])


def of_function(where: str, function: FunctionType) -> Guard:
    """A guard of the replaceable parts of a function, and its number of attributes."""
    places = [(get, function) for get in _PARTS]
    return Guard(where, _OF_FUNCTION, places, function.__dict__, True)


def of_settings(*places: Place) -> Guard:
    """A guard of the compiler's own settings."""
    return Guard("", ["a setting"] * len(places), places)


def _places(namespace: Mapping[str, Any], names: Sequence[str]) -> list[Place]:
    item, is_there = namespace.__getitem__, namespace.__contains__
    return [(item if name in namespace else is_there, name) for name in names]


@dataclass(slots=True)
class Elements:
    """The elements of a container, in order, by identity."""

    where: str
    container: Any
    owner: Any = None
    """The dictionary that `container` is a view of, until the function is captured."""
    entries: Mapping[Any, Any] = field(default_factory=dict)
    """A copy of that dictionary, until the function is captured."""
    values: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.values = list(self.container)

    def holds(self) -> bool:
        """True if each element is the same object as before."""
        values = self.values
        return len(self.container) == len(values) and all(map(is_, self.container, values))

    def changed(self) -> str:
        """The name of the first changed element; "" if there is none."""
        now = list(self.container)
        if len(now) != len(self.values):
            return self.where
        for number, (old, new) in enumerate(zip(self.values, now, strict=True)):
            if old is not new and not is_equal(old, new):
                return f"{self.where}.{number}"
        self.values = now
        return ""

    def restore(self) -> None:
        """Restore the elements of a list, deque, set or dictionary."""
        held = self.container
        if isinstance(self.owner, dict):
            self.owner.clear()
            self.owner.update(self.entries)
        elif isinstance(held, list):
            held[:] = self.values
        elif isinstance(held, deque):
            held.clear()
            held.extend(self.values)
        elif isinstance(held, set):
            held.clear()
            held.update(self.values)

    def forget(self) -> None:
        """Drop what only `restore` needs."""
        self.owner, self.entries = None, {}


@dataclass(slots=True)
class Contents:
    """A value that each read creates anew, such as the bytes of an array."""

    where: str
    read: Callable[[], Any]
    before: Any
    array: Any = None
    """The memory that is read, if it is a writable array or bytes."""

    def holds(self) -> bool:
        """True if the values are equal to those at capture."""
        try:
            return bool(self.read() == self.before)
        except Exception:  # it is closed, or was changed into something else
            return False

    def changed(self) -> str:
        """The name of the place if it has changed."""
        return "" if self.holds() else self.where

    def restore(self) -> None:
        """Restore bytes, and the elements of an array of the same shape and type."""
        if isinstance(self.array, np.ndarray) and _kind(self.array) == self.before[:2]:
            old = np.frombuffer(self.before[2], self.array.dtype)
            self.array[...] = old.reshape(self.array.shape)
        elif isinstance(self.array, bytearray):
            self.array[:] = self.before[1]
        elif isinstance(self.array, array):
            del self.array[:]
            self.array.frombytes(self.before[1])


@dataclass(slots=True)
class LargeArray:
    """The elements of an array that is too large to be copied to bytes at each check."""

    where: str
    array: Any
    kind: tuple[Any, ...]
    before: Any

    @classmethod
    def of(cls, where: str, array: Any) -> "LargeArray":
        """A guard of the current content of `array`."""
        return cls(where, array, _kind(array), np.array(array, order="C", subok=False))

    def holds(self) -> bool:
        """True if no byte differs."""
        if _kind(self.array) != self.kind:
            return False
        now = np.asarray(self.array, order="C")
        return bool(np.array_equal(_words(now), _words(self.before)))

    def changed(self) -> str:
        """The name of the array if it has changed."""
        return "" if self.holds() else self.where

    def restore(self) -> None:
        """Restore the elements of an array of the same shape and type."""
        if isinstance(self.array, np.ndarray) and _kind(self.array) == self.kind:
            self.array[...] = self.before


def _kind(array: Any) -> tuple[Any, ...]:
    return array.shape, array.dtype


def _words(array: Any) -> Any:
    flat = array.reshape(-1)
    return flat.view(np.uint64 if flat.nbytes % 8 == 0 else np.uint8)


SMALL = 1 << 16
"""The size in bytes up to which an array is compared as bytes. Chosen, not measured."""


def of_array(where: str, held: Any) -> Contents | LargeArray:
    """A guard of the shape, type and elements of an array of numbers."""
    if held.nbytes > SMALL:
        return LargeArray.of(where, held)

    def read() -> Any:
        return held.shape, held.dtype, held.tobytes()

    return Contents(where, read, read(), held)


@dataclass(slots=True)
class Guards:
    """All guards of a function, checked together by a few calls."""

    apart: list[Guard] = field(default_factory=list)
    elements: list[Elements] = field(default_factory=list)
    whole: list[Contents | LargeArray] = field(default_factory=list)
    _columns: "_Columns | None" = None

    def changed(self) -> str:
        """The first change, in words; "" if there is none."""
        columns = self._columns or _Columns.of(self.apart, self.elements)
        if columns.hold() and (not self.whole or all(each.holds() for each in self.whole)):
            self._columns = columns
            return ""
        for each in (*self.apart, *self.elements, *self.whole):
            if name := each.changed():
                return f"{name} changed"
        self._columns = None  # other objects that are equal
        return ""

    def restore(self) -> str:
        """Restore all values; the first one that could not be restored, in words, or ""."""
        for each in (*self.apart, *self.elements, *self.whole):
            if each.changed():
                each.restore()
        return self.changed()

    def forget(self) -> None:
        """Drop what only `restore` needs: the function is captured."""
        for guard in self.apart:
            guard.forget()
        for each in self.elements:
            each.forget()


_EXACT: tuple[type, ...] = (list, set, frozenset, deque, dict, type({}.keys()), type({}.values()))
"""Containers with as many elements as their length; a subclass may behave differently."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """Guards of single places and of elements as a few long columns, which C code compares."""

    getters: list[Any]
    """A getter of several keys, or of parts of a function, for each of `namespaces`."""
    namespaces: list[Any]
    objects: list[Any]
    """Objects whose class is guarded."""
    functions: list[Any]
    """For each of `keys`, a function that returns the value at the place."""
    keys: list[Any]
    containers: list[Any]
    sized: list[Any]
    sizes: list[int]
    """The lengths of the columns above, and of `containers`."""
    values: list[Any]
    """The values at capture: of `namespaces`, the classes of `objects`, of `keys`, and the elements
    of `containers`, in this order."""
    others: list[Elements]
    """Guards of containers with rules of their own."""

    @classmethod
    def of(cls, guards: Iterable[Guard], elements: Iterable[Elements]) -> "_Columns":
        """The columns for these guards."""
        items: list[Any] = []
        kinds: list[Any] = []
        fetched: list[Any] = []
        columns = cls([], [], [], [], [], [], [], [], [], [])
        for guard in guards:
            columns._add(guard, items, kinds, fetched)
        exact = [each for each in elements if type(each.container) in _EXACT]
        columns.others.extend(each for each in elements if type(each.container) not in _EXACT)
        columns.containers.extend(each.container for each in exact)
        columns.sized.extend(columns.containers)
        columns.sizes.extend(len(each.values) for each in exact)
        columns.values.extend(chain(items, kinds, fetched, *(each.values for each in exact)))
        return columns

    def _add(self, guard: Guard, items: list[Any], kinds: list[Any], fetched: list[Any]) -> None:
        keys: list[Any] = []
        values: list[Any] = []
        if guard.names is _OF_FUNCTION:
            self.getters.append(_ALL_PARTS)
            self.namespaces.append(guard.places[0][1])
            items.extend(guard.values)
            self._add_size(guard)
            return
        for (function, key), value in zip(guard.places, guard.values, strict=True):
            if getattr(function, "__name__", "") == "__getitem__":
                keys.append(key)
                values.append(value)
            elif function is type:
                self.objects.append(key)
                kinds.append(value)
            else:
                self.functions.append(function)
                self.keys.append(key)
                fetched.append(value)
        if keys:
            self.namespaces.append(guard.namespace)
            self.getters.append(itemgetter(*keys, keys[0]))  # of two or more keys: a tuple
            items.extend([*values, values[0]])
        self._add_size(guard)

    def _add_size(self, guard: Guard) -> None:
        if guard.is_sized:
            self.sized.append(guard.namespace)
            self.sizes.append(guard.size)

    def hold(self) -> bool:
        """True if every value is the same object. Lengths come first, so that the values stay
        aligned."""
        now = chain(
            chain.from_iterable(map(call, self.getters, self.namespaces)),
            map(type, self.objects),
            map(call, self.functions, self.keys),
            chain.from_iterable(self.containers),
        )
        try:
            is_same = list(map(len, self.sized)) == self.sizes and all(map(is_, now, self.values))
        except _ERRORS:
            return False
        return is_same and (not self.others or all(each.holds() for each in self.others))
