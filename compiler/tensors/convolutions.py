"""Convolution and transposed convolution over 1, 2 or 3 axes.

As in PyTorch, convolution is cross-correlation of an input [n, c, …] with weights [o, c / groups,
…]; an input without the batch axis is one example. Floats of 16 bits are accumulated in float32.

`padding` is one number, one number per axis, a (before, after) pair per axis, "valid" (no padding)
or "same" (the output has the input's size; for stride 1). `dilation` is the distance between
neighbouring taps of the kernel. Raises `ShapeError` where channels, weights or windows do not fit.
"""

from typing import Self

from compiler.core.dtypes import DType
from compiler.core.errors import ShapeError
from compiler.graph.kinds.composite import checked
from compiler.graph.kinds.correlate import Correlate, Spread
from compiler.graph.nodes import Pairs, Shape, TensorNode
from compiler.tensors.products import Products
from compiler.tensors.shapes import within_memory, written
from compiler.tensors.value import Operand, as_node, cast_to, common_type, operand_of, traced
from compiler.tensors.variables import refuse_symbolic
from compiler.tensors.windows import Borders, Numbers, borders_of, check_fit, numbers_of

_NAMES = ("l", "h w", "d h w")


@traced
class Convolutions(Products):
    """Convolutions."""

    __slots__ = ()

    def conv1d(
        self, weight: Operand, bias: Operand | None = None, stride: Numbers = 1,
        padding: Borders | str = 0, dilation: Numbers = 1, groups: int = 1,
    ) -> Self:  # fmt: skip
        """Convolution of [n, c, l] with `weight` [o, c / groups, kl]; `bias` is [o]. Returns [n, o,
        l'].

        Arguments and errors are those of `conv2d`.
        """
        return self._convolved("conv1d", 1, weight, bias, stride, padding, dilation, groups)

    def conv2d(
        self, weight: Operand, bias: Operand | None = None, stride: Numbers = 1,
        padding: Borders | str = 0, dilation: Numbers = 1, groups: int = 1,
    ) -> Self:  # fmt: skip
        """Convolution of [n, c, h, w] with `weight` [o, c / groups, kh, kw]; `bias` is [o]. Returns
        [n, o, h', w'] in the common type of input and weight.

        `padding` may be "same" or "valid", or a pair per axis. Floats of 16 bits are accumulated in
        float32. Raises `ShapeError` where the channels or windows do not fit.
        """
        return self._convolved("conv2d", 2, weight, bias, stride, padding, dilation, groups)

    def conv3d(
        self, weight: Operand, bias: Operand | None = None, stride: Numbers = 1,
        padding: Borders | str = 0, dilation: Numbers = 1, groups: int = 1,
    ) -> Self:  # fmt: skip
        """Convolution of [n, c, d, h, w] with `weight` [o, c / groups, kd, kh, kw]; `bias` is [o].
        Returns [n, o, d', h', w'].

        Arguments and errors are those of `conv2d`.
        """
        return self._convolved("conv3d", 3, weight, bias, stride, padding, dilation, groups)

    def conv_transpose1d(
        self, weight: Operand, bias: Operand | None = None, stride: Numbers = 1,
        padding: Borders = 0, output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
    ) -> Self:  # fmt: skip
        """Transposed convolution of [n, c, l] with `weight` [c, o / groups, kl]. Returns [n, o,
        l']; see `conv_transpose2d`."""
        return self._transposed("conv_transpose1d", 1, weight, bias, stride, padding,
                                output_padding, groups, dilation)  # fmt: skip

    def conv_transpose2d(
        self, weight: Operand, bias: Operand | None = None, stride: Numbers = 1,
        padding: Borders = 0, output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
    ) -> Self:  # fmt: skip
        """Transposed convolution of [n, c, h, w] with `weight` [c, o / groups, kh, kw]. Returns [n,
        o, h', w'].

        Each input element adds `weight` times itself to the output, and neighbouring elements do so
        `stride` apart. `padding` is removed from all sides; `output_padding` extends the end of
        each axis. Raises `ShapeError` where the channels do not fit or the padding removes
        everything.
        """
        return self._transposed("conv_transpose2d", 2, weight, bias, stride, padding,
                                output_padding, groups, dilation)  # fmt: skip

    def conv_transpose3d(
        self, weight: Operand, bias: Operand | None = None, stride: Numbers = 1,
        padding: Borders = 0, output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
    ) -> Self:  # fmt: skip
        """Transposed convolution of [n, c, d, h, w] with `weight` [c, o / groups, kd, kh, kw].
        Returns [n, o, d', h', w']; see `conv_transpose2d`."""
        return self._transposed("conv_transpose3d", 3, weight, bias, stride, padding,
                                output_padding, groups, dilation)  # fmt: skip

    def _convolved(
        self, name: str, axes: int, weight: Operand, bias: Operand | None, stride: Numbers,
        padding: Borders | str, dilation: Numbers, groups: int,
    ) -> Self:  # fmt: skip
        if self.ndim == axes + 1:
            image = self.unsqueeze(0)
            made = image._convolved(name, axes, weight, bias, stride, padding, dilation, groups)
            return made.squeeze(0)
        x, w, dtype = self._in_common(name, weight)
        _check_channels(name, axes, x.shape, w.shape, groups)
        steps, gaps = numbers_of(name, stride, axes, 1), numbers_of(name, dilation, axes, 1)
        borders = padding_of(name, padding, w.shape[2:], steps, gaps)
        summed = _correlated(name, x, w, borders, steps, gaps, groups)
        return self._new(cast_to(summed, dtype))._biased(bias, axes)

    def _transposed(
        self, name: str, axes: int, weight: Operand, bias: Operand | None, stride: Numbers,
        padding: Borders, output_padding: Numbers, groups: int, dilation: Numbers,
    ) -> Self:  # fmt: skip
        """Transposed convolution over `axes` axes."""
        if self.ndim == axes + 1:
            image = self.unsqueeze(0)
            made = image._transposed(name, axes, weight, bias, stride, padding, output_padding,
                                     groups, dilation)  # fmt: skip
            return made.squeeze(0)
        x, w, dtype = self._in_common(name, weight)
        _check_channels(name, axes, x.shape, w.shape, groups, is_transposed=True)
        steps, gaps = numbers_of(name, stride, axes, 1), numbers_of(name, dilation, axes, 1)
        behind = numbers_of(name, output_padding, axes, 0)
        borders = borders_of(name, padding, axes)
        less = tuple((a, b - more) for (a, b), more in zip(borders, behind, strict=True))
        spans = [gap * (size - 1) + 1 for gap, size in zip(gaps, w.shape[2:], strict=True)]
        wanted = tuple(
            (n - 1) * step + span - a - b
            for n, step, span, (a, b) in zip(x.shape[2:], steps, spans, less, strict=True)
        )
        if any(n < 1 for n in wanted):
            raise ShapeError(name, "the padding leaves nothing", got=str(padding),
                             expected="less than the image is large")  # fmt: skip
        refuse_symbolic("windows", x, range(2, len(x.shape)))
        spread = checked(Spread((x, w), less, steps, gaps, groups, wanted), ShapeError)
        return self._new(cast_to(spread, dtype))._biased(bias, axes)

    def _in_common(self, name: str, weight: Operand) -> tuple[TensorNode, TensorNode, DType]:
        """Input and weights converted to the type to accumulate in, and the type of the result."""
        parts = [operand_of(name, v) for v in (self, weight)]
        dtype = common_type(parts)
        x, w = (cast_to(as_node(name, part, dtype), dtype.accumulator) for part in parts)
        return x, w, dtype

    def _biased(self, bias: Operand | None, axes: int) -> Self:
        """Add `bias` [o] along the axis of channels."""
        if bias is None:
            return self._same()
        return self.add(self._lift(bias).reshape(1, -1, *(1,) * axes))


