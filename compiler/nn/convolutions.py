"""Convolutions and transposed convolutions over 1, 2 or 3 axes."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from compiler.core.errors import DataError
from compiler.core.keywords import constructor
from compiler.nn import initial
from compiler.nn.module import Module
from compiler.tensor import Tensor
from compiler.tensors.convolutions import padding_of
from compiler.tensors.windows import borders_of, numbers_of

Numbers = int | Sequence[int]


class _Convolution(Module):
    axes: ClassVar[int]
    is_transposed: ClassVar[bool] = False

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Numbers, bias: bool, groups: int,
        dtype: object, **given: Any,
    ) -> None:  # fmt: skip
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise DataError(type(self).__name__, "the channels do not fit into groups",
                            got=f"{in_channels} to {out_channels}, {groups} groups",
                            expected="multiples of the groups")  # fmt: skip
        sizes = (kernel_size,) * self.axes if isinstance(kernel_size, int) else tuple(kernel_size)
        if len(sizes) != self.axes or min(sizes) < 1:
            raise DataError(type(self).__name__, "no such window", got=str(kernel_size),
                            expected=f"one size, or {self.axes}, of 1 or more")  # fmt: skip
        channels = (in_channels, out_channels)
        first, second = channels if self.is_transposed else reversed(channels)
        shape = (first, second // groups, *sizes)
        count = math.prod(shape[1:])
        self.weight = initial.uniform(shape, count, dtype)
        self.bias = initial.uniform((out_channels,), count, dtype) if bias else None
        self._given = {**given, "groups": groups}
        self._check(sizes)

    def _check(self, sizes: tuple[int, ...]) -> None:
        """Raise `ShapeError` for a stride, padding or dilation that no input fits."""
        name, given = type(self).__name__, self._given
        steps, gaps = (numbers_of(name, given[n], self.axes, 1) for n in ("stride", "dilation"))
        if self.is_transposed:
            borders_of(name, given["padding"], self.axes)
            numbers_of(name, given["output_padding"], self.axes, 0)
        else:
            padding_of(name, given["padding"], sizes, steps, gaps)

    def forward(self, x: Tensor) -> Tensor:
        """The convolved input, [n, out_channels, …]."""
        name = f"conv_transpose{self.axes}d" if self.is_transposed else f"conv{self.axes}d"
        made: Tensor = getattr(x, name)(self.weight, self.bias, **self._given)
        return made


class _Straight(_Convolution):
    @constructor
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Numbers, stride: Numbers = 1,
        padding: Any = 0, dilation: Numbers = 1, groups: int = 1, bias: bool = True,
        dtype: object = initial.FLOAT,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, bias, groups, dtype, stride=stride,
                         padding=padding, dilation=dilation)  # fmt: skip


class _Transposed(_Convolution):
    is_transposed = True

    @constructor
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Numbers, stride: Numbers = 1,
        padding: Any = 0, output_padding: Numbers = 0, groups: int = 1, bias: bool = True,
        dilation: Numbers = 1, dtype: object = initial.FLOAT,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, kernel_size, bias, groups, dtype, stride=stride,
                         padding=padding, output_padding=output_padding,
                         dilation=dilation)  # fmt: skip


class Conv1d(_Straight):
    """Convolution of [n, in_channels, l] to [n, out_channels, l']: `Tensor.conv1d` with parameters
    `weight`, `bias`."""

    axes = 1


class Conv2d(_Straight):
    """Convolution of [n, in_channels, h, w] to [n, out_channels, h', w']: `Tensor.conv2d` with
    parameters `weight`, `bias`."""

    axes = 2


class Conv3d(_Straight):
    """Convolution of [n, in_channels, d, h, w] to [n, out_channels, d', h', w']: `Tensor.conv3d`
    with parameters `weight`, `bias`."""

    axes = 3


class ConvTranspose1d(_Transposed):
    """Transposed convolution over 1 axis; `weight` is [inputs, outputs / groups, k]."""

    axes = 1


class ConvTranspose2d(_Transposed):
    """Transposed convolution over 2 axes; `weight` is [inputs, outputs / groups, kh, kw]."""

    axes = 2


class ConvTranspose3d(_Transposed):
    """Transposed convolution over 3 axes; `weight` is [inputs, outputs / groups, kd, kh, kw]."""

    axes = 3
