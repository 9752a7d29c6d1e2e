"""`python -m benchmarks training --curve 200`: the loss of examples/train_transformer.py, step by
step, next to the same network in PyTorch from the same weights. PyTorch has to be in this Python.
"""

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from compiler import Tensor

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "train_transformer.py"
RATE = 1e-3


def _example() -> Any:
    spec = importlib.util.spec_from_file_location("train_transformer", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _scores(p: Mapping[str, Any], numbers: Any, layers: int, heads: int) -> Any:
    """The network as PyTorch's functions of the weights by name."""
    from torch.nn import functional as f

    def linear(x: Any, name: str) -> Any:
        return f.linear(x, p[f"{name}.weight"], p.get(f"{name}.bias"))

    def norm(x: Any, name: str) -> Any:
        return f.layer_norm(x, x.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"])

    x = p["characters.weight"][numbers] + p["places.weight"][: numbers.shape[1]]
    n, length, width = x.shape
    for layer in range(layers):
        own = f"blocks.{layer}"
        weights = p[f"{own}.attention.in_proj_weight"], p[f"{own}.attention.in_proj_bias"]
        parts = f.linear(norm(x, f"{own}.first_norm"), *weights).chunk(3, -1)
        q, k, v = (each.reshape(n, length, heads, -1).transpose(1, 2) for each in parts)
        seen = f.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + linear(seen.transpose(1, 2).reshape(n, length, width), f"{own}.attention.out_proj")
        wide = f.gelu(linear(norm(x, f"{own}.second_norm"), f"{own}.wide"), approximate="tanh")
        x = x + linear(wide, f"{own}.narrow")
    return linear(norm(x, "norm"), "out")


def curves(steps: int) -> tuple[list[float], list[float]]:
    """The losses of both."""
    import torch

    example = _example()
    Tensor.manual_seed(0)
    letters = sorted(set(example.text))
    places = {letter: number for number, letter in enumerate(letters)}
    numbers = np.array([places[letter] for letter in example.text])
    model = example.Transformer(len(letters))
    p = {
        name: torch.from_numpy(value.numpy().copy()).requires_grad_()
        for name, value in model.named_parameters()
    }
    own = example.train(model, numbers, steps, RATE)
    optimizer = torch.optim.AdamW(list(p.values()), RATE)
    theirs = []
    for batch, _ in zip(example.pieces(numbers), range(steps), strict=False):
        given = torch.from_numpy(batch)
        scores = _scores(p, given[:, :-1], example.LAYERS, example.HEADS)
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), given[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        theirs.append(loss.item())
    return own, theirs


def main(steps: int) -> None:
    """Print how far the curves are apart."""
    own, theirs = curves(steps)
    apart = [abs(a - b) / b for a, b in zip(own, theirs, strict=True)]
    for step in range(0, steps, max(steps // 10, 1)):
        print(f"step {step + 1:>4}: ours {own[step]:.5f}, PyTorch {theirs[step]:.5f}, "
              f"{apart[step]:.2e} apart")  # fmt: skip
    worst = max(range(steps), key=apart.__getitem__)
    print(f"last: ours {own[-1]:.5f}, PyTorch {theirs[-1]:.5f}; the furthest apart in step "
          f"{worst + 1}, {apart[worst]:.2e} of the loss")  # fmt: skip
