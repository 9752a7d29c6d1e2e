"""Runs the items of a schedule as machine code, one after the other, on the host."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from compiler.device import cpu, device
from compiler.device.program import Program
from compiler.errors import SizeError
from compiler.graph.nodes import Buffer, Sink
from compiler.schedule import memory
from compiler.schedule.host import Host
from compiler.schedule.items import Kernel, ScheduleItem

Array: TypeAlias = "np.ndarray[Any, Any]"
Programs: TypeAlias = Mapping[tuple[Sink, str], Program]
"""Loaded programs by kernel body and kind of device."""


def run(
    items: Sequence[ScheduleItem],
    results: Sequence[Buffer],
    inputs: Mapping[Buffer, Array],
    programs: Programs,
    values: Mapping[str, int] | None = None,
    host: Host | None = None,
) -> list[Array]:
    """The results as flat arrays. Buffers that are no input are allocated first.

    `values` are those of the variables; the counters of an item come over them. `host` holds the
    functions that callbacks call, and says afterwards what it did.
    """
    held, host = dict(inputs), host or Host()
    held |= {buffer: _allocated(buffer) for buffer in memory.made_buffers(items)}
    for item in items:
        operation = item.operation
        if isinstance(operation, Kernel):
            _launch(operation, programs, held, values or {})
        else:
            host.run(operation, [held[buffer] for buffer in operation.arguments])
    return [held[buffer] for buffer in results]


def _launch(
    kernel: Kernel,
    programs: Programs,
    held: Mapping[Buffer, Array],
    values: Mapping[str, int],
) -> None:
    """Run the machine code of a kernel on its device."""
    program, arguments = programs[kernel.body, device.get(kernel.device).base_key], kernel.arguments
    known = {**values, **dict(kernel.fixed)} if program.variables else {}
    program.execute(
        [held[arguments[slot]].ctypes.data for slot in program.slots],
        [known[name] for name in program.variables],
    )


def _allocated(buffer: Buffer) -> Array:
    """Memory for a buffer, which an error calls by its name or its shape."""
    name = buffer.name or f"[{','.join(map(str, buffer.shape))}]"
    return device.get(buffer.device).allocate(buffer.size, buffer.dtype, name)


def refuse_too_large(items: Sequence[ScheduleItem], limit: int | None) -> None:
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
    total = sum(buffer.nbytes for buffer in made)
    if total > limit:
        got = f"{len(made)} tensors, {total:,} bytes"
        what = "the tensors of the program do not fit in memory together"
        raise SizeError("allocate", what, got=got, expected=expected)
