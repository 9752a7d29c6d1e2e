"""Collects the lines of one LLVM function, each with the lowered instruction it belongs to."""

from dataclasses import dataclass, field

from compiler.llvm import jit
from compiler.machines.processors import is_arm

ONE = 999_999
"""The number of a metadata node; numbers from a million on belong to loops."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of LLVM IR; `instruction` is the index of the lowered instruction, or None.

    `others` are more instructions that it belongs to: those that a function's frame is made from.
    """

    text: str
    instruction: int | None = None
    others: tuple[int, ...] = ()

    @property
    def instructions(self) -> tuple[int, ...]:
        """Every instruction that the line belongs to."""
        return self.others if self.instruction is None else (self.instruction, *self.others)


@dataclass(slots=True)
class Writer:
    """Appends instructions and hands out fresh names.

    `instruction` is the index that new lines are attributed to; `block` is the basic block
    being written; `declarations`, `functions` and `metadata` are what the module must contain
    in addition, and `allocations` are the lines at its entry. `has_avx512`, `is_arm` (AArch64) and
    `dots` (dot-product instructions for small types, `machines/processors.py`) describe the
    processor that the text is for.
    """

    lines: list[SourceLine] = field(default_factory=list)
    declarations: dict[str, None] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    metadata: list[str] = field(default_factory=list)
    allocations: list[SourceLine] = field(default_factory=list)
    instruction: int | None = None
    block: str = "entry"
    has_avx512: bool = field(default_factory=jit.has_avx512)
    dots: frozenset[str] = field(default_factory=jit.dots)
    is_arm: bool = field(default_factory=is_arm)
    _names: int = 0

    def line(self, text: str) -> None:
        """Append one line, indented."""
        self.lines.append(SourceLine(f"  {text}", self.instruction))

    def label(self, name: str) -> None:
        """Begin a basic block."""
        self.block = name
        self.lines.append(SourceLine(f"{name}:", self.instruction))

    def one(self) -> str:
        """The metadata node that holds a 1, once in a module."""
        text = f"!{ONE} = !{{i32 1}}"
        if text not in self.metadata:
            self.metadata.append(text)
        return f"!{ONE}"

    def fresh(self, stem: str = "t") -> str:
        """A name not used before: `exp28`, and `exp2.8`, which is another."""
        self._names += 1
        dot = "." if stem[-1:].isdigit() else ""
        return f"{stem}{dot}{self._names}"

    def value(self, expression: str, name: str = "") -> str:
        """Append `%name = expression`; returns `%name`."""
        name = name or f"%{self.fresh()}"
        self.line(f"{name} = {expression}")
        return name

    def call(self, function: str, result: str, operands: list[tuple[str, str]], name: str) -> str:
        """Call an intrinsic or library function on (type, value) operands, and declare it."""
        types = ", ".join(t for t, _ in operands)
        self.declarations[f"declare {result} {function}({types})"] = None
        inside = ", ".join(f"{t} {v}" for t, v in operands)
        return self.value(f"call {result} {function}({inside})", name)
