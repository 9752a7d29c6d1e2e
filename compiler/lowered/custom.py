"""Operations from outside the table: for each name a NumPy function, and LLVM IR.

    register(CustomOperation("hypot", (Operand(f32), Operand(f32)), f32, np.hypot,
             "define internal float @sv.custom.hypot(float %a, float %b) { … }"))

A statement is a function of its own, which may write to memories it is given. An inline operation
is one expression of LLVM IR, in which `{0}`, `{1}`, … stand for its operands.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from compiler.core.dtypes import DType
from compiler.core.errors import CompileError


@dataclass(frozen=True, slots=True)
class Operand:
    """A value of `dtype`, or a memory with elements of `dtype`."""

    dtype: DType
    is_memory: bool = False


@dataclass(frozen=True, slots=True)
class CustomOperation:
    """One operation from outside, as the interpreter and LLVM need to know it.

    `reference` gets arrays that broadcast and gives one, if inline; if a statement it gets NumPy
    scalars and flat arrays, which it may write to where they are scratch memory or the kernel's
    result, and gives a scalar or None. `text` is the LLVM IR: an expression if inline, else the
    definition of `function`; bools in registers are i1, in memory i8. `declarations` are the
    lines the module needs besides.
    """

    name: str
    operands: tuple[Operand, ...]
    result: DType | None
    reference: Callable[..., Any]
    text: str
    is_inline: bool = False
    declarations: tuple[str, ...] = ()

    @property
    def function(self) -> str:
        """The name that a statement's LLVM IR defines."""
        return f"@sv.custom.{self.name}"


_operations: dict[str, CustomOperation] = {}


def register(operation: CustomOperation) -> None:
    """Make an operation known by its name.

    Raises `CompileError` where another has this name, where an inline operation has no result or
    takes a memory, and where a statement's text does not define its function.
    """
    name = operation.name
    if not name.isidentifier():
        raise CompileError("custom", "the name is not an identifier", got=repr(name))
    if _operations.get(name, operation) != operation:
        raise CompileError("custom", f"another operation is registered as {name}")
    if operation.is_inline and operation.result is None:
        raise CompileError("custom", f"{name} is inline and has no result")
    if operation.is_inline and any(o.is_memory for o in operation.operands):
        raise CompileError("custom", f"{name} is inline and takes a memory")
    if not operation.is_inline and f"{operation.function}(" not in operation.text:
        raise CompileError("custom", f"the text of {name} does not define {operation.function}")
    _operations[name] = operation


def find(name: str) -> CustomOperation | None:
    """The operation registered as `name`, or None."""
    return _operations.get(name)
