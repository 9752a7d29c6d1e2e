"""The exercises of notebook 14: what the answers say is so."""

import numpy as np

import compiler
from compiler import Tensor, jit, nn, optim
from tests.notebooks import answer_to

NOTEBOOK = "14_training"


def test_another_rate_is_no_other_program() -> None:
    layer = nn.Linear(3, 2)
    rule = optim.AdamW(layer.parameters(), 0.01)

    @jit
    def step(x: Tensor) -> Tensor:
        loss = layer(x).square().mean()
        loss.backward()
        rule.step()
        rule.zero_grad()
        return loss

    for size in (4, 2):
        step(np.ones((size, 3), "f"))
    rule.lr = 0.005
    step(np.ones((4, 3), "f"))
    assert step.cache_info().captures == 2
    assert "`captures` stays 2" in answer_to(NOTEBOOK, 1)


def test_memory_is_least_in_the_middle() -> None:
    weights = [Tensor(np.eye(48) * 0.1, requires_grad=True) for _ in range(16)]

    def some(x: Tensor, *weights: Tensor) -> Tensor:
        for w in weights:
            x = (x @ w).tanh()
        return x

    def peak(size: int) -> int:
        y = Tensor(np.ones((256, 48)))
        for begin in range(0, 16, size):
            y = compiler.checkpoint(some)(y, *weights[begin : begin + size])
        return compiler.compile(*y.sum().gradient(*weights)).schedule.peak_bytes

    peaks = {size: peak(size) for size in (1, 4, 16)}
    assert peaks[4] < min(peaks[1], peaks[16]), peaks
    assert "near the square root of 32" in answer_to(NOTEBOOK, 2)
