"""LLVM IR for conversions: integers wrap, floats saturate into integers, NaN becomes 0.

All of them work on any number of lanes at once.
"""

from compiler.core.dtypes import DType, bfloat16, bool_, float32, float64
from compiler.llvm.types import float_constant, register_type, splat, suffix, vector_type
from compiler.llvm.writer import Writer


def cast(
    writer: Writer, value: str, source: DType, target: DType, name: str, lanes: int = 1
) -> str:
    """Write the conversion of `value`; returns the name of the result."""
    a, b = register_type(source, lanes), register_type(target, lanes)
    if target == bool_:
        return _to_bool(writer, value, source, name, lanes)
    if source.is_float and target.is_float:
        return _between_floats(writer, value, source, target, name, lanes)
    if source.is_float:
        return _float_to_integer(writer, value, source, target, name, lanes)
    if target.is_float:
        return _integer_to_float(writer, value, source, target, name, lanes)
    if a == b:
        return writer.value(f"or {a} {value}, {splat(0, register_type(source), lanes)}", name)
    if source.bits > target.bits and source != bool_:
        return writer.value(f"trunc {a} {value} to {b}", name)
    extend = "sext" if source.kind == "int" else "zext"
    return writer.value(f"{extend} {a} {value} to {b}", name)


def bitcast(
    writer: Writer, value: str, source: DType, target: DType, name: str, lanes: int = 1
) -> str:
    """Write the reinterpretation of the bits of `value` (equal widths)."""
    if source == bool_ or target == bool_:
        return cast(writer, value, source, target, name, lanes)
    a, b = register_type(source, lanes), register_type(target, lanes)
    return writer.value(f"bitcast {a} {value} to {b}", name)


def widened(writer: Writer, value: str, lanes: int) -> str:
    """A half as a float."""
    a, b = vector_type("half", lanes), vector_type("float", lanes)
    return writer.value(f"fpext {a} {value} to {b}")


def _to_bool(writer: Writer, value: str, source: DType, name: str, lanes: int) -> str:
    t, element = register_type(source, lanes), register_type(source)
    if source.is_float:
        zero = splat(float_constant(0.0, source), element, lanes)
        return writer.value(f"fcmp une {t} {value}, {zero}", name)
    zero = splat("false" if source == bool_ else 0, element, lanes)
    return writer.value(f"icmp ne {t} {value}, {zero}", name)


def _between_floats(
    writer: Writer, value: str, source: DType, target: DType, name: str, lanes: int
) -> str:
    a, b = register_type(source, lanes), register_type(target, lanes)
    if source.computed_as or target.computed_as:
        return _of_bfloat16(writer, value, source, target, name, lanes)
    if source.bits == target.bits:
        return writer.value(f"select i1 true, {a} {value}, {a} {value}", name)
    if source.bits < target.bits:
        return writer.value(f"fpext {a} {value} to {b}", name)
    if source == float64 and target.bits == 16:
        value = _round_to_odd(writer, value, lanes)
        a = register_type(float32, lanes)
    return writer.value(f"fptrunc {a} {value} to {b}", name)


def _of_bfloat16(
    writer: Writer, value: str, source: DType, target: DType, name: str, lanes: int
) -> str:
    """bfloat16 as float32, or the other way round: it is the upper half of its bits.

    Bits on every processor: what some have, VCVTNEPS2BF16, takes numbers below 2^-126 for 0.
    """
    half, single = register_type(bfloat16, lanes), register_type(float32, lanes)
    whole, sixteen = vector_type("i32", lanes), splat(16, "i32", lanes)
    if target is float32:
        wide = writer.value(f"zext {half} {value} to {whole}")
        moved = writer.value(f"shl {whole} {wide}, {sixteen}")
        return writer.value(f"bitcast {whole} {moved} to {single}", name)
    assert (source, target) == (float32, bfloat16), "the graph converts through float32"
    truth = vector_type("i1", lanes)
    bits = writer.value(f"bitcast {single} {value} to {whole}")
    upper = writer.value(f"lshr {whole} {bits}, {sixteen}")
    odd = writer.value(f"and {whole} {upper}, {splat(1, 'i32', lanes)}")
    up = writer.value(f"add {whole} {bits}, {splat(0x7FFF, 'i32', lanes)}")  # ties go to even
    rounded = writer.value(f"add {whole} {up}, {odd}")
    near = writer.value(f"lshr {whole} {rounded}, {sixteen}")
    sign = writer.value(f"and {whole} {upper}, {splat(0x8000, 'i32', lanes)}")
    nan = writer.value(f"or {whole} {sign}, {splat(0x7FC0, 'i32', lanes)}")
    is_nan = writer.value(f"fcmp uno {single} {value}, {value}")
    chosen = writer.value(f"select {truth} {is_nan}, {whole} {nan}, {whole} {near}")
    return writer.value(f"trunc {whole} {chosen} to {half}", name)


