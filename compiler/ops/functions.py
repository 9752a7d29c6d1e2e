"""Functions that users register, and each use of one with its types.

    host      a Python function on NumPy arrays, run between kernels
    kernel    an LLVM IR function on pointers, the result first: a kernel of its own
    inline    one LLVM IR instruction on scalars, in which `{0}`, `{1}`, … stand for the operands

Every function has a reference on NumPy arrays for the interpreters; for a host function it is the
function itself. A function is pure: equal uses of one are one call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from compiler.core.dtypes import Array, DType
from compiler.core.errors import CompileError
from compiler.core.origin import Origin

FunctionKind = Literal["host", "kernel", "inline"]
Attributes: TypeAlias = tuple[tuple[str, Any], ...]
"""Keyword arguments that are not tensors, by name."""


@dataclass(frozen=True, slots=True)
class Type:
    """Shape and element type of an operand or a result."""

    shape: tuple[int, ...]
    dtype: DType

    def __str__(self) -> str:
        return f"{self.dtype.short}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Function:
    """A registered function. `text` is LLVM IR, `declarations` are the declarations its module
    needs."""

    name: str
    kind: FunctionKind
    reference: Callable[..., Any]
    text: str = ""
    declarations: tuple[str, ...] = ()


DERIVATIVES: "WeakKeyDictionary[Function, Callable[..., Any]]" = WeakKeyDictionary()
"""The derivatives of functions that have one: from the node and its cotangent to those of the
operands."""


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A function with the types of its operands; `symbol` is its name in programs."""

    symbol: str
    function: Function
    attributes: Attributes
    operands: tuple[Type, ...]
    result: Type
    text: str = ""

    @property
    def kind(self) -> FunctionKind:
        """The place where the function runs: on the host, as a kernel, or inline."""
        return self.function.kind

    def evaluate(self, *arrays: Array) -> Array:
        """The result of the reference on arrays of the operands' shapes.

        Raises `CompileError` with the line of the user's function if it fails, or if the result has
        another shape or type than declared.
        """
        return self._checked(self._called(list(arrays)), self.result.shape)

    def elementwise(self, *arrays: Array) -> Array:
        """As `evaluate`, for an inline function, on arrays that broadcast."""
        together = list(np.broadcast_arrays(*arrays))
        return self._checked(self._called(together), together[0].shape)

    def run(self, out: Array, *arrays: Array) -> None:
        """Write the result to the flat array `out`; the operands are flat as well."""
        pairs = zip(arrays, self.operands, strict=True)
        shaped = [array.reshape(operand.shape) for array, operand in pairs]
        out[...] = self.evaluate(*shaped).reshape(-1)

    def _called(self, arrays: Sequence[Array]) -> Any:
        """The result of the user's function, which gets read-only operands."""
        given = [array.view() for array in arrays]
        for array in given:
            array.flags.writeable = False
        try:
            return self.function.reference(*given, **dict(self.attributes))
        except Exception as error:
            _failed(self.function, error)

    def _checked(self, value: Any, shape: tuple[int, ...]) -> Array:
        result = np.asarray(value)
        expected = Type(shape, self.result.dtype)
        if result.shape != expected.shape or result.dtype != expected.dtype.numpy:
            raise CompileError(
                f"custom {self.function.name}",
                "the result differs from the declared one",
                got=f"{result.dtype} {result.shape}",
                expected=f"{expected.dtype} {expected.shape}",
                origin=_place(self.function),
            )
        return result


def _failed(function: Function, error: Exception) -> NoReturn:
    """Raise the error that names the function and the line where it failed."""
    place, trace = _place(function), error.__traceback__
    while trace is not None:
        if place is not None and trace.tb_frame.f_code.co_filename == place.file:
            place = Origin(place.file, trace.tb_lineno, function.name)
        trace = trace.tb_next
    problem = f"the function failed: {type(error).__name__}: {error}"
    raise CompileError(f"custom {function.name}", problem, origin=place) from error


def _place(function: Function) -> Origin | None:
    """The place of the function's definition, if it is defined in Python."""
    code = getattr(function.reference, "__code__", None)
    return Origin(code.co_filename, code.co_firstlineno, function.name) if code else None


_Key: TypeAlias = tuple[Function, Attributes, tuple[Type, ...], Type, str]
_instances: dict[_Key, Instance] = {}
_by_symbol: dict[str, Instance] = {}


def use(
    function: Function,
    attributes: Attributes,
    operands: tuple[Type, ...],
    result: Type,
    text: str = "",
) -> Instance:
    """The instance of `function` for these types, created on first use.

    Its symbol is the function's name, with a number if that name is taken.
    """
    key = (function, attributes, operands, result, text)
    known = _instances.get(key)
    if known is None:
        number = sum(1 for other in _instances if other[0].name == function.name)
        symbol = f"{function.name}_{number + 1}" if number else function.name
        while symbol in _by_symbol:
            symbol += "_"
        known = Instance(symbol, function, attributes, operands, result, text)
        _instances[key] = _by_symbol[symbol] = known
    return known


def find(symbol: str) -> Instance | None:
    """The instance with this symbol, or None."""
    return _by_symbol.get(symbol)


def registered(symbol: str) -> Callable[..., object] | None:
    """The function that a custom call of this symbol calls: it takes flat arrays and writes the
    first. None if the symbol is not a host function."""
    found = find(symbol)
    return found.run if found is not None and found.kind == "host" else None
