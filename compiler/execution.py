"""Runs the items of a schedule as machine code, one after the other, on the host."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from compiler.allocation import allocate
from compiler.device import cpu
from compiler.device.program import Program
from compiler.errors import SizeError
from compiler.graph.nodes import Buffer, Sink
from compiler.schedule import memory
from compiler.schedule.items import ScheduleItem
from compiler.schedule.share import MemoryPlan

Array: TypeAlias = "np.ndarray[Any, Any]"


def run(
    items: Sequence[ScheduleItem],
    results: Sequence[Buffer],
    inputs: Mapping[Buffer, Array],
    programs: Mapping[Sink, Program],
    plan: MemoryPlan | None = None,
) -> list[Array]:
    """The results as flat arrays. Buffers that are no input are allocated first, as planned."""
    held = dict(inputs) | allocate(items, plan)
    for item in items:
        step(item, held, programs)
    return [held[buffer] for buffer in results]


def step(
    item: ScheduleItem, held: Mapping[Buffer, Array], programs: Mapping[Sink, Program]
) -> None:
    """Run one item on the arrays of its buffers."""
    program, arguments = programs[item.operation.body], item.operation.arguments
    program.execute([held[arguments[slot]].ctypes.data for slot in program.slots])


def refuse_too_large(
    items: Sequence[ScheduleItem], limit: int | None, plan: MemoryPlan | None = None
) -> None:
    """Refuse, before anything is allocated, a program that cannot fit in memory.

    `limit` is in bytes; None means what the machine has. Inputs do not count: they are there.
    Raises `SizeError`.
    """
    limit = cpu.physical_memory() if limit is None else limit
    made = memory.made_buffers(items)
    expected = f"at most {limit:,} bytes"
    largest = max(made, key=lambda buffer: buffer.nbytes, default=None)
    if largest is not None and largest.nbytes > limit:
        got = f"shape {largest.shape}, {largest.nbytes:,} bytes"
        what = "a tensor of the program does not fit in memory"
        raise SizeError("allocate", what, got=got, expected=expected)
    total = sum(buffer.nbytes for buffer in made) if plan is None else plan.peak
    if total > limit:
        got = f"{len(made)} tensors, {total:,} bytes"
        what = "the tensors of the program do not fit in memory together"
        raise SizeError("allocate", what, got=got, expected=expected)