def padding_of(name: str, padding: Borders | str, sizes: Shape, steps: Shape, gaps: Shape) -> Pairs:
    """The padding as (before, after) pairs. "same" puts the odd element after, as PyTorch does."""
    if not isinstance(padding, str):
        return borders_of(name, padding, len(sizes))
    if padding not in ("same", "valid") or (padding == "same" and max(steps) > 1):
        raise ShapeError(
            name, "unknown padding" if max(steps) == 1 else "this padding needs a stride of 1",
            got=repr(padding), expected='numbers, "valid", or with a stride of 1 "same"',
        )  # fmt: skip
    if padding == "valid":
        return ((0, 0),) * len(sizes)
    more = [gap * (size - 1) for gap, size in zip(gaps, sizes, strict=True)]
    return tuple((n // 2, n - n // 2) for n in more)


def _check_channels(
    name: str, axes: int, image: Shape, weight: Shape, groups: int, is_transposed: bool = False
) -> None:
    """Raise `ShapeError` unless the channels fit. In a transposed convolution the first axis of the
    weights is that of the input's channels."""
    is_rank = len(image) == len(weight) == axes + 2
    is_whole = is_rank and groups > 0 and weight[0] % groups == 0
    if is_whole and image[1] == (weight[0] if is_transposed else weight[1] * groups):
        return
    letters = _NAMES[axes - 1].split()
    rows, columns = ("c", "o") if is_transposed else ("o", "c")
    raise ShapeError(
        name, "the channels do not fit",
        got=f"{written(image)} with weight {written(weight)}, groups {groups}",
        expected=f"(n, c, {', '.join(letters)}) with ({rows}, {columns} / groups, "
        f"{', '.join(f'k{letter}' for letter in letters)}), {rows} divisible by groups",
    )  # fmt: skip


def _correlated(
    name: str, x: TensorNode, w: TensorNode, borders: Pairs, steps: Shape, gaps: Shape, groups: int
) -> TensorNode:
    """The convolution itself: sums of products of the windows of [n, c, …] and the weights [o, c /
    groups, …]."""
    pairs = zip(x.shape[2:], borders, strict=True)
    image = tuple(n + before + behind for n, (before, behind) in pairs)
    within_memory("pad", (*x.shape[:2], *image))
    check_fit(name, image, w.shape[2:], gaps)
    refuse_symbolic("windows", x, [*range(2, len(x.shape))])
    return checked(Correlate((x, w), borders, steps, gaps, groups), ShapeError)
