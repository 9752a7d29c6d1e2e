"""exp, exp2, log, log2, sin, cos, tan, asin, acos, atan, tanh, erf and pow as LLVM IR.

`inline` writes one function where it is used, for a scalar or for any number of lanes, with the
same bits from both: a call in a loop would spill all vector registers. All conditions are selects,
with two exceptions: sin, cos and tan branch around the reduction of very large arguments when no
lane needs it, and log, log2 and pow of vectors around operands that are not positive normal
numbers.
A scalar loop over any of them is vectorised by LLVM (sin, cos and tan of float64 only with AVX-512:
they load from a table), and then that reduction always runs: explicit lanes are three to six times
as fast there.

Largest errors measured, in units of the last place: float32 over every 16th of all numbers (pow:
268 million random pairs) against float64; float64 over more than 100,000 points per function, of
all exponents and denser where the function varies, against mpmath.

        | exp  | exp2 | log  | log2 | sin  | cos  | tan  | tanh | erf  | pow
float32 | 1.02 | 0.85 | 0.85 | 1.26 | 1.55 | 1.55 | 2.77 | 2.50 | 0.99 | 0.51
float64 | 0.96 | 0.77 | 0.80 | 1.20 | 1.42 | 1.44 | 2.59 | 2.49 | 0.95 | 1.17

Special values are those of C99 and NumPy, subnormal numbers included. The functions need hardware
fma to be fast; without it LLVM calls the C library's fma, and the results stay the same.

In order: each imports only what stands before it.

    builder.py       a small writer of LLVM IR text
    coefficients.py  polynomial coefficients, lowest power first
    constants.py     mathematical constants to 1400 bits, from integer series
    exponential.py   exp, exp2, tanh and erf
    logarithm.py     log and log2: x = 2**e m with m in [sqrt(1/2), sqrt 2]
    power.py         pow: 2**(y log2 |x|) with the logarithm to more bits than the result has
    trigonometry.py  sin, cos and tan
    inverse.py       asin, acos and atan
"""

from dataclasses import dataclass
from functools import cache

from compiler.llvm.mathematics.builder import FORMATS, Code, Value
from compiler.llvm.mathematics.exponential import erf, exp, exp2, tanh
from compiler.llvm.mathematics.inverse import acos, asin, atan
from compiler.llvm.mathematics.logarithm import log, log2
from compiler.llvm.mathematics.power import pow
from compiler.llvm.mathematics.trigonometry import cos, sin, tan
from compiler.llvm.writer import SourceLine, Writer

UNARY = {f.__name__: f for f in (exp, exp2, log, log2, sin, cos, tan, asin, acos, atan, tanh, erf)}
BINARY = {pow.__name__: pow}
OPERATIONS = frozenset(UNARY | BINARY)
"""The names by which rows of the table refer to a function."""
# Placeholders in a body: for the operands, and for the block that it begins in.
PARAMETERS = ("\x01", "\x02")
ENTRY = "\x03"


@dataclass(frozen=True)
class Body:
    """The instructions of one function, to be written anywhere, and the declarations they need."""

    text: str
    result: str
    declarations: dict[str, None]


def inline(
    writer: Writer, op: str, dtype: str, lanes: int, operands: list[str], name: str = ""
) -> str:
    """Write the function's instructions for dtype "f32" or "f64"; returns the result's name."""
    function = body(op, dtype, lanes, writer.has_avx512)
    writer.declarations.update(function.declarations)
    stem = writer.fresh(op) + "."
    text = function.text.replace("%", f"%{stem}").replace(f"%{stem}{ENTRY}", f"%{writer.block}")
    for parameter, operand in zip(PARAMETERS, operands, strict=False):
        text = text.replace(parameter, operand)
    result = "%" + stem + function.result.removeprefix("%")
    before, definition, after = text.rpartition(f"  {result} = ")
    assert definition, "the result is the last instruction"
    name = name or result
    for line in f"{before}  {name} = {after}".splitlines():
        if line.startswith(" "):
            writer.lines.append(SourceLine(line, writer.instruction))
        else:
            writer.label(stem + line.removesuffix(":"))
    return name


@cache
def body(op: str, dtype: str, lanes: int, has_avx512: bool) -> Body:
    """The instructions of one function, with marks where the operands go."""
    code, element = Code(lanes, ENTRY, has_avx512), FORMATS[dtype].element
    arguments = [Value(code, mark, element) for mark in PARAMETERS]
    result = BINARY[op](*arguments) if op in BINARY else UNARY[op](arguments[0])
    return Body("\n".join(code.lines), result.text, code.declared)
