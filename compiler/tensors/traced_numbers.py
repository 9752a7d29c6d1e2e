"""`TracedNumber`: a Python number that may change between calls of a captured function.

    k + 1, k / 2, -k, round(k, 2)    recorded, and computed in Python again at each replay
    if k > 3, k == 2                 answered, and guarded: a replay needs the same answer
    int(k), [0] * k, {…}[k], f"{k}"  answered, and guarded: a replay needs the same number
    x * k                            an input of the program, in the type that the operation takes

Python's own rules therefore hold (types, exceptions, integers of any size, the sign of zero). All
questions that a function asked of a number are asked again before its program is replayed. After
the capture the record is closed: a traced number that was stored somewhere then acts as the plain
number.
"""

import math
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.device.buffers import new_buffer
from compiler.graph.bits import as_array, to_bits
from compiler.graph.nodes import Buffer

Function: TypeAlias = Callable[..., Any]
_OWN = __name__.partition(".")[0]
_PLAIN = (int, float)
_FOR_NUMPY = ("__array__", "__array_ufunc__")
"""Attributes that NumPy reads and plain numbers do not have; code that names one wants the
number's."""
_CONSTANT = (int, float, bool)


class NumberIsFixed(BaseException):
    """Raised if the compiler itself needs the value of a number, as an axis or an extent: the
    function is then captured for each value. `except Exception` does not catch it."""

    def __init__(self, places: frozenset[int]) -> None:
        super().__init__()
        self.places = places


class TakesNumbers:
    """Base of classes whose operators accept a `TracedNumber` as the other operand."""

    __slots__ = ()


class _Step(NamedTuple):
    """One computation in Python: an answer that a replay must reproduce, or a new number."""

    function: Function
    operands: tuple[Any, ...]
    """Constants, and a `_Place` for each number."""
    is_guard: bool
    result: Any
    """The answer; for a number its type."""


class _Raised(NamedTuple):
    """The answer of a computation that raised an exception."""

    kind: type[Exception]


class _Place(NamedTuple):
    at: int


class Input(NamedTuple):
    """A number as an input of the program."""

    at: int
    """The index of the number among the values of the record."""
    dtype: DType
    buffer: Buffer


