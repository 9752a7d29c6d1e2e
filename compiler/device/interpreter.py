"""The safe device: runs a program's lowered instructions, checking every access, with NumPy.

It takes buffers by address, as machine code does, with any alignment.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial

from compiler.core.dtypes import Array, bool_
from compiler.core.errors import InternalError
from compiler.core.lazy import loading
from compiler.device.allocator import array_at
from compiler.device.launch_sizes import LaunchDims
from compiler.device.program import CompiledSpec, OfSpec, Program, ProgramSpec, runs
from compiler.lowered.instructions import DefineGlobal
from compiler.settings.options import Cache, Mode


class InterpretedProgram(OfSpec):
    """The instructions of a kernel; nothing is compiled. An access outside a buffer is refused."""

    def __init__(self, compiled: CompiledSpec) -> None:
        spec = compiled.spec
        if not spec.instructions:
            raise InternalError("device INTERPRET", f"program {spec.name} has no instructions")
        super().__init__(spec)
        pointers = [i for i in spec.instructions if isinstance(i, DefineGlobal)]
        self._pointers = {p.slot: p for p in pointers}

    @property
    def tasks(self) -> int:
        """One: the runs of a program are sequential."""
        return 1

    @property
    def task(self) -> None:
        """None: there is no machine code."""
        return None

    @property
    def aligned(self) -> tuple[int, ...]:
        """None: any address will do."""
        return ()

    def unstreamed(self) -> "InterpretedProgram":
        """The same program."""
        return self

    def bound(self, buffers: Sequence[int], values: Sequence[int] = ()) -> Callable[[], None]:
        """A function that runs it on these buffers and values at each call."""
        return partial(self.execute, buffers, values)

    def execute(
        self, buffers: Sequence[int], values: Sequence[int] = (), dims: LaunchDims | None = None
    ) -> None:
        """Run on the buffers of `slots`, given by address. Raises as `interpret` does."""
        with loading():  # not at import: few programs run here
            from compiler.lowered.interpret import interpret

        empty: Array = array_at(0, 0, bool_)
        arguments = [empty] * (max(self.slots, default=-1) + 1)
        for slot, address in zip(self.slots, buffers, strict=True):
            if slot in self._pointers:
                pointer = self._pointers[slot]
                arguments[slot] = array_at(address, pointer.size, pointer.dtype)
        for row in runs(self._spec, values):
            interpret(self._spec.instructions, arguments, limit=sys.maxsize, variables=row)


def compile_spec(
    spec: ProgramSpec, level: int, mode: Mode = "fast", cache: Cache = False
) -> CompiledSpec:
    """The program as it is: instructions are interpreted, at every `level`."""
    return CompiledSpec(spec, level)


def load(compiled: CompiledSpec) -> Program:
    """The program, ready to run."""
    return InterpretedProgram(compiled)
