"""A network of PyTorch's that learned one task there; its last layer learns another one here.

Digits 0 to 4 in PyTorch, then 5 to 9 by `compiler.optim`, from 100 images: needs PyTorch and
scikit-learn.   python examples/imported/fine_tune.py
"""

import sys
import warnings

import numpy as np

from compiler import Tensor, from_torch, jit, nn, no_grad, optim

try:
    import torch
    from sklearn.datasets import load_digits
except ImportError as error:
    sys.exit(f"{error.name} is missing: pip install torch scikit-learn")
warnings.filterwarnings("ignore", category=FutureWarning)  # PyTorch's exporter about itself

FEW = 100


def data(first: int) -> tuple[np.ndarray, np.ndarray]:
    """Images [n, 1, 8, 8] of the digits `first` to `first` + 4, in random order, and which they
    are, from 0."""
    found = load_digits()
    chosen = (found.target >= first) & (found.target < first + 5)
    x = (found.images[chosen, None] / 16).astype(np.float32)
    y = found.target[chosen].astype(np.int64) - first
    order = np.random.default_rng(0).permutation(len(x))
    return x[order], y[order]


def network() -> torch.nn.Module:
    """Two convolutions and two layers."""
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(32 * 16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 5),
    )  # fmt: skip


def learn_there(model: torch.nn.Module, steps: int = 150) -> None:
    """Digits 0 to 4, in PyTorch."""
    x, y = map(torch.from_numpy, data(0))
    rule = torch.optim.AdamW(model.parameters(), 3e-3)
    for step in range(steps):
        part = torch.arange(step * 64, step * 64 + 64) % len(x)
        loss = torch.nn.functional.cross_entropy(model(x[part]), y[part])
        rule.zero_grad()
        loss.backward()
        rule.step()
    print(f"PyTorch, digits 0 to 4: loss {loss.item():.4f}")


def learn_here(model: torch.nn.Module, steps: int = 200) -> tuple[float, float]:
    """The last layer on digits 5 to 9; the accuracy before and after."""
    x, y = data(5)
    batch = torch.export.Dim("batch", min=2, max=1024)
    program = from_torch(model.eval(), (torch.zeros(8, 1, 8, 8),), dynamic_shapes=({0: batch},))
    last = [p for name, p in program.parameters.items() if int(name.partition(".")[0]) >= 8]
    for parameter in last:
        parameter.requires_grad_()
    rule = optim.AdamW(last, 3e-3)

    def accuracy() -> float:
        with no_grad():
            found = program(x[FEW:]).argmax(1).numpy()
        return float((found == y[FEW:]).mean())

    @jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        loss = nn.cross_entropy(program(x), y)
        loss.backward()
        rule.step()
        rule.zero_grad()
        return loss

    before = accuracy()
    for _ in range(steps):
        step(x[:FEW], y[:FEW])
    return before, accuracy()


torch.manual_seed(0)
learned, fresh = network(), network()
learn_there(learned)
kept = learned[0].weight.detach().clone()
for what, model in (("the network that learned 0 to 4", learned), ("one that did not", fresh)):
    before, after = learn_here(model)
    print(f"digits 5 to 9 from {FEW} images, {what}: {before:.1%} before, {after:.1%} after")
assert torch.equal(kept, learned[0].weight), "what came before the last layer was to be left alone"
