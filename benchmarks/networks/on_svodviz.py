"""The operations of networks in this compiler's words."""

from collections.abc import Sequence

import numpy as np

from benchmarks.networks.library import Array, Library, Value
from compiler import Tensor


class Svodviz(Library):
    """Lazy tensors: what a network returns is a program."""

    def given(self, values: Array, name: str) -> Value:
        return Tensor(values, name=name)

    def input(self, values: Array, name: str) -> Value:
        return Tensor.placeholder(values.shape, dtype=values.dtype, name=name)

    def array(self, value: Value) -> Array:
        return np.asarray(value)

    def conv2d(
        self, x: Value, weight: Value, bias: Value, stride: int, padding: int, groups: int
    ) -> Value:
        return x.conv2d(weight, bias, stride=stride, padding=padding, groups=groups)

    def linear(self, x: Value, matrix: Value, bias: Value) -> Value:
        return x.linear(matrix, bias)

    def layer_norm(self, x: Value, scale: Value, shift: Value) -> Value:
        return x.layernorm() * scale + shift

    def relu(self, x: Value) -> Value:
        return x.relu()

    def relu6(self, x: Value) -> Value:
        return x.relu6()

    def gelu(self, x: Value) -> Value:
        return x.gelu()

    def max_pool2d(self, x: Value, size: int, stride: int, padding: int) -> Value:
        return x.max_pool2d(size, stride, padding)

    def doubled(self, x: Value) -> Value:
        return x.repeat_interleave(2, 2).repeat_interleave(2, 3)

    def joined(self, parts: Sequence[Value], axis: int) -> Value:
        return parts[0].cat(*parts[1:], dim=axis)

    def attention(self, queries: Value, keys: Value, values: Value, is_causal: bool) -> Value:
        scores = queries @ keys.swapaxes(1, 2) * queries.shape[-1] ** -0.5
        if is_causal:
            scores = scores + self._mask(queries.shape[1])
        return scores.softmax() @ values

    def _mask(self, rows: int) -> Value:
        name = f"mask {rows}"
        if name not in self.held:
            hidden = np.triu(np.full((rows, rows), -1e9, np.float32), 1)
            self.held[name] = self.given(hidden, name)
        return self.held[name]

    def lstm(self, x: Value, name: str, inner: int, hidden: int) -> Value:
        for_inputs, for_hidden, bias = self.lstm_weights(name, inner, hidden)
        gates = x @ for_inputs + bias
        state = cell = self.weight(f"{name}.zeros", x.shape[1], hidden, scale=0.0)
        states = []
        for step in range(x.shape[0]):
            found = gates[step] + state @ for_hidden
            enter, forget, change, leave = found.chunk(4, axis=1)
            cell = forget.sigmoid() * cell + enter.sigmoid() * change.tanh()
            state = leave.sigmoid() * cell.tanh()
            states.append(state)
        return states[0].stack(*states[1:])

    def one_hot(self, labels: Value, count: int) -> Value:
        return labels.one_hot(count, "float32")

    def padded(self, x: Value) -> Value:
        return x.pad((1, 1, 1, 1))

    def rows(self, table: Value, positions: Value) -> Value:
        return table[positions]
