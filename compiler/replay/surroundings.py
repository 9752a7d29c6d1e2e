"""State around a captured function: all Python state that it may read besides its arguments.

`ROWS` is the table: a row per kind of object, with how it is found, how it is guarded, and the
effect of a change. All guards are checked before each replay; after a change the function is
captured again. An object without a row may hide state (a file, a random generator, an object of a
class written in C): a function that reads one is not replayed, but called without a capture.

    found      by the names in the code of the function and of what it calls, then by what it finds
    guarded    by identity, numbers and text by value, memory byte by byte
    replay     reads none of it: the capture contains its state
    changed    the first call afterwards captures again

Tensors are inputs of the program, in `program.py`; so are arguments.
"""

import functools
import operator
import sys
import types
import weakref
from abc import ABCMeta, get_cache_token
from array import array
from collections import defaultdict, deque
from collections.abc import Callable
from threading import Lock, RLock
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.origin import state
from compiler.replay import classes, guards, libraries
from compiler.replay.code import reads
from compiler.replay.guards import Place
from compiler.replay.walk import (
    OfClass,
    OfFunction,
    OfLock,
    OfModule,
    OfObject,
    Row,
    Surroundings,
    Unguarded,
    Walk,
    described,
)
from compiler.tensors.value import TensorValue

_SETTINGS: tuple[Place, ...] = (
    (operator.call, dtypes.get_default_dtype), (operator.attrgetter("after"), state),
)  # fmt: skip
"""The compiler's own settings: the default dtype, and whether gradients are enabled."""


def around(function: Callable[..., Any], leaves: tuple[Any, ...]) -> Surroundings:
    """The state around a function, and in objects among its arguments.

    Raises `Unguarded` if it may read something that cannot be compared later.
    """
    walk = Walk(ROWS)
    walk.look(function, "")
    for each in leaves:
        walk.look(each, type(each).__name__)
    walk.run()
    walk.guard(guards.of_settings(*_SETTINGS))
    return walk.found


_IMMUTABLE = (
    dtypes.DType, np.dtype, np.ufunc, types.CodeType, types.GenericAlias, types.UnionType,
    types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType, types.MethodWrapperType, super,
)  # fmt: skip
_IMMUTABLE_BY_NAME = frozenset({
    "datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta",
    "datetime.timezone", "decimal.Decimal", "re.Pattern", "re.Match", "typing.TypeVar",
    "typing.ParamSpec", "functools._CacheInfo", "uuid.UUID", "fractions.Fraction",
    "_collections._tuplegetter",
})  # fmt: skip


def is_immutable(value: Any) -> bool:
    """True for numbers, text, dtypes, and other immutable objects."""
    kind = type(value)
    if kind is slice:
        return all(map(is_immutable, (value.start, value.stop, value.step)))
    if kind in classes.PLAIN or isinstance(value, _IMMUTABLE):
        return True
    if isinstance(value, np.generic):
        return not isinstance(value, np.void | np.object_)
    return f"{kind.__module__}.{kind.__qualname__}" in _IMMUTABLE_BY_NAME


def _nothing(walk: Walk, value: Any, where: str) -> None:
    """The value is immutable: no guard is needed."""


def _function(walk: Walk, value: types.FunctionType, where: str) -> None:
    if libraries.is_own(value):
        inner = getattr(value, "__wrapped__", None)
        if inner is not None and not libraries.is_own(inner):
            walk.look(inner, where)
        return
    if libraries.is_python(value) and not libraries.is_pure(
        f"{libraries.module_of(value)}.{value.__qualname__}"
    ):
        raise Unguarded(f"it calls {described(value, where)}")
    name = where or value.__name__
    walk.follow(guards.of_function(name, value))
    walk.by_name(name, OfFunction(value, name))
    if value.__dict__:
        walk.items(name, value.__dict__)
    names, cells = value.__code__.co_freevars, value.__closure__ or ()
    is_pure = libraries.is_pure(f"{libraries.module_of(value)}.{value.__qualname__}")
    if not is_pure and not libraries.is_wrapper(value):
        walk.code(value)
    read = reads(value.__code__)
    for variable, cell in zip(names, cells, strict=True):
        guard = guards.of_cell(where, variable, cell)
        walk.guard(guard)
        chains = [chain for chain in read.free if chain[0] == variable]
        for chain in chains or [(variable,)]:
            walk.chain(guard.values[0], chain)


def _method(walk: Walk, value: Any, where: str) -> None:
    walk.look(value.__self__, where)
    walk.look(value.__func__, where)


