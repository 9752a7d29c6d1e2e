"""The host CPU: memory from its allocator, machine code from LLVM."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from compiler.core.dtypes import Array, DType, uint8
from compiler.core.lazy import loading
from compiler.device.allocator import Allocator
from compiler.device.launch_sizes import LaunchDims
from compiler.device.program import (
    CompiledSpec,
    OfSpec,
    Program,
    ProgramSpec,
    Task,
    known_values,
    program_spec,
    runs,
)
from compiler.llvm import jit
from compiler.llvm.level import Level, level_of
from compiler.llvm.thunk import CORE, thunk_name
from compiler.loops.nodes import Const
from compiler.lowered.by_hand import Special
from compiler.lowered.instructions import LINE, Instruction, Store
from compiler.machines import system
from compiler.settings.options import Cache, Mode
from compiler.threads.launch import Launch

MEMORY = Allocator()
"""The memory of all CPU devices, which they share."""


class CpuProgram(OfSpec):
    """Machine code in this process; a program of several tasks runs on several threads."""

    def __init__(self, compiled: CompiledSpec) -> None:
        spec = compiled.spec
        self.compiled = compiled
        """The compiled program."""
        self._unstreamed: CpuProgram | None = None
        super().__init__(spec)
        self._parameters = spec.parameters
        self._is_plain = _is_plain(spec)
        count = len(spec.globals) + len(self._parameters) + bool(spec.scratch)
        loadable = compiled if compiled.binary else compile_spec(spec, compiled.level)
        self._loaded = jit.load_object(loadable.binary, spec.name, count)
        self._level = loadable.done
        self.tasks = spec.tasks
        """The number of tasks, which may run in parallel."""
        self.aligned = spec.aligned
        """The slots whose buffers have to begin at a multiple of 64 bytes in a run by `task`."""
        self.task = self._task()
        """Its thunk; None if launch indices number its runs."""
        self._is_simple = self._is_plain and not (self._parameters or spec.scratch or self.aligned)

    def _task(self) -> Task | None:
        if not self._is_plain and not _is_shared_out(self._spec):
            return None
        address = self._loaded.address_of(thunk_name(self._spec.name))
        parameters = tuple(p for p in self._parameters if p != CORE)
        return Task(address, parameters, self._spec.scratch)

    @property
    def level(self) -> Level | None:
        """LLVM's work on it, and the reason; None if the code was compiled elsewhere."""
        return self._level

    def execute(
        self, buffers: Sequence[int], values: Sequence[int] = (), dims: LaunchDims | None = None
    ) -> None:
        """Run on the buffers of `slots`, given by address; `values` follow as 64-bit integers.

        The launch size follows from the values, so `dims` changes nothing here.
        """
        if self._is_simple and not values:
            self._loaded.entry(*buffers)
        else:
            self.bound(buffers, values)()

    def bound(self, buffers: Sequence[int], values: Sequence[int] = ()) -> Callable[[], None]:
        """A function that runs it on these buffers and values at each call."""
        if self.is_misaligned(buffers):
            return self.unstreamed().bound(buffers, values)
        if self.task is None:
            return self.in_turn(buffers, values)
        value_of = known_values(self._spec.metadata, values)
        words = [*buffers, *(value_of[name] for name in self.task.parameters)]
        return Launch(self.task.address, words, self.tasks, self.task.scratch, scratch_memory)

    def in_turn(self, buffers: Sequence[int], values: Sequence[int]) -> Callable[[], None]:
        """A function that does all runs sequentially on its thread, if there is no thunk."""
        memory = scratch_memory(self._spec.scratch) if self._spec.scratch else None
        last = [] if memory is None else [memory.ctypes.data]
        rows = [
            (*buffers, *(row[name] for name in self._parameters), *last)
            for row in runs(self._spec, values)
        ]
        return partial(self._run_all, rows, memory)

    def _run_all(self, rows: Sequence[Sequence[int]], kept: object) -> None:
        """A function that calls the code with the arguments of each row, and keeps them alive."""
        for row in rows:
            self._loaded.entry(*row)

    def is_misaligned(self, buffers: Sequence[int]) -> bool:
        """True if a buffer with non-temporal stores is not aligned to a cache line."""
        pairs = zip(self.slots, buffers, strict=True) if self.aligned else ()
        return any(slot in self.aligned and address % LINE for slot, address in pairs)

    def of_code(self, binary: bytes) -> "CpuProgram":
        """The same program with other machine code, which has no thunk: its runs are sequential."""
        return CpuProgram(replace(self.compiled, binary=binary))

    def address_of(self, name: str) -> int:
        """The address of a function or mark in its machine code; 0 where there is none."""
        return self._loaded.address_of(name)

    def unstreamed(self) -> Program:
        """The program without non-temporal stores; compiled on first use."""
        if not self.aligned:
            return self
        if self._unstreamed is None:
            rows = [
                replace(i, is_streamed=False) if isinstance(i, Store) else i
                for i in self._spec.instructions
            ]
            spec = LlvmRenderer().render(rows, self._spec.name)
            self._unstreamed = CpuProgram(compile_spec(spec, self.compiled.level))
        return self._unstreamed


