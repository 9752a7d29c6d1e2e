"""`Variable`: a dynamic extent, an integer known when a program runs, for shapes and arithmetic.

    n = Variable("n", 1, 1024)
    x = Tensor(batch, symbolic={0: n})      # n is bound to the extent of axis 0: f32[n,784]
    y = (x @ w).softmax().sum(0) / n        # compiled once for all batches of 1 to 1024

Memory is laid out for the maximum extent; elements beyond the variable are never read.
"""

import keyword
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np

from compiler.core.dtypes import Array, float64, int64
from compiler.core.errors import AxisError, DataError, ShapeError, located
from compiler.core.node import toposort
from compiler.core.origin import user_call
from compiler.device.buffers import data, new_buffer
from compiler.graph.extent import Extent, Number, less, lowest, product, quotient, total
from compiler.graph.extents import binding, part_of, symbolic, two_values
from compiler.graph.kinds.gradient import Recalled
from compiler.graph.kinds.placement import Multi
from compiler.graph.kinds.shaping import cast_to, value_of
from compiler.graph.nodes import (
    Bind,
    Buffer,
    Const,
    Elementwise,
    Prefix,
    Shape,
    Shrink,
    TensorNode,
    const,
    elementwise,
)
from compiler.graph.nodes import Variable as VariableNode
from compiler.graph.words import short

LIMIT = 2**62
"""The bound on the absolute value of a variable."""
_TAKEN = re.compile(r"out|(in|[ir]|v|acc|bits|tmp|[gli]idx)\d+|core_id")
"""Names that generated programs use for other things."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An integer from `low` to `high`, inclusive; `bind` sets its value for a run.

    In arithmetic it takes the type of the other operand, as a Python number does. Raises
    `DataError` for a name that is not an identifier, and for empty bounds.
    """

    name: str
    low: int
    high: int
    value: int | None = field(default=None, kw_only=True)
    of: "tuple[Variable, ...]" = field(default=(), kw_only=True, repr=False)
    """The variables of a derived variable such as `n + 1`; () for an independent one."""
    length: Extent | None = field(default=None, kw_only=True, repr=False)
    """The derived variable as a function of those."""

    @located
    def __post_init__(self) -> None:
        if self.of:
            return
        is_name = isinstance(self.name, str) and self.name.isidentifier() and self.name.isascii()
        if not is_name or keyword.iskeyword(self.name) or _TAKEN.fullmatch(self.name):
            expected = "an identifier that generated programs do not use, such as n or batch"
            _refuse("the name cannot be used", repr(self.name), expected)
        for bound in ("low", "high"):
            object.__setattr__(self, bound, _integer(self.name, getattr(self, bound)))
        if not -LIMIT <= self.low <= self.high <= LIMIT:
            _refuse(f"variable {self.name} has no possible value",
                    f"{self.low} … {self.high}", "low <= high, both within 2^62")  # fmt: skip
        if self.value is not None:
            object.__setattr__(self, "value", self._inside(_integer(self.name, self.value)))

    def _inside(self, value: int) -> int:
        if self.low <= value <= self.high:
            return value
        raise DataError(
            "bind", f"variable {self.name} is outside its bounds", got=str(value),
            expected=f"{self.low} … {self.high}",
        )  # fmt: skip

    @located
    def bind(self, value: int) -> "Variable":
        """This variable with a value for this run. Raises `DataError` if it is out of bounds."""
        if self.of:
            names = " and ".join(each.name for each in self.of)
            _refuse(f"{self.name} is derived from other variables", "a value", f"{names} bound")
        return replace(self, value=self._inside(_integer(self.name, value)))

    @property
    def extent(self) -> Extent:
        """The extent of an axis with this many elements."""
        return self.length or Extent(self.name, self.low, self.high)

    @property
    def variables(self) -> "tuple[Variable, ...]":
        """The variables it is derived from; itself, if it is independent."""
        return self.of or (self,)

    def __add__(self, other: "int | Variable") -> "Variable | int":
        return _combined(lambda a, b: total((a, b)), self, other)

    __radd__ = __add__

    def __sub__(self, other: "int | Variable") -> "Variable | int":
        return _combined(less, self, other)

    def __rsub__(self, other: "int | Variable") -> "Variable | int":
        return _combined(lambda a, b: less(b, a), self, other)

    def __mul__(self, other: "int | Variable") -> "Variable | int":
        return _combined(lambda a, b: product((a, b)), self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: "int | Variable") -> "Variable | int":
        """The quotient; it must be an integer for all values, as in `(n * 12) // 12`."""
        return _combined(_whole_quotient, self, other)

    @property
    def node(self) -> TensorNode:
        """The graph node, int64 of rank 0."""
        if self.length is not None:
            return value_of(self.length, {each.name: each.node for each in self.of})
        variable = VariableNode((), self.name, self.low, self.high)
        return variable if self.value is None else Bind((variable,), self.value)

    def __repr__(self) -> str:
        value = "" if self.value is None else f" = {self.value}"
        return f"{self.name}{value} in {self.low} … {self.high}"

    def __str__(self) -> str:
        return self.name


