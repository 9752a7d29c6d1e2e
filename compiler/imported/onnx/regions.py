"""RoiAlign: regions of images, each resampled to the same size."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from compiler.imported.onnx.call import Call, fixed, operator
from compiler.imported.onnx.element_types import wide
from compiler.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Places:
    """The sampling points along one axis: [rois, bins, points in a bin]."""

    at: Tensor
    is_on_image: Tensor
    is_taken: Tensor
    """True for existing points: smaller regions may have fewer."""
    count: Tensor
    """[rois]: the number of points in a bin."""


@operator("RoiAlign")
def roi_align(call: Call, x: Tensor, rois: Tensor, batches: Tensor) -> Tensor:
    """[rois, c, height, width]: each region is divided into bins, and each bin is the mean or the
    maximum of evenly spaced points.

    If the model does not state the number of points, it follows from the regions, which then have
    to be known. For "max" it is the maximum of a neighbouring element times its weight, as in ONNX.
    """
    dtype, x, rois = x.dtype, wide(x), wide(rois)
    rows, columns = (_places(call, x, rois, axis) for axis in (0, 1))
    a, b, c, d = _weighted(x, batches, rows, columns)
    if call.get("mode", "avg") == "avg":
        total = a.add(b).add(c).add(d).sum((3, 5))
        count = rows.count.mul(columns.count).maximum(1)
        return total.div(count.reshape(-1, 1, 1, 1)).cast(dtype)
    greatest = a.maximum(b).maximum(c).maximum(d)
    is_taken = _across(rows.is_taken).logical_and(_down(columns.is_taken))
    most = is_taken.unsqueeze(1).where(greatest, -math.inf).max((3, 5))
    return most.eq(-math.inf).where(0, most).cast(dtype)


def _across(rows: Tensor) -> Tensor:
    """[rois, h, in h] for all columns."""
    return rows.unsqueeze(3).unsqueeze(4)


def _down(columns: Tensor) -> Tensor:
    """[rois, w, in w] for all rows."""
    return columns.unsqueeze(1).unsqueeze(1)


def _places(call: Call, x: Tensor, rois: Tensor, axis: int) -> Places:
    """The points along the rows (axis 0) or columns, in elements of the image."""
    size = call.get("output_width" if axis else "output_height", 1)
    usual = "half_pixel" if call.version >= 16 else "output_half_pixel"
    is_half = call.get("coordinate_transformation_mode", usual) == "half_pixel"
    moved = rois.mul(call.get("spatial_scale", 1.0)).sub(0.5 if is_half else 0.0)
    start, end = moved[:, 1 - axis], moved[:, 3 - axis]
    extent = end.sub(start) if is_half else end.sub(start).maximum(1)
    part, ratio = extent.div(float(size)), call.get("sampling_ratio", 0)
    count = part.full_like(float(ratio)) if ratio else part.ceil()
    most = ratio or _most(call, size, 1 - axis, is_half)
    number = Tensor(np.arange(most), dtype=x.dtype)
    first = Tensor(np.arange(size), dtype=x.dtype).reshape(1, size, 1)
    start, part, each = (t.reshape(-1, 1, 1) for t in (start, part, count))
    at = start.add(first.mul(part)).add(number.add(0.5).mul(part.div(each)))
    extent_of_image = fixed(x, 2 + axis)[0]
    is_on_image = at.ge(-1).logical_and(at.le(extent_of_image))
    is_taken = number.lt(each).broadcast_to(*at.shape)
    return Places(at.clip(0, extent_of_image - 1), is_on_image, is_taken, count)


def _most(call: Call, size: int, at: int, is_half: bool) -> int:
    """The number of points in a bin of the largest region, along one axis."""
    rois = call.known(1, "the regions, which say how many places are looked at,")
    wide = rois.astype(np.float64) * call.get("spatial_scale", 1.0)
    extent = np.maximum(wide[:, at + 2] - wide[:, at], 0.0 if is_half else 1.0)
    return max(math.ceil(float(extent.max(initial=0.0)) / size), 1)


def _weighted(x: Tensor, batches: Tensor, rows: Places, columns: Places) -> list[Tensor]:
    """The four elements around each point times their weights: [rois, c, h, in h, w, in w]; 0 for
    points outside the image."""
    n, channels, height, width = fixed(x)
    flat = x.permute(1, 0, 2, 3).reshape(channels, n * height * width)
    image = batches.cast("int64").mul(height * width).reshape(-1, 1, 1, 1, 1)
    on_rows, on_columns = (p.is_on_image.logical_and(p.is_taken) for p in (rows, columns))
    is_seen = _across(on_rows).logical_and(_down(on_columns))
    weighted = []
    for below, behind in itertools.product((0, 1), repeat=2):
        row, down = _end(rows.at, below, height)
        column, along = _end(columns.at, behind, width)
        index = _across(row.mul(width)).add(_down(column)).add(image)
        elements = flat.take(index, 1).mul(_across(down).mul(_down(along)))
        weighted.append(is_seen.where(elements, 0).permute(1, 0, 2, 3, 4, 5))
    return weighted


def _end(at: Tensor, is_next: int, extent: int) -> tuple[Tensor, Tensor]:
    """The element before a point, or the next one, and its weight."""
    low = at.floor()
    rest = at.sub(low)
    element = low.add(float(is_next)).clip(0, extent - 1).cast("int64")
    return element, rest if is_next else rest.neg().add(1)
