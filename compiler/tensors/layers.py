"""Neural-network operations besides products and convolutions: attention, group and batch
normalisation, recurrent cells.

Names and meanings are PyTorch's. Statistics of 16-bit floats are computed in float32.
"""

import math
from typing import Any, Self

from compiler.core.errors import DataError, ShapeError
from compiler.tensors.arrangement import Arrangement
from compiler.tensors.normalizations import Normalizations
from compiler.tensors.products import Products
from compiler.tensors.shapes import Axes, axes_of, written
from compiler.tensors.value import Operand, traced


@traced
class Layers(Normalizations, Arrangement, Products):
    """Attention and normalisations with weights."""

    __slots__ = ()

    def scaled_dot_product_attention(
        self, key: Operand, value: Operand, attn_mask: Operand | None = None,
        dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
        enable_gqa: bool = False, softcap: float | None = None,
    ) -> Self:  # fmt: skip
        """Attention: softmax(self @ keyᵀ * scale + mask) @ value, for queries [… , l, e], keys [… ,
        s, e] and values [… , s, v]. Returns [… , l, v].

        `scale` is 1 / sqrt(e) by default. A boolean mask is true where a query may attend to a key;
        a mask of floats is added to the scores. With `is_causal` query i attends to keys up to i.
        The result of a query that attends to no key is 0. `dropout_p` is the dropout probability of
        the weights. With `enable_gqa` each head of keys and values serves several heads of queries.
        `softcap` bounds scores by softcap * tanh(score / softcap). Raises `ShapeError` where shapes
        do not fit.
        """
        name = "scaled_dot_product_attention"
        k, v = self._lift(key), self._lift(value)
        if min(self.ndim, k.ndim, v.ndim) < 2 or self.shape[-1] != k.shape[-1]:
            raise ShapeError(
                name, "queries and keys do not fit",
                got=f"{written(self.shape)} and {written(k.shape)}",
                expected="(…, l, e) and (…, s, e)",
            )  # fmt: skip
        if enable_gqa:
            k, v = (each._for_heads(name, self.shape[-3:-2]) for each in (k, v))
        weights: Any = self._attention_weights(k, attn_mask, is_causal, scale, softcap)
        result: Self = (weights.dropout(dropout_p) if dropout_p else weights).matmul(v)
        return result

    def _attention_weights(
        self, k: Self, attn_mask: Operand | None = None, is_causal: bool = False,
        scale: float | None = None, softcap: float | None = None,
    ) -> Self:  # fmt: skip
        """The attention weights of each query for each key, [… , l, s]."""
        factor = 1 / math.sqrt(self.shape[-1]) if scale is None else scale
        scores = self.matmul(k.mT)
        inner = scores.cast(scores.dtype.accumulator).mul(factor)
        if softcap is not None:
            inner = inner.div(softcap).tanh().mul(softcap)
        seen = inner._seen(attn_mask, is_causal)
        if attn_mask is None:
            return seen.softmax(-1).cast(scores.dtype)
        # If all keys are masked, softmax would be 0 / 0, in the forward and the backward pass.
        is_blind = seen.eq(-math.inf).all(-1, keepdim=True)
        weights = is_blind.where(0.0, is_blind.where(0.0, seen).softmax(-1))
        return weights.cast(scores.dtype)

    def _seen(self, mask: Operand | None, is_causal: bool) -> Self:
        """The scores with the mask applied: -inf where a query must not attend to a key."""
        made: Self = self
        if is_causal:
            made = made._triangle("scaled_dot_product_attention", 0).where(made, -math.inf)
        if mask is None:
            return made
        given = self._lift(mask)
        if given.dtype.kind == "bool":
            return given.where(made, -math.inf)
        return made.add(given.cast(made.dtype))

    def _for_heads(self, name: str, heads: tuple[int, ...]) -> Self:
        """Each head repeated for the heads of queries that it serves."""
        own = self.shape[-3:-2]
        if not (own and heads and heads[0] % max(own[0], 1) == 0):
            raise ShapeError(
                name, "the numbers of heads do not fit",
                got=f"{heads} of queries, {own} of keys or values",
                expected="a multiple of the heads of keys",
            )  # fmt: skip
        lead, (h, s, e) = self.shape[:-3], self.shape[-3:]
        many = self.reshape(*lead, h, 1, s, e).expand(*lead, h, heads[0] // h, s, e)
        return many.reshape(*lead, heads[0], s, e)

    def rms_norm(
        self, axis: Axes = -1, weight: Operand | None = None, eps: float = 1e-6, *,
        dim: Axes = None,
    ) -> Self:  # fmt: skip
        """Root-mean-square normalisation, x / sqrt(mean of x² + eps) over `axis`, times `weight`.
        Same shape and type."""
        axes = axes_of("rms_norm", axis if dim is None else dim, self.ndim)
        x = self._as_wide()
        made = x.mul(x.square()._mean(axes, keepdim=True).add(eps).rsqrt())
        made = made.cast(self._statistic_type())
        return made if weight is None else made.mul(weight)

    def group_norm(
        self, num_groups: int, weight: Operand | None = None, bias: Operand | None = None,
        eps: float = 1e-5,
    ) -> Self:  # fmt: skip
        """Group normalisation of [n, c, …]: the channels of each of `num_groups` groups are
        normalised together. `weight` and `bias` are [c]."""
        shape = self.shape
        if self.ndim < 2 or num_groups < 1 or shape[1] % num_groups:
            raise ShapeError("group_norm", "the channels do not fit into groups",
                             got=f"{written(shape)}, {num_groups} groups",
                             expected="(n, c, …), c divisible by groups")  # fmt: skip
        cut = self.reshape(shape[0], num_groups, shape[1] // num_groups, *shape[2:])
        made = cut.layernorm(tuple(range(2, cut.ndim)), eps).reshape(*shape)
        return made._of_channels(weight, bias)

    def instance_norm(
        self, weight: Operand | None = None, bias: Operand | None = None, eps: float = 1e-5
    ) -> Self:
        """Instance normalisation of [n, c, …]: each channel of each example is normalised
        separately."""
        if self.ndim < 3:
            raise ShapeError("instance_norm", "there are too few axes",
                             got=f"shape {written(self.shape)}", expected="(n, c, …)")  # fmt: skip
        made = self.layernorm(tuple(range(2, self.ndim)), eps)
        return made._of_channels(weight, bias)

    def batch_norm(
        self, mean: Operand, variance: Operand, weight: Operand | None = None,
        bias: Operand | None = None, eps: float = 1e-5,
    ) -> Self:  # fmt: skip
        """Batch normalisation of [n, c, …] with given statistics, as in inference: (x - mean) /
        sqrt(variance + eps) * weight + bias, all of shape [c]."""
        if self.ndim < 2:
            raise ShapeError("batch_norm", "there are too few axes",
                             got=f"shape {written(self.shape)}", expected="(n, c, …)")  # fmt: skip
        centre, spread = (self._lift(each)._as_wide() for each in (mean, variance))
        scale = spread.add(eps).rsqrt()
        if weight is not None:
            scale = scale.mul(weight)
        made = self._as_wide().sub(centre._of_axis(self.ndim)).mul(scale._of_axis(self.ndim))
        return made.cast(self._statistic_type())._of_channels(None, bias)

    def rnn_cell(
        self, hx: Operand, w_ih: Operand | None, w_hh: Operand, b_ih: Operand | None = None,
        b_hh: Operand | None = None, nonlinearity: str = "tanh",
    ) -> Self:  # fmt: skip
        """The next hidden state [n, h] of a simple recurrent layer: "tanh" or "relu" of x @ w_ihᵀ +
        b_ih + hx @ w_hhᵀ + b_hh.

        If `w_ih` [h, i] is None, this tensor is already x @ w_ihᵀ [n, h]: one product can serve all
        steps of a sequence.
        """
        made = self._for_gates("rnn_cell", 1, hx, w_ih, w_hh, b_ih)
        both = made.add(self._lift(hx)._through(w_hh, b_hh))
        match nonlinearity:
            case "tanh":
                return both.tanh()
            case "relu":
                return both.relu()
        raise DataError("rnn_cell", "unknown nonlinearity", got=repr(nonlinearity),
                        expected="'tanh' or 'relu'")  # fmt: skip

    def gru_cell(
        self, hx: Operand, w_ih: Operand | None, w_hh: Operand, b_ih: Operand | None = None,
        b_hh: Operand | None = None,
    ) -> Self:  # fmt: skip
        """The next hidden state [n, h] of a gated recurrent unit. The gates are r, z, n, in this
        order along the first axis of the weights [3h, …]; `w_ih` may be None as for `rnn_cell`."""
        hidden = self._lift(hx)
        r, z, n = self._for_gates("gru_cell", 3, hidden, w_ih, w_hh, b_ih).chunk(3, -1)
        r2, z2, n2 = hidden._through(w_hh, b_hh).chunk(3, -1)
        reset, kept = r.add(r2).sigmoid(), z.add(z2).sigmoid()
        new = n.add(reset.mul(n2)).tanh()
        return new.add(kept.mul(hidden.sub(new)))

    def lstm_cell(
        self, hx: tuple[Operand, Operand], w_ih: Operand | None, w_hh: Operand,
        b_ih: Operand | None = None, b_hh: Operand | None = None,
    ) -> tuple[Self, Self]:  # fmt: skip
        """The next hidden state and cell state, [n, h] each, of a long short-term memory; `hx` has
        the previous ones. The gates are i, f, g, o, in this order along the first axis of the
        weights [4h, …]; `w_ih` may be None as for `rnn_cell`."""
        hidden, cell = (self._lift(each) for each in hx)
        made = self._for_gates("lstm_cell", 4, hidden, w_ih, w_hh, b_ih)
        i, f, g, o = made.add(hidden._through(w_hh, b_hh)).chunk(4, -1)
        new = f.sigmoid().mul(cell).add(i.sigmoid().mul(g.tanh()))
        return o.sigmoid().mul(new.tanh()), new

    def _for_gates(
        self, name: str, gates: int, hx: Operand, w_ih: Operand | None, w_hh: Operand,
        b_ih: Operand | None,
    ) -> Self:  # fmt: skip
        """The contribution of the input to the gates of a cell: [n, gates * h]."""
        hidden, width = self._lift(hx).shape[-1:], self._lift(w_hh).shape
        if width != (gates * sum(hidden), *hidden):
            raise ShapeError(name, "the weights do not fit the hidden state", got=written(width),
                             expected=written((gates * sum(hidden), *hidden)))  # fmt: skip
        made = self._through(w_ih, b_ih)
        if made.shape[-1:] != width[:1]:
            raise ShapeError(name, "the input does not fit the gates", got=written(made.shape),
                             expected=f"(…, {width[0]})")  # fmt: skip
        return made

    def _through(self, weight: Operand | None, bias: Operand | None) -> Self:
        """x @ weightᵀ + bias, each if given."""
        made = self if weight is None else self.matmul(self._lift(weight).mT)
        return made if bias is None else made.add(bias)

    def _of_channels(self, weight: Operand | None, bias: Operand | None) -> Self:
        """Multiplied by `weight` and added to `bias`, one of each per channel."""
        made: Self = self
        if weight is not None:
            made = made.mul(self._lift(weight)._of_axis(self.ndim))
        return made if bias is None else made.add(self._lift(bias)._of_axis(self.ndim))

    def _of_axis(self, rank: int) -> Self:
        """[c] reshaped to lie along axis 1 of `rank` axes."""
        return self.reshape(-1, *(1,) * (rank - 2))
