"""Linear layers, embeddings, dropout."""

from compiler.core.errors import DataError
from compiler.core.keywords import constructor
from compiler.nn import initial
from compiler.nn.module import Module
from compiler.tensor import Tensor
from compiler.tensors.gradients import no_grad


class Linear(Module):
    """Linear layer: x @ weightᵀ + bias, [..., inputs] to [..., outputs]; `weight` is [outputs,
    inputs]."""

    @constructor
    def __init__(
        self, inputs: int, outputs: int, bias: bool = True, dtype: object = initial.FLOAT
    ) -> None:
        self.weight = initial.uniform((outputs, inputs), inputs, dtype)
        self.bias = initial.uniform((outputs,), inputs, dtype) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """x @ weightᵀ + bias, [..., outputs]."""
        made = x @ self.weight.mT
        return made if self.bias is None else made + self.bias


class Embedding(Module):
    """Embedding: rows of a table by index, integers [...] to [..., width]; `weight` is [rows,
    width].

    The row `padding` starts as 0 and gets no gradient.
    """

    @constructor
    def __init__(
        self, rows: int, width: int, padding: int | None = None, dtype: object = initial.FLOAT
    ) -> None:
        if padding is not None and not 0 <= padding < rows:
            raise DataError("Embedding", "there is no such row", got=f"padding {padding}",
                            expected=f"0 to {rows - 1}")  # fmt: skip
        self.weight = initial.normal((rows, width), dtype)
        if padding is not None:
            with no_grad():
                self.weight[padding] = 0
        self._padding = padding

    def forward(self, numbers: Tensor) -> Tensor:
        """The rows of the table at these indices, [..., width]."""
        made = self.weight[numbers]
        if self._padding is None:
            return made
        return numbers.eq(self._padding).unsqueeze(-1).where(made.detach(), made)


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
