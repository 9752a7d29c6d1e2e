"""Kinds that combine tensors: concatenation, contraction and gather.

    node = Cat(x…; axis)                       concatenation along an axis
         | Contract(a, b; pairs[, batch])      the sum of products over pairs of axes
         | Gather(x, indices; axis)            x at indices along an axis; 0 out of bounds
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from compiler.core.dtypes import Array, DType, bool_, int64
from compiler.graph import nodes
from compiler.graph.extent import Extent, Number, total
from compiler.graph.extents import symbolic
from compiler.graph.kinds.composite import Composite, Problem, first_axis_outside, same_types
from compiler.graph.kinds.shaping import (
    broadcast_node,
    cast_to,
    counting_to,
    like,
    permuted,
    places_along,
    reshaped,
    value_of,
    zero_padded,
)
from compiler.graph.nodes import Pairs, Shape, TensorNode, const, elementwise

AT_ONCE = 16
"""The most operands that one kernel concatenates, as it selects each element from all of them.
1,000 tensors of 100 floats compiled in 0.6 s and ran in 0.74 ms; with 8 at once 0.5 s and 0.64 ms,
with 32 0.5 s and 1.1 ms, with 64 1.0 s and 15 ms (EPYC, AVX2, two busy cores, 2026-11-23). All at
once took two minutes to compile (2026-11-22)."""


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Cat(Composite):
    """The operands, of one type, concatenated along `axis`; other extents are equal."""

    operands: ClassVar[int | None] = None
    axis: int

    def result(self) -> tuple[Shape, DType]:
        """The shape with the sum of extents along the axis, and the type."""
        first = self.sources[0]
        length = sum(s.shape[self.axis] for s in self.sources)
        return (*first.shape[: self.axis], length, *first.shape[self.axis + 1 :]), first.dtype

    def own_problem(self) -> Problem | None:
        """No such axis, or operands that do not fit."""
        rank = len(self.sources[0].shape)
        if not 0 <= self.axis < rank:
            return Problem("the axis is out of range", self.axis, f"an axis below {rank}")
        shapes = [s.shape for s in self.sources]
        around = {(s[: self.axis], s[self.axis + 1 :]) for s in shapes}
        if len(around) > 1:
            return Problem("the operands do not fit", shapes, f"one shape but for axis {self.axis}")
        return same_types(self)

    def reference(self, values: list[Array]) -> Array:
        """NumPy's concatenate."""
        return np.concatenate(values, axis=self.axis)

    def expansion(self) -> TensorNode:
        """cat(x, y) = where(mask of x, x padded, y padded)"""
        if len(self.sources) > AT_ONCE:
            return self._in_groups()
        if any(node.extents and node.extents[self.axis] for node in self.sources):
            return joined_at_variables(self.sources, self.axis)
        # Adding the padded parts would be wrong: -0.0 + 0.0 is 0.0.
        length = end = self.shape[self.axis]
        joined: TensorNode | None = None
        for node in reversed(self.sources):
            begin = end - node.shape[self.axis]
            widths = tuple(
                (begin, length - end) if i == self.axis else (0, 0) for i in range(len(node.shape))
            )
            part: TensorNode = zero_padded(node, widths)
            if joined is not None:
                mask = nodes.Pad((like(const(True, bool_, node.shape), node),), widths)
                part = elementwise("where", mask, part, joined)
            joined, end = part, begin
        assert joined is not None
        return joined

    @property
    def has_derivative(self) -> bool:
        """True if no operand has a dynamic extent along the axis."""
        return not any(node.extents and node.extents[self.axis] for node in self.sources)

    def derivative(self, g: TensorNode) -> list[TensorNode]:
        """in reverse each operand's part"""
        cotangents: list[TensorNode] = []
        end = 0
        for node in self.sources:
            begin, end = end, end + node.shape[self.axis]
            bounds = tuple(
                (begin, end) if axis == self.axis else (0, n) for axis, n in enumerate(g.shape)
            )
            variable = tuple(axis for axis, extent in enumerate(g.extents) if extent is not None)
            cotangents.append(nodes.Shrink((g,), bounds, variable))
        return cotangents

    def _in_groups(self) -> TensorNode:
        """Concatenate groups of `AT_ONCE` operands in memory, then the groups.

        Each element is selected from all operands of a kernel, so their number is limited. Groups
        of equal shapes share one kernel.
        """
        starts = range(0, len(self.sources), AT_ONCE)
        parts = [self.sources[start : start + AT_ONCE] for start in starts]
        joined = [
            nodes.Contiguous((Cat(part, self.axis),)) if part[1:] else part[0] for part in parts
        ]
        return Cat(tuple(joined), self.axis)

    def describe(self) -> str:
        """The axis."""
        return f"axis {self.axis}"


