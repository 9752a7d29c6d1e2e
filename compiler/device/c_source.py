"""A kernel as C11 source, for reading and for machines without LLVM: a second renderer.

    void k0(double *restrict out, const double *restrict in1)
    {
        for (int64_t i0 = 0; i0 < 6; i0++) {
            const double v3 = in1[i0];
            out[i0] = v3 * v3;
        }
    }

Each line is one instruction. The meanings are those of the operation table: signed arithmetic is
done unsigned so that it wraps, division and shifts are guarded, half precision is computed in
single. Where an operation takes more than a line, a helper function precedes the kernel.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from compiler.device.c_operations import conversion, literal, operation, type_name
from compiler.device.launch import ProgramError
from compiler.device.program import ProgramSpec, program_spec
from compiler.dtypes import DType, int64
from compiler.lowered import machine
from compiler.lowered.instructions import (
    Acc,
    Alu,
    Assign,
    Bitcast,
    Cast,
    Const,
    DefineGlobal,
    EndRange,
    Instruction,
    Load,
    Range,
    Store,
    register_lanes,
)

INCLUDES = ("math.h", "stdbool.h", "stdint.h", "string.h")


@dataclass(frozen=True, slots=True)
class CSource:
    """One kernel in C: `function` is its text, `helpers` the functions it calls, by name."""

    function: str
    helpers: dict[str, str]

    @property
    def text(self) -> str:
        """The translation unit of this kernel alone."""
        return module([self])


def module(sources: Iterable[CSource]) -> str:
    """One translation unit with several kernels; helpers that they share stand there once."""
    each = list(sources)
    helpers = {name: text for source in each for name, text in source.helpers.items()}
    parts = ["\n".join(f"#include <{name}>" for name in INCLUDES), *helpers.values()]
    return "\n\n".join([*parts, *(source.function for source in each)]) + "\n"


class CRenderer:
    """Writes C for the host."""

    device = "CPU"

    def render(self, instructions: Sequence[Instruction], name: str = "kernel") -> ProgramSpec:
        """The program of these instructions. Raises `ProgramError` for one that C has no line for:
        vectors, tiles and custom functions.
        """
        source = _Writer(instructions).function(name)
        return program_spec(name, source, self.device, instructions)


class _Writer:
    """State of one rendering: the name and type of each register, and the lines so far."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self.instructions = instructions
        self.names: dict[int, str] = {}
        self.dtypes: dict[int, DType] = {}
        self.helpers: dict[str, str] = {}
        self.lines: list[str] = []
        self.depth = 1

    def function(self, name: str) -> CSource:
        for number, instruction in enumerate(self.instructions):
            if register_lanes(instruction) > 1:
                _no_line(number, instruction)
            self._instruction(number, instruction)
        head = f"void {name}({', '.join(self._parameters()) or 'void'})"
        return CSource("\n".join([head, "{", *self.lines, "}"]), self.helpers)

    def _parameters(self) -> list[str]:
        """The buffers, in order of slot, then the variables in program order, as in LLVM IR."""
        pointers = sorted(
            (i for i in self.instructions if isinstance(i, DefineGlobal)), key=lambda p: p.slot
        )
        buffers = [
            f"{'' if p.is_written else 'const '}{type_name(p.dtype)} *restrict {p.name}"
            for p in pointers
        ]
        variables = (
            i for i in self.instructions if isinstance(i, machine.DefineVar | machine.Special)
        )
        return buffers + [f"int64_t {v.name}" for v in variables]

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def _define(self, register: int, dtype: DType, text: str) -> None:
        """`const T vN = text;`"""
        self._name(register, f"v{register}", dtype)
        self._line(f"const {type_name(dtype)} v{register} = {text};")

    def _name(self, register: int, name: str, dtype: DType) -> None:
        self.names[register], self.dtypes[register] = name, dtype

    def _instruction(self, number: int, instruction: Instruction) -> None:
        names = self.names
        match instruction:
            case DefineGlobal(out=out, dtype=dtype, name=name):
                self._name(out, name, dtype)
            case Const(out=out, bits=bits, dtype=dtype):
                self._name(out, literal(bits, dtype, self.helpers), dtype)
            case Range(out=out, bound=bound, name=name):
                self._name(out, name, int64)
                self._line(f"for (int64_t {name} = 0; {name} < {names[bound]}; {name}++) {{")
                self.depth += 1
            case EndRange() | machine.EndIf():
                self.depth -= 1
                self._line("}")
            case Acc(out=out, start=start, dtype=dtype):
                self._name(out, f"acc{out}", dtype)
                self._line(f"{type_name(dtype)} acc{out} = {names[start]};")
            case Assign(target=target, source=source):
                self._line(f"{names[target]} = {names[source]};")
            case Load(out=out, buffer=buffer, index=index, valid=valid, dtype=dtype):
                read = f"{names[buffer]}[{names[index]}]"
                gated = read if valid is None else f"{names[valid]} ? {read} : 0"
                self._define(out, dtype, gated)
            case Store(buffer=buffer, index=index, source=source, valid=valid):
                gate = "" if valid is None else f"if ({names[valid]}) "
                self._line(f"{gate}{names[buffer]}[{names[index]}] = {names[source]};")
            case Alu() | Cast() | Bitcast():
                self._value(instruction)
            case _:
                self._machine(number, instruction)

    def _value(self, instruction: Alu | Cast | Bitcast) -> None:
        out, dtype = instruction.out, instruction.dtype
        if isinstance(instruction, Alu):
            operands = [self.names[r] for r in instruction.arguments]
            kind = self.dtypes[instruction.arguments[-1]]
            self._define(out, dtype, operation(instruction.op, kind, operands, self.helpers))
            return
        source = instruction.source
        if isinstance(instruction, Cast):
            text = conversion(self.names[source], self.dtypes[source], dtype, self.helpers)
            self._define(out, dtype, text)
            return
        before = type_name(self.dtypes[source])
        self._name(out, f"v{out}", dtype)
        self._line(f"const {before} bits{out} = {self.names[source]};")
        self._line(f"{type_name(dtype)} v{out};")
        self._line(f"memcpy(&v{out}, &bits{out}, sizeof v{out});")

    def _machine(self, number: int, instruction: Instruction) -> None:
        match instruction:
            case machine.DefineVar(out=out, name=name) | machine.Special(out=out, name=name):
                self._name(out, name, int64)
            case machine.Local(out=out, dtype=dtype) | machine.Buffer(out=out, dtype=dtype):
                self._name(out, instruction.name, dtype)
                self._line(f"{type_name(dtype)} {instruction.name}[{instruction.size}];")
            case machine.If(condition=condition):
                self._line(f"if ({self.names[condition]}) {{")
                self.depth += 1
            case machine.Block() | machine.Unroll() | machine.Barrier() | machine.Noop():
                self._line(f"/* {type(instruction).__name__.lower()} */")
            case _:
                _no_line(number, instruction)


def _no_line(number: int, instruction: Instruction) -> NoReturn:
    what = f"instruction {number} has no line of C"
    lanes = register_lanes(instruction)
    got = f"{type(instruction).__name__}, {lanes} lanes"
    raise ProgramError("C source", what, got=got, expected="one lane; no tiles, no custom function")
