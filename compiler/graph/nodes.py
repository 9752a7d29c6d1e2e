"""The tensor graph: a DAG of interned nodes that describe a computation. Each node is one value.

    node = Buffer(unique, shape, dtype, name)         data that exists: an input or a result
         | Param(slot, shape, dtype)                  an argument of a kernel body
         | Const(bits, dtype, shape)                  one value everywhere
         | Variable(name, low, high)                  an integer known when the program runs
         | Bind(variable; value)                      the variable, with its value in this run
         | Prefix(x, variables…; axis[, length])      the first elements of an axis
         | Iota(extent, dtype)                        0, 1, 2, … along one axis
         | Elementwise(sources, op)                   a row of `ops.OPS`, equal shapes
         | Cast(x, dtype) | Bitcast(x, dtype)         convert the value | keep the bits
         | Reshape(x, shape) | Permute(x, order) | Expand(x, shape)
         | Pad(x, widths) | Shrink(x, bounds) | Flip(x, axes)            movement
         | Narrow(x, variable; axis, length)          `length` elements from the `variable`th on
         | Reduce(x, op, axes[, unroll])              a row of `ops.REDUCTIONS`, axes kept as 1
         | Scan(x; op, axis)                          see `graph/kinds/scan.py`
         | Index(x, indices…[, validity])             x[i₀, i₁, …], element by element; 0 outside
         | Threefry(counter, key)                     64 random bits per counter (uint64)
         | Contiguous(x)                              x, in memory
         | Device | Unique | Copy | Multi             where a value is: `placement.py`
         | Store(param, x; parts)                     writes x, element by element, to a Param
         | Scatter | Custom | Assign                  see `graph/kinds/effects.py`
         | Sink(sources)                              the roots of a program or of a kernel body
         | Composite                                  the kinds listed in `kinds.py`

`shape` and `dtype` are computed once, when the node is created. Operands of an elementwise node
have equal shapes and types: broadcasting and promotion are explicit nodes (`tensor.py`).
`devices` states where the value is computed; it is () where no input determines it.
An axis with a dynamic extent has its upper bound in `shape` and its variable in `extents`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from compiler.core.dtypes import DType, Scalar, bool_, int64
from compiler.core.node import Node
from compiler.graph import extents as rules
from compiler.graph.bits import from_bits, to_bits
from compiler.graph.devices import DISK, Devices, common_devices
from compiler.graph.extents import LARGEST as LARGEST
from compiler.graph.extents import MOST_AXES as MOST_AXES
from compiler.graph.extents import Extent, Extents
from compiler.ops.table import OPS

Shape: TypeAlias = tuple[int, ...]
Pairs: TypeAlias = tuple[tuple[int, int], ...]
Parts: TypeAlias = tuple[tuple[int, int, int], ...]
"""The written slice of each axis as (begin, count, step); () means all elements."""



@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class TensorNode(Node):
    """Base of the tensor nodes: adds `shape`, `dtype`, `devices` and `extents`.

    A kind refuses axes with a dynamic extent unless its `_extents` has a rule for them.
    """

    sources: "tuple[TensorNode, ...]"
    shape: Shape = field(init=False)
    dtype: DType = field(init=False)
    devices: Devices = field(init=False)
    extents: Extents = field(init=False)
    known: Any = field(init=False)
    """A cache of `tensors/readers.py` about the node's users; not part of its identity."""
    made: Any = field(init=False)
    """The computation of a value in memory (`tensors/history.py`); not part of its identity."""
    _extents = rules.refused

    def __post_init__(self) -> None:
        shape, dtype = self._infer()
        if math.prod(shape) > LARGEST or len(shape) > MOST_AXES:
            rules.refuse_shape(type(self).__name__.lower(), shape)
        assign = object.__setattr__
        assign(self, "shape", shape)
        assign(self, "dtype", dtype)
        assign(self, "devices", self._placed())
        for source in self.sources:
            if getattr(source, "extents", ()):
                assign(self, "extents", self._extents())
                return
        assign(self, "extents", ())

    def _infer(self) -> tuple[Shape, DType]:
        """Shape and element type; by default those of the only source."""
        return self.sources[0].shape, self.sources[0].dtype

    def _placed(self) -> Devices:
        """The device of each shard; by default the devices that all sources share.

        Raises `DeviceError` if the sources are on different devices.
        """
        return common_devices(self)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The size of the value in memory, in bytes."""
        return self.size * self.dtype.itemsize


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Buffer(TensorNode):
    """Data that exists outside the program; `unique` distinguishes buffers."""

    unique: int
    given_shape: Shape
    given_dtype: DType
    name: str = ""
    device: str = "CPU"
    memory: Any = field(init=False)
    """The data, if registered in `device/buffers.py`; not part of the node's identity."""

    def __post_init__(self) -> None:
        shape = self.given_shape
        if len(shape) > MOST_AXES or math.prod(shape) > LARGEST:
            rules.refuse_shape("buffer", shape)
        assign = object.__setattr__
        assign(self, "shape", shape)
        assign(self, "dtype", self.given_dtype)
        assign(self, "devices", () if self.device == DISK else (self.device,))
        assign(self, "extents", ())


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Param(TensorNode):
    """Argument number `slot` of a kernel body."""

    slot: int
    given_shape: Shape
    given_dtype: DType

    def _infer(self) -> tuple[Shape, DType]:
        return self.given_shape, self.given_dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Const(TensorNode):
    """A constant, the same in every element. Kept as bits: 0.0 and -0.0 differ, NaN equals NaN."""

    bits: int
    given_dtype: DType
    given_shape: Shape = ()

    def _infer(self) -> tuple[Shape, DType]:
        return self.given_shape, self.given_dtype

    @property
    def value(self) -> Scalar:
        """The value as a Python scalar."""
        return from_bits(self.bits, self.given_dtype)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Iota(TensorNode):
    """0, 1, 2, … `extent` - 1, along one axis."""

    extent: int
    given_dtype: DType

    def _infer(self) -> tuple[Shape, DType]:
        return (self.extent,), self.given_dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Variable(TensorNode):
    """An int64 known when the program runs, at least `low` and at most `high`."""

    name: str
    low: int
    high: int

    def _infer(self) -> tuple[Shape, DType]:
        return (), int64


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Bind(TensorNode):
    """The Variable `sources[0]` bound to `value` in this run; it compiles as the Variable."""

    value: int


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Prefix(TensorNode):
    """The first elements of `axis`, as many as the dynamic extent `length`.

    `length` depends on `sources[1:]`, which are Variables or Binds; None stands for the only one
    of them.
    """

    axis: int
    length: Extent | None = None
    _extents = rules.prefixed

    def __post_init__(self) -> None:
        TensorNode.__post_init__(self)
        object.__setattr__(self, "extents", self._extents())

    def _infer(self) -> tuple[Shape, DType]:
        source, most = self.sources[0], self.extent.high
        shape = tuple(min(n, most) if a == self.axis else n for a, n in enumerate(source.shape))
        return shape, source.dtype

    @property
    def extent(self) -> Extent:
        """The dynamic extent of the axis."""
        if self.length is not None:
            return self.length
        variable = self.sources[1]
        while variable.sources:
            (variable,) = variable.sources
        assert isinstance(variable, Variable)
        return Extent(variable.name, variable.low, variable.high)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Elementwise(TensorNode):
    """Operation `op` of the table, applied elementwise."""

    op: str
    _extents = rules.united

    def _infer(self) -> tuple[Shape, DType]:
        dtypes = tuple(s.dtype for s in self.sources)
        return self.sources[0].shape, OPS[self.op].result_dtype(dtypes)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Cast(TensorNode):
    """The value converted to another type (float → int saturates, NaN → 0)."""

    target: DType
    _extents = rules.kept

    def _infer(self) -> tuple[Shape, DType]:
        return self.sources[0].shape, self.target


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Bitcast(TensorNode):
    """The same bits read as another type of the same width."""

    target: DType
    _extents = rules.kept

    def _infer(self) -> tuple[Shape, DType]:
        return self.sources[0].shape, self.target


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Reshape(TensorNode):
    """The same elements in row-major order, with another shape of equal size.

    `given` states the extents of the axes where it is ambiguous which of them are dynamic.
    """

    new_shape: Shape
    given: Extents = ()
    _extents = rules.reshaped

    def _infer(self) -> tuple[Shape, DType]:
        return self.new_shape, self.sources[0].dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Permute(TensorNode):
    """Axes reordered: result axis i is source axis `order[i]`."""

    order: Shape
    _extents = rules.permuted

    def _infer(self) -> tuple[Shape, DType]:
        source = self.sources[0]
        return tuple(source.shape[axis] for axis in self.order), source.dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Expand(TensorNode):
    """Axes of extent 1 broadcast to `new_shape` (same rank)."""

    new_shape: Shape
    _extents = rules.kept

    def _infer(self) -> tuple[Shape, DType]:
        return self.new_shape, self.sources[0].dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Pad(TensorNode):
    """Zero padding: `widths` has one (before, after) per axis."""

    widths: Pairs
    _extents = rules.padded

    def _infer(self) -> tuple[Shape, DType]:
        source = self.sources[0]
        pairs = zip(source.shape, self.widths, strict=True)
        return tuple(n + before + after for n, (before, after) in pairs), source.dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Shrink(TensorNode):
    """The slice [begin, end) of each axis: `bounds` has one (begin, end) per axis.

    The axes in `open` have a dynamic extent, and their slice reaches to their end.
    """

    bounds: Pairs
    open: Shape = ()
    _extents = rules.shrunk

    def _infer(self) -> tuple[Shape, DType]:
        return tuple(end - begin for begin, end in self.bounds), self.sources[0].dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Narrow(TensorNode):
    """A slice of `axis`: `length` elements that start at `sources[1]`, a Variable.

    Only in kernel bodies, so that calls which read different slices share one kernel.
    """

    axis: int
    length: int
    _extents = rules.narrowed

    def _infer(self) -> tuple[Shape, DType]:
        source = self.sources[0]
        shape = tuple(self.length if a == self.axis else n for a, n in enumerate(source.shape))
        return shape, source.dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Flip(TensorNode):
    """The elements with `axes` reversed."""

    axes: Shape
    _extents = rules.kept


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Reduce(TensorNode):
    """The reduction of `axes`, which keep extent 1, by row `op` of the table."""

    op: str
    axes: Shape
    unroll: int = 0
    """The unroll factor of the innermost reduction loop; 0 leaves it to LLVM."""
    _extents = rules.folded

    def _infer(self) -> tuple[Shape, DType]:
        source = self.sources[0]
        shape = tuple(1 if i in self.axes else n for i, n in enumerate(source.shape))
        return shape, source.dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Index(TensorNode):
    """Elements of `sources[0]` at the positions `sources[1:]`: one int64 tensor per axis.

    The positions have the shape of the result. A position out of bounds reads 0. An optional last
    operand is the validity, a bool predicate: where it is false, the element is 0 and memory is
    not accessed, whatever the positions are.
    """

    @property
    def positions(self) -> tuple[TensorNode, ...]:
        """The positions, one tensor per axis of the operand."""
        return self.sources[1 : 1 + len(self.sources[0].shape)]

    @property
    def validity(self) -> TensorNode | None:
        """The predicate under which an element is read, or None."""
        rest = self.sources[1 + len(self.sources[0].shape) :]
        return rest[0] if rest else None

    _extents = rules.indexed

    def _infer(self) -> tuple[Shape, DType]:
        return self.sources[1].shape, self.sources[0].dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Threefry(TensorNode):
    """Threefry-2x32 with 20 rounds: counter `sources[0]` encrypted with key `sources[1]`.

    Both are uint64 pairs of words: the low 32 bits are the first word, the high 32 the second.
    """

    _extents = rules.united


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Contiguous(TensorNode):
    """The source, written to memory in row-major order: a kernel boundary."""

    _extents = rules.kept


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Store(TensorNode):
    """Writes `sources[1]` to the Param `sources[0]`, or to its slices `parts`.

    Its value is the new content of the Param.
    """

    parts: Parts = ()

    _extents = rules.stored

    def _infer(self) -> tuple[Shape, DType]:
        return self.sources[0 if self.parts else 1].shape, self.sources[1].dtype


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Sink(TensorNode):
    """The roots of a program; it has no value of its own."""

    _extents = rules.none

    def _infer(self) -> tuple[Shape, DType]:
        return (), bool_

    def _placed(self) -> Devices:
        return ()


def first_of(
    node: TensorNode, axis: int, extent: Extent, values: Mapping[str, int] | None = None
) -> Prefix:
    """The first `extent` elements of an axis; `values` binds variables by name."""
    variables: list[TensorNode] = []
    for each in extent.variables:
        variable = Variable((), each.name, each.low, each.high)
        variables.append(variable if values is None else Bind((variable,), values[each.name]))
    return Prefix((node, *variables), axis, extent if extent.terms else None)


MOVEMENT = (Reshape, Permute, Expand, Pad, Shrink, Narrow, Flip, Prefix)
LEAVES = (Buffer, Param, Const, Iota, Variable)


def const(value: Scalar, dtype: DType, shape: Shape = ()) -> Const:
    """The constant `value` of type `dtype`, the same everywhere in `shape`."""
    return Const((), to_bits(value, dtype), dtype, shape)


def elementwise(op: str, *sources: TensorNode) -> Elementwise:
    """Operation `op` of the table applied to `sources` (equal shapes and types)."""
    return Elementwise(sources, op)
