"""The same steps in PyTorch."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.training import BATCH, CHARACTERS, HEADS, LAYERS, LENGTH, WIDTH


def _transformer(nn: Any, torch: Any) -> Any:
    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
            self.into, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            n, length, width = x.shape
            parts = self.into(self.norms[0](x)).chunk(3, -1)
            q, k, v = (p.reshape(n, length, HEADS, -1).transpose(1, 2) for p in parts)
            seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(seen.transpose(1, 2).reshape(n, length, width))
            gelu = nn.functional.gelu(self.wide(self.norms[1](x)), approximate="tanh")
            return x + self.narrow(gelu)

    class Transformer(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.characters = nn.Embedding(CHARACTERS, WIDTH)
            self.places = nn.Embedding(LENGTH, WIDTH)
            self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.norm, self.last = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CHARACTERS, bias=False)

        def forward(self, numbers: Any) -> Any:
            x = self.characters(numbers) + self.places.weight
            return self.last(self.norm(self.blocks(x))).flatten(0, 1)

    return Transformer()


def step_of(network: str, peer: str) -> Callable[[], Any]:
    """A step on data that stay the same; gives the loss."""
    import torch
    from torch import nn

    torch.set_num_threads(2)
    generator = np.random.default_rng(0)
    rows = {"mlp": 128, "cnn": 64, "transformer": BATCH}[network]
    y = torch.tensor(generator.integers(0, 10, rows))
    if network == "mlp":
        model: Any = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))
        x = torch.randn(rows, 784)
    elif network == "cnn":
        model = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(256, 10),
        )  # fmt: skip
        x = torch.randn(rows, 1, 8, 8)
    else:
        model = _transformer(nn, torch)
        x = torch.tensor(generator.integers(0, CHARACTERS, (rows, LENGTH)))
        y = torch.tensor(generator.integers(0, CHARACTERS, rows * LENGTH))
    optimizer = (
        torch.optim.SGD(model.parameters(), 0.1) if network == "mlp"
        else torch.optim.AdamW(model.parameters())
    )  # fmt: skip
    run = torch.compile(model) if peer == "torch.compile" else model

    def step() -> Any:
        loss = nn.functional.cross_entropy(run(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step