def _combined(
    rule: Callable[[Number, Number], Number], variable: Variable, other: "int | Variable"
) -> "Variable | int":
    """The variable, or the number, that `rule` computes from two."""
    if not isinstance(other, Variable | int) or isinstance(other, bool):
        return NotImplemented  # type: ignore[no-any-return]
    theirs = () if isinstance(other, int) else other.variables
    number = rule(variable.extent, other if isinstance(other, int) else other.extent)
    return made_of(number, {each.name: each for each in (*variable.variables, *theirs)})


def made_of(number: Number, known: Mapping[str, Variable] | None = None) -> "Variable | int":
    """The variable for an extent; `known` has the variables it is derived from, bound or not."""
    if isinstance(number, int):
        return number
    given = known or {}
    of = tuple(given.get(e.name) or Variable(e.name, e.low, e.high) for e in number.variables)
    if not number.terms:
        return of[0]
    values = {each.name: each.value for each in of if each.value is not None}
    value = number.value(values) if len(values) == len(of) else None
    return Variable(number.name, number.low, number.high, value=value, of=of, length=number)


def _whole_quotient(number: Number, divisor: Number) -> Number:
    found = quotient(number, divisor)
    if found is None:
        _refuse(f"{number} does not divide by {divisor} for all values", f"{number} // {divisor}",
                "a factor of every term")  # fmt: skip
    return found


