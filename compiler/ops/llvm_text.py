"""LLVM IR of operations, as entries of their rows: functions over a writer of instructions.

An entry takes the writer and the names of the operands, and returns the name of the result;
functions here are entries, or return one. Longer code (elementary functions, remainders of floats,
powers of integers, vector max and min) is a routine of `llvm/`, named by the row.
"""

from collections.abc import Sequence

from compiler.ops.row import LLVM, Instructions


def instruction(opcode: str) -> LLVM:
    """One instruction on the operands: `add i32 %a, %b`, `fneg float %a`."""

    def write(to: Instructions, operands: Sequence[str]) -> str:
        return to.result(f"{opcode} {to.t} {', '.join(operands)}")

    return write


def floating(opcode: str) -> LLVM:
    """One instruction on floats, with the fast-math flags of its context; a sum outside of a
    reduction has none (`llvm/operations.py`)."""

    def write(to: Instructions, operands: Sequence[str]) -> str:
        has_flags = to.is_reduction or opcode == "fmul"
        flags = f" {to.flags}" if has_flags else ""
        return to.result(f"{opcode}{flags} {to.t} {', '.join(operands)}")

    return write


def intrinsic(function: str, *more: tuple[str, str], has_halves: bool = True) -> LLVM:
    """An LLVM intrinsic. Vectors of 16-bit floats are converted unless `has_halves`."""

    def write(to: Instructions, operands: Sequence[str]) -> str:
        if to.dtype.bits == 16 and to.dtype.is_float and to.lanes > 1 and not has_halves:
            return to.in_single(write, operands)
        return to.call(function, operands, more)

    return write


def routine(name: str, has_halves: bool = True) -> LLVM:
    """A routine of `llvm/`. 16-bit floats are converted unless `has_halves`."""

    def write(to: Instructions, operands: Sequence[str]) -> str:
        if to.dtype.bits == 16 and to.dtype.is_float and not has_halves:
            return to.in_single(write, operands)
        return to.routine(name, operands)

    return write


def with_zero(opcode: str) -> LLVM:
    """One instruction with 0 and the operand."""
    return lambda to, operands: to.result(f"{opcode} {to.t} {to.constant(0)}, {operands[0]}")


def and_constant(opcode: str, value: int | bool) -> LLVM:
    """One instruction with the operand and a constant."""
    return lambda to, operands: to.result(f"{opcode} {to.t} {operands[0]}, {to.constant(value)}")


def reciprocal(to: Instructions, operands: Sequence[str]) -> str:
    """1 / a"""
    return to.result(f"fdiv {to.t} {to.constant(1.0)}, {operands[0]}")


def choice(to: Instructions, operands: Sequence[str]) -> str:
    """b where a is true, else c"""
    condition, yes, no = operands
    return to.result(f"select {to.truth} {condition}, {to.t} {yes}, {to.t} {no}")


def multiply_add(to: Instructions, operands: Sequence[str]) -> str:
    """a * b + c of integers"""
    a, b, c = operands
    product = to.value(f"mul {to.t} {a}, {b}")
    return to.result(f"add {to.t} {product}, {c}")


def multiply_add_floats(to: Instructions, operands: Sequence[str]) -> str:
    """a * b + c: one fused instruction if the machine has it. For 16-bit floats, and in a
    reduction, which may be reordered, two instructions"""
    a, b, c = operands
    if not to.is_reduction and to.dtype.bits > 16:
        return to.call("fmuladd", operands)
    product = to.value(f"fmul contract {to.t} {a}, {b}")
    flags = f" {to.flags}" if to.is_reduction else ""
    return to.result(f"fadd{flags} {to.t} {product}, {c}")


def float_remainder(to: Instructions, operands: Sequence[str]) -> str:
    """C's fmod. LLVM's `frem` instruction would call it for each lane"""
    if to.lanes > 1:
        return to.routine("float_remainder", operands)
    return floating("frem")(to, operands)


def quotient(to: Instructions, operands: Sequence[str]) -> str:
    """a / b towards zero, 0 where b is 0; MIN / -1 wraps"""
    return _divided(to, operands, "div")


def remainder(to: Instructions, operands: Sequence[str]) -> str:
    """The remainder with the sign of a, 0 where b is 0"""
    return _divided(to, operands, "rem")


def _divided(to: Instructions, operands: Sequence[str], what: str) -> str:
    """Division without traps: the operands that would trap are replaced before, and the result
    after."""
    t, (a, b), is_signed = to.t, operands, to.dtype.kind == "int"
    zero, one, minus = (to.constant(value) for value in (0, 1, -1))
    instruction = f"{'s' if is_signed else 'u'}{what} {t}"
    divisor = to.known(b) if to.divisor is None else to.divisor
    if divisor is not None and divisor not in (0, -1):
        return to.result(f"{instruction} {a}, {b}")
    is_zero = to.value(f"icmp eq {t} {b}, {zero}")
    is_unsafe, negated = is_zero, ""
    if is_signed:
        is_minus = to.value(f"icmp eq {t} {b}, {minus}")
        is_unsafe = to.value(f"or {to.truth} {is_zero}, {is_minus}")
        negated = to.value(f"sub {t} {zero}, {a}") if what == "div" else zero
    safe = to.value(f"select {to.truth} {is_unsafe}, {t} {one}, {t} {b}")
    result = to.value(f"{instruction} {a}, {safe}")
    if is_signed:
        result = to.value(f"select {to.truth} {is_minus}, {t} {negated}, {t} {result}")
    return to.result(f"select {to.truth} {is_zero}, {t} {zero}, {t} {result}")


def shift(opcode: str) -> LLVM:
    """A shift by the width or more gives 0."""

    def write(to: Instructions, operands: Sequence[str]) -> str:
        fits, amount = _amount(to, operands[1])
        shifted = to.value(f"{opcode} {to.t} {operands[0]}, {amount}")
        return to.result(f"select {to.truth} {fits}, {to.t} {shifted}, {to.t} {to.constant(0)}")

    return write


def signed_shift(to: Instructions, operands: Sequence[str]) -> str:
    """a >> b; shifts by the width or more give the sign"""
    _, amount = _amount(to, operands[1])
    return to.result(f"ashr {to.t} {operands[0]}, {amount}")


def _amount(to: Instructions, operand: str) -> tuple[str, str]:
    """True if an amount is less than the width; and the amount limited to the width minus one."""
    fits = to.value(f"icmp ult {to.t} {operand}, {to.constant(to.dtype.bits)}")
    most = to.constant(to.dtype.bits - 1)
    return fits, to.value(f"select {to.truth} {fits}, {to.t} {operand}, {to.t} {most}")
