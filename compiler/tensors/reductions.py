"""Tensor methods that reduce axes: sum, max, mean, argmax, …

`axis` (or `dim`) is one axis, several, or None for all; `keepdim` keeps them with extent 1. Result
types are NumPy's: sums of small integers are int64 or uint64, means of integers float64. Floats of
16 bits are accumulated in float32 and rounded once, at the end.
"""

from typing import Self

from compiler.core import dtypes
from compiler.core.dtypes import DType, bool_, float64, int64, uint64
from compiler.core.errors import AxisError, ShapeError
from compiler.graph.kinds.gradient import ruled
from compiler.graph.nodes import Iota, Reduce, Shape, TensorNode, const, elementwise
from compiler.graph.words import short
from compiler.ops.composed import of_root
from compiler.tensors.apply import apply
from compiler.tensors.binary import Binary
from compiler.tensors.movement import Conversion, Movement
from compiler.tensors.shapes import Axes, axes_of, axis_of, is_of_number, one_of, written
from compiler.tensors.unary import Unary
from compiler.tensors.value import TensorValue, broadcast_node, cast_to, reshaped, traced
from compiler.tensors.variables import count


def reduced(node: TensorNode, op: str, axes: Shape, keepdim: bool) -> TensorNode:
    """`node` reduced over `axes` by `op`; the axes vanish unless `keepdim`."""
    folded = Reduce((node,), op, axes) if axes else node
    kept = tuple(n for axis, n in enumerate(folded.shape) if axis not in axes)
    return folded if keepdim else reshaped(folded, kept)


def sum_type(dtype: DType) -> DType:
    """The type of a sum or product: small integers are widened to 64 bits."""
    if dtype.is_float:
        return dtype
    return uint64 if dtype.kind == "uint" else int64


def wide(dtype: DType) -> DType:
    """The float type to compute statistics in: float32 for 16-bit floats, float64 for integers."""
    if not dtype.is_float:
        return float64
    return dtype.accumulator


def refuse_empty(method: str, shape: Shape, axes: Shape) -> None:
    """Raise `ShapeError` if an axis to reduce is empty: no elements have no maximum."""
    for axis in axes:
        if not shape[axis]:
            raise ShapeError(
                method,
                f"axis {axis} is empty, and no elements have no {method}",
                got=f"shape {written(shape)}",
                expected="an extent of 1 or more on the axes that are folded",
                hint="check the slice or filter that made the tensor empty",
            )


def refuse_maybe_empty(method: str, node: TensorNode, axes: Shape) -> None:
    """Raise `ShapeError` if an axis to reduce has a variable extent that may be 0."""
    for axis in axes:
        extent = node.extents[axis] if node.extents else None
        if extent is not None and not extent.low:
            raise ShapeError(
                method,
                f"axis {axis} has {extent.described} elements, and no elements have no {method}",
                got=short(node),
                expected="a variable of 1 or more on the axes that are folded",
            )


