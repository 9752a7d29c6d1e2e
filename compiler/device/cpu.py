"""The host CPU: memory from NumPy, machine code from LLVM."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from compiler.device.program import CompiledSpec, Program, ProgramSpec
from compiler.dtypes import DType
from compiler.errors import SizeError
from compiler.llvm import jit


class CpuProgram:
    """Machine code in this process; runs on the calling thread."""

    def __init__(self, compiled: CompiledSpec) -> None:
        spec = compiled.spec
        self._name = spec.name
        self._slots = spec.globals
        self._loaded = jit.load(spec.source.text, spec.name, len(spec.globals), compiled.level)

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._name

    @property
    def slots(self) -> tuple[int, ...]:
        """The argument slots the program takes."""
        return self._slots

    def execute(self, buffers: Sequence[int]) -> None:
        """Run on the buffers of `slots`, given by address."""
        self._loaded.entry(*buffers)


def compile_spec(spec: ProgramSpec, level: int) -> CompiledSpec:
    """LLVM compiles while it loads, so there is nothing to do before."""
    return CompiledSpec(spec, level)


def load(compiled: CompiledSpec) -> Program:
    """The program, ready to run."""
    return CpuProgram(compiled)


def allocate(size: int, dtype: DType) -> "np.ndarray[Any, np.dtype[Any]]":
    """Uninitialised memory for `size` elements.

    Raises `SizeError` where the machine has less memory than that.
    """
    try:
        return np.empty(size, dtype.numpy)
    except MemoryError as error:
        raise SizeError(
            "allocate",
            "the machine has not enough memory",
            got=f"{size * dtype.itemsize:,} bytes for {size:,} elements of {dtype}",
            expected=f"at most {physical_memory():,} bytes",
        ) from error


def physical_memory() -> int:
    """Bytes of memory the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
