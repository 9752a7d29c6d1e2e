"""Layouts and allocations: the strides of buffers in memory, and their live ranges.

    layout      = shape  strides  alignment  vector width  contiguous axes
    allocation  = scope ∈ {global, shared, register}  bytes  lifetime  alias group
    buffer info = buffer  layout  allocation  is input  is output

Strides are elements, sizes and alignments bytes. A zero extent counts as 1 for strides, so that
they stay positive, and as 0 for bytes; rank 0 is one element.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from compiler.core.dtypes import DType
from compiler.core.errors import ScheduleError
from compiler.graph.nodes import Buffer, Shape
from compiler.schedule.analysis.share import ALIGNMENT, MemoryPlan

Scope = Literal["global", "shared", "register"]


def contiguous_strides(shape: Shape) -> Shape:
    """Row-major strides in elements; a zero extent counts as 1."""
    whole = [max(extent, 1) for extent in shape]
    return tuple(math.prod(whole[axis + 1 :]) for axis in range(len(shape)))


@dataclass(frozen=True, slots=True)
class BufferLayout:
    """A strided layout: element (i, j, …) is at i·strides[0] + j·strides[1] + …, in elements.

    `contiguous_axes` are the axes without gaps, fastest first.
    """

    shape: Shape
    strides: Shape
    alignment: int = ALIGNMENT
    vector_width: int = 1
    contiguous_axes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.strides) != len(self.shape):
            got, expected = str(self.strides), f"{len(self.shape)} strides"
            raise _refused("a layout has one stride per axis", got, expected)
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise _refused("an alignment is a power of two", str(self.alignment), "1, 2, 4, …")
        if self.vector_width < 1:
            raise _refused("a vector has a lane", str(self.vector_width), "at least 1")
        axes = self.contiguous_axes
        if len(set(axes)) < len(axes) or any(not 0 <= a < len(self.shape) for a in axes):
            expected = f"axes below {len(self.shape)}, each once"
            raise _refused("contiguous axes are axes of the layout", str(axes), expected)

    def nbytes(self, dtype: DType) -> int:
        """The bytes of all elements; 0 if an extent is 0."""
        return math.prod(self.shape) * dtype.itemsize


def row_major(shape: Shape, vector_width: int = 1, alignment: int = ALIGNMENT) -> BufferLayout:
    """The row-major layout: every axis is contiguous, and the last one is the fastest."""
    axes = tuple(reversed(range(len(shape))))
    return BufferLayout(shape, contiguous_strides(shape), alignment, vector_width, axes)


@dataclass(frozen=True, slots=True)
class Allocation:
    """The memory of a buffer: `lifetime` is its first and last level; an alias group shares places.
    """

    scope: Scope
    nbytes: int
    lifetime: tuple[int, int]
    alias_group: int | None = None

    def __post_init__(self) -> None:
        first, last = self.lifetime
        if not 0 <= first <= last:
            raise _refused("a lifetime ends after it begins", str(self.lifetime), "first ≤ last")
        if self.nbytes < 0:
            raise _refused("an allocation has a size", str(self.nbytes), "at least 0")


@dataclass(frozen=True, slots=True)
class BufferInfo:
    """A buffer of a schedule with its layout and allocation."""

    buffer: Buffer
    layout: BufferLayout
    allocation: Allocation
    is_input: bool
    is_output: bool

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.buffer.dtype


def buffer_infos(
    inputs: Collection[Buffer], results: Collection[Buffer], plan: MemoryPlan
) -> tuple[BufferInfo, ...]:
    """Every buffer of a schedule: the inputs, then the planned buffers.

    Buffers whose places overlap are in one alias group, numbered by its lowest offset.
    """
    end = max(plan.level_count - 1, 0)
    infos = [
        BufferInfo(b, row_major(b.shape), Allocation("global", b.nbytes, (0, end)), True,
                   b in results)
        for b in inputs
    ]  # fmt: skip
    groups = _alias_groups(plan)
    for place in plan.places:
        life, group = (place.first, place.last), groups.get(place.buffer)
        allocation = Allocation("global", place.size, life, group)
        info = BufferInfo(
            place.buffer, row_major(place.buffer.shape), allocation, False, place.buffer in results
        )
        infos.append(info)
    return tuple(infos)


def _alias_groups(plan: MemoryPlan) -> dict[Buffer, int]:
    """The number of the alias group of each buffer that shares bytes with another."""
    placed = [(p.offset, p) for p in plan.places if p.offset is not None and p.size]
    placed.sort(key=lambda pair: pair[0])
    groups: list[list[Buffer]] = []
    end = 0
    for offset, place in placed:
        if not groups or offset >= end:
            groups.append([])
        groups[-1].append(place.buffer)
        end = max(end, offset + place.size)
    return {b: n for n, group in enumerate(groups) for b in group if len(group) > 1}


def _refused(problem: str, got: str, expected: str) -> ScheduleError:
    return ScheduleError("layout", problem, got=got, expected=expected)
