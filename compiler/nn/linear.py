"""Linear layers, embeddings, dropout."""

from compiler.core.errors import DataError
from compiler.core.keywords import constructor
from compiler.nn import initial
from compiler.nn.module import Module
from compiler.tensor import Tensor
from compiler.tensors.gradients import no_grad


class Linear(Module):
    """Linear layer: x @ weightᵀ + bias, [..., in_features] to [..., out_features]; `weight` is
    [out_features, in_features]."""

    @constructor
    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, dtype: object = initial.FLOAT
    ) -> None:
        self.weight = initial.uniform((out_features, in_features), in_features, dtype)
        self.bias = initial.uniform((out_features,), in_features, dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """x @ weightᵀ + bias, [..., out_features]."""
        made = x @ self.weight.mT
        return made if self.bias is None else made + self.bias


class Embedding(Module):
    """Embedding: rows of a table by index, integers [...] to [..., embedding_dim]; `weight` is
    [num_embeddings, embedding_dim].

    The row `padding_idx` starts as 0 and gets no gradient.
    """

    @constructor
    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        dtype: object = initial.FLOAT,
    ) -> None:  # fmt: skip
        if padding_idx is not None and not 0 <= padding_idx < num_embeddings:
            raise DataError("Embedding", "there is no such row", got=f"padding_idx {padding_idx}",
                            expected=f"0 to {num_embeddings - 1}")  # fmt: skip
        self.weight = initial.normal((num_embeddings, embedding_dim), dtype)
        if padding_idx is not None:
            with no_grad():
                self.weight[padding_idx] = 0
        self._padding_idx = padding_idx

    def forward(self, numbers: Tensor) -> Tensor:
        """The rows of the table at these indices, [..., embedding_dim]."""
        made = self.weight[numbers]
        if self._padding_idx is None:
            return made
        return numbers.eq(self._padding_idx).unsqueeze(-1).where(made.detach(), made)


class Dropout(Module):
    """Dropout: in training mode each element becomes 0 with probability `p`, else is divided by 1 -
    p.

    `inplace` is accepted for compatibility; the compiler chooses which memory is written.
    """

    @constructor
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise DataError("Dropout", "no such probability", got=repr(p), expected="0 to 1")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """x with dropout applied in training mode, else x."""
        return x.dropout(self.p, self.training)
