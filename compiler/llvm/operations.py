"""LLVM IR for each operation of the table.

`emit` writes the instructions of one operation, as the LLVM column of its row defines them. This
module has the writer for the column's functions, and the routines that they name.
Floating-point flags: `contract` on products and on the combination of a reduction, `reassoc` on
that alone. A sum that is no reduction is never contracted with a product into a multiply-add: LLVM
would do so in one place and not in another, but a recomputed value must have the same bits in all
loops and kernels. So `y == y.max()` finds its maximum, and `y.max() - y` is never negative,
whichever of them is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from compiler.core.dtypes import DType, Scalar, float32
from compiler.core.errors import InternalError
from compiler.llvm import mathematics
from compiler.llvm.extremes import maximum, minimum
from compiler.llvm.routines import float_remainder, integer_power
from compiler.llvm.types import (
    float_constant,
    in_all_lanes,
    register_type,
    splat,
    suffix,
    vector_type,
)
from compiler.llvm.writer import Writer
from compiler.ops.row import LLVM
from compiler.ops.table import OPS

Routine = Callable[[Writer, DType, list[str], str, int], str]
"""Writes to a writer an operation on elements of a type: operands, name of the result, lanes."""


def emit(
    writer: Writer,
    op: str,
    dtype: DType,
    operands: list[str],
    name: str,
    is_reduction: bool = False,
    divisor: int | None = None,
    lanes: int = 1,
) -> str:
    """Write operation `op` on operands of type `dtype`; returns the name of the result.

    `dtype` is that of the last operand (for a comparison the result is `i1`). `divisor` is the
    value of the second operand of an integer division where it is a constant.
    """
    form = OPS[op].llvm.get(dtype.kind)
    if form is None:
        raise InternalError("LLVM IR", f"operation {op} has none for {dtype}")
    return form(_Place(writer, dtype, name, lanes, is_reduction, divisor), operands)


class _Place:
    """The place in a function where one operation is written: `ops_row.Instructions`."""

    __slots__ = (
        "_name", "_writer", "divisor", "dtype", "flags", "is_reduction", "lanes", "t", "truth",
    )  # fmt: skip

    def __init__(
        self,
        writer: Writer,
        dtype: DType,
        name: str,
        lanes: int,
        is_reduction: bool = False,
        divisor: int | None = None,
    ) -> None:
        self._writer = writer
        self._name = name
        self.dtype = dtype
        self.lanes = lanes
        self.divisor = divisor
        self.t = register_type(dtype, lanes)
        self.truth = vector_type("i1", lanes)
        self.is_reduction = is_reduction
        # a reduction in lanes has its order already
        self.flags = "reassoc contract" if is_reduction and lanes == 1 else "contract"

    def value(self, expression: str) -> str:
        """The name of an intermediate instruction."""
        return self._writer.value(expression)

    def result(self, expression: str) -> str:
        """The name of the last instruction."""
        return self._writer.value(expression, self._name)

    def constant(self, value: Scalar) -> str:
        """A number of the type, in all lanes."""
        if self.dtype.is_float:
            text = float_constant(float(value), self.dtype)
        else:
            text = str(value).lower() if self.dtype.kind == "bool" else str(value)
        return splat(text, register_type(self.dtype), self.lanes)

    def known(self, operand: str) -> int | None:
        """The integer value of an operand that is a constant in all lanes."""
        text = in_all_lanes(operand)
        return int(text) if text else None

    def call(
        self, function: str, operands: Sequence[str], more: Sequence[tuple[str, str]] = ()
    ) -> str:
        """The result of LLVM's own `function` of this type; `more` are types and operands."""
        typed = [*((self.t, operand) for operand in operands), *more]
        name = f"@llvm.{function}.{suffix(self.dtype, self.lanes)}"
        return self._writer.call(name, self.t, typed, self._name)

    def routine(self, name: str, operands: Sequence[str]) -> str:
        """The result of a routine of another module."""
        return ROUTINES[name](self._writer, self.dtype, list(operands), self._name, self.lanes)

    def in_single(self, form: LLVM, operands: Sequence[str]) -> str:
        """The result of `form` on halves as float32: they have no instructions of their own."""
        single = _Place(self._writer, float32, "", self.lanes)
        wide = [self.value(f"fpext {self.t} {operand} to {single.t}") for operand in operands]
        return self.result(f"fptrunc {single.t} {form(single, wide)} to {self.t}")


def _elementary(
    function: str, writer: Writer, dtype: DType, operands: list[str], name: str, lanes: int
) -> str:
    return mathematics.inline(writer, function, dtype.short, lanes, operands, name)


ROUTINES: Mapping[str, Routine] = {
    **{function: partial(_elementary, function) for function in mathematics.OPERATIONS},
    "maximum": maximum,
    "minimum": minimum,
    "float_remainder": float_remainder,
    "integer_power": integer_power,
}
"""The routines by the names that rows of the table use."""
