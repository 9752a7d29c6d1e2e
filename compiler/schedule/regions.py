"""Regions of transfers: the elements that are copied, checked to be inside their buffers.

A region of dims (rows, columns) with strides (pitch, 1) is a part of a matrix; elements outside
it do not change.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from compiler.core.dtypes import Array
from compiler.graph.nodes import Shape
from compiler.schedule.kinds import Region, Storage, Transfer
from compiler.schedule.sources import Names


def contiguous_strides(dims: Shape) -> Shape:
    """The row-major strides of `dims`, in elements; an empty axis counts as one of extent 1."""
    strides = [1] * len(dims)
    for axis in range(len(dims) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * max(dims[axis], 1)
    return tuple(strides)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a region, in words."""

    what: str
    got: str
    expected: str = ""


def whole_or_region(call: Transfer, destination: Storage, source: Storage, names: Names) -> Region:
    """The region of a transfer; raises `ScheduleError` if it does not fit its buffers."""
    if call.region is None and destination.size != source.size:
        what = "it copies between buffers of different sizes"
        names.refuse(call, what, got=str(source.size), expected=str(destination.size))
    region = call.region or Region(source.shape)
    problem = problem_of(region, destination, source)
    if problem:
        names.refuse(call, problem.what, got=problem.got, expected=problem.expected)
    return region


def problem_of(region: Region, destination: Storage, source: Storage) -> Problem | None:
    """The reason why a region cannot be copied between two buffers; None if it can."""
    if destination.dtype != source.dtype:
        what = "it copies between buffers of different types"
        return Problem(what, source.dtype.name, destination.dtype.name)
    if any(n < 0 for n in region.dims):
        return Problem("an extent of its region is negative", str(region.dims))
    outside = _outside(
        "source", region.dims, region.source_strides, region.source_offset, source.size
    ) or _outside(
        "destination", region.dims, region.destination_strides, region.destination_offset,
        destination.size,
    )  # fmt: skip
    if outside:
        return outside
    strides = region.destination_strides
    if strides is not None and _may_overlap(region.dims, strides):
        what = "several elements of its region may go to one place of the destination"
        return Problem(what, f"dims {region.dims}, strides {strides}")
    return None


def _outside(
    side: str, dims: Shape, strides: Shape | None, offset: int, size: int
) -> Problem | None:
    """The problem of a region that exceeds one of its buffers; None if it does not."""
    if strides is not None and len(strides) != len(dims):
        what = f"its {side} has not one stride for each axis"
        return Problem(what, str(strides), f"{len(dims)} strides")
    if 0 in dims:
        return None
    steps = [(n - 1) * s for n, s in zip(dims, strides or contiguous_strides(dims), strict=True)]
    first = offset + sum(min(step, 0) for step in steps)
    last = offset + sum(max(step, 0) for step in steps)
    if first < 0 or last >= size:
        what = f"its region reaches outside the {side}"
        return Problem(what, f"elements {first} … {last}", f"0 … {size - 1}")
    return None


def _may_overlap(dims: Shape, strides: Shape) -> bool:
    """True if two elements may have one address: an axis is no wider than all finer ones."""
    axes = sorted((abs(s), n) for n, s in zip(dims, strides, strict=True) if n > 1)
    reach = 0
    for stride, extent in axes:
        if stride <= reach:
            return math.prod(dims) > 0
        reach += stride * (extent - 1)
    return False


def is_dense(region: Region) -> bool:
    """True if the elements are contiguous on both sides."""
    row_major = contiguous_strides(region.dims)
    strides = region.source_strides, region.destination_strides
    return all(each is None or _differ_nowhere(region.dims, each, row_major) for each in strides)


def _differ_nowhere(dims: Shape, some: Shape, others: Shape) -> bool:
    """True if strides are equal along all axes with more than one element."""
    return all(a == b for n, a, b in zip(dims, some, others, strict=True) if n > 1)


def at(region: Region, counters: Mapping[str, int]) -> Region:
    """The region in one run: its destination moves with the only counter in `counters`."""
    moved = region.destination_step * sum(counters.values())
    return replace(
        region, destination_offset=region.destination_offset + moved, destination_step=0
    )


def copy(region: Region, destination: Array, source: Array) -> None:
    """Copy a region between two flat arrays, as if all elements were read first."""
    if not region.size:
        return
    strides, offset = region.destination_strides, region.destination_offset
    into = _elements(destination, region.dims, strides, offset)
    into[...] = _elements(source, region.dims, region.source_strides, region.source_offset)


def packed(region: Region, source: Array) -> Array:
    """A contiguous, flat copy of the region's elements in the source."""
    elements = np.empty(region.size, source.dtype)
    copy(region.taken, elements, source)
    return elements


def _elements(array: Array, dims: Shape, strides: Shape | None, offset: int) -> Array:
    """A view of the elements of one side."""
    if strides is None:
        return array[offset : offset + math.prod(dims)].reshape(dims)
    width = array.itemsize
    return np.lib.stride_tricks.as_strided(array[offset:], dims, [s * width for s in strides])
