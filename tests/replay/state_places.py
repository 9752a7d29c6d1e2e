"""Places of state in Python: each makes a function that reads a value, and one that sets it."""

import array
import collections
import ctypes
import dataclasses
import functools
import itertools
import operator
import os
import threading
import types
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeAlias

import numpy as np

from compiler import Tensor

Get: TypeAlias = Callable[[], Any]
Set: TypeAlias = Callable[[Any], None]
Place: TypeAlias = Callable[[Any], tuple[Get, Set]]

GLOBAL: Any = None
MODULE = types.ModuleType("settings_of_a_user")
VARIABLE: ContextVar[Any] = ContextVar("VARIABLE")


class Plain:
    """Attributes in a dictionary."""

    k: Any


class Base:
    """A slot."""

    __slots__ = ("k",)


class Slots(Base):
    """A slot of a base class, and one more."""

    __slots__ = ("other",)


@dataclasses.dataclass(slots=True)
class Data:
    """A dataclass with slots."""

    k: Any


@dataclasses.dataclass
class Nested:
    """A dataclass with an object."""

    inner: Any


class Computed:
    """Attributes that a property, or `__getattr__`, reads elsewhere."""

    def __init__(self, held: list[Any]) -> None:
        self.held = held

    @property
    def k(self) -> Any:
        """The content of the list."""
        return self.held[0]

    def __getattr__(self, name: str) -> Any:
        if name == "missing":
            return self.held[0]
        raise AttributeError(name)


class OfClass:
    """An attribute of the class."""

    k: Any = None


class Child(OfClass):
    """A class that inherits it."""


class Items(dict[str, Any]):
    """A dictionary whose items are attributes."""

    __getattr__ = dict.__getitem__


class Sequenced:
    """Items by `__getitem__`, a number of them by `__len__`."""

    def __init__(self, held: list[Any]) -> None:
        self.held = held

    def __getitem__(self, number: int) -> Any:
        return self.held[number]

    def __len__(self) -> int:
        return len(self.held)


class Descriptor:
    """A descriptor that keeps values elsewhere."""

    def __init__(self) -> None:
        self.values: dict[int, Any] = {}

    def __get__(self, instance: Any, owner: type) -> Any:
        return self.values[id(instance)]

    def __set__(self, instance: Any, value: Any) -> None:
        self.values[id(instance)] = value


class Described:
    """An attribute by a descriptor."""

    k = Descriptor()


def _attribute(made: Callable[[], Any], value: Any) -> tuple[Get, Set]:
    o = made()
    o.k = value
    return lambda: o.k, lambda v: setattr(o, "k", v)


def _item(container: Any, key: Any) -> tuple[Get, Set]:
    return lambda: container[key], lambda v: operator.setitem(container, key, v)


def a_global(value: Any) -> tuple[Get, Set]:
    globals()["GLOBAL"] = value
    return lambda: GLOBAL, lambda v: operator.setitem(globals(), "GLOBAL", v)


def a_variable_around(value: Any) -> tuple[Get, Set]:
    k = value

    def change(v: Any) -> None:
        nonlocal k
        k = v

    return lambda: k, change


def a_default_argument(value: Any) -> tuple[Get, Set]:
    def get(k: Any = value) -> Any:
        return k

    return get, lambda v: setattr(get, "__defaults__", (v,))


def a_list_in_a_default_argument(value: Any) -> tuple[Get, Set]:
    held = [value]

    def get(k: list[Any] = held) -> Any:
        return k[0]

    return get, lambda v: operator.setitem(held, 0, v)


def an_attribute_of_a_function(value: Any) -> tuple[Get, Set]:
    def get() -> Any:
        return get.k  # type: ignore[attr-defined]

    get.k = value  # type: ignore[attr-defined]
    return get, lambda v: setattr(get, "k", v)


def an_attribute_of_a_class(value: Any) -> tuple[Get, Set]:
    OfClass.k = value
    return lambda: Child.k, lambda v: setattr(OfClass, "k", v)


def an_attribute_shadowed_in_an_object(value: Any) -> tuple[Get, Set]:
    OfClass.k = value
    o = Child()
    return lambda: o.k, lambda v: setattr(o, "k", v)


def an_attribute_of_a_module(value: Any) -> tuple[Get, Set]:
    MODULE.k = value  # type: ignore[attr-defined]
    return lambda: MODULE.k, lambda v: setattr(MODULE, "k", v)  # type: ignore[attr-defined]


def a_nested_attribute(value: Any) -> tuple[Get, Set]:
    o = Nested(Nested(types.SimpleNamespace(k=value)))
    return lambda: o.inner.inner.k, lambda v: setattr(o.inner.inner, "k", v)


def a_nested_object(value: Any) -> tuple[Get, Set]:
    o = Nested(types.SimpleNamespace(k=value))
    return lambda: o.inner.k, lambda v: setattr(o, "inner", types.SimpleNamespace(k=v))


