"""Matrix products: `@`, matmul, dot, linear.

A product is an elementwise multiplication over […, m, n, k], summed over the last axis:

    x[…, m, k] → reshape […, m, 1, k] → expand […, m, n, k] ┐
    y[…, k, n] → permute […, n, k] → reshape, expand         ┴ mul → reduce sum over k
"""

from typing import Self

from compiler.core.errors import ShapeError
from compiler.graph.nodes import Reduce, TensorNode, elementwise
from compiler.tensors.binary import Binary
from compiler.tensors.movement import Movement, permuted
from compiler.tensors.shapes import broadcast, written
from compiler.tensors.value import (
    Operand,
    as_node,
    broadcast_node,
    cast_to,
    common_type,
    operand_of,
    reshaped,
    traced,
)


def matrix_product(method: str, left: object, right: object) -> TensorNode:
    """NumPy's matmul: rank 1 is a row or a column; the axes before the last two broadcast.

    Floats of 16 bits are multiplied and summed in float32; integers wrap; for bool it is `or` of
    `and`s.
    """
    parts = [operand_of(method, v) for v in (left, right)]
    dtype = common_type(parts)
    inner = dtype.accumulator
    x, y = (cast_to(as_node(method, part, dtype), inner) for part in parts)
    _check(method, x, y)
    row = x if len(x.shape) > 1 else reshaped(x, (1, *x.shape))
    column = y if len(y.shape) > 1 else reshaped(y, (*y.shape, 1))
    product = _multiplied(method, row, column)
    rows = product.shape[-2:-1] if len(x.shape) > 1 else ()
    columns = product.shape[-1:] if len(y.shape) > 1 else ()
    shape = (*product.shape[:-2], *rows, *columns)
    return cast_to(reshaped(product, shape), dtype)


def _check(method: str, x: TensorNode, y: TensorNode) -> None:
    """Raise `ShapeError` for rank 0, and where the contracted axes or the leading axes differ."""
    if not x.shape or not y.shape:
        raise ShapeError(
            method,
            "an operand has no axis to sum over",
            got=f"{written(x.shape)} and {written(y.shape)}",
            expected="rank 1 or more",
            hint="multiply by a number with *",
        )
    if x.shape[-1] != y.shape[-2:][0]:
        raise ShapeError(
            method,
            f"the axes to sum over differ: {x.shape[-1]} and {y.shape[-2:][0]}",
            got=f"{written(x.shape)} and {written(y.shape)}",
            expected="(…, m, k) and (…, k, n)",
            hint="transpose one operand with .mT if its axes are the other way round",
        )
    stacks = zip(x.shape[-3::-1], y.shape[-3::-1], strict=False)
    if not all(m == n or 1 in (m, n) for m, n in stacks):
        raise ShapeError(
            method,
            "the axes before the last two do not fit together",
            got=f"{written(x.shape)} and {written(y.shape)}",
            expected="equal extents, or 1, on each of them counted from the last",
        )


def _multiplied(method: str, x: TensorNode, y: TensorNode) -> TensorNode:
    """The product of stacks of matrices, shape […, m, n]."""
    (*batch_x, m, k), (*batch_y, n) = x.shape, (*y.shape[:-2], y.shape[-1])
    rank = len(y.shape)
    turned = permuted(y, (*range(rank - 2), rank - 1, rank - 2))
    row, column = reshaped(x, (*batch_x, m, 1, k)), reshaped(turned, (*batch_y, 1, n, k))
    full = broadcast(method, row, column)
    product = elementwise("mul", broadcast_node(row, full), broadcast_node(column, full))
    return reshaped(Reduce((product,), "sum", (len(full) - 1,)), full[:-1])


@traced
class Products(Movement, Binary):
    """Matrix products."""

    __slots__ = ()

    def matmul(self, other: Operand) -> Self:
        """The matrix product self @ other, by NumPy's rules: rank 1 is a row or a column, leading
        axes broadcast. Raises `ShapeError` where the inner extents differ."""
        return self._new(matrix_product("matmul", self, other))

    bmm = mm = mv = matmul  # PyTorch's names

    def dot(self, other: Operand) -> Self:
        """NumPy's dot: the last axis of self contracted with the last but one of `other`, for all
        pairs of other axes; a number multiplies."""
        right = self._lift(other)
        if not self.ndim or not right.ndim:
            return self.mul(other)
        if right.ndim <= 2:
            return self._new(matrix_product("dot", self, right))
        columns = right.movedim(-2, 0)
        rows, flat = self.reshape(-1, self.shape[-1]), columns.flatten(1)
        product = self._new(matrix_product("dot", rows, flat))
        return product.reshape(*self.shape[:-1], *columns.shape[1:])

    def linear(self, weight: Operand, bias: Operand | None = None) -> Self:
        """self @ weight + bias. `weight` is [inputs, outputs]; that of a PyTorch layer is [outputs,
        inputs], so pass `weight.T`."""
        product = self._new(matrix_product("linear", self, weight))
        return product if bias is None else product.add(bias)

    def __matmul__(self, other: Operand) -> Self:
        return self.matmul(other)

    def __rmatmul__(self, other: Operand) -> Self:
        return self._new(matrix_product("matmul", other, self))
