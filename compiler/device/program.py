"""Programs: a kernel's source with its metadata, compiled, and ready to run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from compiler.llvm.source import Source


@dataclass(frozen=True, slots=True)
class ProgramSpec:
    """Generated source of a kernel: what a device's compiler takes.

    `globals` are the argument slots, `outs` those written, `ins` those read, each ascending.
    """

    name: str
    source: Source
    device: str
    globals: tuple[int, ...]
    outs: tuple[int, ...]
    ins: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CompiledSpec:
    """A program that passed the device's compiler; `level` is the optimisation level."""

    spec: ProgramSpec
    level: int


class Program(Protocol):
    """A kernel that can run; it keeps no state between runs."""

    @property
    def name(self) -> str:
        """The kernel's name."""
        ...

    @property
    def slots(self) -> tuple[int, ...]:
        """The argument slots the program takes: one it never touches is left out."""
        ...

    def execute(self, buffers: Sequence[int]) -> None:
        """Run on the buffers of `slots`, given by address."""
        ...
