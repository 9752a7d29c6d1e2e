"""LLVM IR for each operation of the table, with the semantics of the rulings.

`emit` writes the instructions of one operation. An operation on floats, on integers and on
bools is one entry each of the tables below, or one function where it takes several lines.
Floating-point flags: `contract` anywhere, `reassoc` only on a reduction's combination.
"""


from compiler.core.dtypes import DType, float32
from compiler.llvm import integer_power, mathematics
from compiler.llvm.extremes import extreme
from compiler.llvm.remainder import float_remainder
from compiler.llvm.types import (
    float_constant,
    in_all_lanes,
    register_type,
    splat,
    suffix,
    vector_type,
)
from compiler.llvm.vectors import per_lane
from compiler.llvm.writer import Writer

FLOAT_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "fdiv": "fdiv", "mod": "frem"}
INTEGER_BINARY = {"add": "add", "sub": "sub", "mul": "mul", "xor": "xor", "or": "or", "and": "and"}
BOOL_BINARY = {"add": "or", "mul": "and", "max": "or", "min": "and", "xor": "xor", "or": "or",
               "and": "and"}  # fmt: skip
FLOAT_COMPARE = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
INTEGER_COMPARE = {"lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
INTRINSIC = {"abs": "fabs", "sqrt": "sqrt", "trunc": "trunc", "floor": "floor", "ceil": "ceil",
             "round": "roundeven"}  # fmt: skip


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
    if op == "where":
        t, truth = register_type(dtype, lanes), vector_type("i1", lanes)
        condition, a, b = operands
        return writer.value(f"select {truth} {condition}, {t} {a}, {t} {b}", name)
    if op == "mulacc":
        return _multiply_add(writer, dtype, operands, name, is_reduction, lanes)
    if dtype.is_float:
        return _float(writer, op, dtype, operands, name, is_reduction, lanes)
    if dtype.kind == "bool":
        return _bool(writer, op, operands, name, lanes)
    return _integer(writer, op, dtype, operands, name, divisor, lanes)


def has_vector_form(op: str, dtype: DType, divisor: int | None = None) -> bool:
    """Whether several lanes of `op` on operands of `dtype` take few instructions together.

    Integers have no vector division: by a constant it is a product, of 64 bits only by a power of
    two. Powers of integers are calls. Everything else has vector instructions.
    """
    if not dtype.is_integer or op not in ("idiv", "mod", "pow"):
        return True
    if op == "pow" or divisor in (None, 0):
        return False
    return dtype.bits < 64 or abs(divisor).bit_count() == 1


def _flags(is_reduction: bool, lanes: int) -> str:
    """What LLVM may change; a reduction in lanes has its order already."""
    return "reassoc contract" if is_reduction and lanes == 1 else "contract"


def _multiply_add(
    writer: Writer,
    dtype: DType,
    operands: list[str],
    name: str,
    is_reduction: bool,
    lanes: int,
) -> str:
    """a * b + c: two instructions, which `contract` lets LLVM make one."""
    t = register_type(dtype, lanes)
    a, b, c = operands
    if not dtype.is_float:
        product = writer.value(f"mul {t} {a}, {b}")
        return writer.value(f"add {t} {product}, {c}", name)
    product = writer.value(f"fmul contract {t} {a}, {b}")
    return writer.value(f"fadd {_flags(is_reduction, lanes)} {t} {product}, {c}", name)


def _float(
    writer: Writer,
    op: str,
    dtype: DType,
    operands: list[str],
    name: str,
    is_reduction: bool,
    lanes: int,
) -> str:
    t = register_type(dtype, lanes)
    if op == "mod" and lanes > 1:
        return float_remainder(writer, dtype, operands, name, lanes)
    if op in FLOAT_BINARY:
        a, b = operands
        return writer.value(f"{FLOAT_BINARY[op]} {_flags(is_reduction, lanes)} {t} {a}, {b}", name)
    if op in FLOAT_COMPARE:
        return writer.value(f"fcmp {FLOAT_COMPARE[op]} {t} {operands[0]}, {operands[1]}", name)
    if op == "neg":
        return writer.value(f"fneg {t} {operands[0]}", name)
    if op == "recip":
        one = splat(float_constant(1.0, dtype), register_type(dtype), lanes)
        return writer.value(f"fdiv contract {t} {one}, {operands[0]}", name)
    if op in ("max", "min"):
        return extreme(writer, op, dtype, operands, name, lanes)
    if dtype.bits == 16 and lanes > 1 and op in INTRINSIC and op != "abs":
        return _through_float32(writer, op, dtype, operands, name, lanes)
    if op in INTRINSIC:
        function = f"@llvm.{INTRINSIC[op]}.{suffix(dtype, lanes)}"
        return writer.call(function, t, [(t, o) for o in operands], name)
    if dtype.bits == 16:
        return _through_float32(writer, op, dtype, operands, name, lanes)
    return mathematics.inline(writer, op, dtype.short, lanes, operands, name)


def _through_float32(
    writer: Writer, op: str, dtype: DType, operands: list[str], name: str, lanes: int
) -> str:
    """An operation of float16 that has no instructions of its own."""
    half, single = register_type(dtype, lanes), register_type(float32, lanes)
    wide = [writer.value(f"fpext {half} {o} to {single}") for o in operands]
    result = _float(writer, op, float32, wide, "", False, lanes)
    return writer.value(f"fptrunc {single} {result} to {half}", name)


def _bool(writer: Writer, op: str, operands: list[str], name: str, lanes: int) -> str:
    t = vector_type("i1", lanes)
    if op == "not":
        return writer.value(f"xor {t} {operands[0]}, {splat('true', 'i1', lanes)}", name)
    if op in BOOL_BINARY:
        return writer.value(f"{BOOL_BINARY[op]} {t} {operands[0]}, {operands[1]}", name)
    condition = op if op in ("eq", "ne") else f"u{INTEGER_COMPARE[op]}"
    return writer.value(f"icmp {condition} {t} {operands[0]}, {operands[1]}", name)


def _integer(
    writer: Writer,
    op: str,
    dtype: DType,
    operands: list[str],
    name: str,
    divisor: int | None,
    lanes: int,
) -> str:
    t = register_type(dtype, lanes)
    element = register_type(dtype)
    sign = "s" if dtype.kind == "int" else "u"
    if op in INTEGER_BINARY:
        return writer.value(f"{INTEGER_BINARY[op]} {t} {operands[0]}, {operands[1]}", name)
    if op in ("eq", "ne", *INTEGER_COMPARE):
        condition = op if op in ("eq", "ne") else sign + INTEGER_COMPARE[op]
        return writer.value(f"icmp {condition} {t} {operands[0]}, {operands[1]}", name)
    match op:
        case "neg":
            return writer.value(f"sub {t} {splat(0, element, lanes)}, {operands[0]}", name)
        case "not":
            return writer.value(f"xor {t} {operands[0]}, {splat(-1, element, lanes)}", name)
        case "abs" if sign == "u":
            return writer.value(f"or {t} {operands[0]}, {splat(0, element, lanes)}", name)
        case "abs":
            typed = [(t, operands[0]), ("i1", "false")]
            return writer.call(f"@llvm.abs.{suffix(dtype, lanes)}", t, typed, name)
        case "max" | "min":
            function = f"@llvm.{sign}{op}.{suffix(dtype, lanes)}"
            return writer.call(function, t, [(t, o) for o in operands], name)
        case "idiv" | "mod":
            return _divide(writer, op, dtype, operands, name, divisor, lanes)
        case "shl" | "shr":
            return _shift(writer, op, dtype, operands, name, lanes)
        case "pow":
            function = integer_power.function_name(dtype)
            writer.functions[function] = integer_power.define(dtype)
            return _call_per_lane(writer, function, element, operands, name, lanes)
        case _:
            raise AssertionError(f"no LLVM IR for {op} on {dtype}")


def _call_per_lane(
    writer: Writer, function: str, t: str, operands: list[str], name: str, lanes: int
) -> str:
    """A call of a scalar function in each lane."""

    def call(values: list[str], name: str) -> str:
        inside = ", ".join(f"{t} {value}" for value in values)
        return writer.value(f"call {t} {function}({inside})", name)

    return per_lane(writer, [(t, o) for o in operands], t, lanes, name, call)


def _divide(
    writer: Writer,
    op: str,
    dtype: DType,
    operands: list[str],
    name: str,
    divisor: int | None,
    lanes: int,
) -> str:
    """Division that cannot trap: 0 where the divisor is 0, MIN / -1 wraps."""
    t, element, truth = register_type(dtype, lanes), register_type(dtype), vector_type("i1", lanes)
    zero, one, minus = (splat(value, element, lanes) for value in (0, 1, -1))
    sign = "s" if dtype.kind == "int" else "u"
    instruction = f"{sign}{'div' if op == 'idiv' else 'rem'} {t}"
    a, b = operands
    if divisor is None and in_all_lanes(b):
        divisor = int(in_all_lanes(b))
    if divisor is not None and divisor not in (0, -1):
        return writer.value(f"{instruction} {a}, {b}", name)
    is_zero = writer.value(f"icmp eq {t} {b}, {zero}")
    is_unsafe, negated = is_zero, ""
    if sign == "s":
        is_minus = writer.value(f"icmp eq {t} {b}, {minus}")
        is_unsafe = writer.value(f"or {truth} {is_zero}, {is_minus}")
        negated = writer.value(f"sub {t} {zero}, {a}") if op == "idiv" else zero
    safe = writer.value(f"select {truth} {is_unsafe}, {t} {one}, {t} {b}")
    result = writer.value(f"{instruction} {a}, {safe}")
    if sign == "s":
        result = writer.value(f"select {truth} {is_minus}, {t} {negated}, {t} {result}")
    return writer.value(f"select {truth} {is_zero}, {t} {zero}, {t} {result}", name)


def _shift(
    writer: Writer, op: str, dtype: DType, operands: list[str], name: str, lanes: int
) -> str:
    """Shifts by the width or more give 0, or the sign for a signed right shift."""
    t, element, truth = register_type(dtype, lanes), register_type(dtype), vector_type("i1", lanes)
    a, b = operands
    is_signed_right = op == "shr" and dtype.kind == "int"
    fits = writer.value(f"icmp ult {t} {b}, {splat(dtype.bits, element, lanes)}")
    most = splat(dtype.bits - 1, element, lanes)
    amount = writer.value(f"select {truth} {fits}, {t} {b}, {t} {most}")
    kind = "shl" if op == "shl" else ("ashr" if is_signed_right else "lshr")
    if is_signed_right:
        return writer.value(f"ashr {t} {a}, {amount}", name)
    shifted = writer.value(f"{kind} {t} {a}, {amount}")
    return writer.value(
        f"select {truth} {fits}, {t} {shifted}, {t} {splat(0, element, lanes)}", name
    )
