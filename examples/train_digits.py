"""Handwritten digits, learnt: a two-layer network and a small convolutional one.

The images are scikit-learn's (1,797 of 8 x 8 pixels): 80 % to learn from, 20 % to test with.
Run it, or look into the backward pass:  svodviz explore examples/train_digits.py -o train.html
"""

import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits

from compiler import Tensor, data, jit, nn, no_grad, optim

digits = load_digits()
images = (digits.images / 16).astype(np.float32)
labels = digits.target
order = np.random.default_rng(0).permutation(len(images))
known, unknown = np.split(order, [len(order) * 4 // 5])


class Mlp(nn.Module):
    """Two layers."""

    def __init__(self, hidden: int = 128) -> None:
        self.hidden = nn.Linear(64, hidden)
        self.out = nn.Linear(hidden, 10)

    def forward(self, x: Tensor) -> Tensor:
        """[n, 8, 8] to scores [n, 10]."""
        return self.out(self.hidden(x.flatten(1)).relu())


class Cnn(nn.Module):
    """Two convolutions, normalised over the batch and pooled, then one layer."""

    def __init__(self) -> None:
        self.first = nn.Conv2d(1, 32, 3, padding=1)
        self.first_norm = nn.BatchNorm2d(32)
        self.second = nn.Conv2d(32, 64, 3, padding=1)
        self.second_norm = nn.BatchNorm2d(64)
        self.drop = nn.Dropout(0.25)
        self.out = nn.Linear(64 * 2 * 2, 10)

    def forward(self, x: Tensor) -> Tensor:
        """[n, 8, 8] to scores [n, 10]."""
        x = self.first_norm(self.first(x.unsqueeze(1))).relu().max_pool2d(2)
        x = self.second_norm(self.second(x)).relu().max_pool2d(2)
        return self.out(self.drop(x.flatten(1)))


def train(model: nn.Module, epochs: int, rate: float = 3e-3, seed: int = 0) -> list[float]:
    """AdamW over batches of 64; the loss of each step."""
    optimizer = optim.AdamW(model.parameters(), rate)
    batches = data.batches((images[known], labels[known]), 64, shuffle=True, seed=seed,
                           drop_last=True)  # fmt: skip
    schedule = optim.Schedule(optimizer, optim.cosine(epochs * len(batches)))

    @jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        loss = nn.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    losses = []
    for _ in range(epochs):
        for x, y in batches:
            losses.append(step(x, y))
            schedule.step()
    return [loss.item() for loss in losses]


def accuracy(model: nn.Module) -> float:
    """The share of the unknown images that are recognised."""
    with no_grad():
        scores = model.eval()(Tensor(images[unknown])).numpy()
    return float((scores.argmax(1) == labels[unknown]).mean())


def descent(steps: int = 100, rate: float = 0.5) -> tuple[list[float], list[float]]:
    """The losses of the two-layer network by plain gradient descent on all known images: learnt
    here, and by a few lines of NumPy from the same weights."""
    x, y = images[known].reshape(-1, 64), labels[known]
    model = Mlp(32)
    weights = [p.numpy().copy() for p in model.parameters()]
    optimizer = optim.SGD(model.parameters(), rate)

    @jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        loss = nn.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    ours = [step(x, y).item() for _ in range(steps)]
    return ours, in_numpy(x, y, weights, steps, rate)


def in_numpy(
    x: np.ndarray, y: np.ndarray, weights: list[np.ndarray], steps: int, rate: float
) -> list[float]:
    """The same losses, derivatives by hand."""
    w1, b1, w2, b2 = weights
    rows = np.arange(len(x))
    losses = []
    for _ in range(steps):
        hidden = np.maximum(x @ w1.T + b1, 0)
        scores = hidden @ w2.T + b2
        scores -= scores.max(1, keepdims=True)
        shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
        losses.append(float(-np.log(shares[rows, y]).mean()))
        shares[rows, y] -= 1
        error = shares / len(x)
        back = error @ w2 * (hidden > 0)
        w2, b2 = w2 - rate * error.T @ hidden, b2 - rate * error.sum(0)
        w1, b1 = w1 - rate * back.T @ x, b1 - rate * back.sum(0)
    return losses


def report(name: str, make: Callable[[], nn.Module], epochs: int) -> float:
    """Learn, test and print."""
    Tensor.manual_seed(0)
    model = make()
    begin = time.perf_counter()
    losses = train(model, epochs)
    found = accuracy(model)
    seconds = time.perf_counter() - begin
    print(f"{name}: loss {losses[0]:.3f} to {losses[-1]:.4f} in {len(losses)} steps, "
          f"{found:.2%} of {len(unknown)} unknown digits recognised, {seconds:.1f} s")  # fmt: skip
    return found


Tensor.manual_seed(0)
network = Mlp()
loss = nn.cross_entropy(network(Tensor(images[known[:64]], name="x")), labels[known[:64]])
gradients = loss.gradient(*network.parameters())

if __name__ == "__main__":
    report("two layers", Mlp, 30)
    report("convolutions", Cnn, 15)
    ours, numpys = descent()
    far = max(abs(a - b) for a, b in zip(ours, numpys, strict=True))
    print(f"plain descent: loss {ours[-1]:.4f}, at most {far:.1e} from NumPy's in 100 steps")
