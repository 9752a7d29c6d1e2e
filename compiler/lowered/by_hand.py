"""Instructions for programs written by hand; no lowering creates them.

`notebooks/04_lowering.ipynb` writes such programs in its section 7, and runs them on the
interpreter and as machine code. Shared memory and a Barrier, launch indices and products of tiles
belong to machines with groups of threads; a Block and a Noop are markers.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from compiler.core.dtypes import DType

Launch: TypeAlias = Literal["global", "local", "workgroup"]


@dataclass(frozen=True, slots=True)
class Buffer:
    """Shared scratch memory of `size` elements, one for the whole kernel; not initialised."""

    out: int
    dtype: DType
    size: int

    @property
    def name(self) -> str:
        """`buffer7`."""
        return f"buffer{self.out}"


@dataclass(frozen=True, slots=True)
class Special:
    """A launch index, 0 to `size` - 1, of axis 0, 1 or 2; on the CPU an int64 argument."""

    out: int
    kind: Launch
    axis: int
    size: int

    @property
    def name(self) -> str:
        """`gidx0`, `lidx0` or `widx0`."""
        return f"{self.kind[0]}idx{self.axis}"


@dataclass(frozen=True, slots=True)
class Barrier:
    """After it every thread sees all earlier writes."""


@dataclass(frozen=True, slots=True)
class Block:
    """Start or end of block `number`; a marker only."""

    number: int
    is_start: bool


@dataclass(frozen=True, slots=True)
class Wmma:
    """target := a · b + c on whole memories, row by row: (m, k) · (k, n) + (m, n).

    Each sum starts with its element of `c` and runs along k; machine code may reorder it.
    """

    target: int
    a: int
    b: int
    c: int
    m: int
    n: int
    k: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class Noop:
    """No operation."""
