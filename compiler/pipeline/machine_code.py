"""The last rows: the source of a kernel becomes a program that a device runs.

    specify   source and instructions ─▶ what the device's compiler takes
    compile   that ─▶ machine code, by LLVM, where the device has any
    load      machine code ─▶ what can be called
"""

from collections.abc import Sequence

from compiler.device.device import Device
from compiler.device.program import CompiledSpec, Program, ProgramSpec, program_spec
from compiler.llvm.source import Source
from compiler.llvm.writer import SourceLine
from compiler.lowered.instructions import Instruction
from compiler.settings.options import Options


def specify(
    name: str, lines: Sequence[SourceLine], instructions: Sequence[Instruction], where: Device
) -> ProgramSpec:
    """The input of the device's compiler: the source, and what its instructions say about it."""
    source = Source(title=name, name=name, rows=tuple(lines), kernel=0)
    return program_spec(name, source, where.name, instructions)


def compiled(where: Device, spec: ProgramSpec, options: Options) -> CompiledSpec:
    """The program as the device's compiler makes it; threads may compile at once."""
    return where.compile(spec, options.optimize, options.mode, options.cache)


def loaded(where: Device, code: CompiledSpec) -> Program:
    """The program, ready to run."""
    return where.load(code)
