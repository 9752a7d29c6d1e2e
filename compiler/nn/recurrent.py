"""Long short-term memory and gated recurrent units over sequences, unrolled step by step.

The batch comes first by default, unlike in PyTorch; `batch_first=False` changes that.
"""

from typing import Any, ClassVar

from compiler.core.errors import ShapeError
from compiler.core.keywords import constructor
from compiler.graph.words import short
from compiler.nn import initial
from compiler.nn.module import Module, refuse_rank
from compiler.tensor import Tensor


class _Recurrent(Module):
    gates: ClassVar[int]
    parts: ClassVar[int] = 1
    """The number of tensors that are the state."""
    words: ClassVar[str] = "a tensor {}"
    """The state in messages; {} is the shape of its tensors."""

    @constructor
    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        dtype: object = initial.FLOAT, batch_first: bool = True,
    ) -> None:  # fmt: skip
        self.hidden, self.layers, self.batch_first = hidden_size, num_layers, batch_first
        rows = self.gates * hidden_size
        for layer in range(num_layers):
            width = hidden_size if layer else input_size
            own = vars(self)
            for part, columns in (("ih", width), ("hh", hidden_size)):
                name = f"weight_{part}_l{layer}"
                own[name] = initial.uniform((rows, columns), hidden_size, dtype)
            for name in (f"bias_ih_l{layer}", f"bias_hh_l{layer}"):
                own[name] = initial.uniform((rows,), hidden_size, dtype) if bias else None

    def forward(self, x: Tensor, state: Any = None) -> tuple[Tensor, Any]:
        """The hidden states of the last layer [n, l, hidden], and the final state of all layers.

        x is [n, l, inputs], or [l, n, inputs] unless `batch_first`; the output has the same order.
        `state` is the state from an earlier call; None stands for zeros.
        """
        refuse_rank(self, x, 3)
        x = x if self.batch_first else x.permute(1, 0, 2)
        self._refuse_misfit(state, (self.layers, x.shape[0], self.hidden))
        states = []
        for layer in range(self.layers):
            first = self._zeros(x) if state is None else self._of_layer(state, layer)
            x, last = self._layer(x, layer, first)
            states.append(last)
        return x if self.batch_first else x.permute(1, 0, 2), self._of_layers(states)

    def _refuse_misfit(self, state: Any, shape: tuple[int, ...]) -> None:
        """Raise `ShapeError` unless a state, if there is one, consists of tensors of `shape`."""
        several = state if isinstance(state, tuple | list) else (state,)
        is_sound = len(several) == self.parts and all(
            isinstance(each, Tensor) and each.shape == shape for each in several
        )
        if state is not None and not is_sound:
            kinds = [short(it.node) if isinstance(it, Tensor) else repr(it) for it in several]
            raise ShapeError(type(self).__name__, "the state does not fit the layer",
                             got=", ".join(kinds), expected=self.words.format(shape))  # fmt: skip

    def _of_layer(self, state: Any, layer: int) -> Any:
        """The state of one layer."""
        return state[layer]

    def _of_layers(self, states: list[Any]) -> Any:
        """The states of all layers."""
        return states[0].stack(*states[1:])

    def _layer(self, x: Tensor, layer: int, state: Any) -> tuple[Tensor, Any]:
        own = vars(self)
        w_ih, w_hh = own[f"weight_ih_l{layer}"], own[f"weight_hh_l{layer}"]
        b_ih, b_hh = own[f"bias_ih_l{layer}"], own[f"bias_hh_l{layer}"]
        gates = x @ w_ih.mT  # one product for all steps
        rows = []
        for step in range(x.shape[1]):
            state = self._step(gates[:, step], state, w_hh, b_ih, b_hh)
            rows.append(state[0] if isinstance(state, tuple) else state)
        return rows[0].stack(*rows[1:], axis=1), state

    def _zeros(self, x: Tensor) -> Any:
        """The initial state, zeros."""
        raise NotImplementedError

    def _step(self, gates: Tensor, state: Any, w_hh: Tensor, *biases: Tensor | None) -> Any:
        """The next state of a layer."""
        raise NotImplementedError


class LSTM(_Recurrent):
    """Long short-term memory: [n, l, inputs] to [n, l, hidden]; the state is (hidden, cell),
    [layers, n, hidden] each."""

    gates = 4
    parts = 2
    words = "a pair (hidden, cell) of tensors {}"

    def _of_layer(self, state: Any, layer: int) -> Any:
        hidden, cell = state
        return hidden[layer], cell[layer]

    def _of_layers(self, states: list[Any]) -> Any:
        hidden, cell = zip(*states, strict=True)
        return super()._of_layers(list(hidden)), super()._of_layers(list(cell))

    def _zeros(self, x: Tensor) -> Any:
        made = Tensor.zeros(x.shape[0], self.hidden, dtype=x.dtype)
        return made, made

    def _step(self, gates: Tensor, state: Any, w_hh: Tensor, *biases: Tensor | None) -> Any:
        return gates.lstm_cell(state, None, w_hh, *biases)


class GRU(_Recurrent):
    """Gated recurrent unit: [n, l, inputs] to [n, l, hidden]; the state is [layers, n, hidden]."""

    gates = 3

    def _zeros(self, x: Tensor) -> Any:
        return Tensor.zeros(x.shape[0], self.hidden, dtype=x.dtype)

    def _step(self, gates: Tensor, state: Any, w_hh: Tensor, *biases: Tensor | None) -> Any:
        return gates.gru_cell(state, None, w_hh, *biases)
