"""Pooling over the last 1, 2 or 3 axes: the maximum or the mean of each window.

Arguments and their order are PyTorch's. `kernel_size`, `stride`, `dilation` and
`padding` are one number for all axes or one per axis; `padding` may also be a (before, after) pair
per axis. Numbers of padding are at most half of the window, as in PyTorch. With `ceil_mode` a last
window that extends past the end is included, if it begins inside. The result has the type of the
input, or a float type for means. Raises `ShapeError` where no window fits.
"""

import math
from collections.abc import Sequence
from typing import Literal, Self, overload

import numpy as np

from compiler.core.errors import ShapeError
from compiler.graph.kinds.gradient import ruled
from compiler.graph.nodes import Pairs, Reduce, Shape, TensorNode
from compiler.ops.composed import of_first_extreme
from compiler.tensors.reductions import Reductions
from compiler.tensors.shapes import written
from compiler.tensors.value import reshaped, traced
from compiler.tensors.windows import (
    Borders,
    Numbers,
    Windows,
    borders_of,
    numbers_of,
    refuse_wide_padding,
)

_FIRST = (of_first_extreme,)


def reach_over(
    image: Shape, sizes: Shape, steps: Shape, gaps: Shape, borders: Pairs
) -> tuple[int, ...]:
    """For `ceil_mode`: how far the last window extends past the end of each axis."""
    over = []
    for n, size, step, gap, (before, after) in zip(image, sizes, steps, gaps, borders, strict=True):
        whole, reach = n + before + after, gap * (size - 1) + 1
        last = -(-(whole - reach) // step) * step
        last -= step if last >= n + before else 0
        over.append(max(last + reach - whole, 0))
    return tuple(over)


def longer(borders: Pairs, over: tuple[int, ...]) -> Pairs:
    """The padding, extended at the end of each axis by `over`."""
    pairs = zip(borders, over, strict=True)
    return tuple((before, after + more) for (before, after), more in pairs)


@traced
class Pooling(Windows, Reductions):
    """Max and average pooling."""

    __slots__ = ()

    @overload
    def max_pool1d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        dilation: Numbers = 1, ceil_mode: bool = False, return_indices: Literal[False] = False,
    ) -> Self: ...  # fmt: skip
    @overload
    def max_pool1d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        dilation: Numbers = 1, ceil_mode: bool = False, *, return_indices: Literal[True],
    ) -> tuple[Self, Self]: ...  # fmt: skip
    def max_pool1d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
    ) -> "Self | tuple[Self, Self]":  # fmt: skip
        """The maximum of each window of the last axis; see `max_pool2d`."""
        return self._greatest("max_pool1d", 1, kernel_size, stride, padding, dilation, ceil_mode,
                              return_indices)  # fmt: skip

    @overload
    def max_pool2d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        dilation: Numbers = 1, ceil_mode: bool = False, return_indices: Literal[False] = False,
    ) -> Self: ...  # fmt: skip
    @overload
    def max_pool2d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        dilation: Numbers = 1, ceil_mode: bool = False, *, return_indices: Literal[True],
    ) -> tuple[Self, Self]: ...  # fmt: skip
    def max_pool2d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
    ) -> "Self | tuple[Self, Self]":  # fmt: skip
        """The maximum of each window of the last two axes. The stride is `kernel_size` by default,
        so windows do not overlap. Padding is never the maximum. With `return_indices` a second
        tensor has the index of each maximum in the flattened image without its padding."""
        return self._greatest("max_pool2d", 2, kernel_size, stride, padding, dilation, ceil_mode,
                              return_indices)  # fmt: skip

    @overload
    def max_pool3d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        dilation: Numbers = 1, ceil_mode: bool = False, return_indices: Literal[False] = False,
    ) -> Self: ...  # fmt: skip
    @overload
    def max_pool3d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        dilation: Numbers = 1, ceil_mode: bool = False, *, return_indices: Literal[True],
    ) -> tuple[Self, Self]: ...  # fmt: skip
    def max_pool3d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        dilation: Numbers = 1, ceil_mode: bool = False, return_indices: bool = False,
    ) -> "Self | tuple[Self, Self]":  # fmt: skip
        """The maximum of each window of the last three axes; see `max_pool2d`."""
        return self._greatest("max_pool3d", 3, kernel_size, stride, padding, dilation, ceil_mode,
                              return_indices)  # fmt: skip

    def avg_pool1d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:  # fmt: skip
        """The mean of each window of the last axis; see `avg_pool2d`."""
        return self._mean_of("avg_pool1d", 1, kernel_size, stride, padding, ceil_mode,
                             count_include_pad, divisor_override)  # fmt: skip

    def avg_pool2d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:  # fmt: skip
        """The mean of each window of the last two axes. Padding counts as zeros, unless
        `count_include_pad` is false. `divisor_override` replaces the number of elements as the
        divisor."""
        return self._mean_of("avg_pool2d", 2, kernel_size, stride, padding, ceil_mode,
                             count_include_pad, divisor_override)  # fmt: skip

    def avg_pool3d(
        self, kernel_size: Numbers, stride: Numbers | None = None, padding: Borders = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:  # fmt: skip
        """The mean of each window of the last three axes; see `avg_pool2d`."""
        return self._mean_of("avg_pool3d", 3, kernel_size, stride, padding, ceil_mode,
                             count_include_pad, divisor_override)  # fmt: skip

    def adaptive_avg_pool1d(self, output_size: Numbers) -> Self:
        """The means of `output_size` windows of nearly equal length along the last axis; see
        `adaptive_avg_pool2d`."""
        return self._adapted("adaptive_avg_pool1d", 1, output_size, is_mean=True)

    def adaptive_avg_pool2d(self, output_size: Numbers) -> Self:
        """The means of `output_size` windows of nearly equal length along the last two axes. As in
        PyTorch, window i of n begins at floor(i * extent / n) and ends at ceil((i + 1) * extent /
        n)."""
        return self._adapted("adaptive_avg_pool2d", 2, output_size, is_mean=True)

    def adaptive_avg_pool3d(self, output_size: Numbers) -> Self:
        """The means of `output_size` windows of nearly equal length along the last three axes; see
        `adaptive_avg_pool2d`."""
        return self._adapted("adaptive_avg_pool3d", 3, output_size, is_mean=True)

    def adaptive_max_pool1d(self, output_size: Numbers) -> Self:
        """The maxima of `output_size` windows of nearly equal length along the last axis."""
        return self._adapted("adaptive_max_pool1d", 1, output_size, is_mean=False)

    def adaptive_max_pool2d(self, output_size: Numbers) -> Self:
        """The maxima of `output_size` windows of nearly equal length along the last two axes; see
        `adaptive_avg_pool2d`."""
        return self._adapted("adaptive_max_pool2d", 2, output_size, is_mean=False)

    def adaptive_max_pool3d(self, output_size: Numbers) -> Self:
        """The maxima of `output_size` windows of nearly equal length along the last three axes."""
        return self._adapted("adaptive_max_pool3d", 3, output_size, is_mean=False)

    def _greatest(
        self, name: str, axes: int, size: Numbers, stride: Numbers | None, padding: Borders,
        dilation: Numbers, ceil_mode: bool, return_indices: bool,
    ) -> "Self | tuple[Self, Self]":  # fmt: skip
        sizes, gaps = numbers_of(name, size, axes, 1), numbers_of(name, dilation, axes, 1)
        steps = sizes if stride is None else numbers_of(name, stride, axes, 1)
        borders = self._around(name, padding, axes)
        refuse_wide_padding(name, padding, sizes, gaps)
        image = self.shape[-axes:]
        over = reach_over(image, sizes, steps, gaps, borders) if ceil_mode else (0,) * axes
        whole = self._bordered(longer(borders, over), least=True)
        slid = whole._windows(name, sizes, steps, gaps)
        pooled = whole._pooled("max", slid, axes)
        if not return_indices:
            return pooled
        return pooled, whole._in_image(slid, image, steps, gaps, borders)

    def _around(self, name: str, padding: Borders, axes: int) -> Pairs:
        """The padding of the last axes. Raises `ShapeError` if the tensor has fewer."""
        if self.ndim < axes:
            raise ShapeError(name, "there are too few axes", got=f"shape {written(self.shape)}",
                             expected=f"rank {axes} or more")  # fmt: skip
        return borders_of(name, padding, axes)

    def _pooled(self, op: str, node: TensorNode, axes: int) -> Self:
        rank = len(node.shape)
        folded: TensorNode = Reduce((node,), op, tuple(range(rank - axes, rank)))
        folded = ruled(folded, _FIRST, node) if op == "max" else folded
        return self._new(reshaped(folded, node.shape[:-axes]))

    def _in_image(
        self, slid: TensorNode, image: Shape, steps: Shape, gaps: Shape, borders: Pairs
    ) -> Self:
        """The index of the maximum of each window in the flattened image."""
        axes = len(image)
        lead, sizes = slid.shape[:-axes], slid.shape[-axes:]
        flat = self._new(reshaped(slid, (*lead, math.prod(sizes)))).argmax(-1)
        place: Self | None = None
        for axis, (n, step, gap, (before, _)) in enumerate(
            zip(image, steps, gaps, borders, strict=True)
        ):
            inside = flat.idiv(math.prod(sizes[axis + 1 :])).fmod(sizes[axis]).mul(gap)
            begins = np.arange(lead[len(lead) - axes + axis]) * step - before
            begins = begins.reshape(-1, *(1,) * (axes - axis - 1))
            # in a window of only -inf, the padding is equally great
            inside = inside.add(begins).clip(0, n - 1)
            place = inside if place is None else place.mul(n).add(inside)
        assert place is not None
        return place

    def _mean_of(
        self, name: str, axes: int, size: Numbers, stride: Numbers | None, padding: Borders,
        ceil_mode: bool, count_include_pad: bool, divisor_override: int | None,
    ) -> Self:  # fmt: skip
        sizes, gaps = numbers_of(name, size, axes, 1), (1,) * axes
        steps = sizes if stride is None else numbers_of(name, stride, axes, 1)
        borders = self._around(name, padding, axes)
        refuse_wide_padding(name, padding, sizes, gaps)
        image = self.shape[-axes:]
        over = reach_over(image, sizes, steps, gaps, borders) if ceil_mode else (0,) * axes
        whole = self._as_wide()._bordered(longer(borders, over))
        total = whole._pooled("sum", whole._windows(name, sizes, steps, gaps), axes)
        target = self._statistic_type()
        if divisor_override is not None:
            return total.div(float(divisor_override)).cast(target)
        counts = [
            _counts(n, size, step, border if count_include_pad else (0, 0), border[0], count)
            for n, size, step, border, count in zip(
                image, sizes, steps, borders, total.shape[-axes:], strict=True
            )
        ]
        if all(each.min() == each.max() for each in counts):
            return total.div(float(math.prod(int(each[0]) for each in counts))).cast(target)
        for axis, each in enumerate(counts):
            shaped = each.reshape(-1, *(1,) * (axes - axis - 1))
            total = total.div(self._lift(shaped).cast(total.dtype))
        return total.cast(target)

    def _adapted(self, name: str, axes: int, size: Numbers, is_mean: bool) -> Self:
        """Pool axis by axis, which gives the same result in any order; from the last axis on, so
        that the first of equal elements is found."""
        self._around(name, 0, axes)
        made: Self = self._as_wide() if is_mean else self
        counts = numbers_of(name, size, axes, 1)
        for axis, count in reversed([*zip(range(-axes, 0), counts, strict=True)]):
            made = made._in_parts(axis, count, is_mean)
        return made.cast(self._statistic_type()) if is_mean else made

    def _in_parts(self, axis: int, count: int, is_mean: bool) -> Self:
        """One axis reduced in `count` windows."""
        n, place = self.shape[axis], self.ndim + axis
        if n % count == 0:
            cut = self.reshape(*self.shape[:place], count, n // count, *self.shape[place + 1 :])
            return cut._folded_at(place + 1, is_mean, keepdim=False)
        ends = [(i * n // count, -(-(i + 1) * n // count)) for i in range(count)]
        parts: Sequence[Self] = [
            self._part(place, low, high)._folded_at(place, is_mean, keepdim=True)
            for low, high in ends
        ]
        return parts[0].cat(*parts[1:], dim=place) if parts[1:] else parts[0]

    def _folded_at(self, axis: int, is_mean: bool, keepdim: bool) -> Self:
        if is_mean:
            return self.mean(axis, keepdim)
        folded = self._new(ruled(Reduce((self.node,), "max", (axis,)), _FIRST, self.node))
        return folded if keepdim else folded.squeeze(axis)


def _counts(
    n: int, size: int, step: int, counted: tuple[int, int], before: int, count: int
) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    """The number of elements in each window along an axis, of its n and of padding that counts."""
    begins = np.arange(count) * step - before
    low, high = np.maximum(begins, -counted[0]), np.minimum(begins + size, n + counted[1])
    return high - low
