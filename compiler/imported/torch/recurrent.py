"""LSTM, GRU and RNN, step by step, forwards and backwards."""

from collections.abc import Sequence
from typing import Any

from compiler.imported.call import Results
from compiler.imported.steps import State, in_steps, laid_out, stacked
from compiler.imported.torch.call import Call, base_of, operator
from compiler.tensor import Tensor


@operator("lstm.input", "gru.input", "rnn_tanh.input", "rnn_relu.input")
def recurrent(
    call: Call, x: Tensor, hx: Any, weights: Sequence[Tensor], has_biases: bool, layers: int, /,
    dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> Results:  # fmt: skip
    """All layers: every hidden state of the last one, and the last state of each layer."""
    if train and dropout and layers > 1:
        raise call.refused("it is in training mode with dropout", dropout, "inference")
    count, directions = 4 if has_biases else 2, 2 if bidirectional else 1
    cells = [weights[n : n + count] for n in range(0, len(weights), count)]
    if len(cells) != layers * directions or len(weights) % count:
        raise call.refused("its states are projected", f"{len(weights)} weights",
                           f"{layers * directions * count}: no proj_size")  # fmt: skip
    kind = base_of(call.name)
    initial: State = tuple(hx) if kind == "lstm" else (hx,)
    if x.ndim == 2:  # a sequence without a batch
        initial = tuple(each.unsqueeze(1) for each in initial)
        rows, lasts = _stacked_layers(kind, x.unsqueeze(1), initial, cells, directions)
        return rows.squeeze(1), *(each.squeeze(1) for each in lasts)
    x = x.swapaxes(0, 1) if batch_first else x
    rows, lasts = _stacked_layers(kind, x, initial, cells, directions)
    return rows.swapaxes(0, 1) if batch_first else rows, *lasts


def _stacked_layers(
    kind: str, x: Tensor, initial: State, cells: Sequence[Sequence[Tensor]], directions: int
) -> tuple[Tensor, list[Tensor]]:
    """Every hidden state of the last layer, and the last states of all cells: a cell for each
    direction of each layer."""
    ends = []
    for first in range(0, len(cells), directions):
        rows = []
        for place in range(first, first + directions):
            state = tuple(each[place] for each in initial)
            row, last = _layer(kind, x, state, cells[place], place > first)
            rows.append(row)
            ends.append(last)
        x = rows[0] if directions == 1 else rows[0].cat(rows[1], dim=-1)
    return x, [stacked([end[place] for end in ends]) for place in range(len(initial))]


def _layer(
    kind: str, x: Tensor, state: State, weights: Sequence[Tensor], is_backwards: bool
) -> tuple[Tensor, State]:
    """Every hidden state [steps, batch, hidden] of one direction, and the last state."""
    inner, hidden = weights[0], laid_out(weights[1], int(x.shape[0]), x.symbolic_shape[1])
    bias, more = (weights[2], weights[3]) if len(weights) > 2 else (None, None)
    apart = kind == "gru"  # its second bias is inside a gate
    gates = x.linear(inner.T, bias if apart or bias is None or more is None else bias.add(more))
    second = more if apart else None

    def step(place: Tensor | int, state: State) -> tuple[State, Tensor]:
        new = _stepped(kind, gates[place], state, hidden, second)
        return new, new[0]

    return in_steps(int(x.shape[0]), step, state, is_backwards)


def _stepped(
    kind: str, gates: Tensor, state: State, hidden: Tensor, bias: Tensor | None
) -> State:
    """The next state, from the gate inputs and the previous state."""
    match kind:
        case "lstm":
            return gates.lstm_cell((state[0], state[1]), None, hidden, None, bias)
        case "gru":
            return (gates.gru_cell(state[0], None, hidden, None, bias),)
        case _:
            nonlinearity = kind.removeprefix("rnn_")
            return (gates.rnn_cell(state[0], None, hidden, None, bias, nonlinearity),)
