"""Objects among the arguments besides tensors and numbers: slices, sets, dataclasses, others.

    by value      slices, sets, frozensets, instances of dataclasses, and the tuples, lists,
                  dictionaries, deques and arrays in them; text, and what prints all that it is
    by identity   tensors in these, and all other objects

Two objects are alike if a function can read no difference: equal types, order of sets, and shared
parts. An object that is also reachable from outside the function is only like itself, because the
function may compare it with `is`.
"""

import dataclasses
from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from compiler.replay.classes import STORAGE, hides_state, namespace_of
from compiler.tensors.traced_numbers import is_number, token
from compiler.tensors.value import TensorValue

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_BY_TEXT = ("fractions", "decimal", "datetime", "pathlib", "builtins", "numpy")
"""Modules whose immutable objects are equal if their text is."""
_ORDERED = (tuple, list, deque, set, frozenset)
DEEPEST = 8
"""The nesting depth of objects in a signature. A choice: deeper objects are only compared."""


def is_plain(leaf: object) -> bool:
    """True for a leaf that the signature contains exactly: tensors, numbers and text."""
    return isinstance(leaf, TensorValue) or type(leaf) in _PLAIN or is_number(leaf)


def is_by_value(value: object) -> bool:
    """True for an object that is compared by value."""
    kind = type(value)
    if kind in (slice, *_ORDERED, dict, np.ndarray):
        return True
    return _is_named_tuple(value) or _has_fields(value)


def signature(value: Any, level: int = 0) -> Hashable:
    """A hashable key, equal for objects that are alike, and different for most others."""
    kind = type(value)
    if isinstance(value, TensorValue):
        return kind, id(value)
    if kind in _PLAIN:
        return token(value)  # type: ignore[no-any-return]
    if is_by_value(value):
        below = level + 1
        parts = _parts(value) if level < DEEPEST else ()
        return kind, *(signature(each, below) for each in parts)
    try:
        hash(value)
    except TypeError:
        return kind, id(value)
    return token(value)  # type: ignore[no-any-return]


def are_alike(
    now: Sequence[Any], before: Sequence[Any], around: frozenset[int] = frozenset()
) -> bool:
    """True if the objects are pairwise alike. `around` has the `id` of those reachable from
    outside."""
    alike = _Alike(around)
    return len(now) == len(before) and all(map(alike.are, now, before))


class _Alike:
    """One comparison; it records which new object corresponds to which old one."""

    def __init__(self, around: frozenset[int]) -> None:
        self._around = around
        self._now: dict[int, int] = {}
        self._before: dict[int, int] = {}

    def are(self, now: Any, before: Any) -> bool:
        """True if two objects are alike."""
        if type(now) is not type(before):
            return False
        if isinstance(now, TensorValue):
            return now is before
        if is_plain(now):
            return bool(token(now) == token(before))
        if not isinstance(now, tuple | frozenset | slice):  # shared parts count
            is_met = id(before) in self._now
            pair = (self._now.setdefault(id(before), id(now)),
                    self._before.setdefault(id(now), id(before)))  # fmt: skip
            if pair != (id(now), id(before)):
                return False
            if is_met:
                return True
        if now is before:
            return True
        if id(now) in self._around or id(before) in self._around:
            return False
        if not is_by_value(now):
            is_text = type(now).__module__.partition(".")[0] in _BY_TEXT and not callable(now)
            return is_text and type(now).__hash__ is not None and repr(now) == repr(before)
        parts, others = _parts(now), _parts(before)
        return len(parts) == len(others) and all(map(self.are, parts, others))


def _parts(value: Any) -> list[Any]:
    """The parts of an object that is compared by value, in order."""
    if isinstance(value, slice):
        return [value.start, value.stop, value.step]
    if isinstance(value, deque):
        return [value.maxlen, *value]
    if isinstance(value, dict):
        return [each for pair in value.items() for each in pair]
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.strides, value.shape, value.tobytes()]
    if isinstance(value, _ORDERED):
        return list(value)
    return [getattr(value, name, _ABSENT) for name in _names(type(value))]


_ABSENT = "a field that has no value"


def _is_named_tuple(value: object) -> bool:
    """True for a named tuple without other attributes."""
    is_named = isinstance(value, tuple) and hasattr(value, "_fields")
    return is_named and not hasattr(value, "__dict__")


def _has_fields(value: object) -> bool:
    """True for a dataclass instance without other attributes than its fields."""
    kind = type(value)
    if not dataclasses.is_dataclass(kind) or hides_state(kind) is not None:
        return False
    if any(base in STORAGE and base is not object and base.__basicsize__ > object.__basicsize__
           for base in kind.__mro__):  # fmt: skip
        return False
    return bool(namespace_of(value).keys() <= set(_names(kind)))


def _names(kind: Any) -> list[str]:
    """The names of the fields of a dataclass."""
    return [each.name for each in dataclasses.fields(kind)]
