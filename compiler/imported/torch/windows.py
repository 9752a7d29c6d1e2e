"""Convolution and pooling."""

from typing import Any

from compiler.imported.torch.call import Call, operator
from compiler.tensor import Tensor


def _numbers(numbers: Any, axes: int) -> Any:
    """One number for each axis."""
    if isinstance(numbers, int):
        return [numbers] * axes
    return list(numbers) * axes if len(numbers) == 1 else list(numbers)


@operator("conv1d", "conv2d", "conv3d")
def conv(
    call: Call, x: Tensor, /, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
    padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Any:  # fmt: skip
    """Convolution; an image without a batch is a batch of one."""
    axes = weight.ndim - 2
    image = x if x.ndim == weight.ndim else x.unsqueeze(0)
    border = padding if isinstance(padding, str) else _numbers(padding, axes)
    sums = getattr(image, f"conv{axes}d")(
        weight, bias, _numbers(stride, axes), border, _numbers(dilation, axes), groups)  # fmt: skip
    return sums if x.ndim == weight.ndim else sums.squeeze(0)


@operator("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def conv_transpose(
    call: Call, x: Tensor, /, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
    padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1,
) -> Any:  # fmt: skip
    """Transposed convolution."""
    axes = weight.ndim - 2
    image = x if x.ndim == weight.ndim else x.unsqueeze(0)
    sums = getattr(image, f"conv_transpose{axes}d")(
        weight, bias, _numbers(stride, axes), _numbers(padding, axes),
        _numbers(output_padding, axes), groups, _numbers(dilation, axes))  # fmt: skip
    return sums if x.ndim == weight.ndim else sums.squeeze(0)


@operator("convolution")
def convolution(
    call: Call, x: Tensor, /, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any,
    dilation: Any, transposed: bool, output_padding: Any, groups: int,
) -> Any:  # fmt: skip
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
    call: Call, x: Tensor, size: Any, /, stride: Any = (), padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False,
) -> Any:  # fmt: skip
    """The maximum of each window, and its index."""
    axes = int(call.name[len("max_pool")])
    steps = _numbers(stride, axes) if stride else _numbers(size, axes)
    image, is_placed = _batched(x, axes), "indices" in call.name and _is_read(call, 1)
    greatest = getattr(image, f"max_pool{axes}d")(
        _numbers(size, axes), steps, _numbers(padding, axes), _numbers(dilation, axes),
        ceil_mode, is_placed)  # fmt: skip
    results = greatest if is_placed else (greatest, None)
    if image is not x:
        results = tuple(r if r is None else r.squeeze(0) for r in results)
    return results if "indices" in call.name else results[0]


def _is_read(call: Call, place: int) -> bool:
    """True if any node reads that result."""
    return any(len(user.args) > 1 and user.args[1] == place for user in call.node.users)


@operator("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(
    call: Call, x: Tensor, size: Any, /, stride: Any = (), padding: Any = 0,
    ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """The mean of each window."""
    axes = int(call.name[len("avg_pool")])
    steps = _numbers(stride, axes) if stride else _numbers(size, axes)
    image = _batched(x, axes)
    means = getattr(image, f"avg_pool{axes}d")(
        _numbers(size, axes), steps, _numbers(padding, axes), ceil_mode, count_include_pad,
        divisor_override)  # fmt: skip
    return means if image is x else means.squeeze(0)


@operator("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
          "_adaptive_avg_pool2d", "_adaptive_avg_pool3d")  # fmt: skip
def adaptive_avg_pool(call: Call, x: Tensor, size: Any, /) -> Any:
    """The mean of windows chosen to give the output size."""
    axes = len(size)
    image = _batched(x, axes)
    if all(n == 1 for n in size):
        means = image.mean(tuple(range(2, image.ndim)), keepdim=True)
    else:
        means = getattr(image, f"adaptive_avg_pool{axes}d")(list(size))
    return means if image is x else means.squeeze(0)


@operator("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(call: Call, x: Tensor, size: Any, /) -> Any:
    """The maximum of such windows; without indices."""
    axes = len(size)
    if _is_read(call, 1):
        raise call.refused("it is asked where the greatest are", "indices", "values alone")
    image = _batched(x, axes)
    greatest = getattr(image, f"adaptive_max_pool{axes}d")(list(size))
    return (greatest if image is x else greatest.squeeze(0)), None
