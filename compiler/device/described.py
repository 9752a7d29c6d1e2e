"""described: what is known of a machine-code program besides its code, enough to load it again.

    program ─▶ Described, and the key of its object code ─▶ program

Neither source nor instructions are in it. Where a run needs other code than that (buffers that are
streamed to and do not begin with a line), the program is compiled again from its kernel.
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
    """See the module docstring. `level` is the optimisation level that was asked for."""

    name: str
    variables: tuple[Variable, ...]
    slots: tuple[int, ...]
    outs: tuple[int, ...]
    ins: tuple[int, ...]
    interface: Interface
    level: int
    done: Level


DESCRIBED = (Described, Variable, Interface, Level)
"""The kinds of records that a description consists of."""


@dataclass(frozen=True, slots=True)
class Unwritten:
    """The source of a program of which only machine code is left."""

    text: str = ""


class DescribedProgram(CpuProgram):
    """A program of which the machine code was kept; `again` compiles it with its source."""

    def __init__(self, compiled: CompiledSpec, again: Again) -> None:
        super().__init__(compiled)
        self._again = again

    def unstreamed(self) -> Program:
        """The program that stores all in the ordinary way; compiled when it is asked for first."""
        return self._again().unstreamed() if self.aligned else self


def described(program: Program) -> tuple[Described, bytes, bytes] | None:
    """A program without its code, the key of that, and the code; None where a description is not
    enough: no machine code, or launch indices that tell its runs apart."""
    if not isinstance(program, CpuProgram) or program.task is None:
        return None
    made = program.compiled
    if made.done is None or not made.binary or not made.spec.instructions:
        return None
    spec = made.spec
    what = Described(
        spec.name, spec.metadata.vars, spec.globals, spec.outs, spec.ins, spec.interface,
        made.level, replace(made.done, because=str(made.done.because)),
    )  # fmt: skip
    return what, jit.object_key(spec.text, spec.name, made.done), made.binary


def loaded(what: Described, code: bytes, again: Again) -> DescribedProgram:
    """The program that was described, of its machine code."""
    metadata = metadata_of(what.variables, what.slots, what.outs, what.ins)
    spec = ProgramSpec(what.name, Unwritten(), "CPU", metadata, (), what.interface)
    return DescribedProgram(CompiledSpec(spec, what.level, code, what.done), again)
