"""Kernel loops: the body of one kernel as a DAG of scalar expressions over ranges.

    node = Const(bits, dtype)                        a scalar
         | Range(extent, number, role[, unroll, level, part, tasks])
                                                    a loop counter 0 … extent-1
         | DefineVar(name, low, high)                an int64 known at run time: low … high
         | Argument(slot, dtype, size, is_written)   a pointer to `size` elements
         | Local(number, dtype, size)                scratch memory, one for each task
         | Load(argument, index[, predicate])        0 where `predicate` is false: nothing is read
         | Alu(sources, op)                          a row of `ops.OPS`
         | Cast(x, dtype) | Bitcast(x, dtype)
         | Reduce(x, ranges…, op)                    x folded over the ranges
         | Scan(x, range; op)                        x folded over the iterations of a serial range
                                                     of its store up to this one
         | Store(memory, index, x, ranges…[, predicate])
                                                    for every value of the ranges, where the
                                                    predicate is true
         | Update(argument, index, x, predicate, ranges…; op)
                                                    in order, where the predicate is true:
                                                    element `index` joined with x by `op`
         | Custom(operands…; name, dtype)           a custom function: of scalars, or
                                                    (dtype None) of arguments, out first
         | Body(stores…, updates…, customs…)        a nest each, one after the other
         | After(x, effects…)                        x, once the effects have happened

Loops are not nodes: an expression belongs in the outermost loop that has all ranges it depends on
(`placement.py`). Integers carry bounds, computed when a node is created: they prove that an access
is inside its buffer, or that a condition always holds.

Scratch memory is filled by an effect inside an expression: `Load(After(local, Store(local, …)),
index)`. Such a store is placed like a reduction: in the outermost loop that has all ranges it
depends on, except its own.

The level of a range says how its iterations run. A `loop` is an ordinary loop. `unroll` means fully
unrolled: a value that depends on the range has one register per iteration. `vector` means the lanes
of one register; an expression depends on at most one such range. `dot` means adjacent elements of
one word, which a dot-product instruction multiplies and sums; only sums of products of small types
have it. `core` means that the iterations are divided, in order, among `tasks` runs of the kernel,
which may be concurrent.
"""

import math
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

from compiler.core.dtypes import DType, Scalar, bool_, int64
from compiler.core.node import Node
from compiler.graph.bits import from_bits, to_bits
from compiler.loops.axis_names import AxisName
from compiler.ops.bounds import INT64_MAX, Bounds
from compiler.ops.table import OPS

