"""Tensor methods that split, shift and select by pattern: split, roll, tril, diagonal, one_hot, …

Names and meanings are NumPy's or PyTorch's. Where they differ, the docstring states which one.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np

from compiler.core.dtypes import Scalar, int64, parse
from compiler.core.errors import AxisError, DTypeError, ShapeError
from compiler.graph.nodes import Shape, const, first_of
from compiler.tensors.gathering import counting, refuse_out_of_range
from compiler.tensors.joining import Joining
from compiler.tensors.reductions import Reductions
from compiler.tensors.scans import Scans
from compiler.tensors.shapes import (
    Axes,
    axes_of,
    axis_of,
    broadcast,
    extents,
    integers,
    is_of_number,
    one_of,
    within_memory,
    written,
)
from compiler.tensors.value import Operand, TensorValue, traced
from compiler.tensors.variables import refuse_symbolic
from compiler.tensors.writing import Writing

# Inside the class these names are methods.
Whole = int
Truth = bool


@traced
class Arrangement(Writing, Scans, Joining, Reductions):
    """Splitting, shifting, triangles and diagonals."""

    __slots__ = ()

    def ravel(self) -> Self:
        """All elements in row-major order, as a tensor of rank 1."""
        return self.reshape(self.size)

    def atleast_1d(self) -> Self:
        """This tensor with rank 1 or more: a scalar becomes shape (1,)."""
        return self._same() if self.ndim else self.reshape(1)

    def atleast_2d(self) -> Self:
        """This tensor with rank 2 or more: rank 0 and 1 become a matrix of one row."""
        return self._same() if self.ndim > 1 else self.reshape(1, self.size)

    def index_select(self, dim: Whole, index: Operand) -> Self:
        """The slices at positions `index` along `dim`; PyTorch's name for `take`."""
        return self.take(index, dim)

    # Parts.

    def split(
        self, sizes: Whole | Sequence[Whole], axis: Whole = 0, *, dim: Whole | None = None
    ) -> tuple[Self, ...]:
        """Split into parts along `axis`: a list gives the size of each part; one number is the size
        of every part, and the last may be smaller.

        As in PyTorch; NumPy's `split` takes the number of parts (see `chunk`). Raises `ShapeError`
        if the sizes do not add up to the extent of the axis.
        """
        place = axis_of("split", axis if dim is None else dim, self.ndim)
        extent, lengths = self.shape[place], integers("split", (sizes,))
        if isinstance(sizes, int) and sizes > 0:
            lengths = tuple(min(sizes, extent - at) for at in range(0, extent, sizes)) or (0,)
        if sum(lengths) != extent or any(n < 0 for n in lengths):
            raise ShapeError(
                "split", f"the parts do not make up axis {place}", got=str(sizes),
                expected=f"a positive size, or sizes with the sum {extent}",
            )  # fmt: skip
        ends = np.cumsum(lengths).tolist()
        pairs = zip(ends, lengths, strict=True)
        return tuple(self._part(place, end - length, end) for end, length in pairs)

    def chunk(
        self, chunks: Whole, axis: Whole = 0, *, dim: Whole | None = None
    ) -> tuple[Self, ...]:
        """Split into at most `chunks` parts of equal size along `axis`; the last may be smaller. As
        in PyTorch."""
        place = axis_of("chunk", axis if dim is None else dim, self.ndim)
        if chunks < 1:
            raise ShapeError("chunk", "no parts", got=str(chunks), expected="1 or more")
        return self.split(max(-(-self.shape[place] // chunks), 1), place)

    def unbind(self, axis: Whole = 0, *, dim: Whole | None = None) -> tuple[Self, ...]:
        """A tuple of the slices along `axis`, each without that axis."""
        place = axis_of("unbind", axis if dim is None else dim, self.ndim)
        parts = (self._part(place, i, i + 1) for i in range(self.shape[place]))
        return tuple(part.squeeze(place) for part in parts)

    def narrow(self, axis: Whole, start: Whole, length: Whole) -> Self:
        """`length` elements of `axis`, starting at `start`. Raises `ShapeError` if they lie outside
        the axis."""
        place = axis_of("narrow", axis, self.ndim)
        begin = start + self.shape[place] if start < 0 else start
        return self._part(place, begin, begin + length)

    # Shifts and copies.

    def roll(self, shifts: Whole | Sequence[Whole], axis: Axes = None, *, dim: Axes = None) -> Self:
        """Elements shifted by `shifts` along `axis`; elements that leave at the end come in at the
        front. Without an axis the flattened tensor is shifted. Same shape."""
        axes = one_of("roll", axis, dim)
        by = integers("roll", (shifts,))
        if axes is None:
            return self.ravel().roll(sum(by), 0).reshape(self.shape)
        places = [axis_of("roll", a, self.ndim) for a in integers("roll", (axes,))]
        if len(by) != len(places):
            by = by * len(places) if len(by) == 1 else by
        if len(by) != len(places):
            raise ShapeError(
                "roll", "the numbers of shifts and axes differ", got=f"{len(by)} and {len(places)}",
                expected="one shift per axis",
            )  # fmt: skip
        moved = self
        for shift, place in zip(by, places, strict=True):
            moved = moved._rolled(shift, place)
        return moved

    def _rolled(self, shift: Whole, axis: Whole) -> Self:
        extent = self.shape[axis]
        cut = -shift % extent if extent else 0
        if not cut:
            return self._same()
        return self._part(axis, cut, extent).cat(self._part(axis, 0, cut), dim=axis)

    def rot90(self, times: Whole = 1, axes: Sequence[Whole] = (0, 1)) -> Self:
        """Rotated by 90° `times` times, in the plane of `axes`, from the first axis towards the
        second."""
        first, second = axes_of("rot90", axes, self.ndim) if len(axes) == 2 else (0, 0)
        if first == second:
            raise AxisError("rot90", "needs two axes", got=str(axes), expected="two axes")
        first, second = (axis_of("rot90", a, self.ndim) for a in axes)
        match times % 4:
            case 0:
                return self._same()
            case 1:
                return self.flip(second).swapaxes(first, second)
            case 2:
                return self.flip(first, second)
        return self.swapaxes(first, second).flip(second)

    def fliplr(self) -> Self:
        """Axis 1 reversed (a horizontal flip)."""
        return self.flip(1)

    def flipud(self) -> Self:
        """Axis 0 reversed (a vertical flip)."""
        return self.flip(0)

    def repeat_interleave(
        self, counts: Whole | Sequence[Whole], axis: Whole | None = None, *,
        dim: Whole | None = None,
    ) -> Self:  # fmt: skip
        """Each element along `axis` repeated `counts` times, or `counts[i]` times for element i.
        NumPy calls it `repeat`. Without an axis the flattened tensor is used."""
        given = one_of("repeat_interleave", axis, dim)
        if given is None or is_of_number(given, self.ndim):
            return self.ravel().repeat_interleave(counts, 0)
        place = axis_of("repeat_interleave", given, self.ndim)
        times, extent = extents("repeat_interleave", (counts,)), self.shape[place]
        if not isinstance(counts, int):
            return self._repeated(times, place)
        front, back = self.shape[:place], self.shape[place + 1 :]
        within_memory("repeat_interleave", (*front, extent * times[0], *back))
        wide = self.unsqueeze(place + 1).expand(*front, extent, times[0], *back)
        return wide.reshape(*front, extent * times[0], *back)

    def _repeated(self, times: Shape, axis: Whole) -> Self:
        if len(times) != self.shape[axis]:
            raise ShapeError(
                "repeat_interleave", "there is one count per element", got=f"{len(times)} counts",
                expected=f"{self.shape[axis]} counts",
            )  # fmt: skip
        return self.take(np.repeat(np.arange(len(times)), times), axis)

    # Triangles and diagonals.

    def tril(self, diagonal: Whole = 0) -> Self:
        """The lower triangle of the last two axes: elements above diagonal number `diagonal` are
        0."""
        return self._triangle("tril", diagonal).where(self, False)

    def triu(self, diagonal: Whole = 0) -> Self:
        """The upper triangle of the last two axes: elements below diagonal number `diagonal` are
        0."""
        return self._triangle("triu", diagonal - 1).where(False, self)

    def _triangle(self, method: str, diagonal: Whole) -> Self:
        """True on and below a diagonal of the last two axes."""
        shape = self.shape[-2:]
        if len(shape) < 2:
            raise ShapeError(
                method, "a triangle needs a matrix", got=written(self.shape),
                expected="rank 2 or more",
            )  # fmt: skip
        (limit,) = integers(method, (diagonal,))
        row, column = (self._new(counting(shape, i)) for i in (0, 1))
        made = column.sub(row).le(limit).node
        for place, extent in enumerate(self.node.extents[-2:]):
            made = made if extent is None else first_of(made, place, extent)
        return self._new(made)

    def diagonal(self, offset: Whole = 0, axis1: Whole = 0, axis2: Whole = 1) -> Self:
        """A diagonal of the plane of `axis1` and `axis2`, as a new last axis in place of the two:
        the elements whose position on `axis2` exceeds that on `axis1` by `offset`."""
        first, second = (axis_of("diagonal", a, self.ndim) for a in (axis1, axis2))
        if first == second:
            raise AxisError("diagonal", "the axes are the same", got=f"{axis1} and {axis2}")
        rows, columns = self.shape[first], self.shape[second]
        top, left = max(-offset, 0), max(offset, 0)
        count = max(min(rows - top, columns - left), 0)
        matrix = self.movedim((first, second), (-2, -1))
        if not count:
            return matrix.reshape(*matrix.shape[:-2], rows * columns)._part(self.ndim - 2, 0, 0)
        square = matrix._part(self.ndim - 2, top, top + count)
        square = square._part(self.ndim - 1, left, left + count)
        # One element more per row moves the diagonal into column 0.
        flat = square.reshape(*square.shape[:-2], count * count)
        flat = flat.pad([None] * (self.ndim - 2) + [(0, count)])
        sheared = flat.reshape(*square.shape[:-2], count, count + 1)
        return sheared._part(self.ndim - 1, 0, 1).squeeze(-1)

    def diag(self, offset: Whole = 0) -> Self:
        """For rank 1: the matrix with this tensor on diagonal `offset`. For rank 2: its
        diagonal."""
        if self.ndim == 1:
            return self.diag_embed(offset)
        if self.ndim == 2:
            return self.diagonal(offset)
        raise ShapeError(
            "diag", "needs a row or a matrix", got=written(self.shape), expected="rank 1 or 2"
        )

    def diag_embed(self, offset: Whole = 0) -> Self:
        """Matrices with the last axis on diagonal `offset` and 0 elsewhere. As in PyTorch."""
        if not self.ndim:
            raise ShapeError("diag_embed", "needs an axis", got="()", expected="rank 1 or more")
        count, lead = self.shape[-1], [None] * (self.ndim - 1)
        square = (*self.shape, count)
        row, column = (self._new(counting((count, count), i)) for i in (0, 1))
        placed = row.eq(column).where(self.unsqueeze(-1).expand(*square), False)
        below, right = max(-offset, 0), max(offset, 0)
        return placed.pad([*lead, (below, right), (right, below)])

    def trace(
        self, offset: Whole = 0, axis1: Whole = 0, axis2: Whole = 1, dtype: object = None
    ) -> Self:
        """The sum of a diagonal; `dtype` as for `sum`."""
        return self.diagonal(offset, axis1, axis2).sum(-1, dtype=dtype)

    # Neighbours, positions, masks.

    def diff(self, n: Whole = 1, axis: Whole = -1, *, dim: Whole | None = None) -> Self:
        """Differences of neighbouring elements along `axis`, applied `n` times. For bool: true
        where neighbours differ."""
        place = axis_of("diff", axis if dim is None else dim, self.ndim)
        if n < 0:
            raise ShapeError("diff", "a negative number of times", got=str(n), expected="0 or more")
        result = self
        for _ in range(n):
            extent = result.shape[place]
            after = result._part(place, min(1, extent), extent)
            before = result._part(place, 0, max(extent - 1, 0))
            result = after.ne(before) if self.dtype.kind == "bool" else after.sub(before)
        return result

    def one_hot(self, classes: Whole, dtype: object = int64) -> Self:
        """One-hot encoding along a new last axis of extent `classes`: 1 at the position that the
        element gives, 0 elsewhere. Values outside 0 … classes - 1 give only zeros.

        For integers only. The default type is int64, as in PyTorch.
        """
        if not self.dtype.is_integer:
            raise DTypeError(
                "one_hot", "classes are integers", got=str(self.dtype), expected="an integer type"
            )
        width = extents("one_hot", (classes,))
        within_memory("one_hot", (*self.shape, *width))
        place = self._new(counting(width, 0))
        return self.unsqueeze(-1).eq(place).cast(parse(dtype, "one_hot"))

    def take_along_axis(self, indices: Operand, axis: Whole | None = -1) -> Self:
        """Element [i, j, …] is the one at position `indices[i, j, …]` of `axis`. The other axes
        broadcast; with axis None both tensors are flattened. As in NumPy."""
        index = indices if isinstance(indices, TensorValue) else np.asarray(indices)
        if axis is None:
            return self.ravel().gather(0, index)
        place = axis_of("take_along_axis", axis, self.ndim)
        if len(index.shape) != self.ndim:
            raise ShapeError(
                "take_along_axis", "the indices have another rank",
                got=f"{written(index.shape)} for {written(self.shape)}", expected="the same rank",
            )  # fmt: skip
        pairs = enumerate(zip(self.shape, index.shape, strict=True))
        wide = [i if at == place or n == 1 else n for at, (n, i) in pairs]
        if isinstance(index, TensorValue):
            refuse_out_of_range("take_along_axis", index, self.shape[place], place)
            index = self._new(index.node).broadcast_to(*wide)
        else:
            index = np.broadcast_to(index, wide)
        wide[place] = self.shape[place]
        return self.broadcast_to(*wide).gather(place, index)

    def nonzero(
        self, as_tuple: Truth = False, *, size: Whole | None = None, fill_value: Whole = -1
    ) -> Self | tuple[Self, ...]:
        """The positions of the elements that are not 0, int64, as [count, rank]; with `as_tuple`
        one tensor [count] per axis, which is NumPy's form.

        The count depends on data, so the tensor is computed now. If `size` is given, the result has
        the first `size` positions, padded with `fill_value`, and stays lazy (PyTorch's
        `nonzero_static`; JAX's `nonzero(size=…)` pads with 0).
        """
        if size is None:
            found = np.nonzero(np.atleast_1d(np.asarray(self)))
            rows = tuple(self._lift(part) for part in found)
        else:
            rows = self.atleast_1d()._first_true("nonzero", size, fill_value)
        return rows if as_tuple else rows[0].stack(*rows[1:], dim=1)[:, : self.ndim]

    def masked_select(
        self, mask: Operand, *, size: Whole | None = None, fill_value: Scalar = 0
    ) -> Self:
        """The elements where `mask` is true, rank 1. The mask broadcasts.

        The count depends on data, so a computed mask is computed now. If `size` is given, the
        result has the first `size` elements, padded with `fill_value`, and stays lazy.
        """
        chosen = self._lift(mask).cast("bool")
        shape = broadcast("masked_select", self.node, chosen.node)
        elements, mask = self.broadcast_to(shape), chosen.broadcast_to(shape)
        if size is not None:
            flat = elements.ravel()
            (place,) = mask.ravel()._first_true("masked_select", size, -1)
            if not flat.size:
                return self._new(const(fill_value, self.dtype, (size,)))
            found = place.ge(0).where(flat.take(place.maximum(0), 0), fill_value)
            return found.cast(self.dtype)
        selected: Self = elements.atleast_1d()[mask.atleast_1d()]
        return selected

    def _first_true(self, method: str, size: Whole, fill_value: Whole) -> tuple[Self, ...]:
        """The positions of the first `size` elements that are not 0, row-major: one tensor per
        axis."""
        refuse_symbolic(method, self.node, range(self.ndim))
        (count,) = extents(method, (size,))
        is_true = self.cast("bool").ravel()
        # Out of range, so not written: false elements, and those beyond `size`.
        place = is_true.where(is_true.cast(int64).cumsum(0).sub(1), count)
        empty = self._new(const(is_true.size, int64, (count,)))
        number = self._new(counting(is_true.shape, 0))
        flat = empty._written(method, place, number, "replace") if count else empty
        is_there, rows = flat.ne(is_true.size), []
        for extent in reversed(self.shape):
            rows.append(is_there.where(flat.mod(max(extent, 1)), fill_value))
            flat = flat.floordiv(max(extent, 1))
        return tuple(reversed(rows))
