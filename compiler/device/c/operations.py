"""C for each operation, conversion and constant, with the meanings of the operation table.

Operands are names or literals, so an expression needs no brackets around them. `helpers` collects
the functions that an expression calls, by name.
"""

import math

from compiler.core.dtypes import DType, bool_, float32
from compiler.graph.bits import from_bits

UNARY = {"sqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "tanh", "erf", "trunc",
         "floor", "ceil"}  # fmt: skip
FLOAT_CALLS = {name: name for name in UNARY} | {
    "abs": "fabs", "round": "rint", "mod": "fmod", "pow": "pow",
}  # fmt: skip
COMPARE = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
FLOAT_INFIX = {"add": "+", "sub": "-", "mul": "*", "fdiv": "/"}
WRAPPING = {"add": "+", "sub": "-", "mul": "*"}
BITWISE = {"xor": "^", "or": "|", "and": "&"}
BOOL_INFIX = {"add": "||", "mul": "&&", "max": "||", "min": "&&", "xor": "!=", "or": "||",
              "and": "&&"}  # fmt: skip
NAMES = {"bool": "bool", "float16": "_Float16", "float32": "float", "float64": "double"}


def type_name(dtype: DType) -> str:
    """The C type: `double`, `int32_t`, `bool`, `_Float16`, …"""
    return NAMES.get(dtype.name, f"{dtype.name}_t")


def _unsigned(dtype: DType) -> str:
    """An unsigned type that C computes in as it is: a shorter one would become a signed int."""
    return "uint64_t" if dtype.bits == 64 else "uint32_t"


def literal(bits: int, dtype: DType, helpers: dict[str, str]) -> str:
    """The constant with these bits, exactly."""
    value = from_bits(bits, dtype)
    if dtype == bool_:
        return "true" if value else "false"
    if dtype.is_float:
        return _float_literal(float(value), bits, dtype, helpers)
    if dtype.kind == "uint":
        return f"{value}{'ULL' if dtype.bits == 64 else 'U'}"
    number = int(value)
    if number == dtype.minimum:
        return f"({number + 1}{'LL' if dtype.bits == 64 else ''} - 1)"
    text = f"{number}{'LL' if abs(number) > 2**31 - 1 else ''}"
    return text if number >= 0 else f"({text})"


def _float_literal(value: float, bits: int, dtype: DType, helpers: dict[str, str]) -> str:
    """A hexadecimal literal is exact; a NaN is made of its bits."""
    t = type_name(dtype)
    if math.isnan(value):
        name, whole = f"sv_bits_{dtype.short}", f"uint{dtype.bits}_t"
        helpers[name] = (
            f"static inline {t} {name}({whole} bits)\n"
            f"{{\n    {t} x;\n    memcpy(&x, &bits, sizeof x);\n    return x;\n}}"
        )
        return f"{name}({bits:#x}ULL)"
    if math.isinf(value):
        return f"({t}){'-' if value < 0 else ''}INFINITY"
    text = value.hex() if value != int(value) or abs(value) > 2**24 else f"{value:.1f}"
    suffix = {64: "", 32: "f", 16: "f"}[dtype.bits]
    cast = f"({t})" if dtype.bits == 16 else ""
    return f"({cast}{text}{suffix})" if cast or text.startswith("-") else f"{text}{suffix}"


def operation(op: str, dtype: DType, operands: list[str], helpers: dict[str, str]) -> str:
    """Operation `op` on operands whose last is of type `dtype`."""
    if op == "where":
        return f"{operands[0]} ? {operands[1]} : {operands[2]}"
    if op in COMPARE:
        return f"{operands[0]} {COMPARE[op]} {operands[1]}"
    if dtype == bool_:
        return f"!{operands[0]}" if op == "not" else f" {BOOL_INFIX[op]} ".join(operands)
    if not dtype.is_float:
        return _integer(op, dtype, operands, helpers)
    if dtype.bits == 16:
        wide = [f"(float){operand}" for operand in operands]
        return f"(_Float16)({_float(op, float32, wide)})"
    return _float(op, dtype, operands)


def _float(op: str, dtype: DType, operands: list[str]) -> str:
    end = "f" if dtype == float32 else ""
    one = f"1.0{end}"
    if op in FLOAT_INFIX:
        return f" {FLOAT_INFIX[op]} ".join(operands)
    if op in FLOAT_CALLS:
        return f"{FLOAT_CALLS[op]}{end}({', '.join(operands)})"
    a, b, c = (*operands, "", "")[:3]
    match op:
        case "neg":
            return f"-{a}"
        case "recip":
            return f"{one} / {a}"
        case "mulacc":
            return f"{a} * {b} + {c}"
        case "max":
            return f"{a} > {b} || {a} != {a} || ({a} == {b} && !signbit({a})) ? {a} : {b}"
        case "min":
            return f"{a} < {b} || {a} != {a} || ({a} == {b} && signbit({a})) ? {a} : {b}"
        case _:
            raise AssertionError(f"no C for {op} on {dtype}")


