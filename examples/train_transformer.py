"""A small transformer that learns to write as this project's own notebooks are written.

Four layers, 128 wide, on characters. Learn for 400 steps:  python examples/train_transformer.py 400
or look into one step of it:  svodviz explore examples/train_transformer.py -o train.html
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from compiler import Tensor, jit, nn, no_grad, optim

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
LENGTH, WIDTH, HEADS, LAYERS, BATCH = 64, 128, 4, 4, 32


def read_text() -> str:
    """The text of the notebooks, code and prose."""
    cells = [
        cell for path in sorted(NOTEBOOKS.glob("*.ipynb"))
        for cell in json.loads(path.read_text("utf-8"))["cells"]
    ]  # fmt: skip
    return "\n\n".join("".join(cell["source"]) for cell in cells)


class Block(nn.Module):
    """Attention, then two layers on each place by itself; both are added to what was there."""

    def __init__(self, width: int, heads: int) -> None:
        self.first_norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads)
        self.second_norm = nn.LayerNorm(width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """[n, l, width], each place by those before it."""
        x = x + self.attention(self.first_norm(x), is_causal=True)[0]
        return x + self.narrow(self.wide(self.second_norm(x)).gelu())


class Transformer(nn.Module):
    """Scores of the next character at each place."""

    def __init__(self, characters: int, layers: int = LAYERS, width: int = WIDTH) -> None:
        self.characters = nn.Embedding(characters, width)
        self.places = nn.Embedding(LENGTH, width)
        self.blocks = [Block(width, HEADS) for _ in range(layers)]
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, characters, bias=False)

    def forward(self, numbers: Tensor) -> Tensor:
        """Numbers of characters [n, l] to scores [n, l, characters]."""
        x = self.characters(numbers) + self.places.weight[: numbers.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x))


def loss_of(model: nn.Module, numbers: Tensor) -> Tensor:
    """Cross entropy of each character by those before it; numbers are [n, l + 1]."""
    scores = model(numbers[:, :-1])
    return nn.cross_entropy(scores.flatten(0, 1), numbers[:, 1:].flatten())


def pieces(numbers: np.ndarray, seed: int = 0) -> Iterator[np.ndarray]:
    """Batches of pieces of the text, from places at random."""
    generator = np.random.default_rng(seed)
    while True:
        places = generator.integers(0, len(numbers) - LENGTH - 1, BATCH)
        yield numbers[places[:, None] + np.arange(LENGTH + 1)]


def train(model: nn.Module, numbers: np.ndarray, steps: int, rate: float = 1e-3) -> list[float]:
    """AdamW; the loss of each step, and a line every 50 of them."""
    optimizer = optim.AdamW(model.parameters(), rate)

    @jit
    def step(batch: Tensor) -> Tensor:
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    losses: list[float] = []
    begin = time.perf_counter()
    for batch, count in zip(pieces(numbers), range(steps), strict=False):
        losses.append(step(batch).item())
        if not count:
            print(f"step 1: loss {losses[0]:.3f}, compiled in {time.perf_counter() - begin:.1f} s")
            begin = time.perf_counter()
        elif not (count + 1) % 50:
            speed = count * BATCH * LENGTH / (time.perf_counter() - begin)
            print(f"step {count + 1}: loss {losses[-1]:.3f}, {speed:,.0f} characters/s")
    return losses


def write(model: nn.Module, start: list[int], count: int, seed: int = 0) -> list[int]:
    """`start` and `count` more characters, each drawn by its probability."""
    generator = np.random.default_rng(seed)
    found = list(start)

    @jit
    def shares(numbers: Tensor) -> Tensor:
        return nn.softmax(model(numbers))

    with no_grad():
        model.eval()
        for _ in range(count):
            seen = found[-LENGTH:]
            window = np.zeros((1, LENGTH), np.int64)
            window[0, : len(seen)] = seen
            odds = shares(window).numpy()[0, len(seen) - 1].astype(np.float64)
            found.append(int(generator.choice(len(odds), p=odds / odds.sum())))
    return found


text = read_text()
letters = sorted(set(text))
numbers = np.array([letters.index(each) for each in text[:5000]])

Tensor.manual_seed(0)
network = Transformer(len(letters), layers=1, width=32)
loss = loss_of(network, Tensor(next(pieces(numbers))[:4], name="numbers"))
gradients = loss.gradient(*network.parameters())

def main(steps: int) -> None:
    """Learn from all notebooks, then write."""
    table = {letter: number for number, letter in enumerate(letters)}
    everything = np.array([table[letter] for letter in text])
    Tensor.manual_seed(0)
    model = Transformer(len(letters))
    count = sum(p.size for p in model.parameters())
    print(f"{len(text):,} characters, {len(letters)} different; {count:,} parameters")
    train(model, everything, steps)
    start = [table[letter] for letter in "The compiler "]
    print("".join(letters[number] for number in write(model, start, 200)))


if __name__ == "__main__" and sys.argv[1:]:
    main(int(sys.argv[1]))
