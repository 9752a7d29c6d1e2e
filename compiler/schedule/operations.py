"""The schedule operation for each run of a call, with its buffers and its loop counters fixed.

A `Param` becomes a buffer passed from outside; a `DefineLocal` becomes a buffer of the program, on
the device of the first call that uses it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from compiler.graph.devices import DEFAULT, is_disk
from compiler.graph.nodes import Buffer, Param
from compiler.schedule.items import HostCallback, Kernel, MemoryTransfer, Operation, Synchronization
from compiler.schedule.kinds import (
    Call,
    CustomCall,
    DefineLocal,
    Storage,
    Synchronize,
    Transfer,
    access,
    arguments_of,
)
from compiler.schedule.prepare import KernelInvocation, PreSchedule, PreScheduleItem
from compiler.schedule.regions import at, whole_or_region
from compiler.schedule.sources import storage_of

FIRST_LOCAL = 1 << 40
"""Locals have numbers below its negative, so that they differ from those of all other buffers."""


def device_of(buffers: Sequence[Buffer]) -> str:
    """The device of a call: that of its first buffer that is not on disk, else the CPU."""
    return next((b.device for b in buffers if not is_disk(b.device)), DEFAULT)


def synchronization(call: Synchronize) -> Synchronization:
    """The operation of a synchronisation."""
    return Synchronization(
        call.name, call.kind, call.event, call.is_wait, call.scope, call.devices, call.stream
    )


def operations(pre: PreSchedule) -> list[Operation]:
    """The operation of each invocation, in their order."""
    memory = _Memory(pre)
    templates = [memory.operation(item) for item in pre.items]
    return [_at(templates[run.item], pre.items[run.item], run) for run in pre.invocations]


def _at(template: Operation, item: PreScheduleItem, run: KernelInvocation) -> Operation:
    """The operation with the loop counters of one run."""
    if not run.fixed_variables:
        return template
    call = item.kernel
    if isinstance(template, MemoryTransfer) and isinstance(call, Transfer) and call.region:
        offset = at(call.region, run.fixed_variables).destination_offset
        return replace(template, destination_offset=offset)
    if not isinstance(template, Kernel | HostCallback):
        return template
    fixed = {**dict(template.fixed), **run.fixed_variables}
    return replace(template, fixed=tuple(sorted(fixed.items())))


@dataclass(slots=True)
class _Memory:
    """The buffers of one schedule."""

    pre: PreSchedule
    locals: dict[DefineLocal, Buffer] = field(default_factory=dict)

    def operation(self, item: PreScheduleItem) -> Operation:
        """The operation of an item, without its loop counters."""
        call = item.kernel
        buffers = self._buffers([storage_of(a, self.pre.names) for a in arguments_of(call)])
        match call:
            case Call():
                return Kernel(call.name, call.body, buffers, device_of(buffers), call.fixed)
            case CustomCall():
                read, written = (tuple(sorted(s)) for s in access(call, len(buffers)))
                return HostCallback(call.name, call.name, buffers, read, written)
            case Transfer():
                return self._transfer(call, buffers)
            case Synchronize():
                return synchronization(call)

    def _transfer(self, call: Transfer, buffers: tuple[Buffer, ...]) -> MemoryTransfer:
        destination, source = buffers
        region = whole_or_region(call, destination, source, self.pre.names)
        return MemoryTransfer(
            call.name, source, destination, source.device, destination.device, region.dims,
            region.source_strides, region.destination_strides,
            region.size * source.dtype.itemsize, call.is_async, call.stream,
            region.source_offset, region.destination_offset,
        )  # fmt: skip

    def _buffers(self, storages: Sequence[Storage]) -> tuple[Buffer, ...]:
        """The buffer of each storage."""
        device = device_of([s for s in storages if isinstance(s, Buffer)])
        return tuple(self._buffer(storage, device) for storage in storages)

    def _buffer(self, storage: Storage, device: str) -> Buffer:
        match storage:
            case Buffer():
                return storage
            case Param(slot=slot):
                return Buffer((), slot, storage.shape, storage.dtype, f"param{slot}")
            case DefineLocal(number=number):
                unique, name = -FIRST_LOCAL - number, f"local{number}"
                buffer = Buffer((), unique, storage.shape, storage.dtype, name, device)
                return self.locals.setdefault(storage, buffer)