def _integer(name: str, value: object) -> int:
    try:
        if not isinstance(value, bool | np.bool_):
            return int(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        pass
    _refuse(f"variable {name} is an integer", repr(value), "an integer")


def _refuse(problem: str, got: str, expected: str) -> NoReturn:
    raise DataError("Variable", problem, got=got, expected=expected)


def is_weak(node: object) -> bool:
    """True for the node of a variable, or a sum of products of variables: its type is weak, like
    that of a Python number."""
    if isinstance(node, VariableNode | Bind):
        return True
    return _follows(node)


def _follows(node: object) -> bool:
    """True for a node that is a sum of products of variables."""
    if not isinstance(node, Elementwise) or node.shape or node.dtype != int64:
        return False
    if node.op not in ("add", "mul"):
        return False
    return any(map(is_weak, node.sources)) and all(
        is_weak(each) or isinstance(each, Const) for each in node.sources
    )


def bounds_of(node: TensorNode) -> tuple[int, int]:
    """The minimum and maximum of a variable's node, or of a sum of products of variables."""
    if isinstance(node, Const):
        return int(node.value), int(node.value)
    if isinstance(node, Elementwise) and node.op in ("add", "mul"):
        (a, b), (c, d) = map(bounds_of, node.sources)
        ends = (a + c, b + d) if node.op == "add" else (a * c, a * d, b * c, b * d)
        return min(ends), max(ends)
    variable = node.sources[0] if isinstance(node, Bind) else node
    assert isinstance(variable, VariableNode)
    return variable.low, variable.high


def prefix(method: str, node: TensorNode, axis: int, variable: Variable) -> TensorNode:
    """The first `variable` elements of `node` along `axis`.

    Raises `ShapeError` if the axis may have fewer, or if its extent cannot be variable.
    """
    extent = node.shape[axis]
    held = node.extents[axis] if node.extents else None
    wanted = variable.extent
    if held == wanted:
        return node if variable.value is None else _bound(method, node, axis, variable)
    if held is not None:
        if lowest(less(held, wanted)) < 0 or not 2 <= wanted.high <= extent:
            raise _not_inside(method, axis, variable, held)
    elif variable.high > extent or variable.low < 0 or variable.high < 2:
        raise _no_extent(method, axis, variable, str(extent),
                         f"bounds inside 0 … {extent}, the upper one 2 or more")  # fmt: skip
    elif variable.high < extent:
        bounds = tuple((0, variable.high if i == axis else n) for i, n in enumerate(node.shape))
        node = Shrink((node,), bounds)
    return Prefix((node, *(each.node for each in variable.variables)), axis, variable.length)


def _not_inside(method: str, axis: int, variable: Variable, held: Extent) -> Exception:
    """The error for an axis of extent `held` that may have fewer elements than `variable`."""
    if held.name == variable.name:
        return DataError(
            method, f"variable {held.name} has two pairs of bounds",
            got=f"{held.described} of the tensor, and {variable.low} … {variable.high}",
            expected="one pair", hint="give one of the two another name",
        )  # fmt: skip
    return _no_extent(method, axis, variable, held.described,
                      f"{held.name}, or a slice that always exists")  # fmt: skip


def _no_extent(
    method: str, axis: int, variable: Variable, has: str, expected: str
) -> ShapeError:  # fmt: skip
    return ShapeError(
        method, f"axis {axis} cannot have {variable.name} elements",
        got=f"{variable.name} ({variable.low} … {variable.high}) of {has}", expected=expected,
    )  # fmt: skip


def _bound(method: str, node: TensorNode, axis: int, variable: Variable) -> TensorNode:
    """`node` with the extent of `axis` bound to the value of `variable`.

    Raises `DataError` if the variable has another value there.
    """
    for each in variable.of:
        node = _bound(method, node, axis, each) if each.value is not None else node
    if variable.of:
        return node
    name, value = variable.name, variable.value
    assert value is not None
    held = binds_in(node).get(name)
    if held is None:
        made = _rebound(node, variable)
        return made if made is not node else Prefix((node, variable.node), axis)
    if held.value != value:
        raise two_values(method, name, (binding(name, held.value, held), f"{name} = {value}"))
    return node


def _rebound(node: TensorNode, variable: Variable) -> TensorNode:
    """A Buffer with its variable slices bound; any other node unchanged."""
    if not isinstance(node, Prefix):
        return node
    sources: list[TensorNode] = [_rebound(node.sources[0], variable)]
    for each in node.sources[1:]:
        is_it = isinstance(each, VariableNode) and each.name == variable.name
        sources.append(variable.node if is_it else each)
    made = tuple(sources)
    return node if made == node.sources else Prefix(made, node.axis, node.length)


def binds_in(node: TensorNode) -> dict[str, Bind]:
    """The Bind of each variable that `node` needs and that has a value."""
    found = (each for each in toposort([node]) if isinstance(each, Bind))
    return {str(each.sources[0].arguments["name"]): each for each in found}


def kept(method: str, node: TensorNode, old: TensorNode) -> TensorNode:
    """`node`, which replaces `old`, with the symbolic axes of `old`, bound as they are there.

    Raises `ShapeError` if an axis has another variable, and `DataError` if it has another value.
    """
    binds = binds_in(old) if old.extents else {}
    given = binds_in(node) if binds else {}
    for name, bind in binds.items():
        if name in given and given[name].value != bind.value:
            both = (bind, given[name])
            raise two_values(method, name, [binding(name, each.value, each) for each in both])
    if node.extents == old.extents:
        return node
    for axis, extent in enumerate(old.extents):
        if extent is not None:
            known = {
                e.name: Variable(e.name, e.low, e.high, value=binds[e.name].value)
                for e in extent.variables if e.name in binds
            }  # fmt: skip
            variable = made_of(extent, known)
            assert isinstance(variable, Variable)
            node = prefix(method, node, axis, variable)
    return node


@user_call
def symbolic_tensor(array: Array, axes: Mapping[int, Variable], name: str) -> TensorNode:
    """An array as a tensor with symbolic axes, each variable bound to the array's extent.

    The array is used in place if only axis 0 is symbolic; otherwise it is copied into the layout of
    the maximum extents. Raises `AxisError`, `DataError`, `ShapeError`.
    """
    bound: dict[int, Variable] = {}
    for given, variable in axes.items():
        axis = _axis(given, array.ndim)
        if not isinstance(variable, Variable):
            _refuse("the extent of a symbolic axis is a variable", repr(variable),
                    'such as Variable("n", 1, 1024)')  # fmt: skip
        if variable.value not in (None, array.shape[axis]):
            _refuse(f"variable {variable.name} is bound to {variable.value} already",
                    f"axis {axis} of {array.shape[axis]} elements", "an equal extent")  # fmt: skip
        bound[axis] = variable.bind(array.shape[axis])
    _check_equal(bound)
    shape = tuple(bound[a].high if a in bound else n for a, n in enumerate(array.shape))
    node: TensorNode = new_buffer(_laid_out(array, shape), name, shape=shape)
    for axis, variable in sorted(bound.items()):
        node = prefix("Tensor", node, axis, variable)
    return node


def _check_equal(bound: Mapping[int, Variable]) -> None:
    """Refuse a variable that is the extent of axes of different lengths."""
    first: dict[str, int] = {}
    for axis, variable in bound.items():
        other = first.setdefault(variable.name, axis)
        if bound[other].value != variable.value:
            each = (f"{bound[a].value} (axis {a})" for a in (other, axis))
            raise two_values("Tensor", variable.name, tuple(each))


def _axis(axis: object, rank: int) -> int:
    if isinstance(axis, int) and -rank <= axis < rank:
        return axis % rank
    raise AxisError(
        "Tensor", "there is no such symbolic axis", got=repr(axis),
        expected=f"{-rank} … {rank - 1}",
    )


def _laid_out(array: Array, shape: Shape) -> Array:
    """The rows of `array` with the strides of `shape`."""
    if array.shape[1:] == shape[1:]:
        return array
    made = np.zeros((array.shape[0], *shape[1:]), array.dtype)
    made[part_of(array.shape)] = array
    return made


def buffer_under(node: TensorNode) -> Buffer | None:
    """The Buffer that holds the value of a node, if one does."""
    while isinstance(node, Prefix | Recalled):
        node = node.sources[0]
    return node if isinstance(node, Buffer) else None


def is_realized(node: TensorNode) -> bool:
    """True if the data are in memory, in one piece or in shards."""
    if isinstance(node, Multi):
        return all(isinstance(shard, Buffer) for shard in node.sources)
    return buffer_under(node) is not None


def is_bound(node: TensorNode) -> bool:
    """True if each variable of a node over a Buffer has a value."""
    while isinstance(node, Recalled) or (
        isinstance(node, Prefix) and all(isinstance(each, Bind) for each in node.sources[1:])
    ):
        node = node.sources[0]
    return not isinstance(node, Prefix)


def array_of(node: TensorNode) -> Array:
    """The data of a node over a Buffer, cropped to the bound extents of symbolic axes.

    Raises `DataError` if a variable is not bound.
    """
    lengths: dict[int, int] = {}
    while isinstance(node, Prefix | Recalled):
        if isinstance(node, Recalled):
            node = node.sources[0]
            continue
        binds = binds_in(node)
        if any(each.name not in binds for each in node.extent.variables):
            names = " and ".join(e.name for e in node.extents if e)
            raise DataError(
                "numpy", f"variable {names} has no value", got="nothing",
                expected="a bound variable, as in x[: n.bind(37)]",
            )  # fmt: skip
        values = {name: bind.value for name, bind in binds.items()}
        lengths.setdefault(node.axis, node.extent.value(values))
        node = node.sources[0]
    assert isinstance(node, Buffer)
    part = tuple(slice(0, lengths.get(axis)) for axis in range(len(node.shape)))
    return data(node)[part] if lengths else data(node)


def shape_of(node: TensorNode) -> "tuple[int | Variable, ...]":
    """The extents, with variables in place of their maxima."""
    return tuple(made_of(n) for n in symbolic(node.shape, node.extents))


def refuse_symbolic(method: str, node: TensorNode, axes: Sequence[int]) -> None:
    """Raise `ShapeError` if one of `axes` is symbolic: the method needs its extent."""
    for axis in axes:
        extent = node.extents[axis] if node.extents else None
        if extent is not None:
            raise ShapeError(
                method, f"axis {axis} has {extent.described} elements: its extent is not known",
                got=short(node), expected="an axis of fixed extent",
            )  # fmt: skip


def count(node: TensorNode, axes: Sequence[int], correction: float = 0) -> float | TensorNode:
    """The number of elements along `axes`, minus `correction`, at least 0. If an axis is symbolic
    it is a node of rank 0: int64 unless `correction` is a float."""
    found = [node.extents[a] if node.extents else None for a in axes]
    fixed = math.prod(node.shape[a] for a, e in zip(axes, found, strict=True) if e is None)
    variables = [e for e in found if e is not None]
    if not variables:
        return max(fixed - correction, 0)
    result: TensorNode = const(fixed, int64)
    for extent in variables:
        made = made_of(extent)
        assert isinstance(made, Variable)
        result = elementwise("mul", result, made.node)
    if not correction:
        return result
    dtype = int64 if isinstance(correction, int) else float64
    less = elementwise("sub", cast_to(result, dtype), const(correction, dtype))
    return elementwise("max", less, const(0, dtype))
