"""Lowered instructions: a kernel as a list; each writes one virtual register, %0, %1, ….

    instruction = DefineGlobal(out, slot, dtype, size, is_written)   pointer argument
                | Const(out, bits, dtype)
                | Range(out, bound, number, role, part) … EndRange(range)  loop 0 … bound-1
                | Acc(out, start, dtype, lanes)                      accumulator, set to `start`
                | Assign(target, source)                             accumulator := source
                | Load(out, buffer, index, valid, dtype, lanes, ahead)   0 where `valid` is false
                | Store(buffer, index, source, valid, lanes, is_streamed)
                | Alu(out, op, arguments, dtype, is_reduction, lanes)
                | Cast(out, source, dtype, lanes) | Bitcast(out, source, dtype, lanes)
    and, in `compiler/lowered/machine.py`,
                | Local(out, dtype, size)                            scratch memory
                | DefineVar(out, name, minimum, maximum)             int64 argument
                | If(condition) … EndIf()
                | VConst(out, bits, dtype)                           a value per lane
                | Vectorize(out, sources, dtype) | Gep(out, source, indices, dtype)
                | Shuffle(out, a, b, indices, dtype)                 lanes of two vectors
                | Dot(out, a, b, c, dtype, parts, lanes)             c + products of small types
                | PtrCat(out, pointers, dtype)                       a pointer per lane
                | Custom(out, name, arguments, dtype)                see `lowered/custom.py`
                | Unroll(count)                                      of the next loop
    and, for programs written by hand, in `compiler/lowered/by_hand.py`,
                | Buffer(out, dtype, size)                           shared scratch memory
                | Special(out, kind, axis, size)                     launch index
                | Wmma(target, a, b, c, m, n, k, dtype)              target := a · b + c
                | Block(number, is_start) | Barrier() | Noop()

An accumulator is the only register written twice. `is_reduction` marks the combining operation
of a reduction, whose order floating-point arithmetic may change (ruling 8). A register has one
lane unless its instruction says otherwise; a Load or Store of n lanes is n adjacent elements.
"""

from dataclasses import dataclass
from typing import TypeAlias

from compiler.core.dtypes import DType, int64
from compiler.loops.nodes import Role, argument_name, axis_name
from compiler.lowered import by_hand, machine

LINE = 64
"""Bytes of a cache line: a non-temporal store writes one or several, or a part of one."""
PARTS = (16, 32)
"""Bytes of the parts of a line that a non-temporal store may write if vectors are shorter: the
processor combines consecutive ones until their line is whole (write combining)."""


@dataclass(frozen=True, slots=True)
class DefineGlobal:
    """The pointer argument `slot` of the kernel, to `size` elements."""

    out: int
    slot: int
    dtype: DType
    size: int
    is_written: bool

    @property
    def name(self) -> str:
        """`out` or `in1`, `in2`, …"""
        return argument_name(self.slot, self.is_written)


@dataclass(frozen=True, slots=True)
class Const:
    """A constant, as bits."""

    out: int
    bits: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class Range:
    """Begin of a loop; `out` counts from 0 to the value of `bound`, not included."""

    out: int
    bound: int
    number: int
    role: Role
    part: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """`i0` for a normal axis, `r2` for a reduction, `i0.1` for a part of one."""
        return axis_name(self.role, self.number, self.part)


@dataclass(frozen=True, slots=True)
class EndRange:
    """End of the loop that register `range` counts."""

    range: int


@dataclass(frozen=True, slots=True)
class Acc:
    """An accumulator that starts with the value of `start`."""

    out: int
    start: int
    dtype: DType
    lanes: int = 1


@dataclass(frozen=True, slots=True)
class Assign:
    """Sets the accumulator `target` to the value of `source`."""

    target: int
    source: int


@dataclass(frozen=True, slots=True)
class Load:
    """Element `index` of `buffer`; 0, and memory is not touched, where the predicate is false.

    Loads `lanes` elements from `index` on; through a PtrCat one of each pointer, at `index` or, if
    that has several lanes, at its own. `valid`, the predicate, has one lane or one for each. The
    elements `ahead` further on are prefetched, if they exist; 0 prefetches nothing.
    """

    out: int
    buffer: int
    index: int
    valid: int | None
    dtype: DType
    lanes: int = 1
    ahead: int = 0


@dataclass(frozen=True, slots=True)
class Store:
    """Writes `source` to the elements from `index` on, except where the predicate `valid` is false.

    With `is_streamed` the store is non-temporal: whole lines of the buffer, or equal parts of one.
    """

    buffer: int
    index: int
    source: int
    valid: int | None
    lanes: int = 1
    is_streamed: bool = False


@dataclass(frozen=True, slots=True)
class Alu:
    """An operation of the table, in each lane."""

    out: int
    op: str
    arguments: tuple[int, ...]
    dtype: DType
    is_reduction: bool = False
    lanes: int = 1


@dataclass(frozen=True, slots=True)
class Cast:
    """The value converted to `dtype`."""

    out: int
    source: int
    dtype: DType
    lanes: int = 1


@dataclass(frozen=True, slots=True)
class Bitcast:
    """The same bits as `dtype`."""

    out: int
    source: int
    dtype: DType
    lanes: int = 1


Instruction: TypeAlias = (
    DefineGlobal
    | Const
    | Range
    | EndRange
    | Acc
    | Assign
    | Load
    | Store
    | Alu
    | Cast
    | Bitcast
    | machine.MachineInstruction
)


def reads(instruction: Instruction) -> tuple[int, ...]:
    """The registers an instruction reads, in order."""
    match instruction:
        case DefineGlobal() | Const():
            return ()
        case Range():
            return (instruction.bound,)
        case EndRange():
            return (instruction.range,)
        case Acc():
            return (instruction.start,)
        case Assign() | Cast() | Bitcast():
            return (instruction.source,)
        case Load(buffer=buffer, index=index, valid=valid):
            return (buffer, index) if valid is None else (buffer, index, valid)
        case Store(buffer=buffer, index=index, source=source, valid=valid):
            plain = (buffer, index, source)
            return plain if valid is None else (*plain, valid)
        case Alu():
            return instruction.arguments
        case _:
            return machine.reads(instruction)


def writes(instruction: Instruction) -> int | None:
    """The register an instruction writes; None for a store or an end."""
    match instruction:
        case EndRange() | Store():
            return None
        case Assign():
            return instruction.target
        case DefineGlobal() | Const() | Range() | Acc() | Load() | Alu() | Cast() | Bitcast():
            return instruction.out
        case _:
            return machine.writes(instruction)


def register_lanes(instruction: Instruction) -> int:
    """The number of lanes of the register that an instruction writes."""
    return int(getattr(instruction, "lanes", 1))


def register_dtype(instruction: Instruction) -> DType | None:
    """The type of the register that an instruction writes; None if that is no value."""
    match instruction:
        case Range() | machine.DefineVar() | by_hand.Special():
            return int64
        case DefineGlobal() | machine.Local() | by_hand.Buffer() | machine.PtrCat():
            return None
        case _:
            return None if writes(instruction) is None else getattr(instruction, "dtype", None)
