"""Machine-level instructions: scratch memory, vectors, arguments, markers.

They are part of the grammar in `compiler/lowered/instructions.py`. Virtual registers are numbers; a
register holds one value of its dtype, or several: `lanes` is their number.
"""

from dataclasses import dataclass
from typing import TypeAlias

from compiler.core.dtypes import DType
from compiler.lowered.by_hand import Barrier, Block, Buffer, Noop, Special, Wmma


@dataclass(frozen=True, slots=True)
class Local:
    """Scratch memory of `size` elements, private to each iteration; not initialised."""

    out: int
    dtype: DType
    size: int

    @property
    def name(self) -> str:
        """`local7`."""
        return f"local{self.out}"


@dataclass(frozen=True, slots=True)
class DefineVar:
    """An int64 argument at run time, from `minimum` to `maximum`; the caller checks it."""

    out: int
    name: str
    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class If:
    """Instructions up to the EndIf run where `condition` is true."""

    condition: int


@dataclass(frozen=True, slots=True)
class EndIf:
    """End of the If opened last."""


@dataclass(frozen=True, slots=True)
class Unroll:
    """A hint to unroll the next loop `count` times."""

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
    """A vector of scalar values."""

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

    For a scalar, which is its own lane 0, this is a broadcast.
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
    They are converted to `dtype` and multiplied there; the products are added in any order.
    `llvm/dots.py` describes how processors round bfloat16.
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
    """A vector of pointers: lane i of a Load through it reads from pointer i."""

    out: int
    pointers: tuple[int, ...]
    dtype: DType

    @property
    def lanes(self) -> int:
        """One per pointer."""
        return len(self.pointers)


@dataclass(frozen=True, slots=True)
class Custom:
    """The custom operation that is registered as `name` (`compiler/lowered/custom.py`)."""

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