@dataclass(slots=True, eq=False)
class NumberRecord:
    """The operations of a function on its numbers while it was captured.

    `values` are the leaves of the call, followed by the number of each step.
    """

    arguments: Sequence[Any]
    values: list[Any] = field(init=False)
    steps: list[_Step] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    fixed: set[int] = field(default_factory=set)
    """Leaves whose exact value was requested."""
    leaves: list[frozenset[int]] = field(default_factory=list)
    """For each value the leaves that it depends on."""
    is_open: bool = False

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Start recording: the function is called."""
        self.values = list(self.arguments)
        self.leaves = [frozenset((place,)) for place in range(len(self.values))]
        self.steps.clear()
        self.inputs.clear()
        self.fixed.clear()
        self.is_open = True

    @property
    def asked(self) -> frozenset[int]:
        """The leaves that guards depend on."""
        places = (each for step in self.steps if step.is_guard for each in step.operands)
        return frozenset().union(*(self.leaves[p.at] for p in places if type(p) is _Place))

    def number(self, index: int) -> "TracedNumber":
        """The stand-in for a value."""
        made = object.__new__(TracedNumber)
        _SET_RECORD(made, self)
        _SET_INDEX(made, index)
        _SET_VALUE(made, self.values[index])
        return made

    def computed(self, function: Function, operands: Sequence[Any]) -> Any:
        """The number that a function computes from numbers, recorded."""
        value = self._called(function, operands)
        if not self.is_open:
            return value
        if not is_number(value):  # for example the complex root of a negative number
            return self.answered(function, operands)
        own = tuple(map(self._operand, operands))
        self.steps.append(_Step(function, own, False, type(value)))
        places = (self.leaves[each.at] for each in own if type(each) is _Place)
        self.leaves.append(frozenset().union(*places))
        self.values.append(value)
        return self.number(len(self.values) - 1)

    def answered(self, function: Function, operands: Sequence[Any]) -> Any:
        """The answer of a function of numbers, guarded."""
        value = self._called(function, operands)
        if self.is_open:
            self._guard(function, operands, value)
        return value

    def _called(self, function: Function, operands: Sequence[Any]) -> Any:
        """The result of the function; an exception, which a user may catch, is a result too."""
        try:
            return function(*map(plain, operands))
        except Exception as error:
            if self.is_open:
                self._guard(function, operands, _Raised(type(error)))
            raise

    def _guard(self, function: Function, operands: Sequence[Any], answer: Any) -> None:
        own = tuple(map(self._operand, operands))
        self.steps.append(_Step(function, own, True, answer))
        self.leaves.append(frozenset())
        self.values.append(answer)

    def end(self) -> None:
        """The function has returned: its numbers are plain ones from now on."""
        self.is_open = False

    def forget(self) -> None:
        """Drop the references to the arguments of the call."""
        self.arguments, self.values = (), []

    def value_of(self, number: "TracedNumber") -> Any:
        """The exact value of a number, guarded."""
        index = _INDEX(number)
        if self.is_open and index in self.leaves[index]:
            self.fixed.add(index)
        return self.answered(_itself, (number,))

    def input(self, index: int, dtype: DType) -> Buffer:
        """A number as an input of type `dtype`, rank 0."""
        for each in self.inputs:
            if each.at == index and each.dtype == dtype:
                return each.buffer
        buffer = new_buffer(data_of(self.values[index], dtype).reshape(()), is_lifted=True)
        self.inputs.append(Input(index, dtype, buffer))
        return buffer

    def replayed(self, leaves: Sequence[Any]) -> list[Any] | None:
        """All values for other leaves. None if an answer, or the type of a number, differs: the
        function has to be captured again."""
        values = list(leaves)
        for function, operands, is_guard, result in self.steps:
            try:
                value = function(
                    *[values[e.at] if type(e) is _Place else e for e in operands]
                )
            except Exception as error:
                value = _Raised(type(error))
            if not (is_same(value, result) if is_guard else type(value) is result):
                return None
            values.append(value)
        return values

    def _operand(self, value: Any) -> Any:
        if type(value) is not TracedNumber or _RECORD(value) is not self:
            return plain(value)
        return _Place(_INDEX(value))


def data_of(value: Any, dtype: DType) -> Any:
    """A flat array with a number of type `dtype`, rounded as a constant is."""
    if isinstance(value, np.generic):
        return np.array([value])
    if dtype.is_float and not dtype.computed_as:
        with np.errstate(over="ignore"):
            return np.array([value], dtype.numpy)
    return as_array(to_bits(value, dtype), dtype.numpy).reshape(1)


def is_number(value: object) -> bool:
    """True for a Python or NumPy number that may change between calls."""
    return type(value) in _PLAIN or (
        isinstance(value, np.integer | np.floating) and value.dtype.kind in "iuf"
        and value.dtype.itemsize <= 8
    )  # fmt: skip


def token(value: Any) -> Any:
    """A hashable key, equal only for the same number of the same type: 0.0 and -0.0 differ, NaN
    equals NaN."""
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    if isinstance(value, float) and (value == 0 or value != value):
        return type(value), "nan" if value != value else math.copysign(1, value), 0.0
    if isinstance(value, complex):
        return type(value), repr(value)
    return type(value), value


def is_same(now: Any, before: Any) -> bool:
    """True for equal answers. For numbers, the type and the sign of zero count."""
    if now is before:
        return True
    if type(now) is not type(before):
        return False
    if isinstance(now, tuple):
        return len(now) == len(before) and all(map(is_same, now, before))
    return bool(token(now) == token(before))


def plain(value: Any) -> Any:
    """The plain number behind a `TracedNumber`; anything else unchanged."""
    return _VALUE(value) if type(value) is TracedNumber else value


def is_traced(value: Any) -> bool:
    """True for a number that is an input of the program being captured."""
    return type(value) is TracedNumber and _RECORD(value).is_open


def input_of(value: Any, dtype: DType | None = None) -> Buffer:
    """A traced number as an input of type `dtype`, or of its own."""
    record: NumberRecord = _RECORD(value)
    return record.input(_INDEX(value), dtype or dtypes.parse(_VALUE(value).dtype))


def index_of(value: "TracedNumber") -> int:
    """The index of a traced number among the values of its record."""
    index: int = _INDEX(value)
    return index


def _itself(value: Any) -> Any:
    return value


def _rounded(value: Any, digits: Any = None) -> Any:
    return round(value) if digits is None else round(value, digits)


class TracedNumber:
    """A number in a function that is being captured; see the module docstring.

    `isinstance` answers as for the plain number: its type is part of the signature, or guarded.
    """

    __slots__ = ("_index", "_record", "_value")

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return type(_VALUE(self))
        if name in _FOR_NUMPY and name not in sys._getframe(1).f_code.co_consts:
            return object.__getattribute__(self, name)
        return getattr(_asked(self), name)

    def __hash__(self) -> int:
        if sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] == _OWN:
            _fix(self)
        return hash(_asked(self))

    def __bool__(self) -> bool:
        return bool(_RECORD(self).answered(bool, (self,)))

    def __round__(self, digits: Any = None) -> Any:
        return _computed(_rounded, self, digits)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            return pow(_asked(self), _asked(other), _asked(modulus))
        return _binary(operator.pow, self, other)

    def __rpow__(self, other: Any, modulus: Any = None) -> Any:
        return _binary(operator.pow, other, self)

    def __divmod__(self, other: Any) -> Any:
        return _binary(operator.floordiv, self, other), _binary(operator.mod, self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return _binary(operator.floordiv, other, self), _binary(operator.mod, other, self)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(_asked(self), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **given: Any) -> Any:
        return getattr(ufunc, method)(*map(_asked, inputs), **given)


_RECORD = TracedNumber._record.__get__  # type: ignore[attr-defined]
_INDEX = TracedNumber._index.__get__  # type: ignore[attr-defined]
_VALUE = TracedNumber._value.__get__  # type: ignore[attr-defined]
_SET_RECORD = TracedNumber._record.__set__  # type: ignore[attr-defined]
_SET_INDEX = TracedNumber._index.__set__  # type: ignore[attr-defined]
_SET_VALUE = TracedNumber._value.__set__  # type: ignore[attr-defined]


def _asked(value: Any) -> Any:
    """The exact value of a number, guarded; anything else unchanged."""
    if type(value) is not TracedNumber:
        return value
    return _RECORD(value).value_of(value)


def _fix(value: TracedNumber) -> None:
    record = _RECORD(value)
    if record.is_open:
        raise NumberIsFixed(record.leaves[_INDEX(value)])


def _computed(function: Function, *operands: Any) -> Any:
    record = next(_RECORD(each) for each in operands if type(each) is TracedNumber)
    return record.computed(function, operands)


def _is_operand(value: Any) -> bool:
    return type(value) is TracedNumber or type(value) in _CONSTANT or is_number(value)


def _binary(function: Function, left: Any, right: Any) -> Any:
    if _is_operand(left) and _is_operand(right):
        return _computed(function, left, right)
    if isinstance(left, TakesNumbers) or isinstance(right, TakesNumbers):
        return NotImplemented
    return function(_asked(left), _asked(right))


def _compared(function: Function, left: Any, right: Any) -> Any:
    if _is_operand(right):
        return _RECORD(left).answered(function, (left, right))
    if isinstance(right, TakesNumbers):
        return NotImplemented
    return function(_asked(left), right)


def _operators(name: str, function: Function) -> None:
    def method(self: Any, other: Any) -> Any:
        return _binary(function, self, other)

    def reflected(self: Any, other: Any) -> Any:
        return _binary(function, other, self)

    setattr(TracedNumber, f"__{name}__", method)
    setattr(TracedNumber, f"__r{name}__", reflected)


def _comparison(name: str) -> None:
    function = getattr(operator, name)

    def method(self: Any, other: Any) -> Any:
        return _compared(function, self, other)

    setattr(TracedNumber, f"__{name}__", method)


def _unary(name: str, function: Function) -> None:
    def method(self: Any) -> Any:
        return _computed(function, self)

    setattr(TracedNumber, f"__{name}__", method)


def _conversion(name: str, function: Function) -> None:
    def method(self: Any, *arguments: Any) -> Any:
        return function(_asked(self), *arguments)

    setattr(TracedNumber, f"__{name}__", method)


_BINARY: dict[str, Function] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "lshift": operator.lshift,
    "rshift": operator.rshift, "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    "matmul": operator.matmul,
}  # fmt: skip
_UNARY: dict[str, Function] = {
    "neg": operator.neg, "pos": operator.pos, "abs": abs, "invert": operator.invert,
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc,
}  # fmt: skip
_CONVERSIONS: dict[str, Function] = {
    "int": int, "float": float, "complex": complex, "index": operator.index, "str": str,
    "repr": repr, "format": format, "dir": dir,
}  # fmt: skip

for _name, _function in _BINARY.items():
    _operators(_name, _function)
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _comparison(_name)
for _name, _function in _UNARY.items():
    _unary(_name, _function)
for _name, _function in _CONVERSIONS.items():
    _conversion(_name, _function)
