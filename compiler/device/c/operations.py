"""C for each operation, conversion and constant, with the semantics of the operation table.

Operands are names or literals, so an expression needs no brackets around them. `helpers` collects
the functions that an expression calls, by name.
"""

import math

from compiler.core.dtypes import DType, bool_, float32
from compiler.graph.bits import from_bits
from compiler.ops.table import OPS

NAMES = {
    "bool": "bool", "float16": "_Float16", "bfloat16": "uint16_t", "float32": "float",
    "float64": "double",
}  # fmt: skip
BFLOAT16 = {
    "sv_bf16_to_f32": """\
static inline float sv_bf16_to_f32(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return x;
}""",
    "sv_f32_to_bf16": """\
static inline uint16_t sv_f32_to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x != x) return (uint16_t)((bits >> 16 & 0x8000U) | 0x7FC0U);
    return (uint16_t)((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}""",
}
"""Functions for bfloat16, which C often lacks: it is the upper half of a float's bits."""


def type_name(dtype: DType) -> str:
    """The C type: `double`, `int32_t`, `bool`, `_Float16`, …"""
    return "uint8_t" if dtype.is_storage else NAMES.get(dtype.name, f"{dtype.name}_t")


def _unsigned(dtype: DType) -> str:
    """An unsigned type that C computes in as it is: a shorter one would become a signed int."""
    return "uint64_t" if dtype.bits == 64 else "uint32_t"


def literal(bits: int, dtype: DType, helpers: dict[str, str]) -> str:
    """A literal for the constant with exactly these bits."""
    value = from_bits(bits, dtype)
    if dtype == bool_:
        return "true" if value else "false"
    if dtype.computed_as:
        return f"{bits}U"
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
    """Operation `op`, by its row of the table; the last operand has type `dtype`."""
    row = OPS[op]
    is_half = dtype.is_float and dtype.bits == 16
    if is_half and row.result == "same" and not row.has_condition:
        wide = [f"(float){operand}" for operand in operands]
        return f"(_Float16)({operation(op, float32, wide, helpers)})"
    names = {
        "t": type_name(dtype), "u": _unsigned(dtype), "f": "f" if dtype == float32 else "",
        "bits": dtype.bits, "last": dtype.bits - 1, "helper": f"sv_{op}_{dtype.short}",
        **dict(zip("abc", operands, strict=False)),
    }  # fmt: skip
    if dtype.kind in row.c_helpers:
        helpers[f"{names['helper']}"] = row.c_helpers[dtype.kind].format_map(names)
    return row.c[dtype.kind].format_map(names)


def conversion(value: str, source: DType, target: DType, helpers: dict[str, str]) -> str:
    """`value` converted: floats saturate into integers, NaN becomes 0, integers wrap."""
    t = type_name(target)
    if source.computed_as or target.computed_as:
        name = f"sv_{source.short}_to_{target.short}"
        helpers[name] = BFLOAT16[name]
        return f"{name}({value})"
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
