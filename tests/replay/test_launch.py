"""Calls by one foreign call, and by the general path: the same results."""

from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor, nn, optim
from compiler.device import cpu
from compiler.replay.function import JitFunction
from compiler.run.launch import Launch


def _training() -> tuple[JitFunction, Tensor, Tensor]:
    Tensor.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 8), nn.relu, nn.Linear(8, 3))
    optimizer = optim.AdamW(model.parameters(), 1e-2)

    @compiler.jit
    def step(x: Tensor, y: Tensor) -> Any:
        loss = nn.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss, model(x)

    numbers = np.random.default_rng(5)
    x = Tensor(numbers.standard_normal((16, 4)).astype("float32")).realize()
    return step, x, Tensor(numbers.integers(0, 3, 16)).realize()


def _launch(step: JitFunction) -> Launch:
    ((captured,),) = step._kept.values()
    return captured._launch


def test_a_budget_of_memory_takes_the_general_way(monkeypatch: pytest.MonkeyPatch) -> None:
    step, x, y = _training()
    direct = [step(x, y)[1].numpy() for _ in range(4)]
    assert _launch(step).direct is not None
    step, x, y = _training()
    step(x, y)
    monkeypatch.setattr(cpu.MEMORY, "budget", 2**30)
    general = [step(x, y)[1].numpy() for _ in range(3)]
    for one, other in zip(direct[1:], general, strict=True):
        np.testing.assert_array_equal(one, other)


def test_other_memory_of_arguments_in_each_call() -> None:
    @compiler.jit
    def f(x: Tensor, y: Tensor) -> Any:
        return x @ y, (x + 1).sum(), x.max()

    for n in range(5):
        x, y = np.full((3, 3), n, "float32"), np.eye(3, dtype="float32")
        product, total, most = f(x, y)
        np.testing.assert_array_equal(product.numpy(), x)
        assert total.shape == () and total.item() == 9 * (n + 1) and most.item() == n


def test_a_variable_takes_the_general_way() -> None:
    n = compiler.Variable("n", 1, 8)
    rows = Tensor(np.arange(16, dtype="float32").reshape(8, 2)).realize()

    @compiler.jit
    def f(x: Tensor) -> Tensor:
        return x.sum(0)

    for count in (3, 8):
        expected = np.arange(16, dtype="float32").reshape(8, 2)[:count].sum(0)
        np.testing.assert_array_equal(f(rows[: n.bind(count)]).numpy(), expected)
