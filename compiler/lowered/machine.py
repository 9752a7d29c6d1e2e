"""Lowered instructions close to a machine: scratch memory, vectors, arguments, markers.

What `compiler/lowered/instructions.py` names in its grammar; registers are numbers, as there.
A register holds one value of its dtype, or several: `lanes` says how many.
"""

from dataclasses import dataclass
from typing import TypeAlias

from compiler.core.dtypes import DType
from compiler.lowered.by_hand import Barrier, Block, Buffer, Noop, Special, Wmma


@dataclass(frozen=True, slots=True)
class Local:
    """Scratch memory of `size` elements that each iteration has for itself; not initialised."""

    out: int
    dtype: DType
    size: int

    @property
    def name(self) -> str:
        """`local7`."""
        return f"local{self.out}"


@dataclass(frozen=True, slots=True)
class DefineVar:
    """An int64 the kernel gets at run time, from `minimum` to `maximum`; the caller checks it."""

    out: int
    name: str
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class If:
    """Instructions up to the EndIf happen where `condition` is true."""

    condition: int


@dataclass(frozen=True, slots=True)
class EndIf:
    """End of the If opened last."""


@dataclass(frozen=True, slots=True)
class Unroll:
    """The loop that begins next is to be unrolled `count` times; it computes the same."""

    count: int


@dataclass(frozen=True, slots=True)
class VConst:
    """A constant with a value in each lane, as bits."""

    out: int
    bits: tuple[int, ...]
    dtype: DType

    @property
    def lanes(self) -> int:
        """One per value."""
        return len(self.bits)


@dataclass(frozen=True, slots=True)
class Vectorize:
    """Values of one lane side by side."""

    out: int
    sources: tuple[int, ...]
    dtype: DType

    @property
    def lanes(self) -> int:
        """One per source."""
        return len(self.sources)


@dataclass(frozen=True, slots=True)
class Gep:
    """The lanes `indices` of a vector, in that order; one index gives a plain value.

    Of a plain value, which is its own lane 0, it is that value in every lane.
    """

    out: int
    source: int
    indices: tuple[int, ...]
    dtype: DType

    @property
    def lanes(self) -> int:
        """One per index."""
        return len(self.indices)


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The lanes `indices` of two vectors, in that order: those of `b` follow those of `a`."""

    out: int
    a: int
    b: int
    indices: tuple[int, ...]
    dtype: DType

    @property
    def lanes(self) -> int:
        """One per index."""
        return len(self.indices)


@dataclass(frozen=True, slots=True)
class Dot:
    """In each lane `c` and the sum of `parts` products: of the elements of its word of `a` and `b`.

    A factor of `parts` elements is the same word in all lanes; another has `parts` for each lane.
    They are converted to `dtype` and multiplied there; the products are added in any order. What
    processors make of bfloat16 beyond that says `llvm/dots.py`.
    """

    out: int
    a: int
    b: int
    c: int
    dtype: DType
    parts: int
    lanes: int = 1


@dataclass(frozen=True, slots=True)
class PtrCat:
    """Pointers side by side: lane i of a Load through it reads from pointer i."""

    out: int
    pointers: tuple[int, ...]
    dtype: DType

    @property
    def lanes(self) -> int:
        """One per pointer."""
        return len(self.pointers)


@dataclass(frozen=True, slots=True)
class Custom:
    """The operation that `compiler/lowered/custom.py` knows as `name`."""

    out: int | None
    name: str
    arguments: tuple[int, ...]
    dtype: DType | None


Memory: TypeAlias = Local | Buffer
Vector: TypeAlias = VConst | Vectorize | Gep | Shuffle
Marker: TypeAlias = Barrier | Block | Unroll | Noop
MachineInstruction: TypeAlias = (
    Memory | DefineVar | Special | If | EndIf | Marker | Vector | Dot | PtrCat | Wmma | Custom
)


def reads(instruction: MachineInstruction) -> tuple[int, ...]:
    """The registers an instruction reads, in order."""
    match instruction:
        case If(condition=condition):
            return (condition,)
        case Vectorize(sources=sources):
            return sources
        case Gep(source=source):
            return (source,)
        case Shuffle(a=a, b=b):
            return (a, b)
        case Dot(a=a, b=b, c=c):
            return (a, b, c)
        case PtrCat(pointers=pointers):
            return pointers
        case Wmma(target=target, a=a, b=b, c=c):
            return (target, a, b, c)
        case Custom(arguments=arguments):
            return arguments
        case _:
            return ()


def writes(instruction: MachineInstruction) -> int | None:
    """The register an instruction writes, or None."""
    match instruction:
        case If() | EndIf() | Barrier() | Block() | Unroll() | Wmma() | Noop():
            return None
        case _:
            return instruction.out