@traced
class Reductions(Conversion, Movement, Binary, Unary):
    """Reductions over axes, and the normalisations built from them."""

    __slots__ = ()

    def _axes(self, method: str, axis: Axes, dim: Axes) -> Shape:
        if isinstance(axis, TensorValue):
            raise AxisError(
                method, "this reduces axes of one tensor", got=f"a tensor of shape {axis.shape}",
                expected="axes", hint="maximum and minimum take two tensors",
            )  # fmt: skip
        given = one_of(method, axis, dim)
        return () if is_of_number(given, self.ndim) else axes_of(method, given, self.ndim)

    def _total(self, op: str, axes: Shape, keepdim: bool, dtype: DType) -> Self:
        """A sum or product in `dtype`; floats of 16 bits are accumulated in float32."""
        inner = dtype.accumulator
        folded = reduced(cast_to(self.node, inner), op, axes, keepdim)
        return self._new(cast_to(folded, dtype))

    def sum(
        self, axis: Axes = None, keepdim: bool = False, dtype: object = None, *, dim: Axes = None
    ) -> Self:
        """The sum of the elements over `axis`, in `dtype` if given; 0 over an empty axis."""
        target = sum_type(self.dtype) if dtype is None else dtypes.parse(dtype, "sum")
        return self._total("sum", self._axes("sum", axis, dim), keepdim, target)

    def prod(
        self, axis: Axes = None, keepdim: bool = False, dtype: object = None, *, dim: Axes = None
    ) -> Self:
        """The product of the elements over `axis`, in `dtype` if given; 1 over an empty axis."""
        target = sum_type(self.dtype) if dtype is None else dtypes.parse(dtype, "prod")
        return self._total("prod", self._axes("prod", axis, dim), keepdim, target)

    def max(self, axis: Axes = None, keepdim: bool = False, *, dim: Axes = None) -> Self:
        """The maximum over `axis`; NaN propagates. Raises `ShapeError` over an empty axis.

        Only values are returned, as in NumPy. For the positions that PyTorch returns with them use
        `argmax`, or `topk(1)` for both.
        """
        return self._extreme("max", self._axes("max", axis, dim), keepdim)

    def min(self, axis: Axes = None, keepdim: bool = False, *, dim: Axes = None) -> Self:
        """The minimum over `axis`; NaN propagates. Raises `ShapeError` over an empty axis. See
        `max`."""
        return self._extreme("min", self._axes("min", axis, dim), keepdim)

    amax, amin = max, min  # NumPy's names

    def _extreme(self, op: str, axes: Shape, keepdim: bool, method: str = "") -> Self:
        refuse_empty(method or op, self.shape, axes)
        refuse_maybe_empty(method or op, self.node, axes)
        return self._new(reduced(self.node, op, axes, keepdim))

    def any(self, axis: Axes = None, keepdim: bool = False, *, dim: Axes = None) -> Self:
        """True where any element over `axis` is not 0; false over an empty axis."""
        axes = self._axes("any", axis, dim)
        return self._new(reduced(cast_to(self.node, bool_), "sum", axes, keepdim))

    def all(self, axis: Axes = None, keepdim: bool = False, *, dim: Axes = None) -> Self:
        """True where all elements over `axis` are not 0; true over an empty axis."""
        axes = self._axes("all", axis, dim)
        return self._new(reduced(cast_to(self.node, bool_), "prod", axes, keepdim))

    def mean(self, axis: Axes = None, keepdim: bool = False, *, dim: Axes = None) -> Self:
        """The mean over `axis`: sum divided by count, in a float type; NaN over an empty axis."""
        axes = self._axes("mean", axis, dim)
        mean = self._as_wide()._mean(axes, keepdim)
        return mean.cast(self._statistic_type())

    def var(
        self, axis: Axes = None, *, keepdim: bool = False, correction: float = 1, dim: Axes = None
    ) -> Self:
        """The variance over `axis`: squared distances from the mean, divided by count -
        `correction` (at least 0).

        The default `correction=1` is that of PyTorch and tinygrad; in NumPy it is called ddof and
        is 0, also in `np.var(x)`. Pass arguments after the axis by name: their order differs
        between libraries.
        """
        axes = self._axes("var", axis, dim)
        return self._as_wide()._variance(axes, keepdim, correction).cast(self._statistic_type())

    def std(
        self, axis: Axes = None, *, keepdim: bool = False, correction: float = 1, dim: Axes = None
    ) -> Self:
        """The standard deviation, the square root of `var`. Note the default of `correction`."""
        axes = self._axes("std", axis, dim)
        variance = self._as_wide()._variance(axes, keepdim, correction)
        root = ruled(variance.sqrt().node, (of_root,), variance.node)
        return self._new(root).cast(self._statistic_type())

    def _as_wide(self) -> Self:
        return self.cast(wide(self.dtype))

    def _statistic_type(self) -> DType:
        return self.dtype if self.dtype.is_float else float64

    def _count(self, axes: Shape, correction: float = 0) -> TensorNode | float:
        """The number of elements along `axes`, minus `correction`; a node if an extent is
        symbolic."""
        found = count(self.node, axes, correction)
        return cast_to(found, self.dtype) if isinstance(found, TensorNode) else float(found)

    def _mean(self, axes: Shape, keepdim: bool) -> Self:
        total = reduced(self.node, "sum", axes, keepdim)
        return self._new(apply("fdiv", "mean", total, self._count(axes)))

    def _variance(self, axes: Shape, keepdim: bool, correction: float) -> Self:
        distance = self.sub(self._mean(axes, keepdim=True))
        total = reduced(distance.square().node, "sum", axes, keepdim)
        return self._new(apply("fdiv", "var", total, self._count(axes, correction)))

    def argmax(
        self, axis: int | None = None, keepdim: bool = False, *, dim: int | None = None
    ) -> Self:
        """The index of the maximum, int64. The first of equal elements counts; a NaN counts as the
        maximum.

        Without an axis it is the index in the flattened tensor.
        """
        return self._position("argmax", "max", axis, dim, keepdim)

    def argmin(
        self, axis: int | None = None, keepdim: bool = False, *, dim: int | None = None
    ) -> Self:
        """The index of the minimum, int64. The first of equal elements counts; a NaN counts as the
        minimum."""
        return self._position("argmin", "min", axis, dim, keepdim)

    def _position(
        self, method: str, op: str, axis: int | None, dim: int | None, keepdim: bool
    ) -> Self:
        given = one_of(method, axis, dim)
        if given is None or is_of_number(given, self.ndim):
            flat = self.reshape(-1) if self.size else self.reshape(0)
            found = flat._first(method, op, 0)
            return found.reshape((1,) * self.ndim if keepdim else ())
        place = axis_of(method, given, self.ndim)
        found = self._first(method, op, place)
        return found if keepdim else found.squeeze(place)

    def _first(self, method: str, op: str, axis: int) -> Self:
        """The first index along `axis` of an element that equals the extreme, or of a NaN."""
        node, count = self.node, self.shape[axis]
        extreme = self._extreme(op, (axis,), True, method).node
        hit = elementwise("eq", node, broadcast_node(extreme, self.shape))
        if self.dtype.is_float:
            hit = elementwise("or", hit, elementwise("ne", node, node))
        along = (1,) * axis + (count,) + (1,) * (self.ndim - axis - 1)
        index = broadcast_node(reshaped(Iota((), count, int64), along), self.shape)
        chosen = elementwise("where", hit, index, const(count, int64, self.shape))
        return self._new(Reduce((chosen,), "min", (axis,)))