def joined_at_variables(parts: Sequence[TensorNode], axis: int) -> TensorNode:
    """cat(x, y) = where(i < n, x[i], y[i - n]), where x has n elements along the axis."""
    numbers = [symbolic(part.shape, part.extents)[axis] for part in parts]
    whole = total(numbers)
    assert isinstance(whole, Extent)
    shape = tuple(whole.high if a == axis else n for a, n in enumerate(parts[0].shape))
    index = [_counted(parts, shape, place) for place in range(len(shape))]
    index[axis] = counting_to(shape, axis, whole)
    ends = [total(numbers[: place + 1]) for place in range(len(numbers))]
    joined: TensorNode | None = None
    for number, part in reversed(list(enumerate(parts))):
        begin = ends[number - 1] if number else 0
        where = list(index)
        if begin != 0:
            where[axis] = elementwise("sub", index[axis], _everywhere(begin, shape))
        taken: TensorNode = nodes.Index((part, *where))
        if joined is not None:
            is_it = elementwise("lt", index[axis], _everywhere(ends[number], shape))
            taken = elementwise("where", is_it, taken, joined)
        joined = taken
    assert joined is not None
    return joined


def _counted(parts: Sequence[TensorNode], shape: Shape, place: int) -> TensorNode:
    """The index along an axis other than the joined one, whose extent may be dynamic."""
    variables = (part.extents[place] for part in parts if part.extents and part.extents[place])
    return counting_to(shape, place, next(variables, None))


