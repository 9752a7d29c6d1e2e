"""The invariants of lowered instructions. A broken one is a bug in this compiler.

 1. A register is written before it is read.
 2. A register that is written in a loop is not used after the end of that loop. An accumulator
    belongs to the loop in which it is made, not to those in which it is assigned.
 3. Loops nest: an EndRange closes the loop opened last, and every loop is closed.
 4. A register is written by one instruction; only Assign writes one again.
 5. Assign writes an accumulator, with a value of its type; Acc starts with one.
 6. The operands of an Alu have the number and types its row accepts, its result has the row's
    type, and its row has no expansion. Bitcast keeps the width.
 7. A Load reads an argument that is not written, and a Store writes one that is; scratch memory
    may be both, and in a serial loop the argument written. Elsewhere the argument written is read
    just where a Store that follows writes, at the same index, one for each index, and no other
    Store writes it. The type is the buffer's, the index int64, the predicate bool.
 8. A buffer is used as a buffer only, never as a value.
 9. DefineGlobals come first, ascending by slot, no slot twice; slot 0 is there and alone is
    written. (A slot may be missing: an argument whose loads were simplified away.)
10. The bound of a Range is an int64: a constant or a DefineVar, 0 or more, or what was computed
    outside all loops. Open loops differ in number or part.
11. An Alu marked `is_reduction` combines an accumulator with a value, and the next instruction
    assigns the result to that accumulator: only there may the order of operations change.
12. An accumulator is assigned only inside reduction or serial loops or Ifs opened after it was
    made, and in no other loop: the iterations of normal loops do not depend on each other.
13. An instruction of n lanes has operands of n lanes; an address has one lane, or n through
    pointers, and a predicate one or n. A condition, a bound and a lane of a vector have one.
14. A vector has 2 lanes or more, all of its type. Gep and Shuffle take lanes that are there,
    Shuffle those of two vectors alike.
15. Scratch memory has an element or more. A Buffer is made outside loops and Ifs.
16. DefineVar and Special are outside loops and Ifs, each name is another identifier, and the
    bounds, or the launch axis, exist.
17. A condition is bool, an EndIf closes the If opened last, and every If is closed. (A register
    written in an If goes out of scope with it, as invariant 2 says of loops.)
18. Blocks nest: an end has the number of the start before it, and every block ends.
19. A Barrier is in no If: every thread reaches it.
20. An Unroll of 1 or more stands right before a Range.
21. A PtrCat joins 2 or more readable memories of its type. It is loaded through, with a lane per
    pointer, and not stored to.
22. The memories of a Wmma have its type and hold just m·k, k·n, m·n and m·n elements; the target
    may be written, and is neither factor.
23. A Custom is registered, with operands and result of the types declared.
24. A streamed Store has no predicate and writes whole lines of 64 bytes, or a half or a quarter of
    one, of an argument.
25. The factors of a Dot are integers of 8 bits, 4 in a word, or signed ones of 16, 2 in a word,
    summed in 32 bits, or of bfloat16, 2 in a word, summed in float32. Each has a word for every
    lane, or one for all.

Not checked: that indices are inside their buffers (`loops/verify.py` proves it, and
`lowered/interpret.py` checks each access, and that a streamed one begins a line).
"""

from collections.abc import Sequence

from compiler.core.dtypes import DType, bool_, int64
from compiler.lowered import instructions as lowered
from compiler.lowered import machine_rules
from compiler.lowered.by_hand import Wmma
from compiler.lowered.instructions import LINE, PARTS, Instruction, reads
from compiler.lowered.machine import Custom, PtrCat
from compiler.lowered.printer import describe
from compiler.lowered.registers import Registers
from compiler.ops.table import OPS, REDUCTIONS

_COMBINING = {row.combine for row in REDUCTIONS.values()} | {"mulacc"}


def verify(instructions: Sequence[Instruction]) -> None:
    """Check every instruction, in order.

    Raises `InternalError` with the number of the first invariant broken, and the instruction.
    """
    _Check(instructions).run()


