"""Kinds that only `GraphBuilder` creates, for graphs written by hand; no pass or method of Tensor.

    node = VConst(bits, dtype)            a vector of given constants
         | Gep(x; indices)                lanes of the last axis
         | Vectorize(x…)                  values of one shape as the lanes of a new last axis
         | Wmma(a, b, c; m, n, k)         c + a @ b, on tiles m×k, k×n and m×n
         | ScatterAxis(indices, updates; axis, shape)     updates at positions along an axis
         | Noop([x])                      x; decompose removes it
         | Valid(x; views)                x where the shape tracker's mask is true, else 0
         | BufferView(buffer; size, offset, dtype)        part of a buffer, its bytes as `dtype`

`notebooks/02_the_graph.ipynb` writes such graphs in its section 8.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Array, DType, Scalar, bool_, int64
from compiler.graph import nodes
from compiler.graph.bits import from_bits, to_bits
from compiler.graph.kinds.composite import Composite, Problem, same_types, written
from compiler.graph.kinds.effects import Scatter
from compiler.graph.kinds.joins import Cat, Contract
from compiler.graph.kinds.markers import Marker
from compiler.graph.kinds.shaping import (
    affine,
    broadcast_node,
    cast_to,
    counting,
    places_along,
    reshaped,
    shrunk,
    zero_padded,
)
from compiler.graph.kinds.views import Tracker, described, positions, tracker_problem, viewed
from compiler.graph.nodes import Shape, TensorNode, const, elementwise

UNSIGNED = {8: dtypes.uint8, 16: dtypes.uint16, 32: dtypes.uint32, 64: dtypes.uint64}
LANES = 64
"""The most constants in a VConst: more of them belong into a buffer."""


def vector(values: tuple[Scalar, ...], dtype: DType) -> "VConst":
    """The vector of these constants."""
    return VConst((), tuple(to_bits(value, dtype) for value in values), dtype)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class VConst(Composite):
    """A vector of constants, kept as bits."""

    operands: ClassVar[int | None] = 0
    colour: ClassVar[str] = "const"
    bits: tuple[int, ...]
    given_dtype: DType

    def result(self) -> tuple[Shape, DType]:
        """One axis, a lane each."""
        return (len(self.bits),), self.given_dtype

    @property
    def values(self) -> tuple[Scalar, ...]:
        """The constants as Python numbers."""
        return tuple(from_bits(each, self.given_dtype) for each in self.bits)

    def own_problem(self) -> Problem | None:
        """Too many lanes, or bits that do not fit the type."""
        if len(self.bits) > LANES:
            hint = "use Tensor(...): so many values are data"
            what = "a vector constant has too many lanes"
            return Problem(what, len(self.bits), f"at most {LANES}", hint)
        wrong = [hex(each) for each in self.bits if not 0 <= each < 1 << self.given_dtype.bits]
        if wrong:
            return Problem("the bits do not fit the type", " ".join(wrong), self.given_dtype)
        return None

    def reference(self, values: list[Array]) -> Array:
        """The constants as an array."""
        size = self.given_dtype.itemsize
        data = b"".join(each.to_bytes(size, "little") for each in self.bits)
        return np.frombuffer(data, self.given_dtype.numpy.newbyteorder("<")).astype(
            self.given_dtype.numpy
        )

    def expansion(self) -> TensorNode:
        """vconst(a, b, …) = a + i*step where that is so, else a choice by the bits of i"""
        lanes, dtype = len(self.bits), self.given_dtype
        if not lanes:
            return const(0, dtype, (0,))
        if len(set(self.bits)) == 1:
            return _one(self.bits[0], dtype, lanes)
        if dtype.is_integer:
            step = (self.bits[1] - self.bits[0]) % (1 << dtype.bits)
            wanted = tuple((self.bits[0] + i * step) % (1 << dtype.bits) for i in range(lanes))
            if wanted == self.bits:
                signed = from_bits(step, dtype)
                return affine(nodes.Iota((), lanes, dtype), int(signed), int(self.values[0]))
        return self._chosen()

    def _chosen(self) -> TensorNode:
        """A balanced tree of selects: one comparison per run of equal lanes, log2 of them deep."""
        lanes, dtype = len(self.bits), self.given_dtype
        number: TensorNode = nodes.Iota((), lanes, int64)
        runs: list[tuple[int, TensorNode]] = [
            (lane, _one(bits, dtype, lanes))
            for lane, bits in enumerate(self.bits)
            if not lane or bits != self.bits[lane - 1]
        ]
        while len(runs) > 1:
            joined = []
            for (begin, left), (middle, right) in zip(runs[::2], runs[1::2], strict=False):
                is_left = elementwise("lt", number, const(middle, int64, (lanes,)))
                joined.append((begin, elementwise("where", is_left, left, right)))
            runs = joined + runs[len(joined) * 2 :]
        return runs[0][1]

    def describe(self) -> str:
        """The values."""
        return f"({', '.join(map(str, self.values))})"


def _one(bits: int, dtype: DType, lanes: int) -> TensorNode:
    return nodes.Const((), bits, dtype, (lanes,))


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Gep(Composite):
    """Lanes `indices` of the last axis, in that order; a lane may be taken twice."""

    indices: Shape

    def result(self) -> tuple[Shape, DType]:
        """The last axis has as many lanes as there are indices."""
        source = self.sources[0]
        return (*source.shape[:-1], len(self.indices)), source.dtype

    def own_problem(self) -> Problem | None:
        """No axis, or a lane that is not there."""
        shape = self.sources[0].shape
        if not shape:
            return Problem("a value of rank 0 has no lanes", "rank 0", "rank 1 or more")
        if any(not 0 <= index < shape[-1] for index in self.indices):
            return Problem("a lane is out of range", self.indices, f"lanes below {shape[-1]}")
        if len(self.indices) > LANES:
            return Problem("too many lanes are taken", len(self.indices), f"at most {LANES}",
                           "use gather or take")  # fmt: skip
        return None

    def reference(self, values: list[Array]) -> Array:
        """NumPy's take."""
        return np.take(values[0], np.array(self.indices, np.int64), axis=-1)

    def expansion(self) -> TensorNode:
        """gep(x; lanes) = x shrunk to neighbours, else x[…, lanes]"""
        x, shape, lanes = self.sources[0], self.shape, self.indices
        if not self.size:
            return const(0, x.dtype, shape)
        first = lanes[0]
        if lanes == tuple(range(first, first + len(lanes))):
            whole = tuple((0, n) for n in shape[:-1])
            return shrunk(x, (*whole, (first, first + len(lanes))))
        taken = reshaped(vector(lanes, int64), (*(1 for _ in shape[:-1]), len(lanes)))
        before = (counting(shape, axis) for axis in range(len(shape) - 1))
        return nodes.Index((x, *before, broadcast_node(taken, shape)))

    def describe(self) -> str:
        """The lanes."""
        return written(self.indices)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Vectorize(Composite):
    """The operands, of one shape and type, as the lanes of a new last axis."""

    operands: ClassVar[int | None] = None

    def result(self) -> tuple[Shape, DType]:
        """One more axis."""
        first = self.sources[0]
        return (*first.shape, len(self.sources)), first.dtype

    def own_problem(self) -> Problem | None:
        """Operands that differ."""
        shapes = [s.shape for s in self.sources]
        if len(set(shapes)) > 1:
            return Problem("the operands differ in shape", shapes, "one shape")
        return same_types(self)

    def reference(self, values: list[Array]) -> Array:
        """NumPy's stack."""
        return np.stack(values, axis=-1)

    def expansion(self) -> TensorNode:
        """vectorize(a, b, …) = cat of a, b, … with a new last axis"""
        parts = tuple(reshaped(s, (*s.shape, 1)) for s in self.sources)
        return Cat(parts, len(self.shape) - 1)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Wmma(Composite):
    """c + a @ b on tiles; the axes before the last two are equal and are as many tiles.

    Products and sums have the type of c, float32 where that has 16 bits; bool: or of ands.
    """

    operands: ClassVar[int | None] = 3
    colour: ClassVar[str] = "reduce"
    m: int
    n: int
    k: int

    def result(self) -> tuple[Shape, DType]:
        """The shape and type of c."""
        return self.sources[2].shape, self.sources[2].dtype

    def own_problem(self) -> Problem | None:
        """Tiles of the wrong shape, or types that differ; c may be float32 for 16-bit a and b."""
        if min(self.m, self.n, self.k) < 1:
            return Problem("a tile has no elements", (self.m, self.n, self.k), "1 or more each")
        batch = self.sources[2].shape[:-2]
        tiles = ((self.m, self.k), (self.k, self.n), (self.m, self.n))
        for name, source, tile in zip("abc", self.sources, tiles, strict=True):
            if source.shape != (*batch, *tile):
                return Problem(f"operand {name} has another shape", source.shape, (*batch, *tile))
        a, b, c = (source.dtype for source in self.sources)
        if a is not b or c not in (a, a.accumulator):
            return Problem("the operands do not fit in type", f"{a} {b} {c}",
                           f"one type, or {a} {a} {a.accumulator}")  # fmt: skip
        return None

    def _inner(self) -> DType:
        return self.dtype.accumulator

    def reference(self, values: list[Array]) -> Array:
        """NumPy's matmul, in the type of the sums."""
        a, b, c = (value.astype(self._inner().numpy) for value in values)
        return np.asarray(c + np.matmul(a, b)).astype(self.dtype.numpy)

    def expansion(self) -> TensorNode:
        """wmma(a, b, c) = c + a contracted with b, tile by tile"""
        batch = self.shape[:-2]
        a, b, c = (cast_to(source, self._inner()) for source in self.sources)
        rank = len(batch)
        product = Contract((a, b), ((rank + 1, rank),), rank)
        return cast_to(elementwise("add", c, product), self.dtype)

    def describe(self) -> str:
        """`16×16×8`"""
        return f"{self.m}×{self.n}×{self.k}"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class ScatterAxis(Composite):
    """Zeros of `full_shape`, with updates written at indices along one axis.

    Element [i, j, …] of the updates is written to [i, j, …] with indices[i, j, …] on `axis`, in
    row-major order: the last write to an element wins. Updates out of bounds are dropped.
    """

    operands: ClassVar[int | None] = 2
    colour: ClassVar[str] = "memory"
    name_in_print: ClassVar[str] = "scatter_axis"
    axis: int
    full_shape: Shape

    def result(self) -> tuple[Shape, DType]:
        """The full shape, in the type of the updates."""
        return self.full_shape, self.sources[1].dtype

    def own_problem(self) -> Problem | None:
        """No such axis; indices that are no integers; updates larger than another axis."""
        (indices, values), rank = self.sources, len(self.full_shape)
        if any(n < 0 for n in self.full_shape):
            return Problem("an extent is negative", self.full_shape, "extents of 0 or more")
        if not 0 <= self.axis < rank:
            return Problem("the axis is out of range", self.axis, f"an axis below {rank}")
        if not indices.dtype.is_integer:
            return Problem("the indices are no integers", indices.dtype, "an integer type")
        if indices.shape != values.shape:
            return Problem("the indices have another shape than the updates", indices.shape,
                           values.shape)  # fmt: skip
        others = [i for i in range(rank) if i != self.axis]
        if len(values.shape) != rank or any(values.shape[i] > self.full_shape[i] for i in others):
            expected = f"rank {rank}, at most {self.full_shape} but for axis {self.axis}"
            return Problem("the updates do not fit", values.shape, expected)
        return None

    def reference(self, values: list[Array]) -> Array:
        """NumPy's assignment, which keeps the last of equal positions."""
        wide, new = values[0].astype(object), values[1]
        elements = np.zeros(self.shape, new.dtype)
        inside = np.asarray((wide >= 0) & (wide < self.shape[self.axis]), bool)
        where: list[Array] = [*np.indices(new.shape)]
        where[self.axis] = np.where(inside, wide, 0).astype(np.int64)
        elements[tuple(each[inside] for each in where)] = new[inside]
        return elements

    def expansion(self) -> TensorNode:
        """scatter_axis(p, u; axis) = scatter of u into zeros at [i, …, p, …, k]"""
        indices, values = self.sources
        where = places_along(cast_to(indices, int64), self.axis)
        return Scatter((const(0, values.dtype, self.shape), values, *where), "replace")

    def describe(self) -> str:
        """The axis and the shape."""
        return f"axis {self.axis} {written(self.full_shape)}"


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Noop(Marker):
    """x; without an operand it is false, of rank 0."""

    operands: ClassVar[int | None] = None

    def problem(self) -> Problem | None:
        """More than one operand."""
        count = len(self.sources)
        return Problem("the number of operands is wrong", count, "0 or 1") if count > 1 else None

    def result(self) -> tuple[Shape, DType]:
        """The shape and type of the operand."""
        return (self.sources[0].shape, self.sources[0].dtype) if self.sources else ((), bool_)

    def reference(self, values: list[Array]) -> Array:
        """The operand, or false."""
        return values[0] if values else np.array(False)

    def expansion(self) -> TensorNode:
        """noop(x) = x and noop() = false"""
        return self.sources[0] if self.sources else const(False, bool_)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Valid(Composite):
    """The operand, which has the tracker's shape, where the tracker's mask is true; 0 elsewhere."""

    views: Tracker
    size: int
    """The number of elements that the tracker is a view of."""

    def own_problem(self) -> Problem | None:
        """A wrong tracker, or an operand of another shape than the tracker's."""
        objection = tracker_problem(self.views, self.size)
        shape = self.sources[0].shape
        if objection or shape == self.views[-1].shape:
            return objection
        return Problem("the operand has another shape", shape, self.views[-1].shape)

    def reference(self, values: list[Array]) -> Array:
        """The operand, selected by the mask."""
        return np.where(positions(self.views)[1], values[0], values[0].dtype.type(0))

    def expansion(self) -> TensorNode:
        """valid(x; mask) = x inside the mask, else 0; x is not read outside the outermost mask"""
        x, outer = self.sources[0], self.views[-1]
        if 0 in outer.valid_shape:
            return const(0, x.dtype, x.shape)
        if any(view.mask is not None for view in self.views[:-1]):
            mask: TensorNode = const(True, dtypes.bool_, (self.size,))
            for view in self.views:
                mask = viewed(mask, view)
            return elementwise("where", mask, x, const(0, x.dtype, x.shape))
        widths = tuple((b, n - e) for (b, e), n in zip(outer.bounds, x.shape, strict=True))
        return zero_padded(shrunk(x, outer.bounds), widths)

    def describe(self) -> str:
        """The views, innermost first."""
        return described(self.views)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class BufferView(Composite):
    """`count` elements of type `target` in the memory of a buffer, starting at element `offset`.

    Both are counted in elements of `target`; memory is reinterpreted as little-endian `target`.
    """

    colour: ClassVar[str] = "buffer"
    name_in_print: ClassVar[str] = "buffer_view"
    count: int
    offset: int
    target: DType

    def result(self) -> tuple[Shape, DType]:
        """One axis."""
        return (self.count,), self.target

    def own_problem(self) -> Problem | None:
        """An operand that is no buffer, a bool type, a part out of the buffer's bounds."""
        source = self.sources[0]
        if not isinstance(source, nodes.Buffer | nodes.Param) and not _is_placeholder(source):
            return Problem("the operand is no buffer", type(source).__name__.lower(), "a buffer",
                           "use a view, or contiguous() and realize()")  # fmt: skip
        if source.dtype is not self.target and dtypes.bool_ in (source.dtype, self.target):
            got = f"{source.dtype} as {self.target}"
            return Problem("truth values have no other type's bits", got, "numbers", "cast them")
        fits = source.nbytes // self.target.itemsize
        if self.offset < 0 or self.count < 0 or self.offset + self.count > fits:
            got = f"elements {self.offset} to {self.offset + self.count}"
            return Problem("the part reaches outside the buffer", got, f"inside 0 to {fits}")
        return None

    def reference(self, values: list[Array]) -> Array:
        """The bytes, read as type `target`."""
        bits = np.ascontiguousarray(values[0]).reshape(-1).view(np.uint8)
        begin = self.offset * self.target.itemsize
        part = bits[begin : begin + self.count * self.target.itemsize]
        return part.copy().view(self.target.numpy)

    def expansion(self) -> TensorNode:
        """buffer_view(b; n, k, t) = bitcast(b, t)[k : k+n]; wider or narrower types by shifts"""
        source, target = self.sources[0], self.target
        flat = reshaped(source, (source.size,))
        old, new, end = source.dtype.bits, target.bits, self.offset + self.count
        if not self.count:
            return const(0, target, (0,))
        if old == new:
            return _as(shrunk(flat, ((self.offset, end),)), target)
        ratio = max(old, new) // min(old, new)
        if old > new:
            first = self.offset // ratio
            part = shrunk(flat, ((first, -(-end // ratio)),))
            skip = self.offset - first * ratio
            narrow = _split(_as(part, UNSIGNED[old]), ratio, UNSIGNED[new])
            return _as(shrunk(narrow, ((skip, skip + self.count),)), target)
        part = shrunk(flat, ((self.offset * ratio, end * ratio),))
        return _as(_joined(_as(part, UNSIGNED[old]), ratio, UNSIGNED[new]), target)

    def describe(self) -> str:
        """`16:32 as f32`"""
        return f"{self.offset}:{self.offset + self.count} as {self.target.short}"


def _is_placeholder(node: TensorNode) -> bool:
    return isinstance(node, Composite) and not node.sources and node.colour == "buffer"


def _as(node: TensorNode, dtype: DType) -> TensorNode:
    """The same bits, read as another type."""
    return node if node.dtype is dtype else nodes.Bitcast((node,), dtype)


def _split(words: TensorNode, ratio: int, narrow: DType) -> TensorNode:
    """Each word split into `ratio` narrower ones, least significant first."""
    shape = (words.size, ratio)
    wide = broadcast_node(reshaped(words, (words.size, 1)), shape)
    by = cast_to(affine(counting(shape, 1), narrow.bits, 0), words.dtype)
    return reshaped(cast_to(elementwise("shr", wide, by), narrow), (words.size * ratio,))


def _joined(words: TensorNode, ratio: int, wide: DType) -> TensorNode:
    """Each `ratio` words joined to a wider one, least significant first."""
    shape = (words.size // ratio, ratio)
    rows = cast_to(reshaped(words, shape), wide)
    by = cast_to(affine(counting(shape, 1), words.dtype.bits, 0), wide)
    return reshaped(nodes.Reduce((elementwise("shl", rows, by),), "sum", (1,)), shape[:1])
