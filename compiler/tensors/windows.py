"""Sliding windows: unfold, pooling and convolution, made of movement alone.

A row of n elements, repeated and cut into rows of n + d, is shifted by d from row to row: row r
starts at element r * d. So windows of k elements, d apart, are movement, and their index is
r * d + t * s once it is simplified: nothing is copied.
"""

from collections.abc import Sequence
from typing import Self, TypeAlias

from compiler.core.dtypes import float16, float32
from compiler.core.errors import ShapeError
from compiler.graph.nodes import (
    Expand,
    Pad,
    Permute,
    Reduce,
    Shape,
    Shrink,
    TensorNode,
    elementwise,
)
from compiler.tensors.products import Products
from compiler.tensors.shapes import axes_of, written
from compiler.tensors.value import (
    Operand,
    as_node,
    broadcast_node,
    cast_to,
    common_type,
    operand_of,
    reshaped,
    traced,
)

Pair: TypeAlias = int | Sequence[int]


def windows(node: TensorNode, axis: int, size: int, step: int, gap: int) -> TensorNode:
    """`axis` replaced by two: [size, count], where [r, t] is element t * step + r * gap."""
    shape, extent = node.shape, node.shape[axis]
    before, after = shape[:axis], shape[axis + 1 :]
    count = (extent - gap * (size - 1) - 1) // step + 1
    copies = -(-size * (extent + gap) // extent)
    node = reshaped(node, (*before, 1, extent, *after))
    node = Expand((node,), (*before, copies, extent, *after))
    node = reshaped(node, (*before, copies * extent, *after))
    node = _first(node, axis, size * (extent + gap))
    node = reshaped(node, (*before, size, extent + gap, *after))
    span = (count - 1) * step + 1
    node = _first(node, axis + 1, span)
    if step == 1:
        return node
    widths = [(0, 0)] * len(node.shape)
    widths[axis + 1] = (0, count * step - span)
    node = Pad((node,), tuple(widths))
    node = reshaped(node, (*before, size, count, step, *after))
    return reshaped(_first(node, axis + 2, 1), (*before, size, count, *after))


def _first(node: TensorNode, axis: int, count: int) -> TensorNode:
    """The first `count` elements of `axis`."""
    bounds = tuple((0, count if i == axis else n) for i, n in enumerate(node.shape))
    return Shrink((node,), bounds)


def windows_of_image(node: TensorNode, sizes: Shape, steps: Shape, gaps: Shape) -> TensorNode:
    """[…, h, w] as […, rows, columns, size of a window, its width]."""
    rank = len(node.shape)
    node = windows(node, rank - 1, sizes[1], steps[1], gaps[1])
    node = windows(node, rank - 2, sizes[0], steps[0], gaps[0])
    lead = tuple(range(rank - 2))
    return Permute((node,), (*lead, rank - 1, rank + 1, rank - 2, rank))


def pair_of(operation: str, value: Pair, least: int) -> Shape:
    """One number for both axes, or one each; `ShapeError` below `least`."""
    numbers = (value, value) if isinstance(value, int) else tuple(int(v) for v in value)
    if len(numbers) != 2 or min(numbers) < least:
        raise ShapeError(
            operation, "needs one number or two", got=str(value), expected=f"{least} or more"
        )
    return numbers


@traced
class Windows(Products):
    """Methods whose windows slide over a tensor."""

    __slots__ = ()

    def unfold(self, axis: int, size: int, step: int = 1) -> Self:
        """Windows of `size` elements along `axis`, `step` apart, as a new last axis (torch's)."""
        (place,) = axes_of("unfold", axis, self.ndim)
        if not 0 < size <= self.shape[place] or step < 1:
            raise ShapeError(
                "unfold", "no window fits", got=f"size {size}, step {step}",
                expected=f"a size from 1 to {self.shape[place]}, a step of 1 or more",
            )  # fmt: skip
        node = windows(self.node, place, size, step, 1)
        others = [i for i in range(len(node.shape)) if i != place]
        return self._new(Permute((node,), (*others, place)))

    def _windows(self, operation: str, sizes: Shape, steps: Shape, gaps: Shape) -> TensorNode:
        """The windows of the last two axes; `ShapeError` where none fits."""
        reach = [g * (k - 1) + 1 for g, k in zip(gaps, sizes, strict=True)]
        image = self.shape[-2:]
        if self.ndim < 2 or any(r > n for r, n in zip(reach, image, strict=True)):
            raise ShapeError(
                operation, "the window is larger than the image",
                got=f"{written(tuple(reach))} in {written(image)}", expected="a window that fits",
            )  # fmt: skip
        return windows_of_image(self.node, sizes, steps, gaps)

    def max_pool2d(
        self, size: Pair, stride: Pair | None = None, padding: Pair = 0, dilation: Pair = 1
    ) -> Self:
        """The greatest element of each window of the last two axes; windows do not overlap
        unless `stride` says so. Padding never wins."""
        name = "max_pool2d"
        sizes, gaps = pair_of(name, size, 1), pair_of(name, dilation, 1)
        steps = sizes if stride is None else pair_of(name, stride, 1)
        image = self._bordered(pair_of(name, padding, 0), least=True)
        return image._pooled("max", image._windows(name, sizes, steps, gaps))

    def avg_pool2d(self, size: Pair, stride: Pair | None = None, padding: Pair = 0) -> Self:
        """The mean of each window of the last two axes; padding counts as zeros, as in torch."""
        name = "avg_pool2d"
        sizes = pair_of(name, size, 1)
        steps = sizes if stride is None else pair_of(name, stride, 1)
        image = self._bordered(pair_of(name, padding, 0))
        total = image._pooled("sum", image._windows(name, sizes, steps, (1, 1)))
        return total.div(float(sizes[0] * sizes[1]))

    def _bordered(self, padding: Shape, least: bool = False) -> Self:
        """A border around the last two axes: zeros, or the least value of the type."""
        if not any(padding):
            return self._same()
        widths = [(0, 0)] * (self.ndim - 2) + [(n, n) for n in padding]
        return self.pad(widths, self.dtype.minimum if least else 0)

    def _pooled(self, op: str, node: TensorNode) -> Self:
        rank = len(node.shape)
        folded = Reduce((node,), op, (rank - 2, rank - 1))
        return self._new(reshaped(folded, node.shape[:-2]))

    def conv2d(
        self,
        weight: Operand,
        bias: Operand | None = None,
        stride: Pair = 1,
        padding: Pair = 0,
        dilation: Pair = 1,
        groups: int = 1,
    ) -> Self:
        """Cross-correlation of [n, c, h, w] with `weight` [o, c / groups, kh, kw]; `bias` is [o].

        float16 is summed in float32. Raises `ShapeError` where the channels do not fit.
        """
        parts = [operand_of("conv2d", v) for v in (self, weight)]
        dtype = common_type(parts)
        inner = float32 if dtype == float16 else dtype
        x, w = (cast_to(as_node("conv2d", part, dtype), inner) for part in parts)
        _check_channels(x.shape, w.shape, groups)
        image = self._new(x)._bordered(pair_of("conv2d", padding, 0))
        steps, gaps = pair_of("conv2d", stride, 1), pair_of("conv2d", dilation, 1)
        slid = image._windows("conv2d", w.shape[2:], steps, gaps)
        result = self._new(cast_to(_correlated(slid, w, groups), dtype))
        if bias is None:
            return result
        return result.add(self._lift(bias).reshape(1, -1, 1, 1))


def _check_channels(image: Shape, weight: Shape, groups: int) -> None:
    is_rank_4 = len(image) == len(weight) == 4
    is_whole = is_rank_4 and groups > 0 and weight[0] % groups == 0
    if not (is_whole and image[1] == weight[1] * groups):
        raise ShapeError(
            "conv2d", "the channels do not fit",
            got=f"{written(image)} with weight {written(weight)}, groups {groups}",
            expected="(n, c, h, w) with (o, c / groups, kh, kw), o divisible by groups",
        )  # fmt: skip


def _correlated(slid: TensorNode, weight: TensorNode, groups: int) -> TensorNode:
    """[n, c, rows, columns, kh, kw] times the weight, summed over channels and windows."""
    n, c, rows, columns, kh, kw = slid.shape
    o, part = weight.shape[0], c // groups
    full = (n, groups, o // groups, rows, columns, part, kh, kw)
    x = reshaped(slid, (n, groups, 1, part, rows, columns, kh, kw))
    x = broadcast_node(Permute((x,), (0, 1, 2, 4, 5, 3, 6, 7)), full)
    w = broadcast_node(reshaped(weight, (1, groups, o // groups, 1, 1, part, kh, kw)), full)
    total = Reduce((elementwise("mul", x, w),), "sum", (5, 6, 7))
    return reshaped(total, (n, o, rows, columns))