def _round_to_odd(writer: Writer, value: str, lanes: int) -> str:
    """A double as the float from which rounding to half rounds as if from the double.

    Rounding twice to nearest can differ from rounding once. A value that is not exact is
    rounded towards zero and its last bit set, so the second rounding sees which side it is on
    (Boldo & Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
    """
    double, single = register_type(float64, lanes), register_type(float32, lanes)
    truth, bits32 = vector_type("i1", lanes), vector_type("i32", lanes)
    one = splat(1, "i32", lanes)
    absolute = f"@llvm.fabs.{suffix(float64, lanes)}"
    near = writer.value(f"fptrunc {double} {value} to {single}")
    back = writer.value(f"fpext {single} {near} to {double}")
    size = writer.call(absolute, double, [(double, value)], "")
    size_back = writer.call(absolute, double, [(double, back)], "")
    is_exact = writer.value(f"fcmp ueq {double} {value}, {back}")
    is_above = writer.value(f"fcmp ogt {double} {size_back}, {size}")
    bits = writer.value(f"bitcast {single} {near} to {bits32}")
    less = writer.value(f"sub {bits32} {bits}, {one}")
    inward = writer.value(f"select {truth} {is_above}, {bits32} {less}, {bits32} {bits}")
    odd = writer.value(f"or {bits32} {inward}, {one}")
    chosen = writer.value(f"select {truth} {is_exact}, {bits32} {bits}, {bits32} {odd}")
    return writer.value(f"bitcast {bits32} {chosen} to {single}")


def _float_to_integer(
    writer: Writer, value: str, source: DType, target: DType, name: str, lanes: int
) -> str:
    """Saturates and turns NaN into 0.

    LLVM has an intrinsic, which it computes lane by lane; so only the numbers inside are
    converted, and the others are selected. Both ends are powers of two, or -1, and exact.
    """
    if source.bits == 16:
        value, source = widened(writer, value, lanes), float32
    a, b = register_type(source, lanes), register_type(target, lanes)
    element, truth = register_type(target), vector_type("i1", lanes)
    is_signed = target.kind == "int"
    if lanes == 1:
        function = f"@llvm.fpto{'s' if is_signed else 'u'}i.sat.{b}.f{source.bits}"
        return writer.call(function, b, [(a, value)], name)

    def constant(number: float) -> str:
        return splat(float_constant(number, source), register_type(source), lanes)

    end = constant(2.0 ** (target.bits - is_signed))
    low = constant(-(2.0 ** (target.bits - 1)) if is_signed else 0.0)
    from_low = writer.value(f"fcmp oge {a} {value}, {low}")
    is_past = writer.value(f"fcmp oge {a} {value}, {end}")
    not_past = writer.value(f"fcmp olt {a} {value}, {end}")
    is_inside = writer.value(f"and {truth} {from_low}, {not_past}")
    inside = writer.value(f"select {truth} {is_inside}, {a} {value}, {a} {constant(0.0)}")
    convert = "fptosi" if is_signed else "fptoui"
    result = writer.value(f"{convert} {a} {inside} to {b}")
    if is_signed:
        is_below = writer.value(f"fcmp olt {a} {value}, {low}")
        least = splat(int(target.minimum), element, lanes)
        result = writer.value(f"select {truth} {is_below}, {b} {least}, {b} {result}")
    most = splat(int(target.maximum), element, lanes)
    return writer.value(f"select {truth} {is_past}, {b} {most}, {b} {result}", name)


def _integer_to_float(
    writer: Writer, value: str, source: DType, target: DType, name: str, lanes: int
) -> str:
    """float16 goes through float32: exact up to 2^24, and past 65,520 the result is inf."""
    a, b = register_type(source, lanes), register_type(target, lanes)
    convert = "sitofp" if source.kind == "int" else "uitofp"
    if target.bits == 16:
        single = register_type(float32, lanes)
        wide = writer.value(f"{convert} {a} {value} to {single}")
        return writer.value(f"fptrunc {single} {wide} to {b}", name)
    return writer.value(f"{convert} {a} {value} to {b}", name)
