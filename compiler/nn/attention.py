"""Multi-head attention (Vaswani et al., "Attention is all you need", 2017)."""

import functools
import math
from typing import Any

from compiler.core.dtypes import bool_
from compiler.core.errors import ShapeError
from compiler.core.keywords import constructor
from compiler.nn import initial
from compiler.nn.linear import Linear
from compiler.nn.module import Module, refuse_rank
from compiler.tensor import Tensor


class MultiheadAttention(Module):
    """Multi-head attention: queries [n, l, width] attend to keys and values [n, s, width], in
    `heads` heads.

    `in_proj_weight` [3 width, width] has the rows for queries, keys and values, in this order. The
    batch comes first by default, unlike in PyTorch; `batch_first=False` changes that.
    """

    @constructor
    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True,
        batch_first: bool = True, dtype: object = initial.FLOAT,
    ) -> None:  # fmt: skip
        if num_heads < 1 or embed_dim % num_heads:
            raise ShapeError("MultiheadAttention", "the width does not divide into heads",
                             got=f"{embed_dim} and {num_heads} heads",
                             expected="a multiple")  # fmt: skip
        self.heads, self.dropout, self.batch_first = num_heads, dropout, batch_first
        self.in_proj_weight = initial.xavier((3 * embed_dim, embed_dim), dtype)
        self.in_proj_bias = initial.full((3 * embed_dim,), 0.0, dtype) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype)

    def forward(
        self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None,
        key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """The output [n, l, width], and the attention weights [n, l, s], averaged over heads, or
        [n, heads, l, s] unless `average_attn_weights`; None instead of them unless `need_weights`.
        Unused results are not computed. In training mode, dropout with probability `dropout`
        applies to the weights in both results.

        Without keys and values the queries attend to themselves. Masks are true where attention is
        not allowed: `key_padding_mask` [n, s] for keys, `attn_mask` [l, s] or [n heads, l, s] for
        pairs; masks of floats are added to the scores. With `is_causal`, later keys are masked as
        well.
        """
        for name, each in (("query", query), ("key", key), ("value", value)):
            if each is not None:
                refuse_rank(self, each, 3, name=name)
        given = (query, query if key is None else key, value)
        q, k, v = (self._ordered(key if each is None else each) for each in given)
        if key is None:
            parts = list(self._projected(q, 0, 3).chunk(3, -1))
        else:
            parts = [self._projected(each, n, n + 1) for n, each in enumerate((q, k, v))]
        q, k, v = (self._cut(part) for part in parts)
        mask = _added(self._mask(key_padding_mask, attn_mask, q, k), q.dtype)
        dropped: Tensor | None = None
        if self.dropout and self.training:
            dropped = q._attention_weights(k, mask, is_causal).dropout(self.dropout)
            seen = dropped @ v
        else:
            seen = q.scaled_dot_product_attention(k, v, mask, is_causal=is_causal)
        n, heads, length, part = seen.shape
        made = self._ordered(self.out_proj(seen.transpose(1, 2).reshape(n, length, heads * part)))
        if not need_weights:
            return made, None
        weights = ((q @ k.mT) * part**-0.5)._seen(mask, is_causal).softmax(-1)
        weights = weights if dropped is None else dropped
        return made, weights.mean(1) if average_attn_weights else weights

    def _ordered(self, x: Any) -> Any:
        """Swap between the argument order and [n, l, width]."""
        return x if self.batch_first else x.permute(1, 0, 2)

    def _mask(
        self, keys: Tensor | None, pairs: Tensor | None, q: Tensor, k: Tensor
    ) -> list[Tensor]:
        """Masks of keys and of pairs, broadcastable to [n, heads, l, s]."""
        n, heads, length, _ = q.shape
        found = [] if keys is None else [Tensor(keys).reshape(n, 1, 1, k.shape[2])]
        if pairs is not None:
            pairs = Tensor(pairs)
            shape = (n, heads, length, k.shape[2])
            found.append(pairs if pairs.ndim == 2 else pairs.reshape(shape))
        return found

    def _projected(self, x: Tensor, begin: int, end: int) -> Tensor:
        """x projected with rows `begin` to `end` of the weights, counted in multiples of
        `width`."""
        width = self.in_proj_weight.shape[1]
        rows = slice(begin * width, end * width)
        made = x @ self.in_proj_weight[rows].mT
        return made if self.in_proj_bias is None else made + self.in_proj_bias[rows]

    def _cut(self, x: Tensor) -> Tensor:
        """Split into heads: [n, heads, l, width / heads]."""
        n, length, width = x.shape
        return x.reshape(n, length, self.heads, width // self.heads).transpose(1, 2)


def _added(masks: list[Tensor], dtype: Any) -> Tensor | None:
    """The masks as one term to add to the scores; None without masks."""
    floats = [
        mask.where(Tensor(-math.inf).cast(dtype), Tensor(0.0).cast(dtype))
        if mask.dtype == bool_ else mask.cast(dtype)
        for mask in masks
    ]  # fmt: skip
    return functools.reduce(Tensor.add, floats) if floats else None
