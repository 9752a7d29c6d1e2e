"""Sliding windows over any number of axes, built with `graph/kinds/sliding.py`; `unfold`."""

from collections.abc import Sequence
from typing import Self, TypeAlias

from compiler.core.errors import ShapeError
from compiler.graph.kinds import sliding
from compiler.graph.nodes import Pairs, Permute, Shape, TensorNode
from compiler.tensors.binary import Binary
from compiler.tensors.joining import Joining
from compiler.tensors.rank_zero import of_rank_zero
from compiler.tensors.shapes import axes_of, written
from compiler.tensors.value import traced
from compiler.tensors.variables import refuse_symbolic

Numbers: TypeAlias = int | Sequence[int]
"""One number for all axes, or one per axis."""
Borders: TypeAlias = int | Sequence[int | Sequence[int]]
"""Padding: one number, one per axis, or a (before, after) pair per axis."""
_WORDS = {1: "one number", 2: "one number or two", 3: "one number or three"}


def windows(node: TensorNode, axis: int, size: int, step: int, gap: int) -> TensorNode:
    """`axis` replaced by two: [size, count], where [r, t] is element t * step + r * gap; `step` is
    the stride, `gap` the dilation."""
    refuse_symbolic("windows", node, [axis])
    return sliding.windows(node, axis, size, step, gap)


def windows_of_image(node: TensorNode, sizes: Shape, steps: Shape, gaps: Shape) -> TensorNode:
    """[…, h, w] as […, rows, columns, window height, window width]; likewise for any number of
    axes."""
    rank = len(node.shape)
    refuse_symbolic("windows", node, range(rank - len(sizes), rank))
    return sliding.windows_of_image(node, sizes, steps, gaps)


def numbers_of(operation: str, value: Numbers, axes: int, least: int) -> Shape:
    """One number per axis. Raises `ShapeError` for one below `least`."""
    numbers = (value,) * axes if isinstance(value, int) else _whole(value)
    if len(numbers) != axes or min(numbers) < least:
        raise ShapeError(
            operation, f"needs {_WORDS[axes]}", got=str(value), expected=f"{least} or more"
        )
    return numbers


def _whole(values: Sequence[int]) -> Shape:
    """The integers of a sequence; none of a text."""
    return () if isinstance(values, str) else tuple(int(v) for v in values)


def borders_of(operation: str, value: Borders, axes: int) -> Pairs:
    """The padding before and after each axis. Raises `ShapeError` for a negative number."""
    if isinstance(value, int):
        value = (value,) * axes
    pairs = tuple(
        (each, each) if isinstance(each, int) else _whole(each)
        for each in (() if isinstance(value, str) else value)
    )
    if len(pairs) != axes or any(len(p) != 2 or min(p) < 0 for p in pairs):
        raise ShapeError(
            operation, f"needs {_WORDS[axes]}, or pairs of them", got=str(value),
            expected="0 or more",
        )  # fmt: skip
    return tuple((before, after) for before, after in pairs)


def refuse_wide_padding(operation: str, padding: Borders, sizes: Shape, gaps: Shape) -> None:
    """Raise `ShapeError` for numbers of padding above half of the window, as PyTorch does: windows
    would be in the padding alone. Pairs are not PyTorch's, and have no such limit."""
    numbers = (padding,) * len(sizes) if isinstance(padding, int) else tuple(padding)
    reaches = [gap * (size - 1) + 1 for size, gap in zip(sizes, gaps, strict=True)]
    for number, reach in zip(numbers, reaches, strict=False):
        if isinstance(number, int) and number > reach // 2:
            raise ShapeError(
                operation, "the padding is more than half of the window",
                got=f"padding {number}, window {reach}", expected=f"0 to {reach // 2}",
            )  # fmt: skip


def check_fit(operation: str, image: Shape, sizes: Shape, gaps: Shape) -> None:
    """Raise `ShapeError` if no window fits into the image."""
    reach = tuple(g * (k - 1) + 1 for g, k in zip(gaps, sizes, strict=True))
    if len(image) < len(sizes) or any(r > n for r, n in zip(reach, image, strict=True)):
        raise ShapeError(
            operation, "the window is larger than the image",
            got=f"{written(reach)} in {written(image)}", expected="a window that fits",
        )  # fmt: skip


@traced
class Windows(Joining, Binary):
    """Sliding windows over a tensor."""

    __slots__ = ()

    @of_rank_zero
    def unfold(self, axis: int, size: int, step: int = 1) -> Self:
        """Sliding windows of `size` elements along `axis`, with stride `step`, as a new last axis.
        As in PyTorch."""
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
        """The windows of the last axes. Raises `ShapeError` if none fits."""
        check_fit(operation, self.shape[-len(sizes) :], sizes, gaps)
        return windows_of_image(self.node, sizes, steps, gaps)

    def _bordered(self, borders: Pairs, least: bool = False) -> Self:
        """The last axes padded with zeros, or with the least value of the type."""
        if not any(map(any, borders)):
            return self._same()
        widths = [(0, 0)] * (self.ndim - len(borders)) + list(borders)
        return self.pad(widths, self.dtype.minimum if least else 0)
