"""The host CPU: memory from its allocator, machine code from LLVM."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from compiler.device.allocator import Allocator
from compiler.device.launch import LaunchDims
from compiler.device.metadata import CORE
from compiler.device.program import (
    CompiledSpec,
    Program,
    ProgramSpec,
    known_values,
    program_spec,
    runs,
)
from compiler.dtypes import DType
from compiler.llvm import jit
from compiler.llvm.emit import emit
from compiler.llvm.source import Source
from compiler.loops.nodes import Const
from compiler.lowered.instructions import LINE, Instruction

MEMORY = Allocator()
"""The memory of all CPU devices: one machine has one."""


class CpuProgram:
    """Machine code in this process; runs on the calling thread, group after group."""

    def __init__(self, compiled: CompiledSpec) -> None:
        spec = compiled.spec
        self._spec = spec
        self._parameters = spec.parameters
        self._is_plain = _is_plain(spec)
        self._scratch = spec.scratch
        count = len(spec.globals) + len(self._parameters) + bool(self._scratch)
        self._loaded = jit.load(spec.source.text, spec.name, count, compiled.level)

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self._spec.name

    @property
    def slots(self) -> tuple[int, ...]:
        """The argument slots the program takes."""
        return self._spec.globals

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in the order in which a run takes their values."""
        return self._spec.metadata.var_names

    def execute(
        self, buffers: Sequence[int], values: Sequence[int] = (), dims: LaunchDims | None = None
    ) -> None:
        """Run on the buffers of `slots`, given by address; `values` follow as 64-bit integers.

        The launch size follows from the values, so `dims` changes nothing here.
        """
        if self._scratch:
            self._execute_in_scratch(buffers, values)
            return
        if self._is_plain:
            if not self._parameters and not values:
                self._loaded.entry(*buffers)
                return
            known = known_values(self._spec.metadata, values)
            self._loaded.entry(*buffers, *(known[name] for name in self._parameters))
            return
        for row in runs(self._spec, values):
            self._loaded.entry(*buffers, *(row[name] for name in self._parameters))


    def _execute_in_scratch(self, buffers: Sequence[int], values: Sequence[int]) -> None:
        """Run with memory that this run alone has."""
        memory = np.empty(self._scratch + LINE, np.uint8)
        address = -(-memory.ctypes.data // LINE) * LINE
        for row in runs(self._spec, values):
            self._loaded.entry(*buffers, *(row[name] for name in self._parameters), address)


def _is_plain(spec: ProgramSpec) -> bool:
    """Whether the program runs once, whatever the values of its variables."""
    lows = [v.low for v in spec.metadata.vars]
    is_fixed = all(isinstance(n, Const) for n in spec.metadata.global_size)
    has_index = set(spec.parameters) != set(spec.metadata.var_names) or CORE in spec.parameters
    return is_fixed and not has_index and len(list(runs(spec, lows))) == 1


class LlvmRenderer:
    """Writes LLVM IR."""

    device = "CPU"

    def render(self, instructions: Sequence[Instruction], name: str = "kernel") -> ProgramSpec:
        """The program of these instructions."""
        rows = tuple(emit(name, tuple(instructions)))
        source = Source(title=name, name=name, rows=rows, kernel=0)
        return program_spec(name, source, self.device, instructions)


def compile_spec(spec: ProgramSpec, level: int) -> CompiledSpec:
    """LLVM compiles while it loads, so there is nothing to do before."""
    return CompiledSpec(spec, level)


def load(compiled: CompiledSpec) -> Program:
    """The program, ready to run."""
    return CpuProgram(compiled)


def allocate(size: int, dtype: DType, name: str = "") -> "np.ndarray[Any, np.dtype[Any]]":
    """Uninitialised memory for `size` elements of the tensor `name`, aligned to 64 bytes.

    Raises `SizeError` where `MEMORY` has a budget or the machine too little memory for that.
    """
    return MEMORY.allocate(size, dtype, name)


def physical_memory() -> int:
    """Bytes of memory the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
