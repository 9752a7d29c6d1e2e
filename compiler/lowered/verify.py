"""The invariants of lowered instructions. A broken one is an error of this compiler.

 1. A register is written before it is read.
 2. A register that is written in a loop is not used after the end of that loop. An accumulator
    belongs to the loop in which it is made, not to those in which it is assigned.
 3. Loops nest: an EndRange closes the loop opened last, and every loop is closed.
 4. A register is written by one instruction; only Assign writes one again.
 5. Assign writes an accumulator, with a value of its type; Acc starts with one.
 6. The operands of an Alu have the number and types its row accepts, its result has the row's
    type, and its row has no expansion. Bitcast keeps the width.
 7. A Load reads a buffer that is not written, and a Store writes one that is; the type is the
    buffer's, the index int64, the gate bool.
 8. A buffer is used as a buffer only, never as a value.
 9. DefineGlobals come first, ascending by slot, no slot twice; slot 0 is there and alone is
    written. (A slot may be missing: an argument whose loads were simplified away.)
10. The bound of a Range is an int64 constant, 0 or more; open loops differ in number.
11. An Alu marked `is_reduction` combines an accumulator with a value, and the next instruction
    assigns the result to that accumulator: only there may the order of operations change.
12. An accumulator is assigned only inside reduction loops opened after it was made: the
    iterations of normal loops do not depend on each other.

Not checked: that indices are inside their buffers (`loops/verify.py` proves it, and
`lowered/interpret.py` checks each access).
"""

from collections.abc import Sequence
from typing import NoReturn

from compiler.dtypes import DType, bool_, int64
from compiler.errors import InternalError
from compiler.graph.nodes import from_bits
from compiler.lowered.instructions import (
    Acc,
    Alu,
    Assign,
    Bitcast,
    Const,
    DefineGlobal,
    EndRange,
    Instruction,
    Load,
    Range,
    Store,
    reads,
)
from compiler.lowered.printer import describe
from compiler.ops import OPS, REDUCTIONS

_COMBINING = {row.combine for row in REDUCTIONS.values()} | {"mulacc"}


def verify(instructions: Sequence[Instruction]) -> None:
    """Check every instruction, in order.

    Raises `InternalError` with the number of the first invariant broken, and the instruction.
    """
    _Check(instructions).run()