def _everywhere(number: Number, shape: Shape) -> TensorNode:
    """A number, perhaps symbolic, broadcast to `shape`."""
    if isinstance(number, int):
        return const(number, int64, shape)
    return broadcast_node(value_of(number), shape)


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Contract(Composite):
    """The sum over `pairs` (axis of a, axis of b) of products of a and b.

    The first `batch` axes of both are equal and stay in front; then come the axes of a that are in
    no pair, then those of b. 16-bit floats are multiplied and accumulated in float32; bool: or of
    ands.
    """

    operands: ClassVar[int | None] = 2
    colour: ClassVar[str] = "reduce"
    pairs: Pairs
    batch: int = 0

    @property
    def is_reduction(self) -> bool:
        """True if it contracts any axis; otherwise it is a product only."""
        return bool(self.pairs)

    def _free(self) -> tuple[Shape, Shape]:
        """The axes of a and of b that are neither batch axes nor in a pair."""
        free = []
        for source, paired in zip(self.sources, self._paired(), strict=True):
            rank = len(source.shape)
            free.append(tuple(i for i in range(self.batch, rank) if i not in paired))
        return free[0], free[1]

    def _paired(self) -> tuple[Shape, Shape]:
        """The axes of a and of b that are summed over, in the order of the pairs."""
        return tuple(i for i, _ in self.pairs), tuple(j for _, j in self.pairs)

    def result(self) -> tuple[Shape, DType]:
        """The shape, with the batch axes, then the free axes of a, then those of b; and the type.
        """
        a, b = self.sources
        left, right = self._free()
        front = a.shape[: self.batch]
        return (*front, *(a.shape[i] for i in left), *(b.shape[j] for j in right)), a.dtype

    def own_problem(self) -> Problem | None:
        """Wrong axes, axes of a pair that differ, types that differ."""
        a, b = self.sources
        if self.batch < 0 or a.shape[: self.batch] != b.shape[: self.batch]:
            return Problem(f"the first {self.batch} axes differ", f"{a.shape} and {b.shape}",
                           "equal extents")  # fmt: skip
        for source, paired in zip(self.sources, self._paired(), strict=True):
            objection = first_axis_outside((*range(self.batch), *paired), len(source.shape))
            if objection:
                return objection
        for i, j in self.pairs:
            if a.shape[i] != b.shape[j]:
                return Problem(f"axes {i} and {j} differ", f"{a.shape[i]} and {b.shape[j]}",
                               "equal extents")  # fmt: skip
        return same_types(self)

    def _inner(self) -> DType:
        return self.dtype.accumulator

    def reference(self, values: list[Array]) -> Array:
        """NumPy's einsum, over numbered axes."""
        a, b = (value.astype(self._inner().numpy) for value in values)
        left = list(range(a.ndim))
        right = [i if i < self.batch else a.ndim + i for i in range(b.ndim)]
        for i, j in self.pairs:
            right[j] = left[i]
        free = self._free()
        kept = [*range(self.batch), *free[0], *(right[j] for j in free[1])]
        return np.asarray(np.einsum(a, left, b, right, kept)).astype(self.dtype.numpy)

    def expansion(self) -> TensorNode:
        """contract(a, b; pairs) = sum over the pairs of a * b, both broadcast to all axes"""
        front = tuple(range(self.batch))
        (left, right), (summed, others) = self._free(), self._paired()
        a, b = (cast_to(source, self._inner()) for source in self.sources)
        rows = permuted(a, (*front, *left, *summed))
        columns = permuted(b, (*front, *right, *others))
        batch, count = a.shape[: self.batch], len(self.pairs)
        folded = tuple(a.shape[i] for i in summed)
        m, n = tuple(a.shape[i] for i in left), tuple(b.shape[j] for j in right)
        full = (*batch, *m, *n, *folded)
        rows = reshaped(rows, (*batch, *m, *(1 for _ in n), *folded))
        columns = reshaped(columns, (*batch, *(1 for _ in m), *n, *folded))
        spread = (broadcast_node(each, full) for each in (rows, columns))
        product: TensorNode = elementwise("mul", *spread)
        if count:
            axes = tuple(range(len(full) - count, len(full)))
            product = reshaped(nodes.Reduce((product,), "sum", axes), full[: len(full) - count])
        return cast_to(product, self.dtype)

    def describe(self) -> str:
        """`1·0 2·1 batch 1`"""
        text = " ".join(f"{i}·{j}" for i, j in self.pairs)
        return f"{text} batch {self.batch}".strip() if self.batch else text


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True, repr=False)
class Gather(Composite):
    """Element [i, j, …] is that of x at [i, j, …] with indices[i, j, …] on `axis`, 0 out of bounds.
    """

    operands: ClassVar[int | None] = 2
    colour: ClassVar[str] = "memory"
    axis: int

    def result(self) -> tuple[Shape, DType]:
        """The shape of the indices."""
        return self.sources[1].shape, self.sources[0].dtype

    def own_problem(self) -> Problem | None:
        """No such axis; indices that are no integers or larger than another axis."""
        x, indices = self.sources
        rank = len(x.shape)
        if not 0 <= self.axis < rank:
            return Problem("the axis is out of range", self.axis, f"an axis below {rank}")
        if not indices.dtype.is_integer:
            return Problem("the indices are no integers", indices.dtype, "an integer type")
        others = [i for i in range(rank) if i != self.axis]
        if len(indices.shape) != rank or any(indices.shape[i] > x.shape[i] for i in others):
            return Problem("the indices do not fit", indices.shape,
                           f"rank {rank}, at most {x.shape} but for axis {self.axis}")  # fmt: skip
        return None

    def reference(self, values: list[Array]) -> Array:
        """NumPy's take_along_axis where a position is in bounds, else 0."""
        x, indices = values
        wide = indices.astype(object) if indices.dtype == np.uint64 else indices.astype(np.int64)
        inside = np.asarray((wide >= 0) & (wide < x.shape[self.axis]), bool)
        if not x.size:
            return np.zeros(wide.shape, x.dtype)
        where: list[Array] = list(np.indices(wide.shape))
        where[self.axis] = np.where(inside, wide, 0).astype(np.int64)
        return np.asarray(np.where(inside, x[tuple(where)], x.dtype.type(0)))

    def expansion(self) -> TensorNode:
        """gather(x, p; axis) = x[i, …, p, …, k]"""
        x, indices = self.sources
        return nodes.Index((x, *places_along(cast_to(indices, int64), self.axis)))

    def describe(self) -> str:
        """The axis."""
        return f"axis {self.axis}"
