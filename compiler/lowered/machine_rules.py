"""The invariants of the instructions in `lowered/machine.py`; `lowered/verify.py` lists them."""

from compiler.core.dtypes import bool_
from compiler.lowered import custom, machine
from compiler.lowered.by_hand import Block, Buffer, Noop, Special, Wmma
from compiler.lowered.custom import CustomOperation
from compiler.lowered.instructions import DefineGlobal, Range
from compiler.lowered.machine import MachineInstruction
from compiler.lowered.registers import Registers
from compiler.ops.words import are_small, in_a_word


def check(state: Registers, instruction: MachineInstruction) -> None:
    """Check one instruction against invariants 13 to 23, and 25."""
    match instruction:
        case machine.Local() | Buffer():
            _memory(state, instruction)
        case machine.DefineVar() | Special():
            _argument(state, instruction)
        case machine.If(condition=condition):
            state.same(17, "the condition", condition, bool_)
            state.width("the condition", condition, 1)
        case machine.EndIf():
            _end_if(state)
        case Block():
            _block(state, instruction)
        case machine.Unroll():
            _unroll(state, instruction)
        case machine.VConst() | machine.Vectorize() | machine.Gep() | machine.Shuffle():
            _vector(state, instruction)
        case machine.PtrCat():
            _pointers(state, instruction)
        case machine.Dot():
            _dot(state, instruction)
        case Wmma():
            _tile(state, instruction)
        case machine.Custom():
            _custom(state, instruction)
        case Noop():
            return
        case _:  # a Barrier
            if any(isinstance(scope, machine.If) for scope, _ in state.scopes):
                state.broken(19, "not every thread gets here", "a barrier in an If", "outside")


def _vector(state: Registers, instruction: machine.Vector) -> None:
    """Invariants 13 and 14."""
    if isinstance(instruction, machine.Gep):
        _lanes_taken(state, instruction, (instruction.source,))
        return
    if isinstance(instruction, machine.Shuffle):
        _lanes_taken(state, instruction, (instruction.a, instruction.b))
        state.width("the second vector", instruction.b, state.lanes[instruction.a])
        return
    if instruction.lanes < 2:
        state.broken(14, "it is no vector", f"{instruction.lanes} lanes", "2 or more")
    for register in instruction.sources if isinstance(instruction, machine.Vectorize) else ():
        state.same(14, "a lane", register, instruction.dtype)
        state.width("a lane", register, 1)


def _lanes_taken(
    state: Registers, instruction: machine.Gep | machine.Shuffle, sources: tuple[int, ...]
) -> None:
    """Invariant 14."""
    for register in sources:
        state.same(14, "the vector", register, instruction.dtype)
    lanes = sum(state.lanes[register] for register in sources)
    outside = [i for i in instruction.indices if not 0 <= i < lanes]
    if outside or not instruction.indices:
        got = f"lane {outside[0]}" if outside else "none"
        state.broken(14, "there is no such lane", got, f"one of {lanes} lanes")


def _memory(state: Registers, instruction: machine.Memory) -> None:
    """Invariant 15."""
    if instruction.size < 1:
        state.broken(15, "a memory without elements", instruction.size, "1 or more")
    if isinstance(instruction, Buffer) and state.scopes:
        state.broken(15, "the kernel's memory is made twice", "in a loop or If", "outside them")


def _argument(state: Registers, instruction: machine.DefineVar | Special) -> None:
    """Invariant 16."""
    if state.scopes:
        state.broken(16, "an argument is read late", "in a loop or If", "outside them")
    if instruction.name in state.names or not instruction.name.isidentifier():
        state.broken(16, "the name does not tell it", instruction.name, "another identifier")
    state.names.add(instruction.name)
    if isinstance(instruction, machine.DefineVar):
        low, high = instruction.minimum, instruction.maximum
        if not -(2**63) <= low <= high < 2**63:
            state.broken(16, "no value is inside the bounds", f"{low} to {high}", "an int64")
    elif not (instruction.axis in (0, 1, 2) and 1 <= instruction.size < 2**63):
        got = f"axis {instruction.axis}, size {instruction.size}"
        state.broken(16, "there is no such launch axis", got, "axis 0, 1 or 2, size 1 or more")


def _end_if(state: Registers) -> None:
    """Invariant 17."""
    if not state.scopes or not isinstance(state.scopes[-1][0], machine.If):
        opened = f"loop {state.loops[-1].name}" if state.scopes else "nothing"
        state.broken(17, "an end closes no If", f"{opened} was opened last", "an If")


def _block(state: Registers, instruction: Block) -> None:
    """Invariant 18."""
    number = instruction.number
    if instruction.is_start:
        if number in state.blocks:
            state.broken(18, "two open blocks have one number", number, "a number each")
        state.blocks.append(number)
        return
    opened = state.blocks[-1] if state.blocks else None
    if opened != number:
        expected = "no block is open" if opened is None else f"{opened}, opened last"
        state.broken(18, "an end closes the wrong block", number, expected)
    state.blocks.pop()


