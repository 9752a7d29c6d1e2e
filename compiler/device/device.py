"""Devices: what owns memory and runs programs. The device of this stage is the host CPU."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from compiler.device import cpu
from compiler.device.program import CompiledSpec, Program, ProgramSpec
from compiler.dtypes import DType
from compiler.errors import DataError


@dataclass(frozen=True, slots=True)
class Device:
    """A device: an allocator, a compiler from source, and a loader of compiled programs."""

    name: str
    allocate: Callable[[int, DType], "np.ndarray[tuple[int], np.dtype[np.generic]]"]
    compile: Callable[[ProgramSpec, int], CompiledSpec]
    load: Callable[[CompiledSpec], Program]

    @property
    def base_key(self) -> str:
        """The name without its number: `CPU:1` and `CPU` share compiled programs."""
        return self.name.partition(":")[0]


CPU = Device("CPU", cpu.allocate, cpu.compile_spec, cpu.load)
_DEVICES: Sequence[Device] = (CPU,)


def get(name: str) -> Device:
    """The device called `name`.

    Raises `DataError` for a name that no device has.
    """
    for device in _DEVICES:
        if device.name == name:
            return device
    names = ", ".join(d.name for d in _DEVICES)
    raise DataError("device", "no such device", got=repr(name), expected=names)
