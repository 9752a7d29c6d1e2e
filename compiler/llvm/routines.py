"""Routines for operations of several instructions: the remainder of floats, and integer powers.

The remainder of floats in vectors is exact: a - trunc(a / b) b, C's fmod. For quotients below
2**(mantissa - 1) the rounded quotient is at most one too large, and the difference is exact: one
fma, and one b added back where it has the other sign. Larger quotients, infinities, NaN and zeros
as divisors are rare: a vector that has one is left to LLVM's `frem`, which calls the C library for
each lane, in a block of its own.

Integer powers square and multiply, in a function of their own; a negative exponent truncates.
"""

from compiler.core.dtypes import DType, float32
from compiler.llvm.types import float_constant, register_type, splat, suffix, vector_type
from compiler.llvm.vectors import per_lane
from compiler.llvm.writer import Writer

LARGEST_QUOTIENT = {32: 2.0**22, 64: 2.0**51}


def float_remainder(
    writer: Writer, dtype: DType, operands: list[str], name: str, lanes: int
) -> str:
    """Write the remainder of several lanes; that of float16 is exact in float32."""
    t = register_type(dtype, lanes)
    if dtype.bits == 16:
        single = register_type(float32, lanes)
        wide = [writer.value(f"fpext {t} {o} to {single}") for o in operands]
        result = float_remainder(writer, float32, wide, "", lanes)
        return writer.value(f"fptrunc {single} {result} to {t}", name)
    a, b = operands
    quotient = writer.value(f"fdiv {t} {a}, {b}")
    usual = _near(writer, dtype, (a, b, quotient), lanes)
    limit = splat(float_constant(LARGEST_QUOTIENT[dtype.bits], dtype), register_type(dtype), lanes)
    truth, size = vector_type("i1", lanes), _unary(writer, "fabs", dtype, quotient, lanes)
    is_far = writer.value(f"fcmp uge {t} {size}, {limit}")
    mask = writer.value(f"bitcast {truth} {is_far} to i{lanes}")
    some = writer.value(f"icmp ne i{lanes} {mask}, 0")
    stem, before = writer.fresh("far"), writer.block
    writer.line(f"br i1 {some}, label %{stem}.in, label %{stem}.out")
    writer.label(f"{stem}.in")
    slow = writer.value(f"frem {t} {a}, {b}")
    writer.line(f"br label %{stem}.out")
    writer.label(f"{stem}.out")
    return writer.value(f"phi {t} [ {usual}, %{before} ], [ {slow}, %{stem}.in ]", name)


def _near(writer: Writer, dtype: DType, values: tuple[str, str, str], lanes: int) -> str:
    """a - trunc(quotient) b, with the sign of a."""
    a, b, quotient = values
    t, truth = register_type(dtype, lanes), vector_type("i1", lanes)
    zero = splat(float_constant(0.0, dtype), register_type(dtype), lanes)
    size, divisor = (_unary(writer, "fabs", dtype, value, lanes) for value in (a, b))
    whole = _unary(writer, "trunc", dtype, _unary(writer, "fabs", dtype, quotient, lanes), lanes)
    negative = writer.value(f"fneg {t} {whole}")
    fma = f"@llvm.fma.{suffix(dtype, lanes)}"
    rest = writer.call(fma, t, [(t, negative), (t, divisor), (t, size)], "")
    back = writer.value(f"fadd {t} {rest}, {divisor}")
    is_below = writer.value(f"fcmp olt {t} {rest}, {zero}")
    rest = writer.value(f"select {truth} {is_below}, {t} {back}, {t} {rest}")
    is_less = writer.value(f"fcmp olt {t} {size}, {divisor}")  # 0 times infinity is NaN
    rest = writer.value(f"select {truth} {is_less}, {t} {size}, {t} {rest}")
    copysign = f"@llvm.copysign.{suffix(dtype, lanes)}"
    return writer.call(copysign, t, [(t, rest), (t, a)], "")


def _unary(writer: Writer, intrinsic: str, dtype: DType, value: str, lanes: int) -> str:
    t = register_type(dtype, lanes)
    return writer.call(f"@llvm.{intrinsic}.{suffix(dtype, lanes)}", t, [(t, value)], "")


def integer_power(writer: Writer, dtype: DType, operands: list[str], name: str, lanes: int) -> str:
    """Write a call of the function for `dtype` in each lane."""
    function, t = _power_name(dtype), register_type(dtype)
    writer.functions[function] = _power(dtype)

    def call(values: list[str], name: str) -> str:
        inside = ", ".join(f"{t} {value}" for value in values)
        return writer.value(f"call {t} {function}({inside})", name)

    return per_lane(writer, [(t, o) for o in operands], t, lanes, name, call)


def _power_name(dtype: DType) -> str:
    """The name of the function for `dtype`."""
    return f"@sv.pow.{dtype.short}"


def _power(dtype: DType) -> str:
    """The function: wraps on overflow; a ** -n is 1, ±1 or 0 for a = 1, -1 or any other."""
    t = register_type(dtype)
    result = f"""\
define internal {t} {_power_name(dtype)}({t} %base, {t} %exponent) nounwind {{
entry:
  br label %loop
loop:
  %b = phi {t} [ %base, %entry ], [ %b.next, %loop ]
  %e = phi {t} [ %exponent, %entry ], [ %e.next, %loop ]
  %r = phi {t} [ 1, %entry ], [ %r.next, %loop ]
  %bit = trunc {t} %e to i1
  %by = select i1 %bit, {t} %b, {t} 1
  %r.next = mul {t} %r, %by
  %b.next = mul {t} %b, %b
  %e.next = lshr {t} %e, 1
  %done = icmp eq {t} %e.next, 0
  br i1 %done, label %exit, label %loop
exit:
"""
    if dtype.kind == "uint":
        return result + f"  ret {t} %r.next\n}}"
    return (
        result
        + f"""\
  %is.one = icmp eq {t} %base, 1
  %is.minus = icmp eq {t} %base, -1
  %odd = trunc {t} %exponent to i1
  %sign = select i1 %odd, {t} -1, {t} 1
  %unit = select i1 %is.minus, {t} %sign, {t} 0
  %inverse = select i1 %is.one, {t} 1, {t} %unit
  %negative = icmp slt {t} %exponent, 0
  %power = select i1 %negative, {t} %inverse, {t} %r.next
  ret {t} %power
}}"""
    )
