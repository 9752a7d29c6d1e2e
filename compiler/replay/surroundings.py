"""What stands around a function: everything in Python that it may read besides its arguments.

    globals and closures    by the names in its code, and in that of the functions that it calls
    objects                 their attributes; of modules of networks when any of them was changed
    lists, dicts, sets      what is in them

Each is compared by identity, and numbers and text by value, before a captured program is run. What
is not seen: the code of libraries, and what comes from outside by calls (time, files, `random`).
"""

import math
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import is_
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

from compiler.core import dtypes
from compiler.core.origin import state
from compiler.tensors.history import LEAVES
from compiler.tensors.value import TensorValue

MOST = 20_000
"""Objects that are looked at; beyond them are data, no settings."""
LONG = 1000
"""Elements of a list beyond which it is data, of which only the length is looked at."""
_MISSING = object()
_PLAIN = (int, float, complex, str, bytes, bool, type(None))
_LIBRARIES = tuple(
    path for name in ("stdlib", "platstdlib", "purelib", "platlib")
    if (path := sysconfig.get_paths().get(name))
)  # fmt: skip
_OWN = __name__.partition(".")[0]


Written: TypeAlias = tuple[int, Any]
"""An object and the name of what was written in it; None: all."""


@dataclass(slots=True)
class Kept:
    """Values at one place: read again, they are the same, or the program serves no longer."""

    where: str
    read: Callable[[], Any]
    """The values now, in order."""
    count: Callable[[], int]
    values: list[Any]
    names: list[Any]
    at: int
    """Which object it is."""

    def written(self) -> set[Written]:
        """Which of the values are others now; all, by None, where there are more or less."""
        if self.count() != len(self.values):
            return {(self.at, None)}
        rows = zip(self.names, self.values, self.read(), strict=True)
        return {(self.at, name) for name, old, new in rows
                if old is not new and not _is_equal(old, new)}  # fmt: skip

    def changed(self) -> str:
        """The name of the first value that is another now; "" where there is none."""
        if self.count() != len(self.values):
            return self.where
        now = list(self.read())
        for name, old, new in zip(self.names, self.values, now, strict=True):
            if old is not new and not _is_equal(old, new):
                return f"{self.where}.{name}" if self.where else str(name)
        self.values = now
        return ""


@dataclass(slots=True)
class Surroundings:
    """What a function saw when it was captured."""

    kept: list[Kept] = field(default_factory=list)
    of_modules: list[Kept] = field(default_factory=list)
    tensors: list[TensorValue] = field(default_factory=list)
    epoch: int = 0
    """How often modules were changed before."""
    mode: tuple[Any, ...] = ()

    def changed(self) -> str:
        """What is another now, in words; "" while nothing is."""
        for each in self.kept:
            is_same = each.count() == len(each.values) and all(map(is_, each.read(), each.values))
            if not is_same and (name := each.changed()):
                return f"{name} changed"
        if self.of_modules and self.epoch != (now := _epoch()):
            for each in self.of_modules:
                if name := each.changed():
                    return f"{name} changed"
            self.epoch = now
        return "" if self.mode == mode() else "a setting changed"

    def written(self) -> frozenset[Written]:
        """Where something else stands now."""
        return frozenset().union(*(each.written() for each in (*self.kept, *self.of_modules)))


def mode() -> tuple[Any, ...]:
    """What the compiler's own settings are: the usual type, and whether gradients are kept."""
    return dtypes.get_default_dtype(), state.after


def _epoch() -> int:
    module = sys.modules.get(f"{_OWN}.nn.module")
    return 0 if module is None else int(module.CHANGES[0])


def around(
    function: Callable[..., Any], leaves: tuple[Any, ...],
    written: frozenset[Written] = frozenset(),
) -> Surroundings:  # fmt: skip
    """What stands around a function, and around objects among its arguments, now; but for what the
    function itself has written there: that it does when it is captured, and then no more."""
    found = _Walk(written)
    found.look(function, "")
    for each in leaves:
        if not isinstance(each, (*_PLAIN, TensorValue)):
            found.look(each, type(each).__name__)
    found.run()
    made = found.made
    made.epoch, made.mode = _epoch(), mode()
    return made


