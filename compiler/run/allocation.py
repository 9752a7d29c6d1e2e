"""Memory for the buffers of a schedule: one arena if it is planned, else one block each."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from compiler.core.dtypes import Array, uint8
from compiler.device import device
from compiler.device.allocator import Maker, address_of
from compiler.graph.nodes import Buffer
from compiler.schedule.analysis import footprint
from compiler.schedule.analysis.levels import levels
from compiler.schedule.analysis.share import MemoryPlan, share
from compiler.schedule.items import ScheduleItem


def plan_memory(items: Sequence[ScheduleItem], results: Sequence[Buffer]) -> MemoryPlan | None:
    """The memory plan for running `items` in their order; None if it would save nothing.

    Live ranges are in topological levels, so items have to run level by level. If their order
    differs, each item counts as a level of its own.
    """
    by_level = levels(items)
    order = tuple(item.item_id for item in items)
    if tuple(i for level in by_level for i in level) != order:
        by_level = tuple((i,) for i in order)
    plan = share(items, results, by_level)
    return plan if plan.peak < plan.unshared else None


def with_copies(
    inputs: Mapping[Buffer, Array], items: Iterable[ScheduleItem]
) -> dict[Buffer, Array]:
    """The inputs, with copies of those that the items write: the originals stay as they are."""
    written = {b for item in items for b in item.operation.writes}
    return {b: array.copy() if b in written else array for b, array in inputs.items()}


def allocate(items: Sequence[ScheduleItem], plan: MemoryPlan | None) -> dict[Buffer, Array]:
    """Uninitialised flat arrays for all buffers of the schedule, aligned to 64 bytes.

    An arena stays in use until the last array in it is gone.
    """
    if plan is None:
        return {buffer: alone(buffer) for buffer in footprint.made_buffers(items)}
    name = "the program's intermediate values"
    arena = device.CPU.allocate(plan.arena, uint8, name) if plan.arena else np.empty(0, np.uint8)
    held: dict[Buffer, Array] = {}
    for place in plan.places:
        if place.offset is None:
            held[place.buffer] = alone(place.buffer)
        else:
            part = arena[place.offset : place.offset + place.buffer.nbytes]
            held[place.buffer] = part.view(place.buffer.dtype.numpy)
    return held


def alone(buffer: Buffer) -> Array:
    """Memory for one buffer."""
    return maker(buffer)()[0]


def maker(buffer: Buffer, shape: tuple[int, ...] | None = None) -> Maker:
    """A function that allocates memory for a buffer, flat or of a shape; errors name it by its name
    or its extents."""
    name = buffer.name or f"[{','.join(map(str, buffer.shape))}]"
    where = device.get(buffer.device)
    if where.memory is not None:
        return where.memory.maker(buffer.size, buffer.dtype, name, shape)

    def make() -> tuple[Array, int]:
        array = where.allocate(buffer.size, buffer.dtype, name)
        return array, address_of(array)

    return make
