"""Convolution, pooling and their transposes."""

import math
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.imported.axes import along
from compiler.imported.call import Results
from compiler.imported.methods import for_axes
from compiler.imported.onnx.call import Call, fixed, operator
from compiler.tensor import Tensor
from compiler.tensors.pooling import longer, reach_over
from compiler.tensors.reductions import wide

Pairs = list[tuple[int, int]]


def _borders(call: Call, image: Any, sizes: Any, steps: Any, gaps: Any) -> Pairs:
    """The padding of each axis, as the model defines it."""
    auto = call.get("auto_pad", "NOTSET")
    axes = len(sizes)
    flat = call.get("pads", [0] * 2 * axes)
    if auto != "NOTSET" and any(flat):
        raise call.refused("auto_pad and pads are both given", f"{auto} and {flat}", "one of them")
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        pairs = []
        for n, size, step, gap in zip(image, sizes, steps, gaps, strict=True):
            more = max((-(-n // step) - 1) * step + gap * (size - 1) + 1 - n, 0)
            half = more // 2
            pairs.append((half, more - half) if auto == "SAME_UPPER" else (more - half, half))
        return pairs
    return list(zip(flat[:axes], flat[axes:], strict=True))


@operator("Conv")
def conv(call: Call, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Convolution."""
    return _convolved(call, x, weight, bias, _borders_of(call, x, weight))


def _borders_of(call: Call, x: Tensor, weight: Tensor) -> Pairs:
    """The padding of each axis of a convolution."""
    sizes = weight.shape[2:]
    call.check_fits("kernel_shape", sizes)
    if len(sizes) not in (1, 2, 3):
        raise call.refused("too many axes", len(sizes), "1 to 3 axes")
    image = fixed(x, *range(2, x.ndim))
    return _borders(call, image, sizes, *_steps(call, len(sizes)))


def _steps(call: Call, axes: int) -> tuple[Any, Any]:
    """Strides and dilations."""
    return call.get("strides", [1] * axes), call.get("dilations", [1] * axes)


def _convolved(
    call: Call, x: Tensor, weight: Tensor, bias: Tensor | None, borders: Pairs
) -> Tensor:
    """A convolution with this padding."""
    axes = weight.ndim - 2
    steps, gaps = _steps(call, axes)
    convolve = for_axes(x, "conv", axes)
    return convolve(weight, bias, steps, borders, gaps, call.get("group", 1))


@operator("ConvInteger")
def conv_integer(
    call: Call, x: Tensor, weight: Tensor, x_zero: Tensor | None = None,
    w_zero: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """An integer convolution in 32 bits."""
    w = weight.cast(dtypes.int32)
    if w_zero is not None and not call.is_zero(3):
        zero = w_zero.cast(dtypes.int32)
        w = w.sub(along(zero, 0, w.ndim) if zero.size > 1 else zero)
    return less_zero(call, x, None if call.is_zero(2) else x_zero, w)


def less_zero(
    call: Call, x: Tensor, zero: Tensor | None, w: Tensor, bias: Tensor | None = None
) -> Tensor:
    """Σ (x - z)·w = Σ x·w - z·Σ w, in 32 bits: x is multiplied as it is stored, padded with z."""
    borders = _borders_of(call, x, w)
    if zero is None or zero.size > 1:
        image = x.cast(dtypes.int32)
        image = image if zero is None else image.sub(zero.cast(dtypes.int32))
        return _convolved(call, image, w, bias, borders)
    zero = zero.reshape(())
    if any(map(any, borders)):
        x = x.sub(zero).pad([(0, 0), (0, 0), *borders]).add(zero).contiguous()
    sums = _convolved(call, x.cast(dtypes.int32), w, bias, [(0, 0)] * len(borders))
    whole = w.sum(tuple(range(1, w.ndim)), dtype=dtypes.int32)
    less = whole.mul(zero.cast(dtypes.int32)).contiguous()
    return sums.sub(along(less, 1, sums.ndim))


@operator("ConvTranspose")
def conv_transpose(call: Call, x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Transposed convolution."""
    sizes, image = weight.shape[2:], fixed(x, *range(2, x.ndim))
    axes = len(sizes)
    steps, gaps = call.get("strides", [1] * axes), call.get("dilations", [1] * axes)
    call.check_fits("kernel_shape", sizes)
    behind, pads = list(call.get("output_padding", [0] * axes)), call.get("pads", [0] * 2 * axes)
    auto, wanted = call.get("auto_pad", "NOTSET"), call.get("output_shape")
    whole = [s * (n - 1) + o + (k - 1) * g + 1
             for s, n, o, k, g in zip(steps, image, behind, sizes, gaps, strict=True)]  # fmt: skip
    if wanted is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [n * s for n, s in zip(image, steps, strict=True)]
    if wanted is not None:
        if any(pads):
            raise call.refused("pads and the shape of the output are both given", pads, "no pads")
        total = [w - n for w, n in zip(whole, wanted[-axes:], strict=True)]
        behind = [o + max(-t, 0) for o, t in zip(behind, total, strict=True)]
        halves = [(max(t, 0) // 2, max(t, 0) - max(t, 0) // 2) for t in total]
        borders = halves if auto == "SAME_UPPER" else [(b, a) for a, b in halves]
    else:
        borders = _borders(call, image, sizes, steps, gaps)
    spread = for_axes(x, "conv_transpose", axes)
    return spread(weight, bias, steps, borders, behind, call.get("group", 1), gaps)


@operator("MaxPool", "AveragePool", "LpPool")
def pool(call: Call, x: Tensor) -> Results:
    """The maximum, the mean, or the norm of each window."""
    sizes = call["kernel_shape"]
    axes = len(sizes)
    steps, gaps = call.get("strides", [1] * axes), call.get("dilations", [1] * axes)
    ceil = bool(call.get("ceil_mode", 0))
    borders = _borders(call, fixed(x, *range(2, x.ndim)), sizes, steps, gaps)
    if axes not in (1, 2, 3):
        raise call.refused("too many axes", axes, "1 to 3 axes")
    if call.op == "MaxPool":
        greatest = for_axes(x, "max_pool", axes)
        if call.outputs < 2:
            return greatest(sizes, steps, borders, gaps, ceil)
        values, places = greatest(sizes, steps, borders, gaps, ceil, return_indices=True)
        return values, _global(call, x, places, axes)
    if any(gap > 1 for gap in gaps):
        return _spaced(call, x, sizes, steps, gaps, borders)
    mean = for_axes(x if call.op == "AveragePool" else _powers(call, x), "avg_pool", axes)
    if call.op == "AveragePool":
        return mean(sizes, steps, borders, ceil, bool(call.get("count_include_pad", 0)))
    total = mean(sizes, steps, borders, ceil, divisor_override=1)
    return total.pow(1.0 / call.get("p", 2)).cast(x.dtype)


def _powers(call: Call, x: Tensor) -> Tensor:
    """|x| to the power of p, in a type wide enough for the sum."""
    return x.cast(wide(x.dtype)).abs().pow(float(call.get("p", 2)))


def _spaced(call: Call, x: Tensor, sizes: Any, steps: Any, gaps: Any, borders: Pairs) -> Tensor:
    """Dilated windows: a depthwise convolution with ones."""
    axes, c = len(sizes), fixed(x, 1)[0]
    source = x.cast(wide(x.dtype)) if call.op == "AveragePool" else _powers(call, x)
    ones = Tensor.ones(c, 1, *sizes, dtype=source.dtype)
    ceil = bool(call.get("ceil_mode", 0))
    if ceil:
        image = fixed(x, *range(2, x.ndim))
        over = reach_over(image, tuple(sizes), tuple(steps), tuple(gaps), tuple(borders))
        whole = list(longer(tuple(borders), over))
    else:
        whole = borders
    total = for_axes(source, "conv", axes)(ones, None, steps, whole, gaps, c)
    if call.op == "LpPool":
        return total.pow(1.0 / call.get("p", 2)).cast(x.dtype)
    counted = source.full_like(1.0)
    if call.get("count_include_pad", 0):
        counted = counted.pad([(0, 0), (0, 0), *borders], 1.0)
        rest = [(a - b, d - e) for (a, d), (b, e) in zip(whole, borders, strict=True)]
        count = for_axes(counted, "conv", axes)(ones, None, steps, rest, gaps, c)
    else:
        count = for_axes(counted, "conv", axes)(ones, None, steps, whole, gaps, c)
    return total.div(count).cast(x.dtype)


def _global(call: Call, x: Tensor, places: Tensor, axes: int) -> Tensor:
    """Indices in the whole tensor; column-major with `storage_order`."""
    image = fixed(x, *range(2, x.ndim))
    if call.get("storage_order", 0) and axes == 2:
        rows, columns = places.idiv(image[1]), places.fmod(image[1])
        places = columns.mul(image[0]).add(rows)
    lead: Any = call.extents(x)[:2]
    first = Tensor.arange(x.shape[0] * x.shape[1])
    if x.node.extents:
        first = first[: lead[0] * lead[1]]
    return places.add(first.mul(math.prod(image)).reshape(*lead, *(1,) * axes))


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(call: Call, x: Tensor) -> Tensor:
    """One number per channel."""
    axes = tuple(range(2, x.ndim))
    if call.op == "GlobalLpPool":
        total = _powers(call, x).sum(axes, keepdim=True)
        return total.pow(1.0 / call.get("p", 2)).cast(x.dtype)
    return x.mean(axes, True) if call.op == "GlobalAveragePool" else x.max(axes, True)


@operator("MaxUnpool")
def max_unpool(call: Call, x: Tensor, places: Tensor, _shape: Tensor | None = None) -> Tensor:
    """Elements at the indices from `MaxPool`, zeros elsewhere; a larger output has more of them at
    the end."""
    sizes = call["kernel_shape"]
    axes = len(sizes)
    steps, pads = call.get("strides", [1] * axes), call.get("pads", [0] * 2 * axes)
    image = [
        (n - 1) * steps[i] - pads[i] - pads[axes + i] + sizes[i] for i, n in enumerate(fixed(x)[2:])
    ]
    whole = (*fixed(x)[:2], *image)
    flat = Tensor.zeros(math.prod(whole), dtype=x.dtype)
    unpooled = flat.scatter(0, places.cast("int64").reshape(-1), x.reshape(-1)).reshape(*whole)
    if not call.has(2):
        return unpooled
    wanted = [int(n) for n in call.known(2, "the shape of the output")]
    if len(wanted) != x.ndim or any(w < n for w, n in zip(wanted, whole, strict=True)):
        raise call.refused("the output is too small", wanted, f"at least {whole}")
    return unpooled.pad([(0, w - n) for w, n in zip(wanted, whole, strict=True)])


@operator("Col2Im")
def columns_to_image(call: Call, x: Tensor, *_known: Tensor) -> Tensor:
    """[n, c · block, places] → [n, c, …image]: windows added back into an image."""
    image = [int(n) for n in call.known(1, "the shape of the image")]
    block = [int(n) for n in call.known(2, "the shape of a window")]
    axes, taps, n = len(image), math.prod(block), fixed(x)[0]
    steps, gaps = call.get("strides", [1] * axes), call.get("dilations", [1] * axes)
    pads = call.get("pads", [0] * 2 * axes)
    counts = [
        (image[i] + pads[i] + pads[axes + i] - gaps[i] * (block[i] - 1) - 1) // steps[i] + 1
        for i in range(axes)
    ]
    if x.ndim != 3 or x.shape[1] % taps or x.shape[2] != math.prod(counts):
        raise call.refused("the windows do not fit the image", x.shape,
                           f"(n, a multiple of {taps}, {math.prod(counts)})")  # fmt: skip
    index, is_in = np.zeros((taps, math.prod(counts)), np.int64), np.True_
    tap, window = np.indices(block).reshape(axes, -1, 1), np.indices(counts).reshape(axes, 1, -1)
    for axis, extent in enumerate(image):
        place = window[axis] * steps[axis] + tap[axis] * gaps[axis] - pads[axis]
        index = index * extent + place
        is_in = is_in & (place >= 0) & (place < extent)
    size, rows = math.prod(image), n * (x.shape[1] // taps)
    where = Tensor(np.where(is_in, index, size).reshape(1, -1)).broadcast_to(rows, index.size)
    sums = Tensor.zeros(rows, size + 1, dtype=x.dtype).scatter_add(1, where, x.reshape(rows, -1))
    return sums[:, :size].reshape(n, -1, *image)