def _built_in(walk: Walk, value: Any, where: str) -> None:
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        walk.look(owner, where)
    elif not libraries.is_pure(f"{libraries.module_of(value)}.{value.__qualname__}"):
        raise Unguarded(f"it calls {described(value, where)}")


def _module(walk: Walk, value: types.ModuleType, where: str) -> None:
    if libraries.is_own(value):
        return
    walk.by_name(where, OfModule(value, where))


def _lock(walk: Walk, value: Any, where: str) -> None:
    walk.by_name(where, OfLock(where))


def _class(walk: Walk, value: type, where: str) -> None:
    if isinstance(value, ABCMeta):
        walk.once("a class that was registered", get_cache_token)
    if type(value) is not type and not libraries.is_library(type(value)):
        walk.look(type(value), f"type({where})")
    if libraries.is_library(value):
        if libraries.is_python(value) and not libraries.is_pure(
            f"{libraries.module_of(value)}.{value.__qualname__}"
        ):
            raise Unguarded(f"it uses {described(value, where)}")
        if libraries.is_own(value) or libraries.is_python(value) or classes.is_in_table(value):
            return
    for base in value.__mro__:
        if base is value:
            walk.by_name(where, OfClass(base, base.__name__))
        elif base is not object and not classes.is_known_class(base):
            walk.look(base, base.__name__)


def _elements(walk: Walk, value: Any, where: str) -> None:
    walk.elements(where, value)
    _attributes_of_subclass(walk, value, where)


def _tuple(walk: Walk, value: Any, where: str) -> None:
    for number, each in enumerate(value):
        walk.look(each, f"{where}[{number}]")
    _attributes_of_subclass(walk, value, where)


def _dict(walk: Walk, value: Any, where: str) -> None:
    walk.items(where, value)
    if isinstance(value, defaultdict):
        walk.look(value.default_factory, f"{where}.default_factory")
    _attributes_of_subclass(walk, value, where)


def _slice(walk: Walk, value: slice, where: str) -> None:
    for each in (value.start, value.stop, value.step):
        walk.look(each, where)


def _bytes(walk: Walk, value: Any, where: str) -> None:
    walk.contents(where, lambda: (type(value), bytes(value)), value)
    _attributes_of_subclass(walk, value, where)


def _array(walk: Walk, value: Any, where: str) -> None:
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        if value.dtype != object:
            raise Unguarded(f"it reads {where}, an array of records with objects")
        walk.contents(where, lambda: [value.shape, *map(id, value.ravel().tolist())])
        for number, each in enumerate(value.ravel().tolist()):
            walk.look(each, f"{where}[{number}]")
    else:
        walk.found.guards.whole.append(guards.of_array(where, np.asarray(value)))
    if not isinstance(value, np.memmap | np.void):
        _attributes_of_subclass(walk, value, where)


def _torch(walk: Walk, value: Any, where: str) -> None:
    if value.device.type != "cpu" or value.layout is not sys.modules["torch"].strided:
        raise Unguarded(f"it reads {where}, a tensor of PyTorch that is not in main memory")

    def read() -> Any:
        inner = value.detach().contiguous().reshape(-1).view(sys.modules["torch"].uint8)
        return value.shape, value.dtype, inner.numpy().tobytes()

    walk.contents(where, read)


def _reference(walk: Walk, value: Any, where: str) -> None:
    def read() -> Any:
        return id(value())

    walk.contents(where, read)
    walk.look(value(), where)


def _partial(walk: Walk, value: Any, where: str) -> None:
    walk.contents(where, lambda: tuple(map(id, (value.func, value.args, value.keywords))))
    for each in (value.func, value.args, value.keywords, vars(value)):
        walk.look(each, where)


def _getter(walk: Walk, value: Any, where: str) -> None:
    for each in value.__reduce__()[1]:
        if isinstance(each, str):
            walk.names.update(each.split("."))
        else:
            walk.look(each, where)


def _property(walk: Walk, value: Any, where: str) -> None:
    for each in (value.fget, value.fset, value.fdel):
        walk.look(each, where)


def _wrapper(walk: Walk, value: Any, where: str) -> None:
    walk.look(value.__func__, where)


def _captured(walk: Walk, value: Any, where: str) -> None:
    walk.look(value.function, where)


def _network(walk: Walk, value: Any, where: str) -> None:
    """A module of `nn`: all attributes by identity; their content if code can read it."""
    held = vars(value)
    if not libraries.is_own(type(value)):
        _attributes(walk, value, where)
    walk.guard(guards.of_attributes(where, value, held, list(held), ()))
    is_all = libraries.is_own(type(value))
    for name, each in held.items():
        if is_all or isinstance(each, list | tuple | dict | TensorValue) or _is_network(each):
            walk.look(each, f"{where}.{name}")


