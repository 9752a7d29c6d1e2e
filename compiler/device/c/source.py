"""A kernel as C11 source, for reading and for machines without LLVM: a second renderer.

    void k0(double *restrict out, const double *restrict in1)
    {
        for (int64_t i0 = 0; i0 < 6; i0++) {
            const double v3 = in1[i0];
            out[i0] = v3 * v3;
        }
    }

Each line is one instruction; what has lanes is an array, computed lane by lane. The meanings are
those of the operation table: signed arithmetic is done unsigned so that it wraps, division and
shifts are guarded, half precision is computed in single. Where an operation takes more than a
line, a helper function precedes the kernel.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from compiler.core.dtypes import DType, int64
from compiler.device.c.operations import conversion, literal, operation, type_name
from compiler.device.launch_sizes import ProgramError
from compiler.device.program import ProgramSpec, program_spec
from compiler.lowered import by_hand, machine
from compiler.lowered import instructions as lowered
from compiler.lowered.instructions import Instruction, register_lanes

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
    """One translation unit with several kernels; shared helpers are defined once."""
    each = list(sources)
    helpers = {name: text for source in each for name, text in source.helpers.items()}
    parts = ["\n".join(f"#include <{name}>" for name in INCLUDES), *helpers.values()]
    return "\n\n".join([*parts, *(source.function for source in each)]) + "\n"


class CRenderer:
    """Writes C for the host."""

    device = "CPU"

    def render(self, instructions: Sequence[Instruction], name: str = "kernel") -> ProgramSpec:
        """The program of these instructions. Raises `ProgramError` for one that C has no line for:
        tiles and custom functions.
        """
        source = _Writer(instructions).function(name)
        return program_spec(name, source, self.device, instructions)


class _Writer:
    """State of one rendering: the name and type of each register, and the lines so far."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self.instructions = instructions
        self.names: dict[int, str] = {}
        self.dtypes: dict[int, DType] = {}
        self.lanes: dict[int, int] = {}
        self.helpers: dict[str, str] = {}
        self.lines: list[str] = []
        self.depth = 1

    def function(self, name: str) -> CSource:
        for number, instruction in enumerate(self.instructions):
            self._instruction(number, instruction)
        head = f"void {name}({', '.join(self._parameters()) or 'void'})"
        return CSource("\n".join([head, "{", *self.lines, "}"]), self.helpers)

    def _parameters(self) -> list[str]:
        """The buffers, in order of slot, then the variables in program order, as in LLVM IR."""
        pointers = sorted(
            (i for i in self.instructions if isinstance(i, lowered.DefineGlobal)),
            key=lambda p: p.slot,
        )
        buffers = [
            f"{'' if p.is_written else 'const '}{type_name(p.dtype)} *restrict {p.name}"
            for p in pointers
        ]
        variables = (
            i for i in self.instructions if isinstance(i, machine.DefineVar | by_hand.Special)
        )
        return buffers + [f"int64_t {v.name}" for v in variables]

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def _define(self, register: int, dtype: DType, text: str, lanes: int = 1) -> None:
        """`const T vN = text;`, or in each lane `l` the same."""
        self._name(register, f"v{register}", dtype, lanes)
        if lanes == 1:
            self._line(f"const {type_name(dtype)} v{register} = {text};")
            return
        self._line(f"{type_name(dtype)} v{register}[{lanes}];")
        self._each(lanes, f"v{register}[l] = {text};")

    def _each(self, lanes: int, text: str) -> None:
        """A statement, in each lane `l` where there are several."""
        self._line(text if lanes == 1 else f"for (int l = 0; l < {lanes}; l++) {text}")

    def _name(self, register: int, name: str, dtype: DType, lanes: int = 1) -> None:
        self.names[register], self.dtypes[register] = name, dtype
        self.lanes[register] = lanes

    def _of(self, register: int, lane: str = "l") -> str:
        """An operand, in lane `lane` where it has several."""
        name = self.names[register]
        return name if self.lanes[register] == 1 else f"{name}[{lane}]"

    def _instruction(self, number: int, instruction: Instruction) -> None:
        names = self.names
        match instruction:
            case lowered.DefineGlobal(out=out, dtype=dtype, name=name):
                self._name(out, name, dtype)
            case lowered.Const(out=out, bits=bits, dtype=dtype):
                self._name(out, literal(bits, dtype, self.helpers), dtype)
            case lowered.Range(out=out, bound=bound, name=dotted):
                name = dotted.replace(".", "_")
                self._name(out, name, int64)
                self._line(f"for (int64_t {name} = 0; {name} < {names[bound]}; {name}++) {{")
                self.depth += 1
            case lowered.EndRange() | machine.EndIf():
                self.depth -= 1
                self._line("}")
            case lowered.Acc(out=out, start=start, dtype=dtype):
                lanes = instruction.lanes
                self._name(out, f"acc{out}", dtype, lanes)
                if lanes == 1:
                    self._line(f"{type_name(dtype)} acc{out} = {names[start]};")
                    return
                self._line(f"{type_name(dtype)} acc{out}[{lanes}];")
                self._each(lanes, f"acc{out}[l] = {self._of(start)};")
            case lowered.Assign(target=target, source=source):
                self._each(self.lanes[target], f"{self._of(target)} = {self._of(source)};")
            case lowered.Load(out=out, valid=valid, dtype=dtype, lanes=lanes):
                read = self._element(instruction)
                predicated = read if valid is None else f"{self._of(valid)} ? {read} : 0"
                self._define(out, dtype, predicated, lanes)
            case lowered.Store(source=source, valid=valid, lanes=lanes):
                predicate = "" if valid is None else f"if ({self._of(valid)}) "
                text = f"{predicate}{self._element(instruction)} = {self._of(source)};"
                self._each(lanes, text)
            case lowered.Alu() | lowered.Cast() | lowered.Bitcast():
                self._value(instruction)
            case _:
                self._machine(number, instruction)

    def _element(self, access: lowered.Load | lowered.Store) -> str:
        """The element of memory that is accessed, in lane `l` where there are several."""
        buffer, index = self.names[access.buffer], self._of(access.index)
        if self.lanes[access.buffer] > 1:
            return f"{buffer}[l][{index}]"
        return f"{buffer}[{index}]" if access.lanes == 1 else f"{buffer}[{index} + l]"

    def _value(self, instruction: lowered.Alu | lowered.Cast | lowered.Bitcast) -> None:
        out, dtype, lanes = instruction.out, instruction.dtype, instruction.lanes
        if isinstance(instruction, lowered.Alu):
            operands = [self._of(r) for r in instruction.arguments]
            kind = self.dtypes[instruction.arguments[-1]]
            text = operation(instruction.op, kind, operands, self.helpers)
            self._define(out, dtype, text, lanes)
            return
        source = instruction.source
        if isinstance(instruction, lowered.Cast):
            text = conversion(self._of(source), self.dtypes[source], dtype, self.helpers)
            self._define(out, dtype, text, lanes)
            return
        before, size = type_name(self.dtypes[source]), "" if lanes == 1 else f"[{lanes}]"
        self._name(out, f"v{out}", dtype, lanes)
        self._line(f"{before} bits{out}{size};")
        self._each(lanes, f"bits{out}{size and '[l]'} = {self._of(source)};")
        self._line(f"{type_name(dtype)} v{out}{size};")
        self._line(f"memcpy(&v{out}, &bits{out}, sizeof v{out});")

    def _vector(self, instruction: machine.Vector) -> None:
        """An array of existing values."""
        match instruction:
            case machine.VConst(bits=bits, dtype=dtype):
                values = [literal(each, dtype, self.helpers) for each in bits]
            case machine.Vectorize(sources=sources):
                values = [self.names[s] for s in sources]
            case machine.Gep(source=source, indices=indices):
                values = [self._of(source, str(i)) for i in indices]
            case machine.Shuffle(a=a, b=b, indices=indices):
                lanes = self.lanes[a]
                values = [
                    self._of(a, str(i)) if i < lanes else self._of(b, str(i - lanes))
                    for i in indices
                ]
        out, dtype, lanes = instruction.out, instruction.dtype, instruction.lanes
        self._name(out, f"v{out}", dtype, lanes)
        size, text = ("", values[0]) if lanes == 1 else (f"[{lanes}]", f"{{{', '.join(values)}}}")
        self._line(f"const {type_name(dtype)} v{out}{size} = {text};")

    def _dot(self, instruction: machine.Dot) -> None:
        """The products of a word in each lane, one after the other."""
        dtype, parts, helpers = instruction.dtype, instruction.parts, self.helpers
        text = self._of(instruction.c)
        for part in range(parts):
            words = []
            for register in (instruction.a, instruction.b):
                is_one = self.lanes[register] == parts
                element = self._of(register, str(part) if is_one else f"l * {parts} + {part}")
                words.append(conversion(element, self.dtypes[register], dtype, helpers))
            product = operation("mul", dtype, words, helpers)
            text = operation("add", dtype, [text, product], helpers)
        self._define(instruction.out, dtype, text, instruction.lanes)

    def _machine(self, number: int, instruction: Instruction) -> None:
        match instruction:
            case machine.DefineVar(out=out, name=name) | by_hand.Special(out=out, name=name):
                self._name(out, name, int64)
            case machine.Local(out=out, dtype=dtype) | by_hand.Buffer(out=out, dtype=dtype):
                self._name(out, instruction.name, dtype)
                self._line(f"{type_name(dtype)} {instruction.name}[{instruction.size}];")
            case machine.VConst() | machine.Vectorize() | machine.Gep() | machine.Shuffle():
                self._vector(instruction)
            case machine.PtrCat(out=out, pointers=pointers, dtype=dtype, lanes=lanes):
                self._name(out, f"v{out}", dtype, lanes)
                each = ", ".join(self.names[p] for p in pointers)
                self._line(f"const {type_name(dtype)} *v{out}[{lanes}] = {{{each}}};")
            case machine.Dot():
                self._dot(instruction)
            case machine.If(condition=condition):
                self._line(f"if ({self.names[condition]}) {{")
                self.depth += 1
            case by_hand.Block() | machine.Unroll() | by_hand.Barrier() | by_hand.Noop():
                self._line(f"/* {type(instruction).__name__.lower()} */")
            case _:
                _no_line(number, instruction)


def _no_line(number: int, instruction: Instruction) -> NoReturn:
    what = f"instruction {number} has no line of C"
    lanes = register_lanes(instruction)
    got = f"{type(instruction).__name__}, {lanes} lanes"
    raise ProgramError("C source", what, got=got, expected="no tiles, no custom function")
