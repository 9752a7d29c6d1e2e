"""Images sampled at computed points: GridSample, deformable convolution."""

import math
from typing import Any

import numpy as np

from compiler.imported.axes import along
from compiler.imported.onnx.call import Call, fixed, operator
from compiler.imported.onnx.element_types import wide
from compiler.tensor import Tensor


@operator("GridSample")
def grid_sample(call: Call, x: Tensor, grid: Tensor) -> Tensor:
    """[n, c, …] sampled at the points [n, …, axes] in -1 … 1, the last axis first."""
    mode = call.get("mode", "linear").removeprefix("bi")
    mode = {"linear": "linear", "cubic": "cubic"}.get(mode, mode)
    aligned, border = bool(call.get("align_corners", 0)), call.get("padding_mode", "zeros")
    image = fixed(x, *range(2, x.ndim))
    grid = wide(grid)  # 16-bit floats cannot represent indices beyond 2,048
    places = [
        _unscaled(grid[..., len(image) - 1 - axis], n, aligned) for axis, n in enumerate(image)
    ]
    if border != "zeros" and mode != "cubic":
        places = [_inside(p, n, border, aligned) for p, n in zip(places, image, strict=True)]
    if mode == "nearest":
        return _looked_up(x, [p.round() for p in places], border, aligned)
    return _interpolated(x, places, mode, border, aligned).cast(x.dtype)


def _interpolated(
    x: Tensor, places: list[Tensor], mode: str, border: str, aligned: bool
) -> Tensor:
    """Interpolated elements: weighted sums of neighbours."""
    image = fixed(x, *range(2, x.ndim))
    total: Tensor | None = None
    begins = [p.floor() for p in places]
    rests = [p.sub(b) for p, b in zip(places, begins, strict=True)]
    offsets = (0, 1) if mode == "linear" else (-1, 0, 1, 2)
    for number in range(len(offsets) ** len(image)):
        taps = [offsets[number // len(offsets) ** axis % len(offsets)]
                for axis in range(len(image))]  # fmt: skip
        at = [b.add(float(tap)) for b, tap in zip(begins, taps, strict=True)]
        term = _looked_up(x, at, border, aligned)
        for rest, tap in zip(rests, taps, strict=True):
            distance = rest.sub(float(tap)).abs()
            weight = distance.neg().add(1) if mode == "linear" else _cubic(distance)
            term = term.mul(weight.unsqueeze(1))
        total = term if total is None else total.add(term)
    assert total is not None
    return total


def _unscaled(place: Tensor, n: int, aligned: bool) -> Tensor:
    """Coordinates in -1 … 1 as coordinates in elements."""
    if aligned:
        return place.add(1).mul((n - 1) / 2)
    return place.add(1).mul(n / 2).sub(0.5)


def _inside(place: Tensor, n: int, border: str, aligned: bool) -> Tensor:
    """Coordinates clamped to the image, or reflected at its ends."""
    if border == "border":
        return place.clip(0, n - 1)
    low, high = (0.0, n - 1.0) if aligned else (-0.5, n - 0.5)
    span = high - low
    if not span:
        return place.mul(0)
    distance = place.sub(low).abs()
    times = distance.div(span).floor()
    rest = distance.sub(times.mul(span))
    is_even = times.sub(times.mul(0.5).floor().mul(2)).eq(0)
    return is_even.where(rest.add(low), rest.neg().add(high)).clip(0, n - 1)


def _looked_up(x: Tensor, places: list[Tensor], border: str, aligned: bool) -> Tensor:
    """Elements at integer coordinates; outside of the image zeros, or by `border`."""
    image = fixed(x, *range(2, x.ndim))
    shape: Any = places[0].symbolic_shape
    flat = places[0].mul(0).cast("int64")
    is_in = flat.eq(0)
    for place, n in zip(places, image, strict=True):
        if border != "zeros":
            place = _inside(place, n, border, aligned)
        whole = place.round().cast("int64")
        is_in = is_in.logical_and(whole.ge(0)).logical_and(whole.lt(n))
        flat = flat.mul(n).add(whole.clip(0, n - 1))
    rows = x.reshape(x.symbolic_shape[0], x.symbolic_shape[1], math.prod(image))
    where = flat.reshape(shape[0], 1, -1)
    where = where.broadcast_to(shape[0], x.symbolic_shape[1], where.shape[2])
    elements = rows.gather(2, where).reshape(shape[0], x.symbolic_shape[1], *shape[1:])
    return is_in.unsqueeze(1).where(elements, 0)


def _cubic(distance: Tensor, a: float = -0.75) -> Tensor:
    """Keys' cubic convolution kernel for a distance below 2."""
    near = distance.mul(a + 2).sub(a + 3).mul(distance).mul(distance).add(1)
    far = distance.sub(5).mul(distance).add(8).mul(distance).mul(a).sub(4 * a)
    return distance.le(1).where(near, far)


@operator("DeformConv")
def deform_conv(
    call: Call, x: Tensor, weight: Tensor, offset: Tensor, bias: Tensor | None = None,
    mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """A convolution whose kernel elements are each moved by an offset; zeros outside.

    The image is sampled for each element of the kernel and each output, for all channels that share
    offsets; the samples times the weights are summed as a matrix product.
    """
    (n, channels), counts = fixed(x)[:2], offset.shape[2:]
    sizes, groups, shared = weight.shape[2:], call.get("group", 1), call.get("offset_group", 1)
    axes, taps = len(sizes), math.prod(sizes)
    call.check_fits("kernel_shape", sizes)
    offset = wide(offset)
    moved = offset.reshape(n * shared, taps, axes, *counts)
    starts = _tap_places(call, sizes, counts)
    places = [moved[:, :, axis].add(Tensor(starts[axis], dtype=offset.dtype))
              for axis in range(axes)]  # fmt: skip
    rows = x.reshape(n * shared, channels // shared, *x.shape[2:])
    samples = _interpolated(rows, places, "linear", "zeros", False)
    if mask is not None:
        samples = samples.mul(mask.reshape(n * shared, 1, taps, *counts))
    columns = samples.cast(x.dtype).reshape(n, groups, channels // groups * taps, math.prod(counts))
    kernels = weight.reshape(groups, weight.shape[0] // groups, -1)
    result = kernels.matmul(columns).reshape(n, weight.shape[0], *counts)
    return result if bias is None else result.add(along(bias, 1, result.ndim))


def _tap_places(call: Call, sizes: Any, counts: Any) -> list[Any]:
    """For each axis the coordinate of each kernel element for each output: [taps, …made]."""
    axes = len(sizes)
    steps, gaps = call.get("strides", [1] * axes), call.get("dilations", [1] * axes)
    before = call.get("pads", [0] * 2 * axes)[:axes]
    taps = np.indices(sizes).reshape(axes, -1, *(1,) * axes)
    outputs = np.indices(counts)
    return [
        outputs[axis] * steps[axis] - before[axis] + taps[axis] * gaps[axis] for axis in range(axes)
    ]
