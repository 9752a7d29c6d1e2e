"""The origin of classes, and classes whose objects hide state from Python."""

import ctypes
import types
from array import array
from collections import OrderedDict, defaultdict, deque
from typing import Any, Generic, Protocol

import numpy as np

from compiler.replay import libraries

PLAIN: frozenset[Any] = frozenset({
    int, float, complex, str, bytes, bool, type(None), type(Ellipsis), type(NotImplemented),
    range,
})  # fmt: skip


def is_known_module(value: types.ModuleType) -> bool:
    """True for modules of Python, of the compiler, and of packages in the table."""
    return libraries.is_own(value) or libraries.is_python(value) or (
        value.__name__.partition(".")[0] in libraries.PURE
    )


def is_in_table(value: Any) -> bool:
    """True for members of a package whose functions are pure."""
    return libraries.module_of(value).partition(".")[0] in libraries.PURE


def is_known_class(base: type) -> bool:
    """True for a class whose code is not followed."""
    is_python = base is object or libraries.is_python(base)
    return is_python or libraries.is_own(base) or is_in_table(base)


def keeps_all_in_attributes(kind: type) -> bool:
    """True for library classes whose state is in their attributes."""
    name = libraries.module_of(kind)
    if libraries.is_own(kind):
        return True
    is_known = name in libraries.DATA_ONLY or name.partition(".")[0] in libraries.DATA_ONLY
    return is_known or f"{name}.{kind.__qualname__}" in ("os._Environ", "types.SimpleNamespace")


def namespace_of(value: Any) -> Any:
    """The attribute dictionary of an object; an empty one if it has none."""
    held = getattr(value, "__dict__", None)
    return held if isinstance(held, dict) else {}


def slots_of(kind: type) -> dict[str, Any]:
    """The descriptors of attributes in `__slots__`, by name."""
    slots: dict[str, Any] = {}
    for base in kind.__mro__:
        for name, each in vars(base).items():
            if isinstance(each, types.MemberDescriptorType):
                slots.setdefault(name, each)
    return slots


STORAGE: frozenset[Any] = frozenset({
    object, list, dict, tuple, set, frozenset, deque, OrderedDict, defaultdict, int, float,
    complex, str, bytes, bytearray, bool, array, np.ndarray, np.void, types.SimpleNamespace,
    Generic, Protocol, type, types.MappingProxyType, np.memmap, np.generic, np.number,
    np.floating, np.float64,
})  # fmt: skip
"""Classes written in C whose state other rows compare, or that have none."""


def hides_state(kind: type) -> type | None:
    """A base class of `kind` that keeps state outside of attributes, if any."""
    for base in kind.__mro__:
        if base in STORAGE or issubclass(base, BaseException):
            continue
        below = max((each.__basicsize__ for each in base.__bases__), default=0)
        slots = sum(isinstance(e, types.MemberDescriptorType) for e in vars(base).values())
        word = ctypes.sizeof(ctypes.c_void_p)
        if base.__basicsize__ - below > word * (slots + 2):
            return base
        if not base.__flags__ & 512 and libraries.module_of(base) not in libraries.DATA_ONLY:
            return base  # a class written in C
    return None
