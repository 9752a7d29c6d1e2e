"""Resize and Upsample: resized images, by ONNX's coordinate modes and filters."""

import math
from typing import Any

import numpy as np

from compiler.core.dtypes import Array
from compiler.imported.axes import along
from compiler.imported.onnx.call import Call, fixed, operator
from compiler.imported.onnx.element_types import wide
from compiler.tensor import Tensor
from compiler.tensors.resampling import cubic, linear
from compiler.tensors.variables import Variable


@operator("Resize", "Upsample")
def resize(call: Call, x: Tensor, *_known: Any) -> Tensor:
    """Each axis resized: new elements are sums of old ones with known weights."""
    axes = [call.axis(a, x.ndim) for a in call.get("axes", range(x.ndim))]
    sizes, scales = _sizes(call, x, axes)
    region = _region(call, x, axes)
    image = x
    for axis, count, scale, ends in zip(axes, sizes, scales, region, strict=True):
        if scale == 1 and isinstance(x.symbolic_shape[axis], Variable):
            continue
        rows = _weights(call, fixed(x, axis)[0], count, scale, ends)
        if rows.shape[0] == rows.shape[1] and bool((rows == np.eye(len(rows))).all()):
            continue
        image = _applied(image, axis, rows)
    if call.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        image = _outside(call, image, x, axes, sizes, scales, region)
    return image.cast(x.dtype)


def _sizes(call: Call, x: Tensor, axes: list[int]) -> tuple[list[int], list[float]]:
    """The new extent and the scale of each axis."""
    place = 2 if call.op == "Resize" and call.version >= 11 else 1
    image: list[Any] = [x.symbolic_shape[a] for a in axes]
    if call.op == "Resize" and call.has(3) and call.numbers(3, "the sizes"):
        wanted = call.numbers(3, "the sizes")
        by = [1.0 if w == n else w / n for w, n in zip(wanted, image, strict=True)]
        policy = call.get("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            one = min(by) if policy == "not_larger" else max(by)
            by = [one] * len(by)
            wanted = [math.floor(one * n + 0.5) for n in image]
        return wanted, by
    if call.has(place) and call.known(place, "the scales").size:
        by = [float(s) for s in call.known(place, "the scales")]
    else:
        by = [float(s) for s in call["scales"]]
    sizes: list[Any] = [
        n if s == 1 else math.floor(n * s) for n, s in zip(image, by, strict=True)
    ]
    return sizes, by


def _region(call: Call, x: Tensor, axes: list[int]) -> list[tuple[float, float]]:
    """The region of interest of each axis, in shares of its extent."""
    if call.get("coordinate_transformation_mode") != "tf_crop_and_resize":
        return [(0.0, 1.0)] * len(axes)
    roi = call.known(1, "the region").tolist()
    return list(zip(roi[: len(axes)], roi[len(axes) :], strict=True))


def _where(call: Call, n: int, count: int, scale: float, ends: tuple[float, float]) -> Array:
    """The coordinate of each new element on the old axis."""
    usual = "asymmetric" if call.version < 11 else "half_pixel"
    mode, i = call.get("coordinate_transformation_mode", usual), np.arange(count)
    match mode:
        case "asymmetric":
            return np.asarray(i / scale)
        case "align_corners":
            return np.asarray(i * ((n - 1) / (scale * n - 1))) if count > 1 else np.zeros(1)
        case "pytorch_half_pixel":
            return np.asarray((i + 0.5) / scale - 0.5) if count > 1 else np.zeros(1)
        case "half_pixel_symmetric":
            middle = n / 2 * (1 - count / (scale * n))
            return np.asarray(middle + (i + 0.5) / scale - 0.5)
        case "tf_crop_and_resize":
            begin, end = ends
            if count == 1:
                return np.array([0.5 * (begin + end) * (n - 1)])
            return np.asarray(begin * (n - 1) + i * (end - begin) * (n - 1) / (count - 1))
    return np.asarray((i + 0.5) / scale - 0.5)


def _weights(call: Call, n: int, count: int, scale: float, ends: tuple[float, float]) -> Array:
    """[count, n]: the weight of each old element in each new one."""
    where, mode = _where(call, n, count, scale, ends), call.get("mode", "nearest")
    rows = np.zeros((count, n))
    if mode == "nearest":
        rows[np.arange(count), np.clip(_nearest(call, where), 0, n - 1)] = 1
        return rows
    wide = max(1.0, 1 / scale) if call.get("antialias", 0) else 1.0
    reach = (1 if mode == "linear" else 2) * wide
    keep = bool(call.get("exclude_outside", 0))
    for row, at in enumerate(where):
        for old in range(math.floor(at - reach), math.ceil(at + reach) + 1):
            weight = _kernel(call, mode, (old - at) / wide)
            if 0 <= old < n or not keep:
                rows[row, min(max(old, 0), n - 1)] += weight
    total = rows.sum(1, keepdims=True)
    np.divide(rows, total, where=total != 0, out=rows)
    return rows


def _kernel(call: Call, mode: str, x: float) -> float:
    kernel = linear if mode == "linear" else cubic(call.get("cubic_coeff_a", -0.75))
    return float(kernel(np.array(x)))


def _nearest(call: Call, where: Array) -> Array:
    usual = "floor" if call.version < 11 else "round_prefer_floor"
    match call.get("nearest_mode", usual):
        case "floor":
            rounded = np.floor(where)
        case "ceil":
            rounded = np.ceil(where)
        case "round_prefer_ceil":
            rounded = np.floor(where + 0.5)
        case _:
            rounded = np.ceil(where - 0.5)
    return np.asarray(rounded.astype(np.int64))


def _applied(x: Tensor, axis: int, rows: Array) -> Tensor:
    """One axis multiplied by a table of weights, in a wide type; a gather if each row has a single
    weight."""
    if set(np.unique(rows)) <= {0.0, 1.0} and bool((rows.sum(1) == 1).all()):
        return x.take(rows.argmax(1), axis)
    exact = wide(x) if x.dtype.is_float else x.float()
    matrix = Tensor(np.ascontiguousarray(rows.T)).cast(exact.dtype)
    return exact.moveaxis(axis, -1).matmul(matrix).moveaxis(-1, axis)


def _outside(
    call: Call, image: Tensor, x: Tensor, axes: list[int], sizes: list[int], scales: list[float],
    region: list[tuple[float, float]],
) -> Tensor:  # fmt: skip
    """Elements outside the image replaced by a constant."""
    value = call.get("extrapolation_value", 0.0)
    for axis, count, scale, ends in zip(axes, sizes, scales, region, strict=True):
        where = _where(call, fixed(x, axis)[0], count, scale, ends)
        inside = (where >= 0) & (where <= x.shape[axis] - 1)
        if not inside.all():
            image = along(Tensor(inside), axis, x.ndim).where(image, value)
    return image
