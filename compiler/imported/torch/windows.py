"""Convolution and pooling."""

from collections.abc import Sequence
from typing import Any

from compiler.imported.call import Results
from compiler.imported.methods import for_axes
from compiler.imported.torch.call import Call, operator
from compiler.tensor import Tensor
from compiler.tensors.windows import Numbers


def _numbers(numbers: Numbers, axes: int) -> list[int]:
    """One number for each axis."""
    if isinstance(numbers, int):
        return [numbers] * axes
    return list(numbers) * axes if len(numbers) == 1 else list(numbers)


@operator("conv1d", "conv2d", "conv3d")
def conv(
    call: Call, x: Tensor, /, weight: Tensor, bias: Tensor | None = None, stride: Numbers = 1,
    padding: Numbers | str = 0, dilation: Numbers = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Convolution; an image without a batch is a batch of one."""
    axes = weight.ndim - 2
    image = x if x.ndim == weight.ndim else x.unsqueeze(0)
    border = padding if isinstance(padding, str) else _numbers(padding, axes)
    sums = for_axes(image, "conv", axes)(
        weight, bias, _numbers(stride, axes), border, _numbers(dilation, axes), groups)  # fmt: skip
    return sums if x.ndim == weight.ndim else sums.squeeze(0)


@operator("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(
    call: Call, x: Tensor, /, weight: Tensor, bias: Tensor | None = None, stride: Numbers = 1,
    padding: Numbers = 0, output_padding: Numbers = 0, groups: int = 1, dilation: Numbers = 1,
) -> Tensor:  # fmt: skip
    """Transposed convolution."""
    axes = weight.ndim - 2
    image = x if x.ndim == weight.ndim else x.unsqueeze(0)
    sums = for_axes(image, "conv_transpose", axes)(
        weight, bias, _numbers(stride, axes), _numbers(padding, axes),
        _numbers(output_padding, axes), groups, _numbers(dilation, axes))  # fmt: skip
    return sums if x.ndim == weight.ndim else sums.squeeze(0)


@operator("convolution")
def convolution(
    call: Call, x: Tensor, /, weight: Tensor, bias: Tensor | None, stride: Numbers,
    padding: Numbers, dilation: Numbers, transposed: bool, output_padding: Numbers, groups: int,
) -> Tensor:  # fmt: skip
    """A convolution, or a transposed one."""
    if transposed:
        return conv_transpose(
            call, x, weight, bias, stride, padding, output_padding, groups, dilation)  # fmt: skip
    return conv(call, x, weight, bias, stride, padding, dilation, groups)


def _batched(x: Tensor, axes: int) -> Tensor:
    return x if x.ndim == axes + 2 else x.unsqueeze(0)


@operator("max_pool1d", "max_pool2d", "max_pool3d", "max_pool1d_with_indices",
          "max_pool2d_with_indices", "max_pool3d_with_indices")  # fmt: skip
def max_pool(
    call: Call, x: Tensor, size: Numbers, /, stride: Numbers = (), padding: Numbers = 0,
    dilation: Numbers = 1, ceil_mode: bool = False,
) -> Results:  # fmt: skip
    """The maximum of each window, and its index."""
    axes = int(call.name[len("max_pool")])
    steps = _numbers(stride, axes) if stride else _numbers(size, axes)
    image, is_placed = _batched(x, axes), "indices" in call.name and _is_read(call, 1)
    greatest: Any = for_axes(image, "max_pool", axes)(
        _numbers(size, axes), steps, _numbers(padding, axes), _numbers(dilation, axes),
        ceil_mode, is_placed)  # fmt: skip
    results: tuple[Tensor | None, ...] = greatest if is_placed else (greatest, None)
    if image is not x:
        results = tuple(r if r is None else r.squeeze(0) for r in results)
    return results if "indices" in call.name else results[0]


def _is_read(call: Call, place: int) -> bool:
    """True if any node reads that result."""
    return any(len(user.args) > 1 and user.args[1] == place for user in call.node.users)


@operator("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(
    call: Call, x: Tensor, size: Numbers, /, stride: Numbers = (), padding: Numbers = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window."""
    axes = int(call.name[len("avg_pool")])
    steps = _numbers(stride, axes) if stride else _numbers(size, axes)
    image = _batched(x, axes)
    means = for_axes(image, "avg_pool", axes)(
        _numbers(size, axes), steps, _numbers(padding, axes), ceil_mode, count_include_pad,
        divisor_override)  # fmt: skip
    return means if image is x else means.squeeze(0)


@operator("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
          "_adaptive_avg_pool2d", "_adaptive_avg_pool3d")  # fmt: skip
def adaptive_avg_pool(_call: Call, x: Tensor, size: Sequence[int], /) -> Tensor:
    """The mean of windows chosen to give the output size."""
    axes = len(size)
    image = _batched(x, axes)
    if all(n == 1 for n in size):
        means = image.mean(tuple(range(2, image.ndim)), keepdim=True)
    else:
        means = for_axes(image, "adaptive_avg_pool", axes)(list(size))
    return means if image is x else means.squeeze(0)


@operator("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(call: Call, x: Tensor, size: Sequence[int], /) -> Results:
    """The maximum of such windows; without indices."""
    axes = len(size)
    if _is_read(call, 1):
        raise call.refused("it is asked where the greatest are", "indices", "values alone")
    image = _batched(x, axes)
    greatest = for_axes(image, "adaptive_max_pool", axes)(list(size))
    return (greatest if image is x else greatest.squeeze(0)), None
