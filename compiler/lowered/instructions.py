"""Lowered instructions: a kernel as a list, one register written by each (numbered %0, %1, …).

    instruction = DefineGlobal(out, slot, dtype, size, is_written)   pointer argument
                | Const(out, bits, dtype)
                | Range(out, bound, number, role) … EndRange(range)  loop 0 … bound-1
                | Acc(out, start, dtype)                             accumulator, set to `start`
                | Assign(target, source)                             accumulator := source
                | Load(out, buffer, index, valid, dtype)             0 where `valid` is false
                | Store(buffer, index, source, valid)
                | Alu(out, op, arguments, dtype, is_reduction)
                | Cast(out, source, dtype) | Bitcast(out, source, dtype)

An accumulator is the only register written twice. `is_reduction` marks the combining operation
of a reduction, whose order floating-point arithmetic may change (ruling 8).
"""

from dataclasses import dataclass
from typing import TypeAlias

from compiler.dtypes import DType
from compiler.loops.nodes import Role


@dataclass(frozen=True, slots=True)
class DefineGlobal:
    """The pointer to `size` elements that the kernel gets as argument `slot`."""

    out: int
    slot: int
    dtype: DType
    size: int
    is_written: bool

    @property
    def name(self) -> str:
        """`out` or `in1`, `in2`, …"""
        return "out" if self.is_written else f"in{self.slot}"


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

    @property
    def name(self) -> str:
        """`i0` for a normal axis, `r2` for a reduction."""
        return f"{'i' if self.role == 'normal' else 'r'}{self.number}"


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


@dataclass(frozen=True, slots=True)
class Assign:
    """The accumulator `target` takes the value of `source`."""

    target: int
    source: int


@dataclass(frozen=True, slots=True)
class Load:
    """Element `index` of `buffer`; where `valid` is false memory is not touched and it is 0."""

    out: int
    buffer: int
    index: int
    valid: int | None
    dtype: DType


@dataclass(frozen=True, slots=True)
class Store:
    """Writes `source` to element `index` of `buffer`, unless `valid` is false."""

    buffer: int
    index: int
    source: int
    valid: int | None


@dataclass(frozen=True, slots=True)
class Alu:
    """An operation of the table."""

    out: int
    op: str
    arguments: tuple[int, ...]
    dtype: DType
    is_reduction: bool = False


@dataclass(frozen=True, slots=True)
class Cast:
    """The value converted to `dtype`."""

    out: int
    source: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class Bitcast:
    """The same bits as `dtype`."""

    out: int
    source: int
    dtype: DType


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


def writes(instruction: Instruction) -> int | None:
    """The register an instruction writes; None for a store or an end."""
    match instruction:
        case EndRange() | Store():
            return None
        case Assign():
            return instruction.target
        case _:
            return instruction.out
