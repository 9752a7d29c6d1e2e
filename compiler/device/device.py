"""Devices, found by name: they own memory and run programs.

CPU, CPU:1, …   machine code from LLVM; all share one memory and their programs
INTERPRET       the interpreter of lowered instructions: slow, and checks every access
DISK            files mapped into memory; holds data, runs nothing
DASK, DASK:1, … workers of a cluster: memory and processors of other processes
"""

import dataclasses
import functools
from dataclasses import dataclass
from typing import Protocol

from compiler.core.dtypes import Array, DType
from compiler.core.errors import DataError
from compiler.device import cpu, dask, disk, interpreter
from compiler.device.allocator import Allocator
from compiler.device.program import Compiler, Renderer, RuntimeFactory
from compiler.graph import devices


class Allocate(Protocol):
    """Allocates uninitialised memory for `size` elements; errors name the tensor `name`."""

    def __call__(self, size: int, dtype: DType, name: str = "") -> Array:
        """A flat array."""
        ...


@dataclass(frozen=True, slots=True)
class Device:
    """A device: an allocator, a compiler from source, and a loader of compiled programs.

    `renderer` writes the source, if the device takes any. `memory` reports its use (`memory.use`:
    bytes in use, the peak, and free) and takes a budget (`memory.budget = 2**30`); devices of one
    machine share it, and files have none.
    """

    name: str
    allocate: Allocate
    compile: Compiler
    load: RuntimeFactory
    renderer: Renderer | None = None
    is_executor: bool = True
    memory: Allocator | None = None

    @property
    def base_key(self) -> str:
        """The name without its number: `CPU:1` and `CPU` share compiled programs."""
        return self.name.partition(":")[0]

    @staticmethod
    def get(name: str) -> "Device":
        """The device called `name`; see `get`."""
        return get(name)


CPU = Device(
    "CPU", cpu.allocate, cpu.compile_spec, cpu.load, cpu.LlvmRenderer(), memory=cpu.MEMORY
)
INTERPRET = Device(
    "INTERPRET", cpu.allocate, interpreter.compile_spec, interpreter.load, memory=cpu.MEMORY
)
DISK = Device("DISK", disk.allocate, disk.compile_spec, disk.load, is_executor=False)
DASK = Device(devices.DASK, dask.allocate, dask.compile_spec, dask.load, cpu.LlvmRenderer())
_DEVICES = {device.name: device for device in (CPU, INTERPRET, DISK, DASK)}


def get(name: str) -> Device:
    """The device called `name`; number 0 is the device without a number.

    Raises `DataError` for an unknown name.
    """
    base, colon, number = name.partition(":")
    host = _DEVICES.get(base)
    is_numbered = bool(colon)
    if host is None or (is_numbered and not (number.isdecimal() and number.isascii())):
        names = ", ".join(_DEVICES)
        raise DataError("device", "no such device", got=repr(name), expected=names)
    return _numbered(base, int(number)) if is_numbered and int(number) else host


@functools.cache
def _numbered(base: str, number: int) -> Device:
    """One object per number."""
    return dataclasses.replace(_DEVICES[base], name=f"{base}:{number}")