def _unroll(state: Registers, instruction: machine.Unroll) -> None:
    """Invariant 20."""
    if not 1 <= instruction.count < 2**31:
        state.broken(20, "the count is wrong", instruction.count, "1 or more")
    following = state.instructions[state.number + 1 : state.number + 2]
    if not following or not isinstance(following[0], Range):
        state.broken(20, "nothing to unroll", "no loop begins next", "a Range")


def _pointers(state: Registers, instruction: machine.PtrCat) -> None:
    """Invariant 21."""
    if instruction.lanes < 2:
        state.broken(21, "they are no vector", f"{instruction.lanes} pointers", "2 or more")
    for register in instruction.pointers:
        _readable(state, 21, register)
        if state.buffers[register].dtype != instruction.dtype:
            got = state.buffers[register].dtype
            state.broken(21, f"pointer %{register} is to another type", got, instruction.dtype)


def _readable(state: Registers, number: int, register: int) -> None:
    """Refuse a register that is not a memory, or one that is only written."""
    memory = state.buffers.get(register)
    if memory is None:
        state.broken(number, f"%{register} is read as a memory", "none", "a memory")
    if isinstance(memory, DefineGlobal) and memory.is_written:
        state.broken(number, f"%{register} is read", f"{memory.name}, only written", "readable")


def _writable(state: Registers, number: int, register: int) -> None:
    """Refuse a register that is not a memory, or one that is only read."""
    memory = state.buffers.get(register)
    if memory is None:
        state.broken(number, f"%{register} is written as a memory", "none", "a memory")
    if isinstance(memory, DefineGlobal) and not memory.is_written:
        state.broken(number, f"%{register} is written", f"{memory.name}, only read", "writable")


def _tile(state: Registers, instruction: Wmma) -> None:
    """Invariant 22."""
    m, n, k, dtype = instruction.m, instruction.n, instruction.k, instruction.dtype
    if min(m, n, k) < 1 or dtype == bool_:
        state.broken(22, "it is no product", f"{m}×{n}×{k} of {dtype}", "1 or more, of numbers")
    _writable(state, 22, instruction.target)
    for register in (instruction.a, instruction.b, instruction.c):
        _readable(state, 22, register)
    if instruction.target in (instruction.a, instruction.b):
        state.broken(22, "a factor is overwritten", f"%{instruction.target}", "another memory")
    sizes = ((instruction.a, m * k), (instruction.b, k * n), (instruction.c, m * n))
    for register, size in (*sizes, (instruction.target, m * n)):
        memory = state.buffers[register]
        if (memory.dtype, memory.size) != (dtype, size):
            got = f"{memory.dtype}[{memory.size}]"
            state.broken(22, f"tile %{register} does not fit", got, f"{dtype}[{size}]")


def _dot(state: Registers, instruction: machine.Dot) -> None:
    """Invariants 13 and 25."""
    for register in (instruction.a, instruction.b):
        state.value(register)
        state.width("a factor", register, instruction.parts, instruction.parts * instruction.lanes)
    state.same(25, "what is added to", instruction.c, instruction.dtype)
    state.width("what is added to", instruction.c, instruction.lanes)
    a, b = (state.dtypes[register] for register in (instruction.a, instruction.b))
    if not are_small(a, b, instruction.dtype) or in_a_word(a) != instruction.parts:
        got = f"{instruction.parts} of {a} and {b} in {instruction.dtype}"
        state.broken(25, "there is no such sum of products", got, "4 of 8 bits, or 2 of 16")


def _custom(state: Registers, instruction: machine.Custom) -> None:
    """Invariant 23."""
    operation = custom.find(instruction.name)
    if operation is None:
        state.broken(23, "no such operation", instruction.name, "one that is registered")
    if len(instruction.arguments) != len(operation.operands):
        got, expected = len(instruction.arguments), len(operation.operands)
        state.broken(23, "the number of operands is wrong", got, expected)
    is_value = instruction.out is not None
    if instruction.dtype != operation.result or is_value != (operation.result is not None):
        state.broken(23, "the result is another", instruction.dtype, operation.result)
    _operands(state, instruction, operation)


def _operands(state: Registers, instruction: machine.Custom, operation: CustomOperation) -> None:
    """Invariant 23: each operand has the type that the operation declares."""
    for register, operand in zip(instruction.arguments, operation.operands, strict=True):
        if not operand.is_memory:
            state.same(23, "an operand", register, operand.dtype)
            state.width("an operand", register, 1)
            continue
        memory = state.buffers.get(register)
        got = "no memory" if memory is None else str(memory.dtype)
        if got != str(operand.dtype):
            state.broken(23, f"operand %{register} is another", got, f"memory of {operand.dtype}")