class _Check(Registers):
    """One check of a kernel."""

    def run(self) -> None:
        """Check all instructions, then invariants that need the whole list."""
        for number, instruction in enumerate(self.instructions):
            self.number = number
            read = reads(instruction)
            self._registers(instruction, read)
            self._operands(instruction, read)
            self._instruction(instruction)
            self.note(instruction)
        if self.loops:
            self.broken(3, "a loop is never closed", self.loops[-1].name, "an EndRange")
        if self.scopes:
            self.broken(17, "an If is never closed", "the end", "an EndIf")
        if self.blocks:
            self.broken(18, "a block is never closed", self.blocks[-1], "its end")
        if not any(b.slot == 0 for b in self.arguments):
            self.broken(9, "no slot 0", sorted(b.slot for b in self.arguments), 0)

    def _registers(self, instruction: Instruction, read: tuple[int, ...]) -> None:
        """Invariants 1, 2 and 4."""
        used = (*read, instruction.target) if isinstance(instruction, lowered.Assign) else read
        for register in used:
            if register not in self.written:
                self.broken(1, f"%{register} is used before it is written", "nothing", "a value")
            if not self.is_known(register):
                where = f"written by instruction {self.written[register]}"
                self.broken(2, f"%{register} is used outside its loop", where, "a use inside")
        out = getattr(instruction, "out", None)
        if out is not None and out in self.written:
            first = f"instruction {self.written[out]}"
            self.broken(4, f"%{out} is written again", first, "one instruction")

    def _operands(self, instruction: Instruction, values: tuple[int, ...]) -> None:
        """Invariants 7 and 8: the operands that are buffers."""
        if isinstance(instruction, PtrCat | Wmma | Custom):
            return  # their own rules tell memories from values
        if isinstance(instruction, lowered.Load | lowered.Store):
            buffer, values = values[0], values[1:]
            if buffer not in self.buffers and buffer not in self.pointers:
                expected = "a DefineGlobal or scratch memory"
                self.broken(7, f"%{buffer} is accessed as a buffer", "a value", expected)
        for register in values:
            self.value(register)

    def _instruction(self, instruction: Instruction) -> None:
        """Invariants 3 and 5 to 25, those for instructions of this kind."""
        match instruction:
            case lowered.DefineGlobal():
                self._define(instruction)
            case lowered.Range():
                self._range(instruction)
            case lowered.EndRange():
                self._end(instruction)
            case lowered.Acc():
                self.same(5, "the start of an accumulator", instruction.start, instruction.dtype)
                self.width("the start of an accumulator", instruction.start, instruction.lanes)
            case lowered.Assign():
                self._assign(instruction)
            case lowered.Load() | lowered.Store():
                self._access(instruction)
            case lowered.Alu():
                self._alu(instruction)
            case lowered.Cast() | lowered.Bitcast():
                self._convert(instruction)
            case lowered.Const():
                return
            case _:
                machine_rules.check(self, instruction)

    def _define(self, instruction: lowered.DefineGlobal) -> None:
        """Invariant 9."""
        slots = [b.slot for b in self.arguments]
        if len(slots) != self.number:
            self.broken(9, "a DefineGlobal is not among the first", self.number, len(slots))
        if instruction.slot <= max(slots, default=-1):
            self.broken(9, "slots do not ascend", instruction.slot, f"above {max(slots)}")
        if instruction.is_written != (instruction.slot == 0):
            got = f"slot {instruction.slot}"
            self.broken(9, "slot 0 alone is written", got, "slot 0 written, the others read")

    def _range(self, instruction: lowered.Range) -> None:
        """Invariant 10."""
        if self.least.get(instruction.bound, -1) < 0:
            got = f"%{instruction.bound}"
            expected = "an int64 constant or a DefineVar, 0 or more, or computed outside loops"
            self.broken(10, "the bound is wrong", got, expected)
        if any((r.number, r.part) == (instruction.number, instruction.part) for r in self.loops):
            what = "two open loops have one number"
            self.broken(10, what, instruction.number, "a number each")

    def _end(self, instruction: lowered.EndRange) -> None:
        """Invariant 3; the registers of the loop go out of scope."""
        opened = self.scopes[-1][0] if self.scopes else None
        if isinstance(opened, lowered.Range) and opened.out == instruction.range:
            return
        name = f"%{opened.out}" if isinstance(opened, lowered.Range) else "an If"
        expected = f"{name}, opened last" if opened else "no loop is open"
        self.broken(3, "an end closes the wrong loop", f"%{instruction.range}", expected)

    def _assign(self, instruction: lowered.Assign) -> None:
        """Invariants 5, 12 and 13."""
        target = instruction.target
        if target not in self.accumulators:
            self.broken(5, f"%{target} is assigned", "no accumulator", "an Acc")
        self.same(5, "the value assigned", instruction.source, self.dtypes[target])
        self.width("the value assigned", instruction.source, self.lanes[target])
        inside = [scope for scope, _ in self.scopes[self.accumulators[target] :]]
        normal = [r.name for r in inside if isinstance(r, lowered.Range) and r.role == "normal"]
        if normal or not inside:
            where = f"in loop {normal[0]}" if normal else "in no loop"
            what = f"accumulator %{target} is carried where it must not be"
            expected = "reduction or serial loops or Ifs opened after it was made"
            self.broken(12, what, where, expected)

    def _convert(self, instruction: lowered.Cast | lowered.Bitcast) -> None:
        """Invariants 6 and 13."""
        source = self.dtypes[instruction.source]
        if isinstance(instruction, lowered.Bitcast) and source.bits != instruction.dtype.bits:
            got = instruction.dtype
            self.broken(6, "a bitcast changes the width", got, f"{source.bits} bits")
        self.width("the operand", instruction.source, instruction.lanes)

    def _access(self, instruction: lowered.Load | lowered.Store) -> None:
        """Invariants 7, 13 and 21."""
        lanes = instruction.lanes
        dtype = self._accessed(instruction)
        self.same(7, "the index", instruction.index, int64)
        self.width("the index", instruction.index, 1, *self._own_addresses(instruction))
        if instruction.valid is not None:
            self.same(7, "the predicate", instruction.valid, bool_)
            self.width("the predicate", instruction.valid, 1, lanes)
        if isinstance(instruction, lowered.Store):
            self.same(7, "the value stored", instruction.source, dtype)
            self.width("the value stored", instruction.source, lanes)
            if instruction.is_streamed:
                self._stream(instruction, dtype)
        elif instruction.dtype != dtype:
            self.broken(7, "a load of another type", instruction.dtype, dtype)

    def _stream(self, instruction: lowered.Store, dtype: DType) -> None:
        """Invariant 24."""
        size = instruction.lanes * dtype.itemsize
        is_argument = isinstance(self.buffers[instruction.buffer], lowered.DefineGlobal)
        is_even = not size % LINE or size in PARTS
        if not is_even or instruction.valid is not None or not is_argument:
            predicate = "" if instruction.valid is None else ", predicated"
            where = "of an argument" if is_argument else "of scratch memory"
            got = f"{size} bytes {where}{predicate}"
            self.broken(24, "it cannot be streamed", got, "whole lines of 64 bytes of an argument")

    def _own_addresses(self, instruction: lowered.Load | lowered.Store) -> tuple[int, ...]:
        return (instruction.lanes,) if instruction.buffer in self.pointers else ()

    def _accessed(self, instruction: lowered.Load | lowered.Store) -> DType:
        """The type in memory, after a check of the access: invariants 7, 13 and 21."""
        is_store = isinstance(instruction, lowered.Store)
        if instruction.lanes < 1:
            self.broken(13, "the number of lanes is wrong", instruction.lanes, "1 or more")
        if instruction.buffer in self.pointers:
            pointers = self.pointers[instruction.buffer]
            if is_store or instruction.lanes != pointers.lanes:
                got = "a store" if is_store else f"{instruction.lanes} lanes"
                expected = f"a load of {pointers.lanes} lanes"
                self.broken(21, "pointers are used wrongly", got, expected)
            return pointers.dtype
        buffer = self.buffers[instruction.buffer]
        is_serial = any(r.role == "serial" for r in self.loops)
        is_joined = is_serial or not self.loops  # an update of one element has no loop
        if isinstance(buffer, lowered.DefineGlobal) and buffer.is_written != is_store and not (
            buffer.is_written and (is_joined or self._is_overwritten(instruction))
        ):
            how = "written" if buffer.is_written else "read"
            self.broken(7, "the wrong access", buffer.name, f"it is only {how}")
        return buffer.dtype

    def _is_overwritten(self, load: lowered.Load | lowered.Store) -> bool:
        """True if a Store at the index of the load follows, and all Stores to the memory have
        it."""
        memory = load.buffer
        places = [
            (i.index, place)
            for place, i in enumerate(self.instructions)
            if isinstance(i, lowered.Store) and i.buffer == memory
        ]
        stored = dict(places)
        loads = (i for i in self.instructions if isinstance(i, lowered.Load) and i.buffer == memory)
        is_each = len(stored) == len(places) and set(stored) <= {i.index for i in loads}
        return is_each and stored.get(load.index, -1) > self.number

    def _alu(self, instruction: lowered.Alu) -> None:
        """Invariants 6, 11 and 13."""
        row = OPS[instruction.op]
        if len(instruction.arguments) != row.arity:
            got = len(instruction.arguments)
            self.broken(6, "the number of operands is wrong", got, row.arity)
        if row.expansion is not None:
            self.broken(6, "it is not a machine operation", row.name, "one without an expansion")
        for register in instruction.arguments:
            self.width("an operand", register, instruction.lanes)
        dtypes = [self.dtypes[r] for r in instruction.arguments]
        if row.has_condition:
            self.same(6, "the condition", instruction.arguments[0], bool_)
            dtypes = dtypes[1:]
        if len(set(dtypes)) > 1:
            self.broken(6, "operands differ in type", " ".join(map(str, dtypes)), "one type")
        if dtypes[0].kind not in row.accepts:
            accepts = " ".join(sorted(row.accepts))
            self.broken(6, "the row does not accept the type", dtypes[0], accepts)
        if instruction.dtype != row.result_dtype(tuple(dtypes)):
            expected = row.result_dtype(tuple(dtypes))
            self.broken(6, "the result has the wrong type", instruction.dtype, expected)
        if instruction.is_reduction:
            self._combination(instruction)

    def _combination(self, instruction: lowered.Alu) -> None:
        """Invariant 11."""
        if instruction.op not in _COMBINING:
            expected = ", ".join(sorted(_COMBINING))
            self.broken(11, "the operation does not combine", instruction.op, expected)
        following = list(self.instructions[self.number + 1 : self.number + 2])
        held = [r for r in instruction.arguments if r in self.accumulators]
        if not any(following == [lowered.Assign(r, instruction.out)] for r in held):
            got = describe(following[0])[0] if following else "the end"
            expected = "an assign of the result to an accumulator among the operands"
            self.broken(11, "the result goes elsewhere", got, expected)
