"""Attention with several heads (Vaswani et al., "Attention is all you need", 2017)."""

from compiler.core.errors import ShapeError
from compiler.core.keywords import constructor
from compiler.nn import initial
from compiler.nn.linear import Linear
from compiler.nn.module import Module
from compiler.tensor import Tensor


class MultiheadAttention(Module):
    """Queries [n, l, width] that look at keys and values [n, s, width], in `heads` parts.

    `in_proj_weight` [3 width, width] has the rows of queries, keys and values, in this order.
    """

    @constructor
    def __init__(
        self, width: int, heads: int, bias: bool = True, dtype: object = initial.FLOAT
    ) -> None:
        if heads < 1 or width % heads:
            raise ShapeError("MultiheadAttention", "the width does not divide into heads",
                             got=f"{width} and {heads} heads", expected="a multiple")  # fmt: skip
        self.heads = heads
        self.in_proj_weight = initial.xavier((3 * width, width), dtype)
        self.in_proj_bias = initial.full((3 * width,), 0.0, dtype) if bias else None
        self.out_proj = Linear(width, width, bias, dtype)

    def forward(
        self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None,
        mask: Tensor | None = None, is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """[n, l, width]; without keys and values queries look at themselves.

        `mask` as for `Tensor.scaled_dot_product_attention`; `is_causal`: up to themselves.
        """
        if key is None:
            parts = list(self._projected(query, 0, 3).chunk(3, -1))
        else:
            given = (query, key, key if value is None else value)
            parts = [self._projected(each, n, n + 1) for n, each in enumerate(given)]
        q, k, v = (self._cut(part) for part in parts)
        seen = q.scaled_dot_product_attention(k, v, mask, is_causal=is_causal)
        n, heads, length, part = seen.shape
        made: Tensor = self.out_proj(seen.transpose(1, 2).reshape(n, length, heads * part))
        return made

    def _projected(self, x: Tensor, begin: int, end: int) -> Tensor:
        """What rows `begin` to `end` of the weights, in parts of a width, make of x."""
        width = self.in_proj_weight.shape[1]
        rows = slice(begin * width, end * width)
        made = x @ self.in_proj_weight[rows].mT
        return made if self.in_proj_bias is None else made + self.in_proj_bias[rows]

    def _cut(self, x: Tensor) -> Tensor:
        """[n, heads, l, width / heads]."""
        n, length, width = x.shape
        return x.reshape(n, length, self.heads, width // self.heads).transpose(1, 2)
