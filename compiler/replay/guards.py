"""Guards: places that a captured function may read, with the values that stood there.

Objects are compared by identity, numbers and text by value, memory of arrays byte by byte. A replay
is allowed while every guard finds what stood there. Where a function has to be called again to be
captured, guards put back what stood there, as far as they can.
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
"""Raised by a place that holds nothing any more."""
Place: TypeAlias = tuple[Callable[[Any], Any], Any]
"""A function, and the argument for which it gives the value at the place."""


@dataclass(slots=True)
class Guard:
    """The values that stood at some places of one object."""

    where: str
    names: Sequence[Any]
    places: Sequence[Place]
    namespace: Any = ()
    """The dictionary of places that are keys."""
    is_sized: bool = False
    """True if the length of the dictionary counts, too."""
    values: list[Any] = field(init=False)
    keys: tuple[Any, ...] = field(init=False)
    """All keys of the dictionary where its length counts."""

    def __post_init__(self) -> None:
        self.values = self.read()
        self.keys = tuple(self.namespace) if self.is_sized else ()

    def read(self) -> list[Any]:
        """The values now, in order."""
        return [_value(*place) for place in self.places]

    def changed(self) -> str:
        """The name of the first value that differs now; "" where there is none."""
        now = self.read()
        for name, old, new in zip(self.names, self.values, now, strict=True):
            if old is not new and not is_equal(old, new):
                return f"{self.where}.{name}" if self.where else str(name)
        if self.is_sized and len(self.namespace) != len(self.keys):
            return self.where
        self.values = now
        return ""

    def restore(self) -> None:
        """Put back what stood there."""
        for (function, key), old, now in zip(self.places, self.values, self.read(), strict=True):
            if old is not now:
                _put(self.namespace, function, key, old)
        if self.is_sized and isinstance(self.namespace, dict):
            for key in self.namespace.keys() - set(self.keys):
                del self.namespace[key]


def _put(namespace: Any, function: Any, key: Any, old: Any) -> None:
    """Put a value back at a place; where that cannot be written, nothing."""
    owner = getattr(function, "__self__", None)
    if function is _CELL:
        if old is _ABSENT:
            del key.cell_contents
        else:
            key.cell_contents = old
    elif owner is namespace and isinstance(namespace, dict):
        if old is _ABSENT or (old is None and function.__name__ == "get"):
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


def of_cell(where: str, name: str, cell: CellType) -> Guard:
    """A variable of a function around."""
    return Guard(where, [name], [(_CELL, cell)])


def of_names(where: str, namespace: Mapping[str, Any], names: Sequence[str]) -> Guard:
    """Some keys of a dictionary; one that is missing stays so."""
    return Guard(where, names, _places(namespace, names), namespace)


def of_size(where: str, namespace: Mapping[str, Any]) -> Guard:
    """How many keys a dictionary has."""
    return Guard(where, [], [], namespace, True)


def of_attributes(
    where: str, value: Any, namespace: Mapping[str, Any], names: Sequence[str], slots: Sequence[Any]
) -> Guard:
    """The class of an object, the length of its dictionary, and some of its attributes."""
    places = [(type, value), *_places(namespace, names), *((each.__get__, value) for each in slots)]
    labels = ["__class__", *names, *(each.__name__ for each in slots)]
    return Guard(where, labels, places, namespace, True)


def of_function(where: str, function: FunctionType) -> Guard:
    """The parts of a function that can be replaced, and how many attributes it has."""
    places = [(attrgetter(name), function) for name in _OF_FUNCTION]
    return Guard(where, _OF_FUNCTION, places, function.__dict__, True)


def _places(namespace: Mapping[str, Any], names: Sequence[str]) -> list[Place]:
    item, get = namespace.__getitem__, namespace.get
    return [(item if name in namespace else get, name) for name in names]


@dataclass(slots=True)
class Elements:
    """The elements of a container, in order, by identity."""

    where: str
    container: Any
    owner: Any = None
    """The dictionary that `container` is a view of."""
    entries: Mapping[Any, Any] = field(default_factory=dict)
    """A copy of that dictionary."""
    values: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.values = list(self.container)

    def holds(self) -> bool:
        """True if each is the same object as before."""
        values = self.values
        return len(self.container) == len(values) and all(map(is_, self.container, values))

    def changed(self) -> str:
        """The name of the first one that differs now; "" where there is none."""
        now = list(self.container)
        if len(now) != len(self.values):
            return self.where
        for number, (old, new) in enumerate(zip(self.values, now, strict=True)):
            if old is not new and not is_equal(old, new):
                return f"{self.where}.{number}"
        self.values = now
        return ""

    def restore(self) -> None:
        """Put back the elements of a list, deque, set or dictionary."""
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


@dataclass(slots=True)
class Contents:
    """Values that are made anew at each look, such as the bytes of an array."""

    where: str
    read: Callable[[], Any]
    before: Any
    array: Any = None
    """The memory that is read, where it is an array or bytes that can be written."""

    def holds(self) -> bool:
        """True if they are equal to what they were."""
        try:
            return bool(self.read() == self.before)
        except Exception:  # it is closed, or was made something else
            return False

    def changed(self) -> str:
        """The name of the place if they differ now."""
        return "" if self.holds() else self.where

    def restore(self) -> None:
        """Put back bytes, and the elements of an array of the same shape and type."""
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
    """The elements of an array that is too large to make bytes of it at each look."""

    where: str
    array: Any
    kind: tuple[Any, ...]
    before: Any

    @classmethod
    def of(cls, where: str, array: Any) -> "LargeArray":
        """What `array` holds now."""
        return cls(where, array, _kind(array), np.array(array, order="C", subok=False))

    def holds(self) -> bool:
        """True if no byte differs."""
        if _kind(self.array) != self.kind:
            return False
        now = np.asarray(self.array, order="C")
        return bool(np.array_equal(_words(now), _words(self.before)))

    def changed(self) -> str:
        """The name of the array if it differs now."""
        return "" if self.holds() else self.where

    def restore(self) -> None:
        """Put back the elements of an array of the same shape and type."""
        if isinstance(self.array, np.ndarray) and _kind(self.array) == self.kind:
            self.array[...] = self.before


Whole: TypeAlias = Elements | Contents | LargeArray
"""Guards that look at a whole object."""


def _kind(array: Any) -> tuple[Any, ...]:
    return array.shape, array.dtype


def _words(array: Any) -> Any:
    flat = array.reshape(-1)
    return flat.view(np.uint64 if flat.nbytes % 8 == 0 else np.uint8)


SMALL = 1 << 16
"""Bytes of an array up to which it is compared as bytes. Chosen, not measured."""


def of_array(where: str, held: Any) -> Whole:
    """A guard of the shape, type and elements of an array of numbers."""
    if held.nbytes > SMALL:
        return LargeArray.of(where, held)

    def read() -> Any:
        return held.shape, held.dtype, held.tobytes()

    return Contents(where, read, read(), held)


@dataclass(slots=True)
class Guards:
    """All guards of a function; together they are looked at by a few calls."""

    apart: list[Guard] = field(default_factory=list)
    whole: list[Whole] = field(default_factory=list)
    _fast: "_Fast | None" = None

    def changed(self) -> str:
        """The first thing that differs now, in words; "" while nothing does."""
        fast = self._fast or _Fast.of(self.apart)
        if fast.holds() and all(each.holds() for each in self.whole):
            self._fast = fast
            return ""
        for each in (*self.apart, *self.whole):
            if name := each.changed():
                return f"{name} changed"
        self._fast = None  # other objects that are equal
        return ""

    def restore(self) -> str:
        """Put back what stood there; the first thing that could not be, in words, or ""."""
        for each in (*self.apart, *self.whole):
            if each.changed():
                each.restore()
        return self.changed()


@dataclass(frozen=True, slots=True)
class _Fast:
    """All guards of single places as a few long columns, so that C compares them."""

    getters: list[Any]
    namespaces: list[Any]
    """A getter of several keys for each dictionary."""
    items: list[Any]
    objects: list[Any]
    classes: list[Any]
    functions: list[Any]
    keys: list[Any]
    values: list[Any]
    containers: list[Any]
    sizes: list[int]

    @classmethod
    def of(cls, guards: Iterable[Guard]) -> "_Fast":
        """The columns of `guards`."""
        fast = cls([], [], [], [], [], [], [], [], [], [])
        for each in guards:
            fast._add(each)
        return fast

    def _add(self, guard: Guard) -> None:
        keys: list[Any] = []
        values: list[Any] = []
        for (function, key), value in zip(guard.places, guard.values, strict=True):
            if getattr(function, "__name__", "") == "__getitem__":
                keys.append(key)
                values.append(value)
            elif function is type:
                self.objects.append(key)
                self.classes.append(value)
            else:
                self.functions.append(function)
                self.keys.append(key)
                self.values.append(value)
        if keys:
            self.namespaces.append(guard.namespace)
            self.getters.append(itemgetter(*keys, keys[0]))  # of two keys or more: a tuple
            self.items.extend([*values, values[0]])
        if guard.is_sized:
            self.containers.append(guard.namespace)
            self.sizes.append(len(guard.keys))

    def holds(self) -> bool:
        """True if every value is the same object."""
        items = chain.from_iterable(map(call, self.getters, self.namespaces))
        try:
            return (
                all(map(is_, items, self.items))
                and all(map(is_, map(type, self.objects), self.classes))
                and all(map(is_, map(call, self.functions, self.keys), self.values))
                and list(map(len, self.containers)) == self.sizes
            )
        except _ERRORS:
            return False
