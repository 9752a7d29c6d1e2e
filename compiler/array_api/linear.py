"""Matrix products."""

from collections.abc import Sequence

from compiler.array_api.arguments import tensor
from compiler.core.dtypes import promote
from compiler.core.errors import AxisError
from compiler.core.keywords import public
from compiler.tensor import Tensor


@public
def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix product x1 @ x2: rank 1 is a row or a column, leading axes broadcast."""
    return tensor("matmul", x1).matmul(tensor("matmul", x2))


@public
def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two axes swapped."""
    return tensor("matrix_transpose", x).mT


@public
def tensordot(
    x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Tensor:  # fmt: skip
    """Sums of products over the last `axes` axes of x1 and the first of x2, or over two lists of
    axes."""
    return tensor("tensordot", x1).tensordot(tensor("tensordot", x2), axes)


@public
def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The dot products along `axis`, counted from the last, in the common type."""
    first, second = tensor("vecdot", x1), tensor("vecdot", x2)
    if axis >= 0:
        raise AxisError("vecdot", "the operands broadcast: axes are counted from the last",
                        got=str(axis), expected="-1 or less")  # fmt: skip
    extents = {each.movedim(axis, -1).shape[-1] for each in (first, second)}
    if len(extents) > 1:
        raise AxisError("vecdot", f"axis {axis} has two extents", got=str(sorted(extents)),
                        expected="as many elements in both")  # fmt: skip
    dtype = promote(first.dtype, second.dtype)
    return first.mul(second).sum(axis, dtype=dtype)
