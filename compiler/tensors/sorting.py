"""Tensor methods that sort: sort, topk, median, searchsorted, unique.

NaN counts as the greatest element: it comes last, as in NumPy, and first if `descending`, as in
PyTorch. Sorting is stable: equal elements, such as -0.0 and 0.0, keep their order.
"""

import math
from collections.abc import Sequence
from typing import Self

from compiler.core.dtypes import int64
from compiler.core.errors import DataError, ShapeError
from compiler.graph.nodes import Index, Shape, const
from compiler.tensors.gathering import counting
from compiler.tensors.ordering import Rows, bisected, key_of, order_of
from compiler.tensors.rank_zero import of_rank_zero
from compiler.tensors.reductions import refuse_empty
from compiler.tensors.shapes import Axes, axes_of, axis_of, integers, is_of_number, one_of, written
from compiler.tensors.value import Operand, as_node, common_type, operand_of, traced
from compiler.tensors.variables import refuse_symbolic


@traced
class Sorting(Rows):
    """Sorting, selection and quantiles."""

    __slots__ = ()

    @of_rank_zero
    def argsort(
        self, axis: int = -1, descending: bool = False, stable: bool = True, *,
        dim: int | None = None,
    ) -> Self:  # fmt: skip
        """The indices that sort the elements along `axis`, int64, of the tensor's shape.

        The order is stable, whatever `stable` says. Sorting n elements takes n² comparisons up to
        4096 elements, and about n log2(n)² beyond.
        """
        place = axis_of("argsort", axis if dim is None else dim, self.ndim)
        return self._sideways(place)._order(descending)._back(self.shape, place)

    @of_rank_zero
    def sort(
        self, axis: int = -1, descending: bool = False, stable: bool = True, *,
        dim: int | None = None,
    ) -> Self:  # fmt: skip
        """The elements sorted along `axis`, as a new tensor. Only values are returned, as by
        np.sort; `argsort` gives the indices that PyTorch returns as well."""
        place = axis_of("sort", axis if dim is None else dim, self.ndim)
        rows = self._sideways(place)
        return rows._picked(rows._order(descending))._back(self.shape, place)

    @of_rank_zero
    def topk(
        self, k: int, axis: int = -1, largest: bool = True, sorted: bool = True, *,
        dim: int | None = None,
    ) -> tuple[Self, Self]:  # fmt: skip
        """The `k` greatest elements along `axis`, or the least if not `largest`, and their indices
        (int64).

        They are sorted, the best first, whatever `sorted` says; of equal elements the earlier one
        comes first. Raises `ShapeError` unless 0 <= k <= the extent.
        """
        place = axis_of("topk", axis if dim is None else dim, self.ndim)
        extent = self.shape[place]
        (k,) = integers("topk", (k,))
        if not 0 <= k <= extent:
            raise ShapeError(
                "topk", f"axis {place} has not so many elements", got=f"k = {k}",
                expected=f"0 to {extent}",
            )  # fmt: skip
        rows = self._sideways(place)
        order = rows._order(largest).shrink((None, (0, k)))
        shape = (*self.shape[:place], k, *self.shape[place + 1 :])
        return rows._picked(order)._back(shape, place), order._back(shape, place)

    @of_rank_zero
    def kthvalue(self, k: int, axis: int = -1, keepdim: bool = False) -> tuple[Self, Self]:
        """The `k`-th least element along `axis`, counted from 1, and its index (int64)."""
        place = axis_of("kthvalue", axis, self.ndim)
        if not 1 <= k <= self.shape[place]:
            raise ShapeError(
                "kthvalue", f"axis {place} has no such element", got=f"k = {k}",
                expected=f"1 to {self.shape[place]}",
            )  # fmt: skip
        bounds = [(k - 1, k) if i == place else None for i in range(self.ndim)]
        value, position = (t.shrink(bounds) for t in self.topk(k, place, largest=False))
        return (value, position) if keepdim else (value.squeeze(place), position.squeeze(place))

    def median(self, axis: Axes = None, keepdim: bool = False, *, dim: Axes = None) -> Self:
        """The median over `axis`: the middle element, or the mean of the two in the middle
        (NumPy's; PyTorch takes the lower one). NaN where any element is NaN. Raises `ShapeError`
        over an empty axis."""
        return self._quantiles("median", [0.5], self._axes_folded("median", axis, dim), keepdim)[0]

    def quantile(
        self, q: float | Sequence[float], axis: Axes = None, keepdim: bool = False, *,
        dim: Axes = None,
    ) -> Self:  # fmt: skip
        """The `q`-quantile over `axis`, 0 <= q <= 1, with linear interpolation.

        As in NumPy, several `q` give a new first axis; the result is NaN where any element is NaN;
        integers become float64. Floats keep their type, as in PyTorch; NumPy's of several `q` are
        float64.
        """
        wanted = [q] if isinstance(q, int | float) else list(q)
        if not wanted or not all(_is_part(each) for each in wanted):
            raise DataError("quantile", "no such part", got=repr(q), expected="numbers from 0 to 1")
        axes = self._axes_folded("quantile", axis, dim)
        found = self._quantiles("quantile", wanted, axes, keepdim)
        return found[0] if isinstance(q, int | float) else found[0].stack(*found[1:])

    def _axes_folded(self, method: str, axis: Axes, dim: Axes) -> Axes:
        """The given axes. A number (rank 0) has none, so all."""
        given = one_of(method, axis, dim)
        return None if is_of_number(given, self.ndim) else given

    def unique(self) -> Self:
        """The sorted distinct elements, rank 1, NaN once (NumPy's). The count depends on data, so
        the tensor is computed now."""
        ordered = self.reshape(self.size).sort()
        if not self.size:
            return ordered
        key = ordered._new(key_of(ordered.node, False))
        is_new = key.shrink(((1, self.size),)).ne(key.shrink(((0, self.size - 1),)))
        return ordered[is_new.pad(((1, 0),), True)]

    def searchsorted(self, values: Operand, right: bool = False) -> Self:
        """The index at which each of `values` would be inserted into this sorted tensor of rank 1:
        before equal elements, or after them if `right`. int64, with the shape of `values`. For an
        unsorted tensor the index is unspecified."""
        return self._places("searchsorted", self, self._lift(values), right)

    def bucketize(self, boundaries: Operand, right: bool = False) -> Self:
        """The index of the interval that contains each element: `boundaries.searchsorted(self)`. As
        in PyTorch boundaries[i - 1] < x <= boundaries[i], or <= x < if `right`."""
        return self._places("bucketize", self._lift(boundaries), self, right)

    def _places(self, method: str, table: Self, values: Self, right: bool) -> Self:
        if table.ndim != 1:
            raise ShapeError(
                method, "the sorted tensor has one axis", got=written(table.shape),
                expected="rank 1",
            )  # fmt: skip
        refuse_symbolic(method, table.node, [0])
        if not table.size or not values.size:
            return self._new(const(0, int64, values.shape))
        dtype = common_type([operand_of(method, v) for v in (table, values)])
        keys = [
            t._new(key_of(as_node(method, t.node, dtype), False)).reshape(1, -1)
            for t in (table, values)
        ]
        found = bisected(keys[0].contiguous(), keys[1], right, (1, values.size))
        return found.reshape(values.shape)

    def _sideways(self, axis: int) -> Self:
        """[rows, n]: `axis` moved last, and the others merged into rows."""
        refuse_symbolic("sort", self.node, [axis])
        count = self.shape[axis]
        return self.movedim(axis, -1).reshape(self.size // max(count, 1), count)

    def _back(self, shape: Shape, axis: int) -> Self:
        """The rows of `_sideways` back in `shape`, with the extent of a row along `axis`."""
        others = shape[:axis] + shape[axis + 1 :]
        return self.reshape(*others, shape[axis]).movedim(-1, axis)

    def _order(self, descending: bool) -> Self:
        """The sorting order of the rows of [rows, n]."""
        if not self.size:
            return self._new(const(0, int64, self.shape))
        return order_of(self._new(key_of(self.node, descending)))

    def _picked(self, order: Self) -> Self:
        """The elements of [rows, n] at the indices `order` [rows, k] of each row."""
        if not order.size:
            return self._new(const(0, self.dtype, order.shape))
        return self._new(Index((self.node, counting(order.shape, 0), order.node)))

    def _quantiles(
        self, method: str, parts: Sequence[float], axis: Axes, keepdim: bool
    ) -> list[Self]:
        """One tensor per part; the axes are reduced."""
        axes = axes_of(method, axis, self.ndim)
        refuse_empty(method, self.shape, axes)
        refuse_symbolic(method, self.node, axes)
        kept = [i for i in range(self.ndim) if i not in axes]
        shape = tuple(n for i, n in enumerate(self.shape) if keepdim or i in kept)
        if keepdim:
            shape = tuple(1 if i in axes else n for i, n in enumerate(shape))
        count = math.prod(self.shape[axis] for axis in axes)
        rows = self.permute(*kept, *axes).reshape(self.size // max(count, 1), count)
        ordered = rows._as_wide()
        ordered = ordered._picked(ordered._order(False)).contiguous()
        found = [ordered._at_part(part, method == "median") for part in parts]
        return [value.cast(self._statistic_type()).reshape(shape) for value in found]

    def _at_part(self, part: float, is_median: bool) -> Self:
        """[rows, 1] from sorted [rows, n]: interpolated between the two elements around part * (n -
        1)."""
        last = self.shape[1] - 1
        place = part * last
        low = min(math.floor(place), last)
        a, b, greatest = (
            self.shrink((None, (i, i + 1))) for i in (low, min(low + 1, last), last)
        )  # fmt: skip
        share = place - low
        if not share:
            value = a
        elif is_median:
            value = a.add(b).div(2.0)
        else:
            near, rest = (a, share) if share < 0.5 else (b, share - 1)
            value = near.add(b.sub(a).mul(rest))
        return greatest.isnan().where(greatest, value)


def _is_part(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1
