"""The state of a check of lowered instructions: registers in scope, and open scopes."""

from collections.abc import Sequence
from typing import NoReturn, TypeAlias

from compiler.core.dtypes import DType, int64
from compiler.core.errors import InternalError
from compiler.graph.bits import from_bits
from compiler.lowered import instructions as lowered
from compiler.lowered.by_hand import Buffer
from compiler.lowered.instructions import Instruction, register_dtype, register_lanes, writes
from compiler.lowered.machine import DefineVar, EndIf, If, Local, PtrCat
from compiler.lowered.printer import describe

Scope: TypeAlias = lowered.Range | If


class Registers:
    """Tables by register, filled instruction by instruction."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self.instructions = instructions
        self.number = 0
        self.dtypes: dict[int, DType] = {}
        self.lanes: dict[int, int] = {}
        self.buffers: dict[int, lowered.DefineGlobal | Local | Buffer] = {}
        self.pointers: dict[int, PtrCat] = {}
        self.least: dict[int, int] = {}
        """The least value of each int64 constant, variable, and value computed outside loops."""
        self.accumulators: dict[int, int] = {}
        """For each accumulator the number of scopes that were open when it was defined."""
        self.written: dict[int, int] = {}
        """For each register the number of the instruction that wrote it."""
        self.scopes: list[tuple[Scope, list[int]]] = []
        """The open loops and Ifs, outermost first, with the registers written in each."""
        self.blocks: list[int] = []
        """The numbers of the open blocks, outermost first."""
        self.names: set[str] = set()
        """The names of the int64 arguments."""

    @property
    def loops(self) -> list[lowered.Range]:
        """The open loops, outermost first."""
        return [scope for scope, _ in self.scopes if isinstance(scope, lowered.Range)]

    @property
    def arguments(self) -> list[lowered.DefineGlobal]:
        """The buffers that are arguments."""
        return [b for b in self.buffers.values() if isinstance(b, lowered.DefineGlobal)]

    def is_known(self, register: int) -> bool:
        """True if a register is in scope, as a value, a memory or pointers."""
        return register in self.dtypes or register in self.buffers or register in self.pointers

    def broken(self, number: int, what: str, got: object, expected: object) -> NoReturn:
        """Raise the error that names the invariant and the current instruction."""
        op = describe(self.instructions[self.number])[0] if self.instructions else "nothing"
        raise InternalError(
            "lowered",
            f"invariant {number}: {what}, at instruction {self.number} ({op})",
            got=str(got),
            expected=str(expected),
        )

    def same(self, number: int, what: str, register: int, expected: DType) -> None:
        """Refuse a register that is not a value, or of another type than `expected`."""
        self.value(register)
        if self.dtypes[register] != expected:
            got = self.dtypes[register]
            self.broken(number, f"{what}, %{register}, has the wrong type", got, expected)

    def value(self, register: int) -> None:
        """Invariant 8: refuse a memory, or pointers, where a value is read."""
        if register in self.buffers:
            name = self.buffers[register].name
            self.broken(8, f"%{register} is used as a value", f"buffer {name}", "a value")
        if register in self.pointers:
            self.broken(8, f"%{register} is used as a value", "pointers", "a value")

    def width(self, what: str, register: int, *expected: int) -> None:
        """Invariant 13: refuse a register with another number of lanes."""
        got = self.lanes[register]
        if got not in expected:
            allowed = " or ".join(map(str, dict.fromkeys(expected)))
            self.broken(13, f"{what}, %{register}, has the wrong number of lanes", got, allowed)

    def note(self, instruction: Instruction) -> None:
        """Record the effect of the instruction on registers and scopes."""
        if isinstance(instruction, lowered.EndRange | EndIf):
            self._leave()
            return
        if isinstance(instruction, lowered.Range | If):
            self.scopes.append((instruction, []))
        out = writes(instruction)
        if out is None or out in self.written:
            return
        self.written[out] = self.number
        if self.scopes:
            self.scopes[-1][1].append(out)
        dtype = register_dtype(instruction)
        if dtype is not None:
            self.dtypes[out], self.lanes[out] = dtype, register_lanes(instruction)
        self._note_kind(out, instruction)

    def _note_kind(self, out: int, instruction: Instruction) -> None:
        match instruction:
            case lowered.DefineGlobal() | Local() | Buffer():
                self.buffers[out] = instruction
            case PtrCat():
                self.pointers[out] = instruction
            case lowered.Acc():
                self.accumulators[out] = len(self.scopes)
            case lowered.Const(bits=bits, dtype=dtype) if dtype == int64:
                self.least[out] = int(from_bits(bits, int64))
            case DefineVar(minimum=minimum):
                self.least[out] = minimum
            case lowered.Alu(dtype=dtype, lanes=1) if dtype == int64 and not self.scopes:
                self.least[out] = 0  # what is computed runs a loop no times where it is below

    def _leave(self) -> None:
        """Close the innermost scope: its registers are no longer visible."""
        for register in self.scopes.pop()[1]:
            self.dtypes.pop(register, None)
            self.buffers.pop(register, None)
            self.pointers.pop(register, None)
