"""Matrix products and attention."""

from compiler.core import dtypes
from compiler.imported.onnx.call import Call, operator
from compiler.tensor import Tensor


@operator("MatMul")
def matmul(_call: Call, a: Tensor, b: Tensor) -> Tensor:
    """NumPy's product of matrices."""
    return a.matmul(b)


@operator("MatMulInteger")
def matmul_integer(
    _call: Call, a: Tensor, b: Tensor, a_zero: Tensor | None = None, b_zero: Tensor | None = None
) -> Tensor:
    """A product of small integers in 32 bits."""
    wide = []
    for each, zero, rows in ((a, a_zero, True), (b, b_zero, False)):
        moved = each.cast(dtypes.int32)
        if zero is not None:
            zero = zero.cast(dtypes.int32)
            moved = moved.sub(zero.unsqueeze(-1) if zero.ndim and rows and zero.size > 1 else zero)
        wide.append(moved)
    return wide[0].matmul(wide[1])


@operator("Gemm")
def gemm(call: Call, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    """alpha A B + beta C, of matrices turned or not."""
    a = a.T if call.get("transA", 0) else a
    b = b.T if call.get("transB", 0) else b
    alpha, beta = call.get("alpha", 1.0), call.get("beta", 1.0)
    made = a.matmul(b)
    made = made if alpha == 1 else made.mul(alpha).cast(a.dtype)
    if c is None:
        return made
    return made.add(c if beta == 1 else c.mul(beta).cast(c.dtype))


@operator("Einsum")
def einsum(call: Call, *operands: Tensor) -> Tensor:
    """Sums over named axes."""
    equation = call["equation"]
    return Tensor.einsum(equation.decode() if isinstance(equation, bytes) else equation, *operands)