def _optimizer(walk: Walk, value: Any, where: str) -> None:
    for each in (value.groups, value.absent, value.late):
        walk.elements(where, each)
    if not libraries.is_own(type(value)):
        _attributes(walk, value, where)


def _options(walk: Walk, value: Any, where: str) -> None:
    walk.items(f"{where}.options", value.options)
    walk.elements(f"{where}.parameters", value.parameters)


def _attributes_of_subclass(walk: Walk, value: Any, where: str) -> None:
    if type(value) not in classes.STORAGE:
        _attributes(walk, value, where)


def _attributes(walk: Walk, value: Any, where: str) -> None:
    """An object: its class, its attributes, and the code of its methods."""
    kind = type(value)
    hidden = classes.hides_state(kind)
    if hidden is not None:
        raise Unguarded(f"it reads {described(value, where)}")
    if classes.keeps_all_in_attributes(kind):
        held, slots = classes.namespace_of(value), classes.slots_of(kind)
        names = [name for name in held if isinstance(name, str)]
        walk.follow(guards.of_attributes(where, value, held, names, list(slots.values())))
        return
    if libraries.is_python(kind):
        raise Unguarded(f"it reads {described(value, where)}")
    walk.by_name(where, OfObject(value, where))
    for base in kind.__mro__:
        if not classes.is_known_class(base):
            walk.look(base, base.__name__)


def _is_network(value: Any) -> bool:
    module = sys.modules.get(f"{libraries.OWN}.nn.module")
    return module is not None and isinstance(value, module.Module)


def _is_optimizer(value: Any) -> bool:
    module = sys.modules.get(f"{libraries.OWN}.optim.optimizer")
    return module is not None and isinstance(value, module.Optimizer)


def _is_group(value: Any) -> bool:
    module = sys.modules.get(f"{libraries.OWN}.optim.optimizer")
    return module is not None and isinstance(value, module.Group)


def _is_captured(value: Any) -> bool:
    module = sys.modules.get(f"{libraries.OWN}.replay.function")
    return module is not None and isinstance(value, module.JitFunction)


def _is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is(*kinds: Any) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _is_object(value: Any) -> bool:
    return classes.hides_state(type(value)) is None


_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))

ROWS: tuple[Row, ...] = (
    Row("numbers, text, types of data", "by value, where they stand", is_immutable, _nothing),
    Row("functions", "code, defaults, variables around, globals by name",
        _is(types.FunctionType), _function),
    Row("methods", "the object and the function", _is(types.MethodType), _method),
    Row("functions in C", "pure by a table", _is(types.BuiltinFunctionType), _built_in),
    Row("captured functions", "the function", _is_captured, _captured),
    Row("Python modules", "attributes by name", _is(types.ModuleType), _module),
    Row("locks", "used by `with` alone", _is(type(Lock()), type(RLock())), _lock),
    Row("classes", "attributes by name, special methods", _is(type), _class),
    Row("properties", "their functions", _is(property), _property),
    Row("static and class methods", "the function", _is(staticmethod, classmethod), _wrapper),
    Row("partial calls", "function, arguments, attributes",
        lambda v: type(v) is functools.partial, _partial),
    Row("getters of operator", "immutable", _is(operator.attrgetter, operator.itemgetter,
                                                operator.methodcaller), _getter),
    Row("networks", "every attribute", _is_network, _network),
    Row("optimisers", "groups, options, parameters; rates are tensors", _is_optimizer, _optimizer),
    Row("groups of an optimiser", "options and parameters", _is_group, _options),
    Row("arrays of NumPy", "shape, type and bytes", _is(np.ndarray, np.void), _array),
    Row("tensors of PyTorch", "shape, type and bytes", _is_torch, _torch),
    Row("bytes that change", "byte by byte", _is(bytearray, array, memoryview), _bytes),
    Row("lists, sets, queues, views", "every element, by identity",
        _is(list, set, frozenset, deque, *_VIEWS), _elements),
    Row("tuples", "every element", _is(tuple), _tuple),
    Row("dictionaries", "every key and value, by identity", _is(dict, types.MappingProxyType),
        _dict),
    Row("slices", "their parts", _is(slice), _slice),
    Row("weak references", "the object", _is(weakref.ReferenceType), _reference),
    Row("objects", "class, attributes by name, special methods", _is_object, _attributes),
)  # fmt: skip
