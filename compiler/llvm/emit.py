"""emit: lowered instructions as the text of one LLVM module.

    Before:  …
             3  %3 = range %2 i0
             4    %4 = load f32 %1[%3]   …
    After:   …
             br label %i0.3.body
             i0.3.body:
               %i0.3 = phi i64 [ 0, %entry ], [ %i0.3.next, %i0.3.body ]
             …
               %v4 = load float, ptr %t1
             …
               %i0.3.next = add nuw nsw i64 %i0.3, 1
               %i0.3.more = icmp slt i64 %i0.3.next, 64
               br i1 %i0.3.more, label %i0.3.body, label %i0.3.exit
             …

A loop that may run zero times tests before it runs. Accumulators become phi nodes of
the loops and Ifs that assign them. A predicated access has a branch around it, so that memory is
not touched where the predicate is false; a predicate of several lanes makes it a masked intrinsic.

Relies on: invariants of `lowered/verify.py`.
Ensures: LLVM accepts the text; each line knows the instruction it belongs to.
"""

from collections.abc import Collection

from compiler.core.dtypes import DType, int64
from compiler.graph.bits import from_bits
from compiler.llvm import conversions, operations, scratch, vectors
from compiler.llvm import dots as sums
from compiler.llvm.control import Control
from compiler.llvm.neighbours import Lane, neighbours
from compiler.llvm.types import constant, memory_type, register_type, vector
from compiler.llvm.writer import SourceLine
from compiler.lowered import custom, machine
from compiler.lowered import instructions as lowered
from compiler.lowered.by_hand import Barrier, Buffer, Special, Wmma
from compiler.lowered.instructions import Instruction
from compiler.lowered.machine import MachineInstruction
from compiler.machines.processors import is_arm


def emit(
    name: str,
    instructions: tuple[Instruction, ...],
    has_avx512: bool | None = None,
    takes_lanes: bool | None = None,
    dots: Collection[str] | None = None,
) -> list[SourceLine]:
    """The module with function `name`.

    Its arguments are the buffers, in order of slot, then an i64 for each DefineVar and Special, in
    program order, then, if it needs much, a pointer to scratch memory (`llvm/scratch.py`).
    `has_avx512`, `takes_lanes` (its multiply-adds can broadcast one lane of a register, as
    AArch64's do) and `dots` (its dot-product instructions for small types) describe the machine
    that the text is for. None means this host.
    """
    emitter = _Emitter(name, instructions)
    if is_arm() if takes_lanes is None else takes_lanes:
        emitter.together = neighbours(instructions)
    if takes_lanes is not None:
        emitter.writer.is_arm = takes_lanes
    if dots is not None:
        emitter.writer.dots = frozenset(dots)
    if has_avx512 is not None:
        emitter.writer.has_avx512 = has_avx512
    return emitter.run()


