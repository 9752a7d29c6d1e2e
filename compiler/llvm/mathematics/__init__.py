"""exp, exp2, log, log2, sin, cos, tan, tanh, erf and pow as LLVM IR."""

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
