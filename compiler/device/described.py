"""described: a machine-code program without its code, enough to load it again.

    program ─▶ Described, and the key of its object code ─▶ program

It contains neither source nor instructions. If a run needs other code (a buffer with non-temporal
stores is not aligned to a cache line), the program is recompiled from its kernel.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from compiler.device.cpu import CpuProgram
from compiler.device.metadata import Variable, metadata_of
from compiler.device.program import CompiledSpec, Interface, Program, ProgramSpec
from compiler.llvm import jit
from compiler.llvm.level import Level

Again = Callable[[], Program]


@dataclass(frozen=True, slots=True)
class Described:
    """See the module docstring. `level` is the requested optimisation level."""

    name: str
    variables: tuple[Variable, ...]
    slots: tuple[int, ...]
    outs: tuple[int, ...]
    ins: tuple[int, ...]
    interface: Interface
    level: int
    done: Level


DESCRIBED = (Described, Variable, Interface, Level)
"""The record types of a description."""


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A placeholder for the source of a program that was loaded from the cache."""

    text: str = ""


class DescribedProgram(CpuProgram):
    """A program with cached machine code; `again` recompiles it from its kernel."""

    def __init__(self, compiled: CompiledSpec, again: Again) -> None:
        super().__init__(compiled)
        self._again = again

    def unstreamed(self) -> Program:
        """The program without non-temporal stores; compiled on first use."""
        return self._again().unstreamed() if self.aligned else self


def described(program: Program) -> tuple[Described, bytes, bytes] | None:
    """A program without its code, the key of the code, and the code; None if a description is not
    enough: no machine code, or launch indices that number its runs."""
    if not isinstance(program, CpuProgram) or program.task is None:
        return None
    compiled = program.compiled
    if compiled.done is None or not compiled.binary or not compiled.spec.instructions:
        return None
    spec = compiled.spec
    what = Described(
        spec.name, spec.metadata.vars, spec.globals, spec.outs, spec.ins, spec.interface,
        compiled.level, replace(compiled.done, because=str(compiled.done.because)),
    )  # fmt: skip
    return what, jit.object_key(spec.text, spec.name, compiled.done), compiled.binary


def loaded(what: Described, code: bytes, again: Again) -> DescribedProgram:
    """The described program with its machine code."""
    metadata = metadata_of(what.variables, what.slots, what.outs, what.ins)
    spec = ProgramSpec(what.name, Unwritten(), "CPU", metadata, (), what.interface)
    return DescribedProgram(CompiledSpec(spec, what.level, code, what.done), again)