def a_property(value: Any) -> tuple[Get, Set]:
    held = [value]
    o = Computed(held)
    return lambda: o.k, lambda v: operator.setitem(held, 0, v)


def a_computed_attribute(value: Any) -> tuple[Get, Set]:
    held = [value]
    o = Computed(held)
    return lambda: o.missing, lambda v: operator.setitem(held, 0, v)


def an_attribute_by_a_computed_name(value: Any) -> tuple[Get, Set]:
    o, names = Plain(), ["k"]
    o.k = value
    return lambda: getattr(o, names[0]), lambda v: setattr(o, "k", v)


def all_attributes(value: Any) -> tuple[Get, Set]:
    o = Plain()
    o.k = value
    return lambda: vars(o)["k"], lambda v: setattr(o, "k", v)


def an_object_that_is_called(value: Any) -> tuple[Get, Set]:
    class Called:
        def __call__(self) -> Any:
            return self.k

    o: Any = Called()
    o.k = value
    return lambda: o(), lambda v: setattr(o, "k", v)


def an_item_by_a_method(value: Any) -> tuple[Get, Set]:
    held = [value]
    o = Sequenced(held)
    return lambda: o[0], lambda v: operator.setitem(held, 0, v)


def a_list_that_is_replaced(value: Any) -> tuple[Get, Set]:
    o = types.SimpleNamespace(held=[value])
    return lambda: o.held[0], lambda v: setattr(o, "held", [v])


def a_list_of_5000(value: Any) -> tuple[Get, Set]:
    return _item([value] * 5000, 4321)


def a_dictionary_of_2000(value: Any) -> tuple[Get, Set]:
    return _item(dict.fromkeys(range(2000), value), 1234)


def a_nested_list(value: Any) -> tuple[Get, Set]:
    held = [[[value]], 1]
    return lambda: held[0][0][0], lambda v: operator.setitem(held[0][0], 0, v)  # type: ignore


def a_list_in_a_tuple(value: Any) -> tuple[Get, Set]:
    held = ([value],)
    return lambda: held[0][0], lambda v: operator.setitem(held[0], 0, v)


def a_key_that_may_miss(value: Any) -> tuple[Get, Set]:
    held: dict[str, Any] = {}
    held["other"] = value
    return lambda: held.get("k", held["other"]), lambda v: operator.setitem(held, "k", v)


def the_last_of_a_queue(value: Any) -> tuple[Get, Set]:
    held = collections.deque([value])
    return lambda: held[-1], held.append


def the_parent_of_a_chain(value: Any) -> tuple[Get, Set]:
    base = {"k": value}
    held = collections.ChainMap({}, base)
    return lambda: held["k"], lambda v: operator.setitem(base, "k", v)


def a_view_of_a_dictionary(value: Any) -> tuple[Get, Set]:
    held = {"k": value}
    view = held.values()
    return lambda: next(iter(view)), lambda v: operator.setitem(held, "k", v)


def a_read_only_dictionary(value: Any) -> tuple[Get, Set]:
    held = {"k": value}
    view = types.MappingProxyType(held)
    return lambda: view["k"], lambda v: operator.setitem(held, "k", v)


def a_weak_reference(value: Any) -> tuple[Get, Set]:
    o = Plain()
    o.k = value
    seen, held = weakref.ref(o), [o]
    return lambda: seen().k, lambda v: setattr(held[0], "k", v)  # type: ignore[union-attr]


def a_partial_call(value: Any) -> tuple[Get, Set]:
    held = [value]
    get = functools.partial(operator.getitem, held, 0)
    return lambda: get(), lambda v: operator.setitem(held, 0, v)


def a_context_variable(value: Any) -> tuple[Get, Set]:
    VARIABLE.set(value)
    return VARIABLE.get, lambda v: VARIABLE.set(v) and None


def a_variable_of_a_thread(value: Any) -> tuple[Get, Set]:
    return _attribute(threading.local, value)


def an_attribute_by_a_getter(value: Any) -> tuple[Get, Set]:
    o = types.SimpleNamespace(k=value)
    get = operator.attrgetter("k")
    return lambda: get(o), lambda v: setattr(o, "k", v)


def a_function_in_a_dictionary(value: Any) -> tuple[Get, Set]:
    held = {"f": lambda: value}
    return lambda: held["f"](), lambda v: operator.setitem(held, "f", lambda: v)


def a_method_that_is_replaced(value: Any) -> tuple[Get, Set]:
    class Replaced:
        def k(self) -> Any:
            return value

    o = Replaced()
    return lambda: o.k(), lambda v: setattr(Replaced, "k", lambda self: v)


def a_cached_call(value: Any) -> tuple[Get, Set]:
    held = [value]

    @functools.lru_cache
    def get() -> Any:
        return held[0]

    def change(v: Any) -> None:
        held[0] = v
        get.cache_clear()

    return lambda: get(), change


