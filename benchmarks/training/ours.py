"""A step of each network by this compiler."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.training import BATCH, CHARACTERS, HEADS, LAYERS, LENGTH, WIDTH
from compiler import Tensor, jit, nn, optim


class Cnn(nn.Module):
    """That of examples/train_digits.py."""

    def __init__(self) -> None:
        self.first, self.second = nn.Conv2d(1, 32, 3, padding=1), nn.Conv2d(32, 64, 3, padding=1)
        self.norms = [nn.BatchNorm2d(32), nn.BatchNorm2d(64)]
        self.out = nn.Linear(64 * 2 * 2, 10)

    def forward(self, x: Tensor) -> Tensor:
        """[n, 1, 8, 8] to scores [n, 10]."""
        x = self.norms[0](self.first(x)).relu().max_pool2d(2)
        x = self.norms[1](self.second(x)).relu().max_pool2d(2)
        return self.out(x.flatten(1))


class Block(nn.Module):
    """A layer of the transformer."""

    def __init__(self) -> None:
        self.norms = [nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)]
        self.attention = nn.MultiheadAttention(WIDTH, HEADS)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """[n, l, width]."""
        x = x + self.attention(self.norms[0](x), is_causal=True)[0]
        return x + self.narrow(self.wide(self.norms[1](x)).gelu())


class Transformer(nn.Module):
    """That of examples/train_transformer.py."""

    def __init__(self) -> None:
        self.characters = nn.Embedding(CHARACTERS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.blocks = [Block() for _ in range(LAYERS)]
        self.norm = nn.LayerNorm(WIDTH)
        self.out = nn.Linear(WIDTH, CHARACTERS, bias=False)

    def forward(self, numbers: Tensor) -> Tensor:
        """[n, l] to scores [n * l, characters]."""
        x = self.characters(numbers) + self.places.weight
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x)).flatten(0, 1)


def step_of(network: str, peer: str) -> Callable[[], Any]:
    """A step on data that stay the same; gives the loss."""
    generator = np.random.default_rng(0)
    rows = {"mlp": 128, "cnn": 64, "transformer": BATCH}[network]
    model: nn.Module
    y = generator.integers(0, 10, rows)
    if network == "mlp":
        model = nn.Sequential(nn.Linear(784, 512), nn.relu, nn.Linear(512, 10))
        x: Any = generator.standard_normal((rows, 784)).astype("float32")
    elif network == "cnn":
        model, x = Cnn(), generator.standard_normal((rows, 1, 8, 8)).astype("float32")
    else:
        model = Transformer()
        x = generator.integers(0, CHARACTERS, (rows, LENGTH))
        y = generator.integers(0, CHARACTERS, rows * LENGTH)
    plain = network == "mlp"
    optimizer: optim.Optimizer = (
        optim.SGD(model.parameters(), 0.1) if plain else optim.AdamW(model.parameters())
    )
    given = Tensor(x), Tensor(y)

    @jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        loss = nn.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return lambda: step(*given)
