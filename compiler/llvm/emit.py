"""emit: lowered instructions as the text of one LLVM module.

    Before:  …
             3  %3 = range %2 i0
             4    %4 = load f32 %1[%3]   …
    After:   …
             br label %i0.3.head
             i0.3.head:
               %i0.3 = phi i64 [ 0, %entry ], [ %i0.3.next, %i0.3.body ]
               %i0.3.more = icmp slt i64 %i0.3, 64
               br i1 %i0.3.more, label %i0.3.body, label %i0.3.exit
             …
               %v4 = load float, ptr %t1
             …

A loop tests before it runs, so an empty range runs zero times. Accumulators become phi nodes of
the loops that assign them. A gated access is a branch around it: memory is not touched.

Relies on: invariants of `lowered/verify.py`.
Ensures: LLVM accepts the text; each line knows the instruction it belongs to.
"""

from dataclasses import dataclass, field

from compiler.dtypes import DType, bool_, int64
from compiler.graph.nodes import from_bits
from compiler.llvm import conversions, operations
from compiler.llvm.types import constant, memory_type, register_type
from compiler.llvm.writer import SourceLine, Writer
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
)


@dataclass(slots=True)
class _Loop:
    """An open loop: where its phis stand, and what they carry."""

    range: Range
    stem: str
    before: str
    carried: list[int]
    phis: dict[int, tuple[int, str, str]] = field(default_factory=dict)
    """For each accumulator: index of its phi line, its name, and its value on entry."""
    head: int = 0


def emit(name: str, instructions: tuple[Instruction, ...]) -> list[SourceLine]:
    """The module with function `name`: its arguments are the buffers, in order of slot."""
    return _Emitter(name, instructions).run()