class _Emitter(Control):
    """State of one emission: values and control flow, and memories."""

    def __init__(self, name: str, instructions: tuple[Instruction, ...]) -> None:
        super().__init__(instructions)
        self.name = name
        self.instructions = instructions
        self.memories: dict[int, tuple[str, DType]] = {}
        """For each memory its pointer, or a vector of pointers, and the type of its elements."""
        self.joined: set[int] = set()
        """The registers that hold vectors of pointers."""
        self.scratch = scratch.layout(instructions)
        self.together: dict[int, Lane] = {}
        """The loads that are lanes of a wider one."""
        self.rows: dict[int, str] = {}
        """For each wider load, by the register that is wanted first, its value."""

    def run(self) -> list[SourceLine]:
        """Write every instruction, then wrap the lines in a module."""
        for number, instruction in enumerate(self.instructions):
            self.writer.instruction = number
            self._instruction(number, instruction)
        self.writer.instruction = None
        streams = [
            number for number, instruction in enumerate(self.instructions)
            if isinstance(instruction, lowered.Store) and instruction.is_streamed
        ]  # fmt: skip
        if streams:  # non-temporal stores become visible to the next kernel
            self.writer.lines.append(SourceLine("  fence seq_cst", None, tuple(streams)))
        return self._module()

    def _module(self) -> list[SourceLine]:
        loaded = {i.buffer for i in self.instructions if isinstance(i, lowered.Load)}
        # A function from outside may also read a buffer that it may write.
        calls = (i.arguments for i in self.instructions if isinstance(i, machine.Custom))
        loaded = loaded.union(*calls)
        streamed = {
            i.buffer for i in self.instructions if isinstance(i, lowered.Store) and i.is_streamed
        }
        arguments = ", ".join(
            [
                f"ptr noalias nocapture {_access(b, b.out in loaded)}"
                f"{'align 64 ' if b.out in streamed else ''}%{b.name}"
                for b in self.instructions
                if isinstance(b, lowered.DefineGlobal)
            ]
            + [
                f"i64 %var.{v.name}"
                for v in self.instructions
                if isinstance(v, machine.DefineVar | Special)
            ]
            + ["ptr noalias nocapture align 64 %scratch"] * bool(self.scratch.size)
        )
        head, entry, *foot = self._frame(
            f"define void @{self.name}({arguments}) #0 {{", "entry:", "  ret void", "}"
        )
        lines = [head, entry, *self.writer.allocations, *self.writer.lines, *foot]
        for text in self.writer.functions.values():
            lines += [SourceLine(""), *map(SourceLine, text.splitlines())]
        lines += [SourceLine(""), *map(SourceLine, self.writer.declarations)]
        lines.append(SourceLine('attributes #0 = { nounwind "prefer-vector-width"="512" }'))
        return lines + [SourceLine(text) for text in self.writer.metadata]

    def _frame(self, *texts: str) -> list[SourceLine]:
        """The lines around the function's body, from the instructions of its arguments."""
        parameters = lowered.DefineGlobal | machine.DefineVar | Special
        arguments = tuple(n for n, i in enumerate(self.instructions) if isinstance(i, parameters))
        return [SourceLine(text, None, arguments) for text in texts]

    def _instruction(self, number: int, instruction: Instruction) -> None:
        """Write one lowered instruction."""
        match instruction:
            case lowered.DefineGlobal(out=out, dtype=dtype):
                self.memories[out] = (f"%{instruction.name}", dtype)
            case lowered.Const(out=out, bits=bits, dtype=dtype):
                self.set(out, constant(bits, dtype), dtype)
                if not dtype.is_float:
                    self.constants[out] = int(from_bits(bits, dtype))
            case lowered.Range():
                self.begin_loop(number, instruction)
            case lowered.EndRange():
                self.end_loop()
            case lowered.Acc(out=out, start=start, dtype=dtype):
                self.set(out, self.values[start], dtype, instruction.lanes)
                self.accumulators.append(out)
            case lowered.Assign(target=target, source=source):
                self.values[target] = self.values[source]
                self.made_by[target] = self.made_by[source]
            case lowered.Load():
                self._load(instruction)
            case lowered.Store():
                self._store(instruction)
            case lowered.Alu():
                self._alu(instruction)
            case lowered.Cast() | lowered.Bitcast():
                self._convert(instruction)
            case _:
                self._machine(number, instruction)

    def _machine(self, number: int, instruction: MachineInstruction) -> None:
        """Write one instruction of `lowered/machine.py`; a Block or Noop is no code."""
        match instruction:
            case machine.Local(out=out, dtype=dtype) | Buffer(out=out, dtype=dtype):
                scratch.allocate(self.writer, instruction, self.scratch)
                self.memories[out] = (f"%{instruction.name}", dtype)
            case machine.DefineVar(out=out) | Special(out=out):
                self.set(out, f"%var.{instruction.name}", int64)
            case machine.If(condition=condition):
                self.begin_if(number, self.values[condition])
            case machine.EndIf():
                self.end_if()
            case machine.VConst() | machine.Vectorize() | machine.Gep() | machine.Shuffle():
                self._vector(instruction)
            case machine.PtrCat(out=out, pointers=pointers, dtype=dtype):
                single = [self.memories[p][0] for p in pointers]
                joined = vectors.join(self.writer, single, "ptr", f"%v{out}")
                self.memories[out] = (joined, dtype)
                self.joined.add(out)
            case Wmma(target=target, a=a, b=b, c=c):
                t, x, y, z = (self.memories[r][0] for r in (target, a, b, c))
                scratch.multiply(self.writer, instruction, (t, x, y, z))
            case machine.Unroll(count=count):
                self.unroll = count
            case Barrier():
                self.writer.line("fence seq_cst")
            case machine.Dot():
                self._dot(instruction)
            case machine.Custom():
                self._custom(instruction)

    def _alu(self, instruction: lowered.Alu) -> None:
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
            instruction.lanes,
        )
        self.set(instruction.out, value, instruction.dtype, instruction.lanes)

    def _convert(self, instruction: lowered.Cast | lowered.Bitcast) -> None:
        """Write a conversion of all lanes at once."""
        lanes, target = instruction.lanes, instruction.dtype
        value, source = self.values[instruction.source], self.dtypes[instruction.source]
        convert = conversions.cast if isinstance(instruction, lowered.Cast) else conversions.bitcast
        value = convert(self.writer, value, source, target, f"%v{instruction.out}", lanes)
        self.set(instruction.out, value, target, lanes)

    def _vector(self, instruction: machine.Vector) -> None:
        out, dtype = instruction.out, instruction.dtype
        t, name = register_type(dtype), f"%v{out}"
        match instruction:
            case machine.VConst(bits=bits):
                value = vector([constant(b, dtype) for b in bits], t)
            case machine.Vectorize(sources=sources):
                value = vectors.join(self.writer, [self.values[s] for s in sources], t, name)
            case machine.Gep(source=source, indices=indices):
                lanes = self.lanes[source]
                value = vectors.take(self.writer, self.values[source], t, lanes, indices, name)
            case machine.Shuffle(a=a, b=b, indices=indices):
                pair = self.values[a], self.values[b]
                value = vectors.shuffle(self.writer, pair, t, self.lanes[a], indices, name)
        self.set(out, value, dtype, instruction.lanes)

    def _dot(self, instruction: machine.Dot) -> None:
        a, b, out = instruction.a, instruction.b, instruction.out
        value = sums.dot(
            self.writer, instruction, (self.values[a], self.values[b]),
            (self.dtypes[a], self.dtypes[b]), (self.lanes[a], self.lanes[b]),
            self.values[instruction.c], f"%v{out}",
        )  # fmt: skip
        self.set(out, value, instruction.dtype, instruction.lanes)

    def _custom(self, instruction: machine.Custom) -> None:
        """A call of the function registered, or the expression registered."""
        writer, operation = self.writer, custom.find(instruction.name)
        assert operation is not None, "invariant 23"
        writer.declarations.update(dict.fromkeys(operation.declarations))
        result = "void" if operation.result is None else register_type(operation.result)
        operands = []
        for register, operand in zip(instruction.arguments, operation.operands, strict=True):
            is_memory, t = operand.is_memory, register_type(operand.dtype)
            operands.append(
                ("ptr", self.memories[register][0]) if is_memory else (t, self.values[register])
            )
        text = operation.text.format(*[o for _, o in operands]) if operation.is_inline else ""
        if not operation.is_inline:
            writer.functions[operation.function] = operation.text
            text = f"call {result} {operation.function}({', '.join(map(' '.join, operands))})"
        if instruction.out is None or operation.result is None:
            writer.line(text)
            return
        value = writer.value(text, f"%v{instruction.out}")
        self.set(instruction.out, value, operation.result)

    def _address(self, buffer: int, index: int, lanes: int) -> str:
        """The address of an element; through pointers one in each lane."""
        pointer, dtype = self.memories[buffer]
        if buffer in self.joined:
            offsets = self.lanes[index]
            return vectors.addresses(
                self.writer, dtype, lanes, pointer, self.values[index], offsets
            )
        t = memory_type(dtype)
        return self.writer.value(
            f"getelementptr inbounds {t}, ptr {pointer}, i64 {self.values[index]}"
        )

    def _load(self, instruction: lowered.Load) -> None:
        """A load; a predicated one is a basic block of its own behind a branch."""
        writer, out, lanes = self.writer, instruction.out, instruction.lanes
        valid, dtype = instruction.valid, instruction.dtype
        if out in self.together:
            self.set(out, self._lane(instruction, self.together[out]), dtype)
            return
        if valid is None or self.lanes[valid] > 1:
            predicate = None if valid is None else self.values[valid]
            self.set(out, self._loaded(instruction, predicate, f"%v{out}"), dtype, lanes)
            return
        stem, before = f"predicate{out}", writer.block
        writer.line(f"br i1 {self.values[valid]}, label %{stem}.in, label %{stem}.out")
        writer.label(f"{stem}.in")
        value = self._loaded(instruction, None, "")
        writer.line(f"br label %{stem}.out")
        writer.label(f"{stem}.out")
        t = register_type(dtype, lanes)
        zero = "zeroinitializer" if lanes > 1 else constant(0, dtype)
        phi = f"phi {t} [ {zero}, %{before} ], [ {value}, %{stem}.in ]"
        self.set(out, writer.value(phi, f"%v{out}"), dtype, lanes)

    def _lane(self, instruction: lowered.Load, lane: Lane) -> str:
        """An element of several that are loaded at once."""
        writer, dtype = self.writer, instruction.dtype
        if instruction.out == lane.first:
            address = self._address(instruction.buffer, instruction.index, 1)
            if lane.begin:
                t = memory_type(dtype)
                back = f"getelementptr inbounds {t}, ptr {address}, i64 -{lane.begin}"
                address = writer.value(back)
            self.rows[lane.first] = vectors.load(writer, dtype, lane.count, address, None, "")
        row, name = self.rows[lane.first], f"%v{instruction.out}"
        return vectors.lane(writer, row, register_type(dtype), lane.count, lane.number, name)

    def _loaded(self, instruction: lowered.Load, predicate: str | None, name: str) -> str:
        """The value of a load; `predicate` is its mask where it has several lanes."""
        dtype, lanes = instruction.dtype, instruction.lanes
        address = self._address(instruction.buffer, instruction.index, lanes)
        read = vectors.gather if instruction.buffer in self.joined else vectors.load
        if instruction.ahead:
            vectors.prefetch(self.writer, dtype, address, instruction.ahead)
        return read(self.writer, dtype, lanes, address, predicate, name)

    def _store(self, instruction: lowered.Store) -> None:
        writer, valid, lanes = self.writer, instruction.valid, instruction.lanes
        stem = writer.fresh("store")
        is_branch = valid is not None and self.lanes[valid] == 1
        predicate = None if valid is None else self.values[valid]
        if is_branch:
            writer.line(f"br i1 {predicate}, label %{stem}.in, label %{stem}.out")
            writer.label(f"{stem}.in")
            predicate = None
        address = self._address(instruction.buffer, instruction.index, lanes)
        dtype = self.dtypes[instruction.source]
        value = self.values[instruction.source]
        if instruction.is_streamed:
            vectors.stream(writer, dtype, lanes, value, address)
        else:
            vectors.store(writer, dtype, lanes, value, address, predicate)
        if is_branch:
            writer.line(f"br label %{stem}.out")
            writer.label(f"{stem}.out")


def _access(buffer: lowered.DefineGlobal, is_loaded: bool) -> str:
    """The attribute `readonly` or `writeonly` of a buffer; none if it is read and written."""
    if buffer.is_written:
        return "" if is_loaded else "writeonly "
    return "readonly "
