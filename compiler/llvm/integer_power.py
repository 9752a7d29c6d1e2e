"""Integer powers as an LLVM function: square and multiply; a negative exponent truncates."""

from compiler.core.dtypes import DType
from compiler.llvm.types import register_type


def function_name(dtype: DType) -> str:
    """The name of the function for `dtype`."""
    return f"@sv.pow.{dtype.short}"


def define(dtype: DType) -> str:
    """The function: wraps on overflow; a ** -n is 1, ±1 or 0 for a = 1, -1 or any other."""
    t = register_type(dtype)
    result = f"""\
define internal {t} {function_name(dtype)}({t} %base, {t} %exponent) nounwind {{
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