class _Emitter:
    """State of one emission: the LLVM value of each register, the open loops."""

    def __init__(self, name: str, instructions: tuple[Instruction, ...]) -> None:
        self.name = name
        self.instructions = instructions
        self.writer = Writer()
        self.values: dict[int, str] = {}
        self.dtypes: dict[int, DType] = {}
        self.constants: dict[int, int] = {}
        self.buffers: dict[int, DefineGlobal] = {}
        self.made_by: dict[int, int | None] = {}
        self.loops: list[_Loop] = []
        self.assigned = _assigned_in_loops(instructions)

    def run(self) -> list[SourceLine]:
        """Write every instruction, then wrap the lines in a module."""
        for number, instruction in enumerate(self.instructions):
            self.writer.instruction = number
            self._instruction(number, instruction)
        self.writer.instruction = None
        self.writer.line("ret void")
        return self._module()

    def _module(self) -> list[SourceLine]:
        pointers = [b for b in self.instructions if isinstance(b, DefineGlobal)]
        arguments = ", ".join(
            f"ptr noalias nocapture {'writeonly' if b.is_written else 'readonly'} %{b.name}"
            for b in pointers
        )
        lines = [SourceLine(f"define void @{self.name}({arguments}) #0 {{")]
        lines += [SourceLine("entry:"), *self.writer.lines, SourceLine("}")]
        for text in self.writer.functions.values():
            lines += [SourceLine(""), *map(SourceLine, text.splitlines())]
        lines += [SourceLine(""), *map(SourceLine, self.writer.declarations)]
        lines.append(SourceLine('attributes #0 = { nounwind "prefer-vector-width"="512" }'))
        return lines

    def _set(self, register: int, value: str, dtype: DType) -> None:
        self.values[register] = value
        self.dtypes[register] = dtype
        self.made_by[register] = self.writer.instruction

    def _instruction(self, number: int, instruction: Instruction) -> None:
        """Write one lowered instruction."""
        writer = self.writer
        match instruction:
            case DefineGlobal(out=out):
                self.buffers[out] = instruction
            case Const(out=out, bits=bits, dtype=dtype):
                self._set(out, constant(bits, dtype), dtype)
                if not dtype.is_float:
                    self.constants[out] = int(from_bits(bits, dtype))
            case Range():
                self._begin(number, instruction)
            case EndRange():
                self._end()
            case Acc(out=out, start=start, dtype=dtype):
                self._set(out, self.values[start], dtype)
            case Assign(target=target, source=source):
                self.values[target] = self.values[source]
                self.made_by[target] = self.made_by[source]
            case Load():
                self._load(instruction)
            case Store():
                self._store(instruction)
            case Alu():
                self._alu(instruction)
            case Cast(out=out, source=source, dtype=dtype):
                value, from_ = self.values[source], self.dtypes[source]
                self._set(out, conversions.cast(writer, value, from_, dtype, f"%v{out}"), dtype)
            case Bitcast(out=out, source=source, dtype=dtype):
                value, from_ = self.values[source], self.dtypes[source]
                self._set(out, conversions.bitcast(writer, value, from_, dtype, f"%v{out}"), dtype)

    def _alu(self, instruction: Alu) -> None:
        operands = [self.values[r] for r in instruction.arguments]
        operand_type = self.dtypes[instruction.arguments[-1]]
        divisor = self.constants.get(instruction.arguments[-1])
        value = operations.emit(
            self.writer,
            instruction.op,
            operand_type,
            operands,
            f"%v{instruction.out}",
            instruction.is_reduction,
            divisor,
        )
        self._set(instruction.out, value, instruction.dtype)

    def _begin(self, number: int, instruction: Range) -> None:
        """The head of a loop: its counter, its accumulators, its test."""
        writer = self.writer
        stem = f"{instruction.name}.{number}"
        loop = _Loop(instruction, stem, writer.block, self.assigned.get(number, []))
        writer.line(f"br label %{stem}.head")
        writer.label(f"{stem}.head")
        counter = f"%{stem}"
        loop.head = len(writer.lines)
        writer.line(f"{counter} = phi i64 [ 0, %{loop.before} ], [ {counter}.next, @LATCH ]")
        for register in loop.carried:
            phi = f"%acc{register}.{number}"
            entry = self.values[register]
            loop.phis[register] = (len(writer.lines), phi, entry)
            writer.line("")  # completed by `_end`, which knows the value carried around
            self.values[register] = phi
        bound = self.values[instruction.bound]
        test = writer.value(f"icmp slt i64 {counter}, {bound}", f"%{stem}.more")
        writer.line(f"br i1 {test}, label %{stem}.body, label %{stem}.exit")
        writer.label(f"{stem}.body")
        self._set(instruction.out, counter, int64)
        self.loops.append(loop)

    def _end(self) -> None:
        """The end of the innermost loop: count, jump back, complete the phis."""
        writer, loop = self.writer, self.loops.pop()
        counter, latch = f"%{loop.stem}", writer.block
        writer.line(f"{counter}.next = add nuw nsw i64 {counter}, 1")
        writer.line(f"br label %{loop.stem}.head")
        text = f"  {counter} = phi i64 [ 0, %{loop.before} ], [ {counter}.next, %{latch} ]"
        self._complete(loop.head, text, self.made_by[loop.range.out])
        for register, (line, phi, entry) in loop.phis.items():
            t = register_type(self.dtypes[register])
            around = self.values[register]
            text = f"  {phi} = phi {t} [ {entry}, %{loop.before} ], [ {around}, %{latch} ]"
            self._complete(line, text, self.made_by[register])
            self.values[register] = phi
        writer.label(f"{loop.stem}.exit")

    def _complete(self, line: int, text: str, instruction: int | None) -> None:
        """Replace a line written before its text, and what it belongs to, were known."""
        self.writer.lines[line] = SourceLine(text, instruction)

    def _address(self, buffer: int, index: int) -> tuple[str, str]:
        """The memory type and the address of an element."""
        definition = self.buffers[buffer]
        t = memory_type(definition.dtype)
        expression = f"getelementptr inbounds {t}, ptr %{definition.name}, i64 {self.values[index]}"
        return t, self.writer.value(expression)

    def _load(self, instruction: Load) -> None:
        """A load; under a gate it is a block of its own that is jumped over."""
        writer, out = self.writer, instruction.out
        if instruction.valid is None:
            value = self._plain_load(instruction, f"%v{out}")
            self._set(out, value, instruction.dtype)
            return
        stem, before = f"gate{out}", writer.block
        writer.line(f"br i1 {self.values[instruction.valid]}, label %{stem}.in, label %{stem}.out")
        writer.label(f"{stem}.in")
        value = self._plain_load(instruction, "")
        writer.line(f"br label %{stem}.out")
        writer.label(f"{stem}.out")
        t, zero = register_type(instruction.dtype), constant(0, instruction.dtype)
        phi = f"phi {t} [ {zero}, %{before} ], [ {value}, %{stem}.in ]"
        self._set(out, writer.value(phi, f"%v{out}"), instruction.dtype)

    def _plain_load(self, instruction: Load, name: str) -> str:
        t, address = self._address(instruction.buffer, instruction.index)
        if instruction.dtype != bool_:
            return self.writer.value(f"load {t}, ptr {address}", name)
        byte = self.writer.value(f"load {t}, ptr {address}")
        return self.writer.value(f"icmp ne i8 {byte}, 0", name)

    def _store(self, instruction: Store) -> None:
        writer = self.writer
        stem = writer.fresh("store")
        if instruction.valid is not None:
            gate = self.values[instruction.valid]
            writer.line(f"br i1 {gate}, label %{stem}.in, label %{stem}.out")
            writer.label(f"{stem}.in")
        t, address = self._address(instruction.buffer, instruction.index)
        value = self.values[instruction.source]
        if t == "i8" and self.dtypes[instruction.source] == bool_:
            value = writer.value(f"zext i1 {value} to i8")
        writer.line(f"store {t} {value}, ptr {address}")
        if instruction.valid is not None:
            writer.line(f"br label %{stem}.out")
            writer.label(f"{stem}.out")


def _assigned_in_loops(instructions: tuple[Instruction, ...]) -> dict[int, list[int]]:
    """For each loop (by the index of its Range) the outer accumulators it assigns."""
    result: dict[int, list[int]] = {}
    open_loops: list[int] = []
    made_in: dict[int, int] = {}
    for number, instruction in enumerate(instructions):
        match instruction:
            case Range():
                open_loops.append(number)
                result[number] = []
            case EndRange():
                open_loops.pop()
            case Acc(out=out):
                made_in[out] = len(open_loops)
            case Assign(target=target):
                for loop in open_loops[made_in[target] :]:
                    if target not in result[loop]:
                        result[loop].append(target)
    return result
