"""Short vectors and tiles: the kinds that stand for a machine's vector registers.

    node = VConst(bits, dtype)            a vector of given constants
         | Gep(x; indices)                lanes of the last axis
         | Vectorize(x…)                  values of one shape as the lanes of a new last axis
         | Wmma(a, b, c; m, n, k)         c + a @ b, on tiles m×k, k×n and m×n
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compiler.core.dtypes import DType, Scalar, float16, float32, int64
from compiler.graph.bits import from_bits, to_bits
from compiler.graph.kinds.composite import Array, Composite, Problem, same_types, written
from compiler.graph.kinds.joins import Cat, Contract
from compiler.graph.kinds.shaping import affine, broadcast_node, cast_to, counting, reshaped, shrunk
from compiler.graph.nodes import Const, Index, Iota, Shape, TensorNode, const, elementwise

LANES = 64
"""The most constants a VConst holds: more are data, and belong into a buffer."""


def vector(values: tuple[Scalar, ...], dtype: DType) -> "VConst":
    """The vector of these constants."""
    return VConst((), tuple(to_bits(value, dtype) for value in values), dtype)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class VConst(Composite):
    """A row of constants, kept as bits."""

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
        """The bits, put together."""
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
                return affine(Iota((), lanes, dtype), int(signed), int(self.values[0]))
        return self._chosen()

    def _chosen(self) -> TensorNode:
        """A balanced tree of choices: as many comparisons as there are runs, fewer one by one."""
        lanes, dtype = len(self.bits), self.given_dtype
        number: TensorNode = Iota((), lanes, int64)
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
    return Const((), bits, dtype, (lanes,))


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
        return Index((x, *before, broadcast_node(taken, shape)))

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

    Products and sums have the type of c, float32 where that is float16; bool: or of ands.
    """

    operands: ClassVar[int | None] = 3
    colour: ClassVar[str] = "reduce"
    m: int
    n: int
    k: int

    def result(self) -> tuple[Shape, DType]:
        """Those of c."""
        return self.sources[2].shape, self.sources[2].dtype

    def own_problem(self) -> Problem | None:
        """Tiles of other extents; types that differ, but that c may be float32 for float16."""
        if min(self.m, self.n, self.k) < 1:
            return Problem("a tile has no elements", (self.m, self.n, self.k), "1 or more each")
        batch = self.sources[2].shape[:-2]
        tiles = ((self.m, self.k), (self.k, self.n), (self.m, self.n))
        for name, source, tile in zip("abc", self.sources, tiles, strict=True):
            if source.shape != (*batch, *tile):
                return Problem(f"operand {name} has another shape", source.shape, (*batch, *tile))
        a, b, c = (source.dtype for source in self.sources)
        if a is not b or (c is not a and (a, c) != (float16, float32)):
            return Problem("the operands do not fit in type", f"{a} {b} {c}",
                           "one type, or float16 float16 float32")  # fmt: skip
        return None

    def _inner(self) -> DType:
        return float32 if self.dtype is float16 else self.dtype

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