class _Walk:
    """Follows what a function may read."""

    def __init__(self, written: frozenset[Written]) -> None:
        self.made = Surroundings()
        self.written = written
        self.seen: set[int] = set()
        self.names: set[str] = set()
        self.waiting: list[tuple[Any, str]] = []
        self.late: list[tuple[Any, str]] = []
        """Python modules and classes, of which only what is named in code counts."""
        self.done: dict[int, set[str]] = {}
        """The names that were looked at in each."""

    def look(self, value: Any, where: str) -> None:
        """Note a value to be followed."""
        if isinstance(value, TensorValue):
            if id(value) not in self.seen:
                self.seen.add(id(value))
                self.made.tensors.append(value)
        elif not isinstance(value, _PLAIN) and id(value) not in self.seen:
            self.seen.add(id(value))
            self.waiting.append((value, where))

    def run(self) -> None:
        """Follow all. What code names is known when the code is, so Python modules and classes are
        looked at again where it names more."""
        left = MOST
        while left and (self.waiting or self._look_by_name()):
            while self.waiting and left:
                self._follow(*self.waiting.pop())
                left -= 1

    def _look_by_name(self) -> bool:
        """Whether code reads more of Python modules and classes than was seen before."""
        for value, where in self.late:
            done = self.done.setdefault(id(value), set())
            self._named(value, where, done)
        return bool(self.waiting)

    def _follow(self, value: Any, where: str) -> None:
        match value:
            case FunctionType():
                self._function(value, where)
            case MethodType():
                self.look(value.__self__, where)
                self.look(value.__func__, where)
            case BuiltinFunctionType():
                return
            case ModuleType() | type():
                if not _is_library(value):
                    self.late.append((value, where))
            case list() | tuple() | set() | frozenset():
                self._container(value, where)
            case dict():
                self._dict(value, where, self.made.kept)
            case _:
                self._object(value, where)

    def _function(self, function: FunctionType, where: str) -> None:
        inner = getattr(function, "__wrapped__", None)
        if inner is not None:
            self.look(inner, where)
        if _is_library(function):
            return
        self._code(function.__code__, function.__globals__)
        names, cells = function.__code__.co_freevars, function.__closure__ or ()
        for name, cell in zip(names, cells, strict=True):
            self._keep(where, _Cells([cell]), [name], cell)
        for given in (function.__defaults__, function.__kwdefaults__):
            if given:
                self.look(given, f"{where or function.__name__} defaults")

    def _code(self, code: CodeType, namespace: dict[str, Any]) -> None:
        """The global names of code, and of the code in it."""
        self.names.update(code.co_names)
        known = [name for name in code.co_names if name in namespace]
        if known:
            self._named_in(namespace, known, "")
        for each in code.co_consts:
            if isinstance(each, CodeType):
                self._code(each, namespace)

    def _container(self, value: Any, where: str) -> None:
        if not isinstance(value, tuple):
            if len(value) <= LONG:
                self._keep(where, _All(value), list(range(len(value))), value)
            else:
                at = _Length(value, len(value))
                self.made.kept.append(Kept(where, at.read, at.count, [0], [""], id(value)))
            return
        for number, each in enumerate(value):
            self.look(each, f"{where}[{number}]")

    def _dict(self, value: dict[Any, Any], where: str, kept: list[Kept]) -> None:
        if len(value) > LONG:
            return
        keys = list(value)
        if any((id(value), key) in self.written for key in keys):
            self._named_in(value, keys, where, kept)
        else:
            self._keep(where, _Items(value), [*keys, *keys], value, kept)

    def _object(self, value: Any, where: str) -> None:
        """An object's attributes, and the code of its methods."""
        kind = type(value)
        if isinstance(held := getattr(value, "func", None), FunctionType):  # functools.partial
            self.look(held, where)
            self.look(value.args, where)
            self.look(value.keywords, where)
            return
        is_module = _is_module_of_networks(value)
        if _is_library(kind) and not is_module and not _has_options(value):
            return
        if isinstance(own := getattr(value, "__dict__", None), dict):
            if _has_options(value):
                for group in value.groups:
                    self.look(group.options, f"{where}.options")
                return
            self._dict(own, where, self.made.of_modules if is_module else self.made.kept)
        for base in kind.__mro__:
            if base is not object and not _is_library(base):
                self.late.append((base, base.__name__))

    def _named(self, value: Any, where: str, done: set[str]) -> None:
        """What code may read of a Python module, or of a class, by its names."""
        held = vars(value)
        names = self.names | ({"__call__"} if isinstance(value, type) else set())
        new = [name for name in held if name in names and name not in done]
        done.update(new)
        for name in new:
            each = held[name]
            each = getattr(each, "fget", None) or getattr(each, "__func__", each)
            self.look(each, f"{where}.{name}")
        if new:
            self._named_in(held, new, where, of=value)

    def _named_in(
        self, namespace: Any, names: list[Any], where: str, kept: list[Kept] | None = None,
        of: Any = None,
    ) -> None:  # fmt: skip
        holder = namespace if of is None else of
        left = [name for name in names if (id(holder), name) not in self.written]
        self._keep(where, _Names(namespace, left), left, holder, kept)

    def _keep(
        self, where: str, at: "_Place", names: list[Any], of: Any, kept: list[Kept] | None = None
    ) -> None:
        if not names and not isinstance(at, _All | _Items):
            return
        if not self.written.isdisjoint({(id(of), None), *((id(of), name) for name in names)}):
            return
        values = list(at.read())
        (self.made.kept if kept is None else kept).append(
            Kept(where, at.read, at.count, values, names, id(of))
        )
        for name, each in zip(names, values, strict=True):
            self.look(each, f"{where}.{name}" if where else str(name))


