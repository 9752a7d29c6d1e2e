"""Tensor methods that move elements without changing them: reshape, permute, expand, …"""

from collections.abc import Sequence
from typing import Self

from compiler.core.dtypes import bfloat16, float16, float32, float64, int32, int64, parse
from compiler.core.dtypes import bool_ as truth
from compiler.core.errors import AxisError, DTypeError, ShapeError
from compiler.graph.kinds.shaping import permuted as permuted
from compiler.graph.nodes import Bitcast, Contiguous, Flip, Shrink
from compiler.tensors.rank_zero import of_rank_zero
from compiler.tensors.shapes import (
    Axes,
    axes_of,
    axis_of,
    check_distinct,
    extents,
    fill_unknown,
    integers,
    is_of_number,
    one_of,
    reaches,
    written,
)
from compiler.tensors.value import TensorValue, broadcast_node, cast_to, reshaped, traced
from compiler.tensors.variable_shapes import apart, cut_to, variable_shape
from compiler.tensors.variables import Variable


def _bounds_of(part: Sequence[int] | None, axis: int, extent: int) -> tuple[int, int]:
    """The bounds (begin, end) of one axis for `shrink`; None keeps the whole axis."""
    pair = (0, extent) if part is None else integers("shrink", part)
    if len(pair) == 2 and 0 <= pair[0] <= pair[1] <= extent:
        return pair[0], pair[1]
    raise ShapeError(
        "shrink",
        f"the part of axis {axis} is out of bounds",
        got=written(pair),
        expected=f"0 <= begin <= end <= {extent}",
    )


