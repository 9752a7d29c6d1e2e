"""Attention with several heads (Vaswani et al., "Attention is all you need", 2017)."""

import functools
import math
from typing import Any

from compiler.core.dtypes import bool_
from compiler.core.errors import ShapeError
from compiler.core.keywords import constructor
from compiler.nn import initial
from compiler.nn.linear import Linear
from compiler.nn.module import Module
from compiler.tensor import Tensor


class MultiheadAttention(Module):
    """Queries [n, l, width] that look at keys and values [n, s, width], in `heads` parts.

    `in_proj_weight` [3 width, width] has the rows of queries, keys and values, in this order. The
    batch comes first, unless `batch_first` is false, as it is in PyTorch where nothing is said.
    """

    @constructor
    def __init__(
        self, width: int, heads: int, dropout: float = 0.0, bias: bool = True,
        batch_first: bool = True, dtype: object = initial.FLOAT,
    ) -> None:  # fmt: skip
        if heads < 1 or width % heads:
            raise ShapeError("MultiheadAttention", "the width does not divide into heads",
                             got=f"{width} and {heads} heads", expected="a multiple")  # fmt: skip
        self.heads, self.dropout, self.batch_first = heads, dropout, batch_first
        self.in_proj_weight = initial.xavier((3 * width, width), dtype)
        self.in_proj_bias = initial.full((3 * width,), 0.0, dtype) if bias else None
        self.out_proj = Linear(width, width, bias, dtype)

    def forward(
        self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None,
        key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """[n, l, width], and how much each query looks at each key [n, l, s], the mean over heads,
        [n, heads, l, s] where not `average_attn_weights`; None where not `need_weights`. What is
        not read is not computed. While it learns, each weight is dropped with probability
        `dropout`, in both.

        Without keys and values queries look at themselves. Masks say what is not looked at, keys
        [n, s] and pairs [l, s] or [n heads, l, s], where they are true; floats are added to the
        scores. `is_causal`: nor is what comes later.
        """
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
        """[n, l, width] from the order of the arguments, and back."""
        return x if self.batch_first else x.permute(1, 0, 2)

    def _mask(
        self, keys: Tensor | None, pairs: Tensor | None, q: Tensor, k: Tensor
    ) -> list[Tensor]:
        """Masks of keys and of pairs that broadcast to [n, heads, l, s]."""
        n, heads, length, _ = q.shape
        found = [] if keys is None else [Tensor(keys).reshape(n, 1, 1, k.shape[2])]
        if pairs is not None:
            pairs = Tensor(pairs)
            shape = (n, heads, length, k.shape[2])
            found.append(pairs if pairs.ndim == 2 else pairs.reshape(shape))
        return found

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


def _added(masks: list[Tensor], dtype: Any) -> Tensor | None:
    """Masks as what is added to the scores; None where there are none."""
    floats = [
        mask.where(Tensor(-math.inf).cast(dtype), Tensor(0.0).cast(dtype))
        if mask.dtype == bool_ else mask.cast(dtype)
        for mask in masks
    ]  # fmt: skip
    return functools.reduce(Tensor.add, floats) if floats else None