@dataclass(slots=True)
class _Cells:
    cells: list[CellType]

    def count(self) -> int:
        return len(self.cells)

    def read(self) -> Iterator[Any]:
        return map(_content, self.cells)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


@dataclass(slots=True)
class _Names:
    namespace: Any
    names: list[str]

    def count(self) -> int:
        return len(self.names)

    def read(self) -> Iterator[Any]:
        return map(self.namespace.get, self.names)


@dataclass(slots=True)
class _All:
    values: Any

    def count(self) -> int:
        return len(self.values)

    def read(self) -> Iterator[Any]:
        return iter(self.values)


@dataclass(slots=True)
class _Items:
    """Keys, then values."""

    values: dict[Any, Any]

    def count(self) -> int:
        return 2 * len(self.values)

    def read(self) -> Iterator[Any]:
        yield from self.values
        yield from self.values.values()


@dataclass(slots=True)
class _Length:
    values: Any
    length: int

    def count(self) -> int:
        return 1 if len(self.values) == self.length else 0

    def read(self) -> Iterator[Any]:
        return iter((0,))


_Place = _Cells | _Names | _All | _Items


def _is_equal(old: Any, new: Any) -> bool:
    """Whether they are the same number or text, 0.0 and -0.0 told apart."""
    if type(old) is not type(new) or not isinstance(new, _PLAIN):
        return isinstance(old, MethodType) and old == new
    if isinstance(old, float) and isinstance(new, float):
        both_nan = math.isnan(old) and math.isnan(new)
        return both_nan or (old == new and math.copysign(1, old) == math.copysign(1, new))
    return bool(old == new)


def _is_library(value: Any) -> bool:
    """Whether it belongs to Python, to the compiler, or to an installed package."""
    if isinstance(value, ModuleType):
        name = value.__name__
    else:
        name = getattr(value, "__module__", None) or ""
    root = name.partition(".")[0]
    if root in (_OWN, "builtins") or root in sys.stdlib_module_names - {"__main__"}:
        return True
    module = sys.modules.get(root)
    file = getattr(module, "__file__", None) or ""
    return file.startswith(_LIBRARIES)


def _is_module_of_networks(value: Any) -> bool:
    module = sys.modules.get(f"{_OWN}.nn.module")
    return module is not None and isinstance(value, module.Module)


def _has_options(value: Any) -> bool:
    """Whether it is an optimiser."""
    optimizer = sys.modules.get(f"{_OWN}.optim.optimizer")
    return optimizer is not None and isinstance(value, optimizer.Optimizer)


def collecting(tensors: Iterable[Any]) -> tuple[bool, ...]:
    """Which of these collect gradients."""
    return tuple(each._number in LEAVES for each in tensors)
