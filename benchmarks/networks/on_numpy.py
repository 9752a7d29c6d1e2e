"""The operations of networks in NumPy's words and float64: what every other result is held to."""

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.networks.library import Array, Library, Value


class Numpy(Library):
    """As plain as it can be."""

    def given(self, values: Array, name: str) -> Value:
        return values.astype(np.float64) if values.dtype.kind == "f" else values

    def array(self, value: Value) -> Array:
        return np.asarray(value)

    def conv2d(
        self, x: Value, weight: Value, bias: Value, stride: int, padding: int, groups: int
    ) -> Value:
        slid = windows(_bordered(x, padding, 0.0), weight.shape[2], stride)
        parts = zip(np.split(slid, groups, 1), np.split(weight, groups, 0), strict=True)
        axes = ((1, 4, 5), (1, 2, 3))
        made = [np.moveaxis(np.tensordot(part, w, axes), 3, 1) for part, w in parts]
        return np.concatenate(made, 1) + bias[:, None, None]

    def linear(self, x: Value, matrix: Value, bias: Value) -> Value:
        return x @ matrix + bias

    def layer_norm(self, x: Value, scale: Value, shift: Value) -> Value:
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt(centred.var(-1, keepdims=True) + 1e-5) * scale + shift

    def relu(self, x: Value) -> Value:
        return np.maximum(x, 0)

    def relu6(self, x: Value) -> Value:
        return np.clip(x, 0, 6)

    def gelu(self, x: Value) -> Value:
        return 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))

    def max_pool2d(self, x: Value, size: int, stride: int, padding: int) -> Value:
        return windows(_bordered(x, padding, -np.inf), size, stride).max((4, 5))

    def doubled(self, x: Value) -> Value:
        return x.repeat(2, 2).repeat(2, 3)

    def joined(self, parts: Sequence[Value], axis: int) -> Value:
        return np.concatenate(parts, axis)

    def attention(self, queries: Value, keys: Value, values: Value, is_causal: bool) -> Value:
        scores = queries @ keys.swapaxes(1, 2) * queries.shape[-1] ** -0.5
        if is_causal:
            scores = np.where(np.tri(scores.shape[1], dtype=bool), scores, -np.inf)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True) @ values

    def lstm(self, x: Value, name: str, inner: int, hidden: int) -> Value:
        for_inputs, for_hidden, bias = self.lstm_weights(name, inner, hidden)
        state = cell = np.zeros((x.shape[1], hidden))
        states = []
        for row in x:
            gates = row @ for_inputs + bias + state @ for_hidden
            enter, forget, change, leave = np.split(gates, 4, 1)
            cell = _sigmoid(forget) * cell + _sigmoid(enter) * np.tanh(change)
            state = _sigmoid(leave) * np.tanh(cell)
            states.append(state)
        return np.stack(states)

    def one_hot(self, labels: Value, count: int) -> Value:
        return np.eye(count)[labels]

    def padded(self, x: Value) -> Value:
        return _bordered(x, 1, 0.0)

    def rows(self, table: Value, positions: Value) -> Value:
        return table[positions]


def _bordered(x: Array, width: int, value: float) -> Array:
    widths = [(0, 0)] * (x.ndim - 2) + [(width, width)] * 2
    return np.pad(x, widths, constant_values=value)


def windows(x: Array, size: int, stride: int) -> Array:
    """[n, c, rows, columns, size, size]: the windows of the last two axes."""
    return sliding_window_view(x, (size, size), (2, 3))[:, :, ::stride, ::stride]


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))
