"""LLVM IR for each operation of the table, with the semantics of the rulings.

`emit` writes the instructions of one operation. An operation on floats, on integers and on
bools is one entry each of the tables below, or one function where it takes several lines.
Floating-point flags: `contract` anywhere, `reassoc` only on a reduction's combination.
"""

from collections.abc import Callable
from typing import TypeAlias

from compiler.dtypes import DType, float32
from compiler.llvm import integer_power, mathematics
from compiler.llvm.types import float_constant, register_type
from compiler.llvm.writer import Writer

Emit: TypeAlias = Callable[[Writer, DType, list[str], str], str]

FLOAT_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "fdiv": "fdiv", "mod": "frem"}
INTEGER_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "xor": "xor", "or": "or", "and": "and"}
BOOL_BINARY = {"add": "or", "mul": "and", "max": "or", "min": "and", "xor": "xor", "or": "or",
               "and": "and"}  # fmt: skip
FLOAT_COMPARE = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
INTEGER_COMPARE = {"lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
INTRINSIC = {"abs": "fabs", "sqrt": "sqrt", "trunc": "trunc", "floor": "floor", "ceil": "ceil",
             "round": "roundeven", "max": "maximum", "min": "minimum"}  # fmt: skip


def emit(
    writer: Writer,
    op: str,
    dtype: DType,
    operands: list[str],
    name: str,
    is_reduction: bool = False,
    divisor: int | None = None,
) -> str:
    """Write operation `op` on operands of type `dtype`; returns the name of the result.

    `dtype` is that of the last operand (for a comparison the result is `i1`). `divisor` is the
    value of the second operand of an integer division where it is a constant.
    """
    if op == "where":
        t = register_type(dtype)
        return writer.value(f"select i1 {operands[0]}, {t} {operands[1]}, {t} {operands[2]}", name)
    if op == "mulacc":
        return _multiply_add(writer, dtype, operands, name, is_reduction)
    if dtype.is_float:
        return _float(writer, op, dtype, operands, name, is_reduction)
    if dtype.kind == "bool":
        return _bool(writer, op, operands, name)
    return _integer(writer, op, dtype, operands, name, divisor)


def _flags(is_reduction: bool) -> str:
    return "reassoc contract" if is_reduction else "contract"


def _multiply_add(
    writer: Writer, dtype: DType, operands: list[str], name: str, is_reduction: bool
) -> str:
    """a * b + c: two instructions, which `contract` lets LLVM make one."""
    t = register_type(dtype)
    a, b, c = operands
    if not dtype.is_float:
        product = writer.value(f"mul {t} {a}, {b}")
        return writer.value(f"add {t} {product}, {c}", name)
    product = writer.value(f"fmul contract {t} {a}, {b}")
    return writer.value(f"fadd {_flags(is_reduction)} {t} {product}, {c}", name)


def _float(
    writer: Writer, op: str, dtype: DType, operands: list[str], name: str, is_reduction: bool
) -> str:
    t = register_type(dtype)
    if op in FLOAT_BINARY:
        a, b = operands
        return writer.value(f"{FLOAT_BINARY[op]} {_flags(is_reduction)} {t} {a}, {b}", name)
    if op in FLOAT_COMPARE:
        return writer.value(f"fcmp {FLOAT_COMPARE[op]} {t} {operands[0]}, {operands[1]}", name)
    if op == "neg":
        return writer.value(f"fneg {t} {operands[0]}", name)
    if op == "recip":
        one = float_constant(1.0, dtype)
        return writer.value(f"fdiv contract {t} {one}, {operands[0]}", name)
    if op in INTRINSIC:
        function = f"@llvm.{INTRINSIC[op]}.f{dtype.bits}"
        return writer.call(function, t, [(t, o) for o in operands], name)
    return _library(writer, op, dtype, operands, name)


def _library(writer: Writer, op: str, dtype: DType, operands: list[str], name: str) -> str:
    """An elementary function: a call of our own, which LLVM inlines; float16 through float32."""
    if dtype.bits == 16:
        wide = [writer.value(f"fpext half {o} to float") for o in operands]
        result = _library(writer, op, float32, wide, "")
        return writer.value(f"fptrunc float {result} to half", name)
    function = mathematics.function_name(op, dtype.short, 1)
    if function not in writer.functions:
        writer.functions[function] = mathematics.define(op, dtype.short, 1)
        for declaration in mathematics.declarations(op, dtype.short, 1):
            writer.declarations[declaration] = None
    t = register_type(dtype)
    inside = ", ".join(f"{t} {o}" for o in operands)
    return writer.value(f"call {t} {function}({inside})", name)


def _bool(writer: Writer, op: str, operands: list[str], name: str) -> str:
    if op == "not":
        return writer.value(f"xor i1 {operands[0]}, true", name)
    if op in BOOL_BINARY:
        return writer.value(f"{BOOL_BINARY[op]} i1 {operands[0]}, {operands[1]}", name)
    condition = op if op in ("eq", "ne") else f"u{INTEGER_COMPARE[op]}"
    return writer.value(f"icmp {condition} i1 {operands[0]}, {operands[1]}", name)


def _integer(
    writer: Writer, op: str, dtype: DType, operands: list[str], name: str, divisor: int | None
) -> str:
    t = register_type(dtype)
    sign = "s" if dtype.kind == "int" else "u"
    if op in INTEGER_BINARY:
        return writer.value(f"{INTEGER_BINARY[op]} {t} {operands[0]}, {operands[1]}", name)
    if op in ("eq", "ne", *INTEGER_COMPARE):
        condition = op if op in ("eq", "ne") else sign + INTEGER_COMPARE[op]
        return writer.value(f"icmp {condition} {t} {operands[0]}, {operands[1]}", name)
    match op:
        case "neg":
            return writer.value(f"sub {t} 0, {operands[0]}", name)
        case "not":
            return writer.value(f"xor {t} {operands[0]}, -1", name)
        case "abs" if sign == "u":
            return writer.value(f"or {t} {operands[0]}, 0", name)
        case "abs":
            typed = [(t, operands[0]), ("i1", "false")]
            return writer.call(f"@llvm.abs.{t}", t, typed, name)
        case "max" | "min":
            function = f"@llvm.{sign}{op}.{t}"
            return writer.call(function, t, [(t, o) for o in operands], name)
        case "idiv" | "mod":
            return _divide(writer, op, dtype, operands, name, divisor)
        case "shl" | "shr":
            return _shift(writer, op, dtype, operands, name)
        case "pow":
            function = integer_power.function_name(dtype)
            writer.functions[function] = integer_power.define(dtype)
            a, b = operands
            return writer.value(f"call {t} {function}({t} {a}, {t} {b})", name)
        case _:
            raise AssertionError(f"no LLVM IR for {op} on {dtype}")


def _divide(
    writer: Writer, op: str, dtype: DType, operands: list[str], name: str, divisor: int | None
) -> str:
    """Division that cannot trap: 0 where the divisor is 0, MIN / -1 wraps."""
    t = register_type(dtype)
    sign = "s" if dtype.kind == "int" else "u"
    instruction = f"{sign}{'div' if op == 'idiv' else 'rem'} {t}"
    a, b = operands
    if divisor is not None and divisor not in (0, -1):
        return writer.value(f"{instruction} {a}, {b}", name)
    is_zero = writer.value(f"icmp eq {t} {b}, 0")
    is_unsafe, negated = is_zero, ""
    if sign == "s":
        is_minus = writer.value(f"icmp eq {t} {b}, -1")
        is_unsafe = writer.value(f"or i1 {is_zero}, {is_minus}")
        negated = writer.value(f"sub {t} 0, {a}") if op == "idiv" else "0"
    safe = writer.value(f"select i1 {is_unsafe}, {t} 1, {t} {b}")
    result = writer.value(f"{instruction} {a}, {safe}")
    if sign == "s":
        result = writer.value(f"select i1 {is_minus}, {t} {negated}, {t} {result}")
    return writer.value(f"select i1 {is_zero}, {t} 0, {t} {result}", name)


def _shift(writer: Writer, op: str, dtype: DType, operands: list[str], name: str) -> str:
    """Shifts by the width or more give 0, or the sign for a signed right shift."""
    t = register_type(dtype)
    a, b = operands
    is_signed_right = op == "shr" and dtype.kind == "int"
    fits = writer.value(f"icmp ult {t} {b}, {dtype.bits}")
    amount = writer.value(f"select i1 {fits}, {t} {b}, {t} {dtype.bits - 1}")
    kind = "shl" if op == "shl" else ("ashr" if is_signed_right else "lshr")
    if is_signed_right:
        return writer.value(f"ashr {t} {a}, {amount}", name)
    shifted = writer.value(f"{kind} {t} {a}, {amount}")
    return writer.value(f"select i1 {fits}, {t} {shifted}, {t} 0", name)
