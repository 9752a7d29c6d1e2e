"""Build elementwise operations: type promotion, broadcasting, and NumPy's special cases.

The functions take operands and return nodes, for the methods in `unary.py` and `binary.py`. An
operand is a tensor, a node, an array, a list or a Python number. A Python number has a weak type.
"""

import operator
from collections.abc import Sequence
from typing import TypeAlias

from compiler.core import dtypes
from compiler.core.dtypes import DType, Scalar, int8, int64, uint64
from compiler.core.errors import DTypeError
from compiler.graph.nodes import Shape, TensorNode, const, elementwise
from compiler.ops.row import FLOAT
from compiler.ops.table import OPS
from compiler.tensors.shapes import broadcast
from compiler.tensors.value import as_node, broadcast_node, cast_to, common_type, operand_of
from compiler.tensors.variables import is_weak

Parts: TypeAlias = Sequence[TensorNode | Scalar]


def apply(row: str, method: str, *values: object) -> TensorNode:
    """Row `row` of the operation table, applied to the promoted and broadcast operands. Errors name
    `method`."""
    parts = [operand_of(method, v) for v in values]
    common = common_type(parts)
    if common.kind in OPS[row].unchanged:
        return as_node(method, parts[0], common)
    return elementwise(row, *aligned(method, parts, _accepted(row, method, parts, common)))


def aligned(method: str, parts: Parts, dtype: DType) -> list[TensorNode]:
    """The operands, converted to `dtype` and broadcast to their common shape."""
    shape = common_shape(method, parts)
    return [broadcast_node(as_node(method, part, dtype), shape) for part in parts]


def common_shape(method: str, parts: Parts) -> Shape:
    """The shape that the operands broadcast to. Python numbers have shape ()."""
    nodes = [part for part in parts if isinstance(part, TensorNode)]
    return broadcast(method, *nodes) if nodes else ()


def _accepted(row: str, method: str, parts: Parts, dtype: DType) -> DType:
    """The type to compute in. Raises `DTypeError` where NumPy has no such operation either.

    `dtype` is the common type of `parts`.
    """
    facts = OPS[row]
    if dtype.kind in facts.accepts:
        return dtype
    if facts.accepts == FLOAT:
        return dtypes.float64 if facts.is_double else _common_float(parts, dtype)
    if dtype.kind == "bool" and facts.bools_as_int8:
        return int8
    hint = f"convert first, e.g. cast({'int64' if dtype.is_float else 'float32'})"
    raise DTypeError(
        method,
        f"not defined for {dtype}",
        got=str(dtype),
        expected="elements of kind " + " or ".join(sorted(facts.accepts)),
        hint=facts.bool_hint or hint if dtype.kind == "bool" else hint,
    )


def _common_float(parts: Parts, dtype: DType) -> DType:
    """The common float type of `parts`. For int8 with uint8 it is float16, although their common
    type is int16: NumPy picks the smallest float type that its function accepts for each
    operand."""
    types = [part.dtype for part in parts if isinstance(part, TensorNode) and not is_weak(part)]
    if len(types) < len(parts):
        return dtypes.to_float(dtype)
    return dtypes.promote(*map(dtypes.to_float, types))


def select(method: str, condition: object, yes: object, no: object) -> TensorNode:
    """`yes` where `condition` is true (not 0), else `no`."""
    where = truth(operand_of(method, condition))
    parts = [operand_of(method, v) for v in (yes, no)]
    dtype = common_type(parts)
    nodes = [where, *(as_node(method, part, dtype) for part in parts)]
    shape = common_shape(method, [where, *parts])
    return elementwise("where", *(broadcast_node(n, shape) for n in nodes))


def truth(part: TensorNode | Scalar) -> TensorNode:
    """True where an element is not 0. NaN is true."""
    if isinstance(part, TensorNode):
        return cast_to(part, dtypes.bool_)
    return const(bool(part), dtypes.bool_)


def compare(row: str, method: str, left: object, right: object) -> TensorNode:
    """A comparison, exact also between int64 and uint64, and against integers out of range."""
    parts = [operand_of(method, v) for v in (left, right)]
    types = {p.dtype for p in parts if isinstance(p, TensorNode)}
    if uint64 in types and any(t.kind == "int" for t in types):
        return _compare_mixed(row, method, parts)
    dtype = common_type(parts)
    for place, part in enumerate(parts):
        if isinstance(part, int) and _is_outside(part, dtype):
            return _settled(row, part, place, common_shape(method, parts))
    return elementwise(row, *aligned(method, parts, dtype))


def _is_outside(value: int, dtype: DType) -> bool:
    return dtype.is_integer and not dtype.minimum <= value <= dtype.maximum


def _settled(row: str, value: int, place: int, shape: Shape) -> TensorNode:
    """A comparison with a number outside the type's range (operand `place`): the same answer for
    every element."""
    operands = (0, value) if place else (value, 0)
    return const(bool(getattr(operator, row)(*operands)), dtypes.bool_, shape)


def _compare_mixed(row: str, method: str, parts: Parts) -> TensorNode:
    """Signed against uint64: a negative number is below all, the others compare as uint64."""
    place = 0 if common_type(parts[:1]).kind == "int" else 1
    shape = common_shape(method, parts)
    nodes = [broadcast_node(as_node(method, p, common_type([p])), shape) for p in parts]
    signed = cast_to(nodes[place], int64)
    is_negative = elementwise("lt", signed, const(0, int64, shape))
    plain = elementwise(row, *(cast_to(node, uint64) for node in nodes))
    return elementwise("where", is_negative, _settled(row, -1, place, shape), plain)


def power(left: object, right: object) -> TensorNode:
    """`left ** right`. For exponents 2, ½ and -1 it is the square, square root and reciprocal, as
    in NumPy."""
    base, exponent = (operand_of("pow", v) for v in (left, right))
    dtype = common_type([base, exponent])
    if isinstance(exponent, TensorNode) or not isinstance(base, TensorNode):
        return apply("pow", "pow", base, exponent)
    if exponent == 2:
        kept = base.dtype if isinstance(exponent, int) else dtype  # bool ** 2 is int8
        return apply("square", "pow", cast_to(base, kept))
    if dtype.is_float and exponent in (0.5, -1):
        return apply("sqrt" if exponent == 0.5 else "recip", "pow", cast_to(base, dtype))
    if exponent < 0 and not dtype.is_float:
        raise DTypeError(
            "pow",
            "integers to negative powers are not integers",
            got=f"{dtype} ** {exponent}",
            expected="a floating-point base, or an exponent of 0 or more",
            hint="cast(float64) first",
        )
    return apply("pow", "pow", base, exponent)
