"""ViT-S/16 and GPT-2 small: stacks of attention and perceptrons, normalised before each."""

import numpy as np

from benchmarks.networks.library import Array, Library, Value
from benchmarks.networks.network import Network, normal


def vit_s16(
    size: int = 224, patch: int = 16, layers: int = 12, heads: int = 6, width: int = 384,
    classes: int = 1000,
) -> Network:  # fmt: skip
    """One image of size × size, cut into patches."""

    def program(f: Library, x: Value) -> Value:
        x = f.convolved(x, "patches", 3, width, patch, stride=patch, padding=0)
        x = x.reshape(width, -1).swapaxes(0, 1)
        x = f.joined([f.weight("class", 1, width, scale=1.0), x], 0)
        x = x + f.weight("positions", (size // patch) ** 2 + 1, width, scale=0.1)
        for layer in range(layers):
            x = x + _attention(f, x, f"{layer}", heads, width)
            x = x + _perceptron(f, x, f"{layer}", width)
        return f.dense(f.normalised(x[:1], "norm", width), "classes", width, classes)

    about = f"1×3×{size}×{size}"
    return Network("vit_s16", about, program, lambda: {"x": normal(1, 3, size, size)})


def gpt2(
    tokens: int = 128, past: int = 0, layers: int = 12, heads: int = 12, width: int = 768,
    vocabulary: int = 50257,
) -> Network:  # fmt: skip
    """The scores of the token after the last one; `past` tokens are in a cache."""

    def program(f: Library, given: Value, keys: Value = None, values: Value = None) -> Value:
        table = f.weight("embedding", vocabulary, width, scale=1.0)
        positions = f.weight("positions", 1024, width, scale=0.1)
        x = f.rows(table, given) + positions[past : past + tokens]
        for layer in range(layers):
            cache = (keys[layer], values[layer]) if past else None
            x = x + _attention(f, x, f"{layer}", heads, width, cache, tokens > 1)
            x = x + _perceptron(f, x, f"{layer}", width)
        return f.normalised(x[-1:], "norm", width) @ table.T

    def inputs() -> dict[str, Array]:
        random, cache = np.random.default_rng(0), (layers, heads, past, width // heads)
        made = {"tokens": random.integers(0, vocabulary, tokens, np.int64)}
        return made | ({"keys": normal(*cache), "values": normal(*cache) * 0.5} if past else {})

    name = "gpt2_token" if past else "gpt2_prefill"
    about = f"1 token, {past} in the cache" if past else f"{tokens} tokens"
    return Network(name, about, program, inputs)


def _attention(
    f: Library, x: Value, name: str, heads: int, width: int,
    cache: tuple[Value, Value] | None = None, is_causal: bool = False,
) -> Value:  # fmt: skip
    """Rows look at rows, and at those of the cache, in each head by itself."""
    x = f.normalised(x, f"{name}.before", width)
    found = f.dense(x, f"{name}.attention", width, 3 * width)
    found = found.reshape(-1, 3, heads, width // heads).swapaxes(0, 2)
    queries, keys, values = found[:, 0], found[:, 1], found[:, 2]
    if cache:
        keys, values = f.joined([cache[0], keys], 1), f.joined([cache[1], values], 1)
    mixed = f.attention(queries, keys, values, is_causal)
    joined = mixed.swapaxes(0, 1).reshape(-1, width)
    return f.dense(joined, f"{name}.out", width, width)


def _perceptron(f: Library, x: Value, name: str, width: int) -> Value:
    """Four times as wide inside."""
    x = f.normalised(x, f"{name}.between", width)
    x = f.gelu(f.dense(x, f"{name}.up", width, 4 * width))
    return f.dense(x, f"{name}.down", 4 * width, width)
