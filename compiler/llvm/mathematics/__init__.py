"""exp, exp2, log, log2, sin, cos, tan, tanh, erf and pow as LLVM IR.

`define` gives one function, for a scalar or for any number of lanes, with the same bits from both.
Everything is selects, except that sin, cos and tan jump over the reduction of very large arguments
when no lane needs it. A scalar loop over any of them is vectorised by LLVM (sin, cos and tan of
float64 only with AVX-512: they load from a table), and then that reduction always runs: explicit
lanes are three to six times as fast there.

Largest errors measured, in units of the last place: float32 over every 16th of all numbers (pow:
268 million random pairs) against float64; float64 over more than 100,000 points per function, of
all exponents and denser where the function varies, against mpmath.

        | exp  | exp2 | log  | log2 | sin  | cos  | tan  | tanh | erf  | pow
float32 | 1.02 | 0.85 | 0.85 | 1.26 | 1.55 | 1.55 | 2.77 | 2.50 | 0.99 | 0.51
float64 | 0.96 | 0.77 | 0.80 | 1.20 | 1.42 | 1.44 | 2.59 | 2.49 | 0.95 | 1.17

Special values are those of C99 and NumPy, subnormal numbers included. The functions need hardware
fma to be fast; without it LLVM calls the C library's fma, and the results stay the same.
"""

from dataclasses import dataclass
from functools import cache

from compiler.llvm.mathematics.builder import FORMATS, Code, Value
from compiler.llvm.mathematics.error_function import erf
from compiler.llvm.mathematics.exponential import exp, exp2, tanh
from compiler.llvm.mathematics.logarithm import log, log2
from compiler.llvm.mathematics.power import pow
from compiler.llvm.mathematics.trigonometry import cos, sin, tan

UNARY = {f.__name__: f for f in (exp, exp2, log, log2, sin, cos, tan, tanh, erf)}
BINARY = {pow.__name__: pow}
OPERATIONS = frozenset(UNARY | BINARY)
ATTRIBUTES = "alwaysinline nounwind willreturn memory(none)"


@dataclass(frozen=True)
class Definition:
    """The text of one function, and of the declarations that it needs."""

    text: str
    declarations: tuple[str, ...]


def function_name(op: str, dtype: str, lanes: int = 1) -> str:
    """The name with LLVM's sigil: `@sv.exp.f32` or `@sv.exp.f32.v8`."""
    suffix = "" if lanes == 1 else f".v{lanes}"
    return f"@sv.{op}.{dtype}{suffix}"


def define(op: str, dtype: str, lanes: int = 1) -> str:
    """The text of one `define internal`, for dtype "f32" or "f64" and 1 or more lanes."""
    return definition(op, dtype, lanes).text


def declarations(op: str, dtype: str, lanes: int = 1) -> tuple[str, ...]:
    """The lines that a module needs once, besides `define`: intrinsics and constant tables."""
    return definition(op, dtype, lanes).declarations


@cache
def definition(op: str, dtype: str, lanes: int) -> Definition:
    """Write one function."""
    code, element = Code(lanes), FORMATS[dtype].element
    names = ("%x", "%y") if op in BINARY else ("%x",)
    arguments = [Value(code, name, element) for name in names]
    result = BINARY[op](*arguments) if op in BINARY else UNARY[op](*arguments)
    parameters = ", ".join(a.typed for a in arguments)
    name, kind = function_name(op, dtype, lanes), code.type(element)
    lines = [
        f"define internal {kind} {name}({parameters}) {ATTRIBUTES} {{",
        "entry:",
        *code.lines,
        f"  ret {result.typed}",
        "}",
    ]
    return Definition("\n".join(lines) + "\n", tuple(code.declared))