Role = Literal["normal", "reduction", "serial"]
Level = Literal["loop", "unroll", "vector", "dot", "core"]
LETTERS: dict[Role, str] = {"normal": "i", "reduction": "r", "serial": "s"}


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class ScalarNode(Node):
    """Base of the scalar nodes: adds `dtype` and, for integers with a known range, `bounds`."""

    sources: "tuple[ScalarNode, ...]"
    dtype: DType = field(init=False)
    bounds: Bounds = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", self._dtype())
        bounds = self._bounds()
        if bounds is not None and not -INT64_MAX <= bounds[0] <= bounds[1] <= INT64_MAX:
            bounds = None
        object.__setattr__(self, "bounds", bounds)

    def _dtype(self) -> DType:
        return self.sources[0].dtype

    def _bounds(self) -> Bounds:
        return None


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Const(ScalarNode):
    """A scalar constant, kept as bits."""

    bits: int
    given_dtype: DType

    def _dtype(self) -> DType:
        return self.given_dtype

    def _bounds(self) -> Bounds:
        if self.given_dtype.is_float:
            return None
        return int(self.value), int(self.value)

    @property
    def value(self) -> Scalar:
        """The value as a Python scalar."""
        return from_bits(self.bits, self.given_dtype)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Range(ScalarNode):
    """A loop counter from 0 to its extent (`sources[0]`, not included).

    The extent is a Const, or an expression of Consts and DefineVars.
    """

    number: int
    role: Role
    unroll: int = 0
    """The factor by which LLVM unrolls the loop; 0 leaves it to LLVM."""
    level: Level = "loop"
    part: tuple[int, ...] = ()
    """The part of a tiled axis that this is: 0 outer, 1 inner, 2 the remainder."""
    tasks: int = 0
    """For level `core`: the number of runs of the kernel that share the iterations."""

    def _dtype(self) -> DType:
        return int64

    def _bounds(self) -> Bounds:
        bounds = self.sources[0].bounds
        return None if bounds is None else (0, max(bounds[1] - 1, 0))

    @property
    def extent(self) -> int:
        """The trip count (the largest if it is variable)."""
        bounds = self.sources[0].bounds
        assert bounds is not None
        return bounds[1]

    @property
    def name(self) -> AxisName:
        """`i0` for a normal axis, `r2` for a reduction, `s4` for a serial one; part 1 is `i0.1`."""
        return axis_name(self.role, self.number, self.part)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Argument(ScalarNode):
    """A pointer argument of the kernel: `size` elements of type `element`."""

    slot: int
    element: DType
    size: int
    is_written: bool

    def _dtype(self) -> DType:
        return self.element

    @property
    def name(self) -> str:
        """`out` for the buffer written, `in1`, `in2`, … for those read."""
        return argument_name(self.slot, self.is_written)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Local(ScalarNode):
    """Scratch memory of `size` elements of `element`, not initialised; each task has its own."""

    number: int
    element: DType
    size: int

    def _dtype(self) -> DType:
        return self.element

    @property
    def name(self) -> str:
        """`local0`, at every stage."""
        return f"local{self.number}"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Load(ScalarNode):
    """Element `sources[1]` of argument `sources[0]`; 0, unread, where `sources[2]` is false.

    If `ahead` is not 0, the vector `ahead` elements further on is prefetched, if it exists."""

    ahead: int = 0

    @property
    def predicate(self) -> ScalarNode | None:
        """The condition under which memory is read, if there is one."""
        return self.sources[2] if len(self.sources) > 2 else None


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Alu(ScalarNode):
    """Operation `op` of the table `ops.OPS` on scalars."""

    op: str

    def _dtype(self) -> DType:
        return OPS[self.op].result_dtype(tuple(s.dtype for s in self.sources))

    def _bounds(self) -> Bounds:
        clamped = _clamp_bounds(self)
        if clamped is not None:
            return clamped
        row = OPS[self.op]
        bounds = [s.bounds for s in self.sources[1 if row.has_condition else 0 :]]
        first, second = bounds[0], bounds[1] if len(bounds) > 1 else None
        if first is None or second is None or self.sources[-1].dtype not in (int64, bool_):
            return None
        return None if row.bounds is None else row.bounds(first, second)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Cast(ScalarNode):
    """The value converted to `target`."""

    target: DType

    def _dtype(self) -> DType:
        return self.target


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Bitcast(ScalarNode):
    """The same bits as type `target`."""

    target: DType

    def _dtype(self) -> DType:
        return self.target


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Reduce(ScalarNode):
    """`sources[0]` reduced with `op` over the ranges `sources[1:]`."""

    op: str

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The reduced ranges, outermost first."""
        return tuple(r for r in self.sources[1:] if isinstance(r, Range))


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Scan(ScalarNode):
    """The running reduction of `sources[0]` with `op` along `axis`, this iteration included.

    The axis is one of the loops of the store, and serial; the scan starts anew in each iteration of
    the others."""

    op: str

    @property
    def axis(self) -> Range:
        """The serial range of the scan."""
        axis = self.sources[1]
        assert isinstance(axis, Range)
        return axis


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Store(ScalarNode):
    """Writes `sources[2]` to element `sources[1]` of `sources[0]`, over the loops `sources[3:]`.

    This covers all elements, unless `is_part`: then the others keep their values. `sources[3:]` may
    include a predicate: nothing is written where it is false. `is_streamed` asks for non-temporal
    stores, which bypass the caches.
    """

    is_part: bool = False
    is_streamed: bool = False

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The loops around the store, outermost first."""
        return tuple(r for r in self.sources[3:] if isinstance(r, Range))

    @property
    def predicate(self) -> ScalarNode | None:
        """The condition under which memory is written, if there is one."""
        return next((s for s in self.sources[3:] if not isinstance(s, Range)), None)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Update(ScalarNode):
    """Combines element `sources[1]` of `sources[0]` with `sources[2]`, over loops `sources[4:]`.

    The loops run in order, the last fastest; an update happens only where the predicate
    `sources[3]` is true. `op` is a row of `updates.UPDATES`. The element is read and written: its
    argument was stored to before.
    """

    op: str

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The loops around the update, outermost first."""
        return tuple(r for r in self.sources[4:] if isinstance(r, Range))


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Custom(ScalarNode):
    """A call of the custom function that is registered as `name`.

    An inline function is a value of type `result`, and its operands are values. Any other is a
    statement: `result` is None, its operands are Arguments, and it writes all of the first.
    """

    name: str
    result: DType | None

    def _dtype(self) -> DType:
        return bool_ if self.result is None else self.result


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class DefineVar(ScalarNode):
    """An integer known at run time, from `low` to `high`, both included."""

    name: str
    low: int
    high: int

    def _dtype(self) -> DType:
        return int64

    def _bounds(self) -> Bounds:
        return self.low, self.high


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class After(ScalarNode):
    """`sources[0]`, once the effects `sources[1:]` have happened."""

    def _bounds(self) -> Bounds:
        return self.sources[0].bounds


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Body(ScalarNode):
    """The stores of one kernel, then its updates; or a statement from outside."""

    def _dtype(self) -> DType:
        return bool_


def _clamp_bounds(node: Alu) -> Bounds:
    """Bounds of `min(max(x, low), high)` with constants, for any x: data clamped to an index."""
    match node:
        case Alu(op="min", sources=(Alu(op="max", sources=(_, Const() as low)), Const() as high)):
            if node.dtype == int64 and int(low.value) <= int(high.value):
                return int(low.value), int(high.value)
    return None


def axis_name(role: Role, number: int, part: tuple[int, ...] = ()) -> AxisName:
    """`i0` for a normal axis, `r2` for a reduction, `s4` for a serial one, at every stage.

    The part of a tiled axis follows a dot: `i0.1`, and `i0.1.0` if that was tiled again.
    """
    name = AxisName(f"{LETTERS[role]}{number}")
    return reduce(AxisName.part, part, name)


def memory(node: ScalarNode) -> Argument | Local:
    """The argument or scratch memory of a Load, Store, Update or After."""
    while not isinstance(node, Argument | Local):
        node = node.sources[0]
    return node


def argument_name(slot: int, is_written: bool) -> str:
    """`out` for the buffer written, `in1`, `in2`, … for those read, at every stage."""
    return "out" if is_written else f"in{slot}"


def const(value: Scalar, dtype: DType) -> Const:
    """The scalar constant `value` of type `dtype`."""
    return Const((), to_bits(value, dtype), dtype)


def index(value: int) -> Const:
    """An integer constant of an index expression."""
    return Const((), value & (2**64 - 1), int64)


def alu(op: str, *sources: ScalarNode) -> Alu:
    """Operation `op` on `sources`."""
    return Alu(sources, op)


def axis(extent: int, number: int, role: Role, unroll: int = 0) -> Range:
    """Range number `number` of the given extent."""
    return Range((index(extent),), number, role, unroll)


def linear(indices: "tuple[ScalarNode, ...]", shape: tuple[int, ...]) -> ScalarNode:
    """The row-major element number of `indices` in `shape`."""
    result: ScalarNode = index(0)
    for position, value in enumerate(indices):
        stride = math.prod(shape[position + 1 :])
        result = alu("add", result, alu("mul", value, index(stride)))
    return result
