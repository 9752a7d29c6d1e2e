"""Custom operations, which are not in the table: a NumPy function and LLVM IR for each name.

    register(CustomOperation("hypot", (Operand(f32), Operand(f32)), f32, np.hypot,
             "define internal float @sv.custom.hypot(float %a, float %b) { … }"))

A statement is a separate function, which may write to its memory operands. An inline operation
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
    """A custom operation: its NumPy reference and its LLVM IR.

    If inline, `reference` takes arrays that broadcast and returns one. If a statement, it takes
    NumPy scalars and flat arrays and returns a scalar or None; it may write to arrays that are
    scratch memory or the result of the kernel. `text` is the LLVM IR: an expression if inline, else
    the definition of `function`; bools are i1 in registers, i8 in memory. `declarations` are
    additional lines that the module needs.
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
        """The name of the function that the LLVM IR of a statement defines."""
        return f"@sv.custom.{self.name}"


_operations: dict[str, CustomOperation] = {}


def register(operation: CustomOperation) -> None:
    """Register an operation by its name.

    Raises `CompileError` if another operation has this name, if an inline operation has no result
    or takes a memory, and if the text of a statement does not define its function.
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
