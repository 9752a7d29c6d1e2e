"""Matrix products and attention."""

from typing import Any

from compiler.imported.call import Number, Results
from compiler.imported.torch.call import Call, as_tensor, operator
from compiler.tensor import Tensor


@operator("linear")
def linear(_call: Call, x: Tensor, /, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x weightᵀ + bias."""
    return x.linear(weight.T if weight.ndim > 1 else weight, bias)


@operator("mm", "bmm", "matmul", "mv", "dot", "vdot")
def matmul(_call: Call, a: Tensor, b: Tensor, /) -> Tensor:
    """A product of matrices or vectors."""
    return a.matmul(b)


@operator("inner")
def inner(_call: Call, a: Tensor, b: Tensor, /) -> Tensor:
    """The products of all rows of one tensor with all rows of the other."""
    return a.inner(b) if b.ndim else a.mul(b)


@operator("addmm", "baddbmm", "addmv", "addbmm")
def addmm(
    call: Call, c: Tensor, a: Tensor, b: Tensor, /, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    """beta c + alpha a b."""
    if beta == 1 and alpha == 1 and call.name.startswith("addmm"):
        return a.linear(b, c)
    product = a.matmul(b)
    if call.name.startswith("addbmm"):
        product = product.sum(0)
    product = product if alpha == 1 else product.mul(as_tensor(alpha, product.dtype))
    if beta == 0:
        return product
    return product.add(c if beta == 1 else c.mul(as_tensor(beta, c.dtype)))


@operator("einsum.default")
def einsum(_call: Call, formula: str, operands: Any, /) -> Tensor:
    """Einstein summation."""
    return Tensor.einsum(formula, *operands)


@operator("scaled_dot_product_attention")
def attention(
    _call: Call, query: Tensor, key: Tensor, value: Tensor, /, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """softmax(query keyᵀ scale + mask) value."""
    return query.scaled_dot_product_attention(
        key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)  # fmt: skip


@operator("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_efficient_attention")
def flash_attention(
    call: Call, query: Tensor, key: Tensor, value: Tensor, /, dropout_p: float = 0.0,
    is_causal: bool = False, *, attn_mask: Tensor | None = None, attn_bias: Tensor | None = None,
    scale: float | None = None,
) -> Results:  # fmt: skip
    """The same, and empty results for PyTorch's gradient."""
    mask = attn_mask if attn_bias is None else attn_bias
    result = query.scaled_dot_product_attention(
        key, value, mask, dropout_p, is_causal, scale)  # fmt: skip
    return result, *(None,) * (len(call.values) - 1)


@operator("_trilinear")
def trilinear(
    _call: Call, a: Tensor, b: Tensor, c: Tensor, first: Any, second: Any, third: Any,
    summed: Any, /,
) -> Tensor:  # fmt: skip
    """The sum over axes of a product of three tensors, each with added axes."""
    for axes, place in ((first, 0), (second, 1), (third, 2)):
        for axis in sorted(axes):
            a, b, c = (t.unsqueeze(axis) if n == place else t for n, t in enumerate((a, b, c)))
    return a.mul(b).mul(c).sum(tuple(summed))


@operator("cosine_similarity")
def cosine_similarity(
    _call: Call, a: Tensor, b: Tensor, /, dim: int = 1, eps: float = 1e-8
) -> Tensor:
    """The cosine of the angle between vectors."""
    return a.cosine_similarity(b, dim, eps)
