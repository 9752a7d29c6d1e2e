"""An interrupt at any call inside a step: the step took effect once or not at all, and the next
one adds exactly one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, jit, optim
from compiler.tensors import readers, running
from tests.interrupting import interrupted

Step = Callable[[], Any]
Counts = Callable[[], list[float]]
SHARE = 97
"""Of the calls inside a step that is not captured each such one is interrupted: a prime, so that
all kinds of places are met."""


def written() -> tuple[Step, Counts]:
    """A tensor that counts."""
    w = Tensor(np.zeros(3)).realize()
    return lambda: w.assign(w + 1).realize(), lambda: [w.numpy()[0]]


def captured() -> tuple[Step, Counts]:
    """Two tensors that count together, captured."""
    w, u = Tensor(np.zeros(3)).realize(), Tensor(np.zeros(3)).realize()

    @jit
    def step() -> None:
        w.assign(w + 1)
        u.assign(u + 1)

    return step, lambda: [w.numpy()[0], u.numpy()[0]]


def captured_anew() -> tuple[Step, Counts]:
    """The same, by a function that is captured in each step."""
    w, u = Tensor(np.zeros(3)).realize(), Tensor(np.zeros(3)).realize()

    def step() -> None:
        w.assign(w + 1)
        u.assign(u + 1)

    return lambda: jit(step)(), lambda: [w.numpy()[0], u.numpy()[0]]


def optimised() -> tuple[Step, Counts]:
    """Two parameters and the count of an optimizer."""
    p, q = (Tensor(np.zeros(shape), requires_grad=True) for shape in (3, (2, 2)))
    descent = optim.SGD([p, q], lr=1.0)
    for each in (p, q):
        each.grad = -each.ones_like().realize()
    return descent.step, lambda: [p.numpy()[0], q.numpy()[0, 0], descent.count.item()]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("program", "every"),
    [(written, SHARE), (captured, 1), (captured_anew, SHARE // 2), (optimised, SHARE)],
)
def test_once_or_not_at_all(program: Callable[[], tuple[Step, Counts]], every: int) -> None:
    step, counts = program()
    for _ in range(3):
        step()
    for at in range(1, 100_000, every):
        before = counts()
        is_interrupted = interrupted(step, at)
        moved = {now - old for now, old in zip(counts(), before, strict=True)}
        assert moved in ({0.0}, {1.0}), f"interrupted at call {at}"
        assert not running.RUNNING and not readers.LOCK._is_owned()  # type: ignore[attr-defined]
        before = counts()
        step()
        assert [now - old for now, old in zip(counts(), before, strict=True)] == [1.0] * len(before)
        if not is_interrupted:
            return
    raise AssertionError("a step has fewer calls than that")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_assign_that_is_interrupted_leaves_the_memory_to_the_next() -> None:
    """Also where somebody keeps the exception."""
    memory = np.zeros(3)
    w = Tensor(memory).realize()
    for at in range(1, 10_000):
        is_interrupted = interrupted(lambda: w.assign(w + 1), at)
        w.assign(w * 0 + at).realize()
        assert memory.tolist() == [at] * 3
        if not is_interrupted:
            return
    raise AssertionError("an assign has fewer calls than that")