@traced
class Movement(TensorValue):
    """Reshaping, reordering and broadcasting."""

    __slots__ = ()

    def reshape(self, *shape: "int | Variable | Sequence[int | Variable]") -> Self:
        """The same elements in row-major order, with shape `shape`. One extent may be -1; others
        may be variables, and sums and products of variables. Raises `ShapeError` if the number of
        elements changes."""
        variable = variable_shape("reshape", self.node, shape)
        if variable is not None:
            return self._new(variable)
        wanted = integers("reshape", shape)
        return self._new(reshaped(self.node, fill_unknown("reshape", wanted, self.size)))

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Self:
        """Axes `start_dim` to `end_dim` (inclusive) merged into one. As in PyTorch."""
        if not self.ndim:
            return self.reshape(1)
        first, last = (axis_of("flatten", a, self.ndim) for a in (start_dim, end_dim))
        if first > last:
            raise AxisError(
                "flatten", "start_dim comes after end_dim", got=f"axes {start_dim} and {end_dim}",
                expected="start_dim <= end_dim",
            )  # fmt: skip
        count = 1
        for extent in self.shape[first : last + 1]:
            count *= extent
        return self.reshape(*self.shape[:first], count, *self.shape[last + 1 :])

    def unflatten(self, axis: int, sizes: Sequence[int]) -> Self:
        """Axis `axis` split into axes with extents `sizes`; one of them may be -1."""
        place = axis_of("unflatten", axis, self.ndim)
        parts = fill_unknown("unflatten", integers("unflatten", sizes), self.shape[place])
        shape = self.shape[:place] + parts + self.shape[place + 1 :]
        return self._new(reshaped(self.node, shape))

    def permute(self, *order: int | Sequence[int]) -> Self:
        """Axes reordered: axis i of the result is axis `order[i]`."""
        given = integers("permute", order)
        axes = tuple(axis_of("permute", a, self.ndim) for a in given)
        check_distinct("permute", axes, given)
        if len(axes) != self.ndim:
            raise AxisError(
                "permute", "the order does not name every axis", got=written(given),
                expected=f"{self.ndim} axes",
            )  # fmt: skip
        return self._new(permuted(self.node, axes))

    @of_rank_zero
    def transpose(self, *axes: int | Sequence[int]) -> Self:
        """The transpose: all axes reversed. A tuple, or three axes or more, give the order of axes,
        as in NumPy; two axes are swapped, as in PyTorch.

        `transpose(0, 1)` of a matrix raises `AxisError`: in NumPy it keeps the order, in PyTorch it
        swaps the axes.
        """
        if not axes:
            return self.permute(tuple(reversed(range(self.ndim))))
        if len(axes) != 2 or isinstance(axes[0], Sequence):
            return self.permute(*axes)
        first, second = (axis_of("transpose", a, self.ndim) for a in axes)
        if (self.ndim, first, second) == (2, 0, 1):
            raise AxisError(
                "transpose", "two axes of a matrix are ambiguous", got=written(axes),
                expected="x.T or x.swapaxes(0, 1) to swap them, x.transpose((0, 1)) to keep them",
                hint="PyTorch swaps the two axes; NumPy reads them as the order of axes",
            )  # fmt: skip
        return self.swapaxes(first, second)

    @of_rank_zero
    def swapaxes(self, first: int, second: int) -> Self:
        """Two axes swapped."""
        one, other = (axis_of("swapaxes", a, self.ndim) for a in (first, second))
        order = list(range(self.ndim))
        order[one], order[other] = other, one
        return self.permute(order)

    @property
    def T(self) -> Self:
        """The transpose: all axes reversed."""
        return self.transpose()

    @property
    def mT(self) -> Self:
        """The matrix transpose: the last two axes swapped. Needs rank 2 or more."""
        if self.ndim < 2:
            raise ShapeError(
                "mT", "a matrix has two axes", got=written(self.shape), expected="rank 2 or more"
            )
        return self.swapaxes(-1, -2)

    @of_rank_zero
    def movedim(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Self:
        """Axes `source` moved to positions `destination`; the other axes keep their order."""
        given, places = integers("movedim", (source,)), integers("movedim", (destination,))
        moved = [axis_of("movedim", a, self.ndim) for a in given]
        targets = [axis_of("movedim", a, self.ndim) for a in places]
        check_distinct("movedim", moved, given)
        check_distinct("movedim", targets, places)
        if len(moved) != len(targets):
            raise AxisError(
                "movedim", "source and destination differ in length",
                got=f"{written(given)} and {written(places)}", expected="as many of each",
            )  # fmt: skip
        order = [axis for axis in range(self.ndim) if axis not in moved]
        for target, axis in sorted(zip(targets, moved, strict=True)):
            order.insert(target, axis)
        return self.permute(order)

    def squeeze(self, axis: Axes = None, *, dim: Axes = None) -> Self:
        """Axes of extent 1 removed: all of them, or those given, which must have extent 1 (NumPy's;
        PyTorch keeps an axis of another extent)."""
        axes = one_of("squeeze", axis, dim)
        if axes is None or is_of_number(axes, self.ndim):
            return self._new(reshaped(self.node, tuple(n for n in self.shape if n != 1)))
        gone = axes_of("squeeze", axes, self.ndim)
        for place in gone:
            if self.shape[place] != 1:
                raise ShapeError(
                    "squeeze", f"axis {place} cannot be removed",
                    got=f"extent {self.shape[place]}", expected="extent 1",
                )  # fmt: skip
        kept = tuple(n for i, n in enumerate(self.shape) if i not in gone)
        return self._new(reshaped(self.node, kept))

    def unsqueeze(self, axis: int) -> Self:
        """A new axis of extent 1 at position `axis`; negative positions count in the result."""
        place = axis_of("unsqueeze", axis, self.ndim + 1)
        return self._new(reshaped(self.node, (*self.shape[:place], 1, *self.shape[place:])))

    def expand(self, *shape: "int | Variable | Sequence[int | Variable]") -> Self:
        """Axes of extent 1 broadcast to `shape`; -1 keeps an extent; new axes go in front."""
        numbers, variables = apart("expand", shape)
        wanted = reaches("expand", self.node, numbers)
        return self._new(cut_to("expand", broadcast_node(self.node, wanted), variables))

    def broadcast_to(self, *shape: "int | Variable | Sequence[int | Variable]") -> Self:
        """Broadcast to `shape`, by NumPy's rules. Raises `ShapeError` where that is impossible."""
        numbers, variables = apart("broadcast_to", shape)
        wanted = reaches("broadcast_to", self.node, extents("broadcast_to", numbers))
        return self._new(cut_to("broadcast_to", broadcast_node(self.node, wanted), variables))

    def shrink(self, bounds: Sequence[Sequence[int] | None]) -> Self:
        """The part [begin, end) of each axis: one pair per axis; None keeps the whole axis."""
        if not isinstance(bounds, Sequence) or len(bounds) != self.ndim:
            raise ShapeError(
                "shrink", "there must be one part per axis", got=repr(bounds),
                expected=f"{self.ndim} parts (begin, end)",
            )  # fmt: skip
        pairs = zip(bounds, self.shape, strict=True)
        parts = tuple(_bounds_of(part, axis, n) for axis, (part, n) in enumerate(pairs))
        if parts == tuple((0, n) for n in self.shape):
            return self._same()
        return self._new(Shrink((self.node,), parts))

    def _part(self, axis: int, begin: int, end: int) -> Self:
        """Elements `begin` to `end` of one axis."""
        return self.shrink([(begin, end) if i == axis else None for i in range(self.ndim)])

    @of_rank_zero
    def flip(self, *axes: int | Sequence[int]) -> Self:
        """The given axes reversed; without arguments all axes."""
        wanted = axes_of("flip", integers("flip", axes) if axes else None, self.ndim)
        return self._new(Flip((self.node,), wanted)) if wanted else self._same()

    def contiguous(self) -> Self:
        """The same values, stored to memory once: consumers read them instead of recomputing
        them."""
        return self._new(Contiguous((self.node,)))

    # NumPy's and PyTorch's names. NumPy's `view` is `bitcast`.

    view = reshape
    moveaxis, expand_dims, permute_dims = movedim, unsqueeze, permute
    matrix_transpose = mT


@traced
class Conversion(TensorValue):
    """Type conversions. In this class the names `float`, `int`, … are methods."""

    __slots__ = ()

    def cast(self, dtype: object) -> Self:
        """Converted to `dtype`: integers wrap, floats saturate when converted to integers, NaN
        becomes 0."""
        return self._new(cast_to(self.node, parse(dtype, "cast")))

    astype = cast  # NumPy's name

    def bitcast(self, dtype: object) -> Self:
        """The same bits reinterpreted as `dtype`, which must have the same width. Only bool can be
        reinterpreted as bool."""
        target = parse(dtype, "bitcast")
        if target == self.dtype:
            return self._same()
        if target.bits != self.dtype.bits or target == truth:
            raise DTypeError(
                "bitcast",
                "the bits cannot be reinterpreted as that type",
                got=f"{self.dtype} to {target}",
                expected=f"another type of {self.dtype.bits} bits, not bool",
                hint="cast converts the values instead",
            )
        return self._new(Bitcast((self.node,), target))

    def half(self) -> Self:
        """Converted to float16."""
        return self.cast(float16)

    def bfloat16(self) -> Self:
        """Converted to bfloat16."""
        return self.cast(bfloat16)

    def float(self) -> Self:
        """Converted to float32."""
        return self.cast(float32)

    def double(self) -> Self:
        """Converted to float64."""
        return self.cast(float64)

    def int(self) -> Self:
        """Converted to int32."""
        return self.cast(int32)

    def long(self) -> Self:
        """Converted to int64."""
        return self.cast(int64)

    def bool(self) -> Self:
        """Converted to bool: true where an element is not 0. NaN is true."""
        return self.cast(truth)
