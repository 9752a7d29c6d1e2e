"""max and min of floats in vectors, as IEEE 754's maximum and minimum: NaN and signs of zeros.

LLVM's own intrinsic takes six dependent instructions for vectors. The comparison of x86,
`a > b ? a : b`, gives b if either is NaN and if both are zeros. Computed in both orders it gives
equal bits except in these cases. There the `or` of both results is NaN if one operand is, and
the negative one of two zeros: the minimum. The maximum combines the sign bits by `and` instead.
Either combination is one instruction of AVX-512.
"""

from compiler.core.dtypes import DType, float32
from compiler.llvm.types import (
    float_constant,
    in_all_lanes,
    register_type,
    splat,
    suffix,
    vector_type,
)
from compiler.llvm.writer import Writer

MAJORITY = str(0xE8)
"""The truth table, as AVX-512 wants it, of two of three."""


def maximum(writer: Writer, dtype: DType, operands: list[str], name: str, lanes: int) -> str:
    """Write max; a single lane is left to LLVM, which knows the intrinsic in loops."""
    return _extreme(writer, True, dtype, operands, name, lanes)


def minimum(writer: Writer, dtype: DType, operands: list[str], name: str, lanes: int) -> str:
    """Write min; a single lane is left to LLVM, which knows the intrinsic in loops."""
    return _extreme(writer, False, dtype, operands, name, lanes)


def _extreme(
    writer: Writer, is_max: bool, dtype: DType, operands: list[str], name: str, lanes: int
) -> str:
    t = register_type(dtype, lanes)
    if lanes == 1:
        function = f"@llvm.{'maximum' if is_max else 'minimum'}.{suffix(dtype, lanes)}"
        return writer.call(function, t, [(t, o) for o in operands], name)
    if dtype.bits == 16:
        single = register_type(float32, lanes)
        wide = [writer.value(f"fpext {t} {o} to {single}") for o in operands]
        result = _extreme(writer, is_max, float32, wide, "", lanes)
        return writer.value(f"fptrunc {single} {result} to {t}", name)
    a, b = operands
    if in_all_lanes(a):
        a, b = b, a
    if in_all_lanes(b) and not _is_nan(b):
        return _with_number(writer, is_max, dtype, (a, b), name, lanes)
    first = _one_way(writer, is_max, t, (a, b), "", lanes)
    second = _one_way(writer, is_max, t, (b, a), "", lanes)
    return _join(writer, is_max, dtype, (first, second), name, lanes)


def _one_way(
    writer: Writer, is_max: bool, t: str, operands: tuple[str, str], name: str, lanes: int
) -> str:
    """One comparison and a choice: the second operand where either is NaN or both are zero."""
    a, b = operands
    is_first = writer.value(f"fcmp {'ogt' if is_max else 'olt'} {t} {a}, {b}")
    return writer.value(f"select {vector_type('i1', lanes)} {is_first}, {t} {a}, {t} {b}", name)


def _with_number(
    writer: Writer, is_max: bool, dtype: DType, operands: tuple[str, str], name: str, lanes: int
) -> str:
    """One comparison is enough with a constant: a NaN or a zero of the other operand stays.

    It is the wrong zero only for max with 0.0 and min with -0.0, where a zero takes the place of
    all zeros: adding it does no more than that.
    """
    x, number = operands
    t = register_type(dtype, lanes)
    wrong = splat(float_constant(0.0 if is_max else -0.0, dtype), register_type(dtype), lanes)
    if number != wrong:
        return _one_way(writer, is_max, t, (number, x), name, lanes)
    chosen = _one_way(writer, is_max, t, (number, x), "", lanes)
    if is_max:
        return writer.value(f"fadd {t} {chosen}, {wrong}", name)
    is_zero = writer.value(f"fcmp oeq {t} {chosen}, {wrong}")
    return writer.value(
        f"select {vector_type('i1', lanes)} {is_zero}, {t} {wrong}, {t} {chosen}", name
    )


def _is_nan(constant: str) -> bool:
    """True if a constant of floats is NaN: a magnitude above that of infinity."""
    magnitude = int(in_all_lanes(constant), 16) & ((1 << 63) - 1)
    return magnitude > 0x7FF << 52


def _join(
    writer: Writer, is_max: bool, dtype: DType, both: tuple[str, str], name: str, lanes: int
) -> str:
    """The bits of either, except that the sign of a maximum takes both."""
    t, element = register_type(dtype, lanes), f"i{dtype.bits}"
    whole = vector_type(element, lanes)
    a, b = (writer.value(f"bitcast {t} {each} to {whole}") for each in both)
    if not is_max:
        joined = writer.value(f"or {whole} {a}, {b}")
    else:
        rest = splat((1 << (dtype.bits - 1)) - 1, element, lanes)
        joined = _majority(writer, element, (a, b, rest), lanes)
    return writer.value(f"bitcast {whole} {joined} to {t}", name)


def _majority(writer: Writer, element: str, values: tuple[str, str, str], lanes: int) -> str:
    """Each bit as in two of three: `a or b` where the third has ones, else `a and b`."""
    whole = vector_type(element, lanes)
    a, b, c = values
    width = lanes * int(element.removeprefix("i"))
    if writer.has_avx512 and width in (128, 256, 512):
        kind = "d" if element == "i32" else "q"
        function = f"@llvm.x86.avx512.pternlog.{kind}.{width}"
        operands = [(whole, v) for v in values] + [("i32", MAJORITY)]
        return writer.call(function, whole, operands, "")
    either = writer.value(f"or {whole} {a}, {b}")
    some = writer.value(f"and {whole} {either}, {c}")
    both = writer.value(f"and {whole} {a}, {b}")
    return writer.value(f"or {whole} {both}, {some}")
