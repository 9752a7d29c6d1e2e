"""The operations that networks are written in, which each library implements.

A network is written once, as a function of a `Library` and its inputs. Arithmetic, `@`, slices and
the methods that NumPy, PyTorch and we call alike (`reshape`, `swapaxes`, `mean`, `sum`, `argmin`)
are used as they are.
"""

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Value: TypeAlias = Any
"""A tensor of the library: its type is the library's own."""


def random(name: str, shape: Sequence[int], scale: float) -> Array:
    """Normally distributed numbers, the same for a name in every process, float32."""
    made = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape, np.float32)
    made *= np.float32(scale)
    return made


class Library(ABC):
    """The operations; weights are made when a network first asks for them, then kept."""

    def __init__(self) -> None:
        self.held: dict[str, Value] = {}

    # -- weights -------------------------------------------------------------------------------

    def weight(self, name: str, *shape: int, scale: float, offset: float = 0.0) -> Value:
        """A weight by name."""
        if name not in self.held:
            self.held[name] = self.given(random(name, shape, scale) + np.float32(offset), name)
        return self.held[name]

    def convolved(
        self, x: Value, name: str, inner: int, outer: int, size: int, *, stride: int = 1,
        padding: int | None = None, groups: int = 1,
    ) -> Value:  # fmt: skip
        """A convolution with weights of its own; the border keeps what stride 1 gives as large."""
        read = inner // groups
        shape, scale = (outer, read, size, size), (2 / (read * size**2)) ** 0.5
        weight = self.weight(f"{name}.weight", *shape, scale=scale)
        bias = self.weight(f"{name}.bias", outer, scale=0.1)
        return self.conv2d(
            x, weight, bias, stride, size // 2 if padding is None else padding, groups
        )

    def dense(self, x: Value, name: str, inner: int, outer: int) -> Value:
        """x times a matrix of its own, and a bias."""
        matrix = self.weight(f"{name}.matrix", inner, outer, scale=inner**-0.5)
        return self.linear(x, matrix, self.weight(f"{name}.bias", outer, scale=0.1))

    def normalised(self, x: Value, name: str, width: int) -> Value:
        """Each row centred, scaled to one, then stretched and moved by weights of its own."""
        scale = self.weight(f"{name}.scale", width, scale=0.1, offset=1.0)
        return self.layer_norm(x, scale, self.weight(f"{name}.shift", width, scale=0.1))

    # -- in the library's words ----------------------------------------------------------------

    @abstractmethod
    def given(self, values: Array, name: str) -> Value:
        """An array as a tensor of the library; one whose name ends with `.matrix` may be stored
        as the library's `linear` wants it."""

    def input(self, values: Array, name: str) -> Value:
        """An input, whose data are given with each call."""
        return self.given(values, name)

    @abstractmethod
    def array(self, value: Value) -> Array:
        """A result as an array."""

    @abstractmethod
    def conv2d(
        self, x: Value, weight: Value, bias: Value, stride: int, padding: int, groups: int
    ) -> Value:
        """Cross-correlation of [n, c, h, w] with [o, c / groups, kh, kw]."""

    @abstractmethod
    def linear(self, x: Value, matrix: Value, bias: Value) -> Value:
        """x @ matrix + bias."""

    @abstractmethod
    def layer_norm(self, x: Value, scale: Value, shift: Value) -> Value:
        """The last axis standardised (1e-5 is added to the variance), times scale, plus shift."""

    @abstractmethod
    def relu(self, x: Value) -> Value:
        """max(x, 0); x, which nobody else reads, may be overwritten."""

    @abstractmethod
    def relu6(self, x: Value) -> Value:
        """Between 0 and 6; x, which nobody else reads, may be overwritten."""

    @abstractmethod
    def gelu(self, x: Value) -> Value:
        """In its tanh form."""

    @abstractmethod
    def max_pool2d(self, x: Value, size: int, stride: int, padding: int) -> Value:
        """The greatest element of each window."""

    @abstractmethod
    def doubled(self, x: Value) -> Value:
        """An image of twice the height and width: each element four times."""

    @abstractmethod
    def joined(self, parts: Sequence[Value], axis: int) -> Value:
        """Concatenation."""

    @abstractmethod
    def attention(self, queries: Value, keys: Value, values: Value, is_causal: bool) -> Value:
        """Of [heads, rows, width]; causal: no row looks at later ones."""

    @abstractmethod
    def lstm(self, x: Value, name: str, inner: int, hidden: int) -> Value:
        """The hidden states of all steps of [steps, batch, inner]; gates in PyTorch's order."""

    @abstractmethod
    def one_hot(self, labels: Value, count: int) -> Value:
        """A new last axis: 1.0 at the label, else 0.0."""

    @abstractmethod
    def padded(self, x: Value) -> Value:
        """A border of one zero around the last two axes."""

    @abstractmethod
    def rows(self, table: Value, positions: Value) -> Value:
        """The rows of a table at positions."""

    # -- for all -------------------------------------------------------------------------------

    def lstm_weights(self, name: str, inner: int, hidden: int) -> tuple[Value, Value, Value]:
        """For x, for the hidden state, and the bias of an LSTM."""
        scale = hidden**-0.5
        return (
            self.weight(f"{name}.inputs", inner, 4 * hidden, scale=scale),
            self.weight(f"{name}.hidden", hidden, 4 * hidden, scale=scale),
            self.weight(f"{name}.bias", 4 * hidden, scale=0.1),
        )
