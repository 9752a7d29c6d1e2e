"""The forward pass of a 12-layer transformer in the shape of GPT-2, with random weights.

The widths are those of the smallest GPT-2 (12 layers, 12 heads, 768 numbers per token); text and
vocabulary are shorter, which changes no node of the graph. Look into it with

    svodviz explore benchmarks/transformer.py -o transformer.html
"""

import numpy as np

from compiler import Tensor

LAYERS, HEADS, WIDTH = 12, 12, 768
TOKENS, VOCABULARY = 64, 2048


class Weights:
    """Random weights, the same in every run; each has a name of its own."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)

    def __call__(self, name: str, *shape: int) -> Tensor:
        """A weight whose values are small enough that 12 layers of it stay finite."""
        values = self.random.standard_normal(shape, np.float32) * np.float32(0.02)
        return Tensor(values, name=name)


def layer_norm(x: Tensor, weight: Weights, name: str) -> Tensor:
    """Each token's numbers centred, scaled to one, then stretched and moved."""
    return x.layernorm() * weight(f"{name}.scale", WIDTH) + weight(f"{name}.shift", WIDTH)


def linear(x: Tensor, weight: Weights, name: str, inner: int, outer: int) -> Tensor:
    """A product with a bias."""
    return x @ weight(f"{name}.weight", inner, outer) + weight(f"{name}.bias", outer)


def heads(x: Tensor) -> Tensor:
    """[tokens, width] as [heads, tokens, width of a head]."""
    return x.reshape(TOKENS, HEADS, WIDTH // HEADS).permute(1, 0, 2)


def attention(x: Tensor, weight: Weights, name: str) -> Tensor:
    """Each token looks at those before it."""
    queries, keys, values = (
        heads(linear(x, weight, f"{name}.{part}", WIDTH, WIDTH)) for part in ("q", "k", "v")
    )
    scores = queries @ keys.permute(0, 2, 1) * (WIDTH // HEADS) ** -0.5
    hidden = np.triu(np.full((TOKENS, TOKENS), -1e9, np.float32), 1)
    mixed = (scores + Tensor(hidden, name=f"{name}.mask")).softmax() @ values
    joined = mixed.permute(1, 0, 2).reshape(TOKENS, WIDTH)
    return linear(joined, weight, f"{name}.out", WIDTH, WIDTH)


def perceptron(x: Tensor, weight: Weights, name: str) -> Tensor:
    """Four times as wide inside."""
    wide = linear(x, weight, f"{name}.up", WIDTH, 4 * WIDTH).gelu()
    return linear(wide, weight, f"{name}.down", 4 * WIDTH, WIDTH)


def block(x: Tensor, weight: Weights, name: str) -> Tensor:
    """One layer: attention, then a perceptron, each added to what came in."""
    x = x + attention(layer_norm(x, weight, f"{name}.ln1"), weight, f"{name}.attention")
    return x + perceptron(layer_norm(x, weight, f"{name}.ln2"), weight, f"{name}.perceptron")


def transformer(layers: int = LAYERS) -> Tensor:
    """The scores of every next token."""
    weight = Weights()
    tokens = Tensor(weight.random.integers(0, VOCABULARY, TOKENS, np.int64), name="tokens")
    embedding = weight("embedding", VOCABULARY, WIDTH)
    x = embedding[tokens] + weight("positions", TOKENS, WIDTH)
    for number in range(layers):
        x = block(x, weight, f"layer{number}")
    return layer_norm(x, weight, "ln") @ embedding.permute(1, 0)


if __name__ == "__main__":
    logits = transformer()