def _integer(op: str, dtype: DType, operands: list[str], helpers: dict[str, str]) -> str:
    t, u = type_name(dtype), _unsigned(dtype)
    a, b, c = (*operands, "", "")[:3]
    if op in WRAPPING:
        return f"({t})(({u}){a} {WRAPPING[op]} ({u}){b})"
    if op in BITWISE:
        return f"({t})({a} {BITWISE[op]} {b})"
    match op:
        case "not":
            return f"({t})~{a}"
        case "neg":
            return f"({t})(({u})0 - ({u}){a})"
        case "abs":
            return a if dtype.kind == "uint" else f"{a} < 0 ? ({t})(({u})0 - ({u}){a}) : {a}"
        case "max":
            return f"{a} > {b} ? {a} : {b}"
        case "min":
            return f"{a} < {b} ? {a} : {b}"
        case "mulacc":
            return f"({t})(({u}){a} * ({u}){b} + ({u}){c})"
        case "pow":
            name = f"sv_pow_{dtype.short}"
            helpers[name] = _power(name, dtype)
            return f"{name}({a}, {b})"
        case _:
            return _guarded(op, dtype, a, b)


def _guarded(op: str, dtype: DType, a: str, b: str) -> str:
    """Division and shifts, with the cases that C leaves open decided first."""
    t, u = type_name(dtype), _unsigned(dtype)
    is_signed = dtype.kind == "int"
    negated = f"{b} == -1 ? ({t})(({u})0 - ({u}){a}) : " if is_signed else ""
    no_rest = f"{b} == 0 || {b} == -1" if is_signed else f"{b} == 0"
    fits = f"({u}){b} < {dtype.bits}"
    match op:
        case "idiv":
            return f"{b} == 0 ? 0 : {negated}{a} / {b}"
        case "mod":
            return f"{no_rest} ? 0 : {a} % {b}"
        case "shl":
            return f"{fits} ? ({t})(({u}){a} << {b}) : 0"
        case "shr" if is_signed:
            return f"{a} >> ({fits} ? {b} : {dtype.bits - 1})"
        case "shr":
            return f"{fits} ? {a} >> {b} : 0"
        case _:
            raise AssertionError(f"no C for {op} on {dtype}")


def _power(name: str, dtype: DType) -> str:
    """By squaring, wrapping; to a negative power 1, ±1 or 0."""
    t, u = type_name(dtype), _unsigned(dtype)
    lines = [f"static inline {t} {name}({t} a, {t} b)", "{"]
    if dtype.kind == "int":
        lines.append("    if (b < 0) return a == 1 || a == -1 ? (b % 2 ? a : 1) : 0;")
    lines += [
        f"    {u} result = 1, square = ({u})a;",
        f"    for ({u} rest = ({u})b; rest; rest >>= 1) {{",
        "        if (rest & 1) result *= square;",
        "        square *= square;",
        "    }",
        f"    return ({t})result;",
        "}",
    ]
    return "\n".join(lines)


def conversion(value: str, source: DType, target: DType, helpers: dict[str, str]) -> str:
    """`value` converted: floats saturate into integers, NaN becomes 0, integers wrap."""
    t = type_name(target)
    if target == bool_:
        return f"{value} != 0"
    if source.is_float and target.is_integer:
        name = f"sv_{source.short}_to_{target.short}"
        helpers[name] = _saturating(name, source, target)
        return f"{name}({value})"
    if target.is_float and target.bits == 16 and not source.is_float:
        return f"({t})(float){value}"
    return f"({t}){value}"


def _saturating(name: str, source: DType, target: DType) -> str:
    """The bounds are powers of two, which every float type but half precision has exactly."""
    s, t = type_name(source), type_name(target)
    low, high = int(target.minimum), int(target.maximum)
    limits = f"{target.name.upper()}"
    least = f"{limits}_MIN" if low else "0"
    return "\n".join([
        f"static inline {t} {name}({s} x)", "{",
        "    if (x != x) return 0;",
        f"    if ((double)x <= {float(low).hex()}) return {least};",
        f"    if ((double)x >= {float(high + 1).hex()}) return {limits}_MAX;",
        f"    return ({t})x;", "}",
    ])  # fmt: skip
