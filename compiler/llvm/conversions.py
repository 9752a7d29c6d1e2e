"""LLVM IR for conversions: integers wrap, floats saturate into integers, NaN becomes 0."""

from compiler.dtypes import DType, bool_, float32, float64
from compiler.llvm.types import float_constant, register_type
from compiler.llvm.writer import Writer


def cast(writer: Writer, value: str, source: DType, target: DType, name: str) -> str:
    """Write the conversion of `value`; returns the name of the result."""
    a, b = register_type(source), register_type(target)
    if target == bool_:
        return _to_bool(writer, value, source, name)
    if source.is_float and target.is_float:
        return _between_floats(writer, value, source, target, name)
    if source.is_float:
        return _float_to_integer(writer, value, source, target, name)
    if target.is_float:
        return _integer_to_float(writer, value, source, target, name)
    if a == b:
        return writer.value(f"or {a} {value}, 0", name)
    if source.bits > target.bits and source != bool_:
        return writer.value(f"trunc {a} {value} to {b}", name)
    extend = "sext" if source.kind == "int" else "zext"
    return writer.value(f"{extend} {a} {value} to {b}", name)


def bitcast(writer: Writer, value: str, source: DType, target: DType, name: str) -> str:
    """Write the reinterpretation of the bits of `value` (equal widths)."""
    a, b = register_type(source), register_type(target)
    if source == bool_ or target == bool_:
        return cast(writer, value, source, target, name)
    return writer.value(f"bitcast {a} {value} to {b}", name)


def _to_bool(writer: Writer, value: str, source: DType, name: str) -> str:
    t = register_type(source)
    if source.is_float:
        return writer.value(f"fcmp une {t} {value}, {float_constant(0.0, source)}", name)
    return writer.value(f"icmp ne {t} {value}, {'false' if source == bool_ else 0}", name)


def _between_floats(writer: Writer, value: str, source: DType, target: DType, name: str) -> str:
    a, b = register_type(source), register_type(target)
    if source.bits == target.bits:
        return writer.value(f"select i1 true, {a} {value}, {a} {value}", name)
    if source.bits < target.bits:
        return writer.value(f"fpext {a} {value} to {b}", name)
    if source == float64 and target.bits == 16:
        value = _round_to_odd(writer, value)
        a = "float"
    return writer.value(f"fptrunc {a} {value} to {b}", name)


def _round_to_odd(writer: Writer, value: str) -> str:
    """A double as the float from which rounding to half rounds as if from the double.

    Rounding twice to nearest can differ from rounding once. A value that is not exact is
    rounded towards zero and its last bit set, so the second rounding sees which side it is on
    (Boldo & Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
    """
    near = writer.value(f"fptrunc double {value} to float")
    back = writer.value(f"fpext float {near} to double")
    size = writer.call("@llvm.fabs.f64", "double", [("double", value)], "")
    size_back = writer.call("@llvm.fabs.f64", "double", [("double", back)], "")
    is_exact = writer.value(f"fcmp ueq double {value}, {back}")
    is_above = writer.value(f"fcmp ogt double {size_back}, {size}")
    bits = writer.value(f"bitcast float {near} to i32")
    less = writer.value(f"sub i32 {bits}, 1")
    inward = writer.value(f"select i1 {is_above}, i32 {less}, i32 {bits}")
    odd = writer.value(f"or i32 {inward}, 1")
    chosen = writer.value(f"select i1 {is_exact}, i32 {bits}, i32 {odd}")
    return writer.value(f"bitcast i32 {chosen} to float")


def _float_to_integer(writer: Writer, value: str, source: DType, target: DType, name: str) -> str:
    """The intrinsic saturates and turns NaN into 0."""
    if source.bits == 16:
        value = writer.value(f"fpext half {value} to float")
        source = float32
    a, b = register_type(source), register_type(target)
    sign = "s" if target.kind == "int" else "u"
    function = f"@llvm.fpto{sign}i.sat.{b}.f{source.bits}"
    return writer.call(function, b, [(a, value)], name)


def _integer_to_float(writer: Writer, value: str, source: DType, target: DType, name: str) -> str:
    """float16 goes through float32: exact up to 2^24, and past 65,520 the result is inf."""
    a, b = register_type(source), register_type(target)
    convert = "sitofp" if source.kind == "int" else "uitofp"
    if target.bits == 16:
        wide = writer.value(f"{convert} {a} {value} to float")
        return writer.value(f"fptrunc float {wide} to half", name)
    return writer.value(f"{convert} {a} {value} to {b}", name)