def scratch_memory(nbytes: int) -> Array:
    """Memory for the tasks of a run."""
    return MEMORY.allocate(nbytes, uint8, "scratch memory")


def _is_shared_out(spec: ProgramSpec) -> bool:
    """True if only `core_id` numbers the runs of a program."""
    has_index = any(isinstance(i, Special) for i in spec.instructions)
    lows = [v.low for v in spec.metadata.vars]
    dims = spec.launch_dims(dict(zip(spec.metadata.var_names, lows, strict=True)))
    groups = (dims.global_size, dims.local_size or (1, 1, 1))
    return CORE in spec.parameters and not has_index and groups == ((spec.tasks, 1, 1), (1, 1, 1))


def _is_plain(spec: ProgramSpec) -> bool:
    """True if the program runs once, whatever the values of its variables."""
    lows = [v.low for v in spec.metadata.vars]
    is_fixed = all(isinstance(n, Const) for n in spec.metadata.global_size)
    has_index = set(spec.parameters) != set(spec.metadata.var_names) or CORE in spec.parameters
    return is_fixed and not has_index and len(list(runs(spec, lows))) == 1


class LlvmRenderer:
    """Writes LLVM IR."""

    device = "CPU"

    def render(self, instructions: Sequence[Instruction], name: str = "kernel") -> ProgramSpec:
        """The program of these instructions."""
        # not at import: a program with cached machine code needs no code generator
        with loading():
            from compiler.llvm.emit import emit
            from compiler.llvm.source import Source

        rows = tuple(emit(name, tuple(instructions)))
        source = Source(title=name, name=name, rows=rows, kernel=0)
        return program_spec(name, source, self.device, instructions)


def compile_spec(
    spec: ProgramSpec, level: int, mode: Mode = "fast", cache: Cache = False
) -> CompiledSpec:
    """The program as object code, compiled by LLVM unless it is cached."""
    chosen = level_of(spec.instructions, level, mode)
    code = jit.object_code(spec.text, spec.name, chosen, cache)
    return CompiledSpec(spec, level, code, chosen)


def load(compiled: CompiledSpec) -> Program:
    """The program, ready to run."""
    return CpuProgram(compiled)


def allocate(size: int, dtype: DType, name: str = "") -> "np.ndarray[Any, np.dtype[Any]]":
    """Uninitialised memory for `size` elements of the tensor `name`, aligned to 64 bytes.

    Raises `SizeError` if it exceeds the budget of `MEMORY` or the memory of the machine.
    """
    return MEMORY.allocate(size, dtype, name)


def physical_memory() -> int:
    """Bytes of memory the machine has."""
    return system.memory_bytes()
