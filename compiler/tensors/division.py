"""Floor division and remainder as Python and NumPy define them, from truncating operations.

`idiv` and `mod` of the operation table truncate, as machines do: the remainder has the sign of the
dividend. Python's `//` rounds down and its `%` has the sign of the divisor. Integer division and
remainder by 0 give 0.
"""

from compiler.core import dtypes
from compiler.core.dtypes import DType, Scalar
from compiler.graph.kinds.gradient import ruled
from compiler.graph.nodes import TensorNode, const
from compiler.graph.nodes import elementwise as op
from compiler.ops import composed
from compiler.tensors.apply import aligned
from compiler.tensors.value import cast_to, common_type, operand_of


def floor_divide(method: str, left: object, right: object) -> TensorNode:
    """`left // right`, rounded down."""
    a, b, dtype = _operands(method, left, right)
    if dtype.is_float:
        return cast_to(_floor_divide_float(a, b), dtype)
    quotient = op("idiv", a, b)
    return op("where", _is_across(a, b), op("sub", quotient, _number(1, a)), quotient)


def floor_remainder(method: str, left: object, right: object) -> TensorNode:
    """`left % right`, with the sign of the divisor, also if the result is a floating-point zero."""
    a, b, dtype = _operands(method, left, right)
    rest = op("mod", a, b)
    moved = op("where", _is_across(a, b), op("add", rest, b), rest)
    if not dtype.is_float:
        return moved
    zero = _number(0, a)
    signed = op("where", op("lt", b, zero), _number(-0.0, b), zero)
    made = op("where", op("eq", rest, zero), signed, moved)
    return cast_to(ruled(made, (composed.unchanged, composed.of_modulus), a, b), dtype)


def _operands(method: str, left: object, right: object) -> tuple[TensorNode, TensorNode, DType]:
    """The operands in the type to compute in, and the type of the result.

    Truth values become int8. Floats of 16 bits are computed in float32, as in NumPy, so that
    intermediate steps do not round.
    """
    parts = [operand_of(method, v) for v in (left, right)]
    common = common_type(parts)
    dtype = dtypes.int8 if common.kind == "bool" else common
    wide = dtype.accumulator
    a, b = (cast_to(node, wide) for node in aligned(method, parts, dtype))
    return a, b, dtype


def _floor_divide_float(a: TensorNode, b: TensorNode) -> TensorNode:
    """(a - a mod b) / b, minus one where the signs differ, rounded to the nearest integer, halves
    down. A zero has the sign of a / b; a / 0 is ±inf or NaN."""
    zero, half, one = _number(0, a), _number(0.5, a), _number(1, a)
    quotient = op("fdiv", a, b)
    exact = op("fdiv", op("sub", a, op("mod", a, b)), b)
    lower = op("where", _is_across(a, b), op("sub", exact, one), exact)
    floor = op("floor", lower)
    is_short = op("lt", half, op("sub", lower, floor))
    snapped = op("where", is_short, op("add", floor, one), floor)
    signed = op("where", op("eq", lower, zero), op("mul", quotient, zero), snapped)
    return op("where", op("eq", b, zero), quotient, signed)


def _is_across(a: TensorNode, b: TensorNode) -> TensorNode:
    """True where the remainder is not 0 and its sign differs from the divisor's."""
    rest, zero = op("mod", a, b), _number(0, a)
    signs = op("xor", op("lt", rest, zero), op("lt", b, zero))
    return op("and", op("ne", rest, zero), signs)


def _number(value: Scalar, like: TensorNode) -> TensorNode:
    return const(value, like.dtype, like.shape)