class _Check:
    """State of one check: what the registers in scope are, and which loops are open."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self.instructions = instructions
        self.number = 0
        self.dtypes: dict[int, DType] = {}
        self.buffers: dict[int, DefineGlobal] = {}
        self.constants: dict[int, int] = {}
        self.accumulators: dict[int, int] = {}
        """For each accumulator how many loops were open when it was made."""
        self.written: dict[int, int] = {}
        """For each register the number of the instruction that wrote it."""
        self.loops: list[tuple[Range, list[int]]] = []
        """The open loops, outermost first, with the registers written in each."""

    def run(self) -> None:
        """Check all instructions, then what can be told only at the end."""
        for number, instruction in enumerate(self.instructions):
            self.number = number
            self._registers(instruction)
            self._operands(instruction)
            self._instruction(instruction)
            self._write(instruction)
        if self.loops:
            self._broken(3, "a loop is never closed", self.loops[-1][0].name, "an EndRange")
        if not any(b.slot == 0 for b in self.buffers.values()):
            self._broken(9, "no slot 0", sorted(b.slot for b in self.buffers.values()), 0)

    def _broken(self, number: int, what: str, got: object, expected: object) -> NoReturn:
        """Raise the error that names the invariant and the current instruction."""
        op = describe(self.instructions[self.number])[0] if self.instructions else "nothing"
        raise InternalError(
            "lowered",
            f"invariant {number}: {what}, at instruction {self.number} ({op})",
            got=str(got),
            expected=str(expected),
        )

    def _registers(self, instruction: Instruction) -> None:
        """Invariants 1, 2 and 4."""
        used = list(reads(instruction))
        if isinstance(instruction, Assign):
            used.append(instruction.target)
        for register in used:
            if register not in self.written:
                self._broken(1, f"%{register} is used before it is written", "nothing", "a value")
            if register not in self.dtypes and register not in self.buffers:
                where = f"written by instruction {self.written[register]}"
                self._broken(2, f"%{register} is used outside its loop", where, "a use inside")
        out = getattr(instruction, "out", None)
        if out is not None and out in self.written:
            first = f"instruction {self.written[out]}"
            self._broken(4, f"%{out} is written again", first, "one instruction")

    def _operands(self, instruction: Instruction) -> None:
        """Invariants 7 and 8: which operands are buffers."""
        values = list(reads(instruction))
        if isinstance(instruction, Load | Store):
            buffer = values.pop(0)
            if buffer not in self.buffers:
                self._broken(7, f"%{buffer} is accessed as a buffer", "a value", "a DefineGlobal")
        for register in values:
            if register in self.buffers:
                name = self.buffers[register].name
                self._broken(8, f"%{register} is used as a value", f"buffer {name}", "a value")

    def _instruction(self, instruction: Instruction) -> None:
        """Invariants 3 and 5 to 12, whichever are about instructions of this kind."""
        match instruction:
            case DefineGlobal():
                self._define(instruction)
            case Range():
                self._range(instruction)
            case EndRange():
                self._end(instruction)
            case Acc():
                self._same(5, "the start of an accumulator", instruction.start, instruction.dtype)
            case Assign():
                self._assign(instruction)
            case Load() | Store():
                self._access(instruction)
            case Alu():
                self._alu(instruction)
            case Bitcast():
                source = self.dtypes[instruction.source]
                if source.bits != instruction.dtype.bits:
                    got = instruction.dtype
                    self._broken(6, "a bitcast changes the width", got, f"{source.bits} bits")

    def _same(self, number: int, what: str, register: int, expected: DType) -> None:
        """Refuse a register of another type than `expected`."""
        if self.dtypes[register] != expected:
            got = self.dtypes[register]
            self._broken(number, f"{what}, %{register}, has the wrong type", got, expected)

    def _define(self, instruction: DefineGlobal) -> None:
        """Invariant 9."""
        if len(self.buffers) != self.number:
            self._broken(9, "a DefineGlobal is not among the first", self.number, len(self.buffers))
        slots = [b.slot for b in self.buffers.values()]
        if instruction.slot <= max(slots, default=-1):
            self._broken(9, "slots do not ascend", instruction.slot, f"above {max(slots)}")
        if instruction.is_written != (instruction.slot == 0):
            got = f"slot {instruction.slot}"
            self._broken(9, "slot 0 alone is written", got, "slot 0 written, the others read")

    def _range(self, instruction: Range) -> None:
        """Invariant 10."""
        if self.constants.get(instruction.bound, -1) < 0:
            got = f"%{instruction.bound}"
            self._broken(10, "the bound is wrong", got, "an int64 constant, 0 or more")
        if any(r.number == instruction.number for r, _ in self.loops):
            what = "two open loops have one number"
            self._broken(10, what, instruction.number, "a number each")

    def _end(self, instruction: EndRange) -> None:
        """Invariant 3; the registers of the loop go out of scope."""
        is_open = [r.out for r, _ in self.loops]
        if not is_open or is_open[-1] != instruction.range:
            expected = f"%{is_open[-1]}, opened last" if is_open else "no loop is open"
            self._broken(3, "an end closes the wrong loop", f"%{instruction.range}", expected)

    def _assign(self, instruction: Assign) -> None:
        """Invariants 5 and 12."""
        target = instruction.target
        if target not in self.accumulators:
            self._broken(5, f"%{target} is assigned", "no accumulator", "an Acc")
        self._same(5, "the value assigned", instruction.source, self.dtypes[target])
        inside = self.loops[self.accumulators[target] :]
        normal = [r.name for r, _ in inside if r.role == "normal"]
        if normal or not inside:
            where = f"in normal loop {normal[0]}" if normal else "in no loop"
            what = f"accumulator %{target} is carried where it must not be"
            self._broken(12, what, where, "reduction loops opened after it was made")

    def _access(self, instruction: Load | Store) -> None:
        """Invariant 7."""
        buffer = self.buffers[instruction.buffer]
        if buffer.is_written != isinstance(instruction, Store):
            how = "written" if buffer.is_written else "read"
            self._broken(7, "the wrong access", buffer.name, f"it is only {how}")
        self._same(7, "the index", instruction.index, int64)
        if instruction.valid is not None:
            self._same(7, "the gate", instruction.valid, bool_)
        if isinstance(instruction, Store):
            self._same(7, "the value stored", instruction.source, buffer.dtype)
        elif instruction.dtype != buffer.dtype:
            self._broken(7, "a load of another type", instruction.dtype, buffer.dtype)

    def _alu(self, instruction: Alu) -> None:
        """Invariants 6 and 11."""
        row = OPS[instruction.op]
        if len(instruction.arguments) != row.arity:
            got = len(instruction.arguments)
            self._broken(6, "the number of operands is wrong", got, row.arity)
        if row.expansion is not None:
            self._broken(6, "it is no machine operation", row.name, "one without an expansion")
        dtypes = [self.dtypes[r] for r in instruction.arguments]
        if row.name == "where":
            self._same(6, "the condition", instruction.arguments[0], bool_)
            dtypes = dtypes[1:]
        if len(set(dtypes)) > 1:
            self._broken(6, "operands differ in type", " ".join(map(str, dtypes)), "one type")
        if dtypes[0].kind not in row.accepts:
            accepts = " ".join(sorted(row.accepts))
            self._broken(6, "the row does not accept the type", dtypes[0], accepts)
        if instruction.dtype != row.result_dtype(tuple(dtypes)):
            expected = row.result_dtype(tuple(dtypes))
            self._broken(6, "the result has the wrong type", instruction.dtype, expected)
        if instruction.is_reduction:
            self._combination(instruction)

    def _combination(self, instruction: Alu) -> None:
        """Invariant 11."""
        if instruction.op not in _COMBINING:
            expected = ", ".join(sorted(_COMBINING))
            self._broken(11, "the operation does not combine", instruction.op, expected)
        following = list(self.instructions[self.number + 1 : self.number + 2])
        held = [r for r in instruction.arguments if r in self.accumulators]
        if not any(following == [Assign(r, instruction.out)] for r in held):
            got = describe(following[0])[0] if following else "the end"
            expected = "an assign of the result to an accumulator among the operands"
            self._broken(11, "the result goes elsewhere", got, expected)

    def _write(self, instruction: Instruction) -> None:
        """Note what the instruction does to registers and scopes."""
        if isinstance(instruction, EndRange):
            for register in self.loops.pop()[1]:
                del self.dtypes[register]
            return
        if isinstance(instruction, Assign | Store):
            return
        out = instruction.out
        self.written[out] = self.number
        if isinstance(instruction, Range):
            self.loops.append((instruction, []))
        if isinstance(instruction, DefineGlobal):
            self.buffers[out] = instruction
            return
        self.dtypes[out] = int64 if isinstance(instruction, Range) else instruction.dtype
        if self.loops:
            self.loops[-1][1].append(out)
        if isinstance(instruction, Acc):
            self.accumulators[out] = len(self.loops)
        if isinstance(instruction, Const) and instruction.dtype == int64:
            self.constants[out] = int(from_bits(instruction.bits, int64))
