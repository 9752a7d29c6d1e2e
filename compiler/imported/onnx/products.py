"""Matrix products and determinants."""

from compiler.imported.onnx.call import Call, fixed, operator
from compiler.tensor import Tensor


@operator("MatMul")
def matmul(_call: Call, a: Tensor, b: Tensor) -> Tensor:
    """NumPy's product of matrices."""
    return a.matmul(b)


@operator("Gemm")
def gemm(call: Call, a: Tensor, b: Tensor, c: Tensor | None = None) -> Tensor:
    """alpha A B + beta C, of matrices that may be transposed."""
    a = a.T if call.get("transA", 0) else a
    b = b.T if call.get("transB", 0) else b
    alpha, beta = call.get("alpha", 1.0), call.get("beta", 1.0)
    sums = a.matmul(b)
    sums = sums if alpha == 1 else sums.mul(alpha).cast(a.dtype)
    if c is None:
        return sums
    return sums.add(c if beta == 1 else c.mul(beta).cast(c.dtype))


@operator("Einsum")
def einsum(call: Call, *operands: Tensor) -> Tensor:
    """Einstein summation."""
    equation = call["equation"]
    return Tensor.einsum(equation.decode() if isinstance(equation, bytes) else equation, *operands)


MOST_ROWS = 64
"""The maximal size of a matrix whose determinant is computed: each row is a step of the program."""


@operator("Det")
def determinant(call: Call, x: Tensor) -> Tensor:
    """[…, n, n] → […]: the determinants, by Gaussian elimination with pivoting."""
    columns, rows = fixed(x, -2, -1)
    if columns != rows or rows > MOST_ROWS:
        raise call.refused("this matrix has no determinant here", x.shape,
                           f"square ones of up to {MOST_ROWS} rows")  # fmt: skip
    product = x.sum((-1, -2)).mul(0).add(1) if not rows else None
    for _ in range(rows):
        column = x[..., 0]
        place = column.abs().argmax(-1, True)
        is_chosen = Tensor.arange(x.shape[-2]).eq(place)
        chosen = is_chosen.unsqueeze(-1).where(x, 0).sum(-2, keepdim=True).cast(x.dtype)
        pivot = chosen[..., 0, 0]
        signed = place.squeeze(-1).eq(0).where(pivot, pivot.neg())
        product = signed if product is None else product.mul(signed)
        others = is_chosen.unsqueeze(-1).where(x[..., :1, :], x)[..., 1:, :]
        factor = others[..., :1].div(pivot.eq(0).where(1, pivot).unsqueeze(-1).unsqueeze(-1))
        x = others[..., 1:].sub(factor.mul(chosen[..., 1:])).contiguous()
    assert product is not None
    return product
