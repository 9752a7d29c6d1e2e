"""The operations of networks in PyTorch's words: the fast ones that its users would take."""

from collections.abc import Sequence

import torch
from torch.nn import functional

from benchmarks.networks.library import Array, Library, Value


class Torch(Library):
    """Eager; `torch.compile` is given the same functions."""

    def given(self, values: Array, name: str) -> Value:
        is_matrix = name.endswith(".matrix")
        return torch.from_numpy(values.T.copy() if is_matrix else values)

    def array(self, value: Value) -> Array:
        return value.numpy()  # type: ignore[no-any-return]

    def conv2d(
        self, x: Value, weight: Value, bias: Value, stride: int, padding: int, groups: int
    ) -> Value:
        return functional.conv2d(x, weight, bias, stride, padding, 1, groups)

    def linear(self, x: Value, matrix: Value, bias: Value) -> Value:
        return functional.linear(x, matrix, bias)

    def layer_norm(self, x: Value, scale: Value, shift: Value) -> Value:
        return functional.layer_norm(x, x.shape[-1:], scale, shift)

    def relu(self, x: Value) -> Value:
        return functional.relu(x, inplace=True)

    def relu6(self, x: Value) -> Value:
        return functional.relu6(x, inplace=True)

    def gelu(self, x: Value) -> Value:
        return functional.gelu(x, approximate="tanh")

    def max_pool2d(self, x: Value, size: int, stride: int, padding: int) -> Value:
        return functional.max_pool2d(x, size, stride, padding)

    def doubled(self, x: Value) -> Value:
        return functional.interpolate(x, scale_factor=2.0)

    def joined(self, parts: Sequence[Value], axis: int) -> Value:
        return torch.cat(list(parts), axis)

    def attention(self, queries: Value, keys: Value, values: Value, is_causal: bool) -> Value:
        return functional.scaled_dot_product_attention(
            queries[None], keys[None], values[None], is_causal=is_causal
        )[0]

    def lstm(self, x: Value, name: str, inner: int, hidden: int) -> Value:
        if name not in self.held:
            self.held[name] = self._module(name, inner, hidden)
        return self.held[name](x)[0]

    def _module(self, name: str, inner: int, hidden: int) -> torch.nn.LSTM:
        for_inputs, for_hidden, bias = self.lstm_weights(name, inner, hidden)
        made = torch.nn.LSTM(inner, hidden)
        made.load_state_dict({
            "weight_ih_l0": for_inputs.T, "weight_hh_l0": for_hidden.T,
            "bias_ih_l0": bias, "bias_hh_l0": torch.zeros_like(bias),
        })  # fmt: skip
        return made

    def one_hot(self, labels: Value, count: int) -> Value:
        return functional.one_hot(labels, count).float()

    def padded(self, x: Value) -> Value:
        return functional.pad(x, (1, 1, 1, 1))

    def rows(self, table: Value, positions: Value) -> Value:
        return functional.embedding(positions, table)