def an_item_of_an_object_array(value: Any) -> tuple[Get, Set]:
    held = np.empty(2, object)
    held[0] = value
    return _item(held, 0)


def the_environment(value: Any) -> tuple[Get, Set]:
    os.environ["STATE_OF_A_TEST"] = repr(value)
    return (lambda: float(os.environ["STATE_OF_A_TEST"]),
            lambda v: operator.setitem(os.environ, "STATE_OF_A_TEST", repr(v)))  # fmt: skip


def an_array_of_bytes(value: Any) -> tuple[Get, Set]:
    held = bytearray([int(value)])
    return lambda: held[0], lambda v: operator.setitem(held, 0, int(v))


def a_view_of_an_array(value: Any) -> tuple[Get, Set]:
    held = np.full(10, float(value))
    view = held[::2]
    return lambda: view[1], lambda v: operator.setitem(held, 2, v)


def a_sum_of_an_array(value: Any) -> tuple[Get, Set]:
    held = np.array([float(value), 1.0])
    return lambda: held.sum(), lambda v: operator.setitem(held, 0, v)


def a_large_array(value: Any) -> tuple[Get, Set]:
    return _item(np.full(100_000, float(value)), 77_777)


def a_number_of_c(value: Any) -> tuple[Get, Set]:
    held = ctypes.c_double(value)
    return lambda: held.value, lambda v: setattr(held, "value", v)


def a_cell_of_memory(value: Any) -> tuple[Get, Set]:
    held = array.array("d", [value])
    view = memoryview(held)
    return lambda: view[0], lambda v: operator.setitem(held, 0, v)


def a_tensor(value: Any) -> tuple[Get, Set]:
    held = Tensor(np.array([float(value)]))
    return lambda: held, lambda v: held.assign(np.array([float(v)])) and None


def a_tensor_that_is_replaced(value: Any) -> tuple[Get, Set]:
    held = [Tensor(np.array([float(value)]))]
    return lambda: held[0], lambda v: operator.setitem(held, 0, Tensor(np.array([float(v)])))


def an_iterator(value: Any) -> tuple[Get, Set]:
    held = [value]
    counted = itertools.count(0.0)
    return lambda: next(counted) * 0 + held[0], lambda v: operator.setitem(held, 0, v)


ANY: dict[str, Place] = {
    "an attribute": functools.partial(_attribute, Plain),
    "a slot": functools.partial(_attribute, Slots),
    "a dataclass with slots": functools.partial(_attribute, lambda: Data(None)),
    "a namespace": functools.partial(_attribute, types.SimpleNamespace),
    "a descriptor": functools.partial(_attribute, Described),
    "a list": lambda v: _item([v], 0),
    "a dictionary": lambda v: _item({"k": v}, "k"),
    "a queue": lambda v: _item(collections.deque([v]), 0),
    "a default dictionary": lambda v: _item(collections.defaultdict(int, k=v), "k"),
    "an ordered dictionary": lambda v: _item(collections.OrderedDict(k=v), "k"),
    "a user's dictionary": lambda v: _item(collections.UserDict(k=v), "k"),
    "a user's list": lambda v: _item(collections.UserList([v]), 0),
    "items as attributes": lambda v: _item(Items(k=v), "k"),
    **{each.__name__.replace("_", " "): each for each in (
        a_global, a_variable_around, a_default_argument, a_list_in_a_default_argument,
        an_attribute_of_a_function, an_attribute_of_a_class, an_attribute_shadowed_in_an_object,
        an_attribute_of_a_module, a_nested_attribute, a_nested_object, a_property,
        a_computed_attribute, an_attribute_by_a_computed_name, all_attributes,
        an_object_that_is_called, an_item_by_a_method, a_list_that_is_replaced, a_list_of_5000,
        a_dictionary_of_2000, a_nested_list, a_list_in_a_tuple, a_key_that_may_miss,
        the_last_of_a_queue, the_parent_of_a_chain, a_view_of_a_dictionary,
        a_read_only_dictionary, a_weak_reference, a_partial_call, a_context_variable,
        a_variable_of_a_thread, an_attribute_by_a_getter, a_function_in_a_dictionary,
        a_method_that_is_replaced, a_cached_call, an_item_of_an_object_array, an_iterator,
    )},
}  # fmt: skip
"""Places of any value."""

NUMBERS: dict[str, Place] = {
    "an array of numbers": lambda v: _item(array.array("d", [v]), 0),
    "an array of NumPy": lambda v: _item(np.array([float(v), 2.0]), 0),
    "an array of rank 0": lambda v: _item(np.array(float(v)), ()),
    **{each.__name__.replace("_", " "): each for each in (
        the_environment, an_array_of_bytes, a_view_of_an_array, a_sum_of_an_array, a_large_array,
        a_number_of_c, a_cell_of_memory, a_tensor, a_tensor_that_is_replaced,
    )},
}  # fmt: skip
"""Places of numbers alone."""
