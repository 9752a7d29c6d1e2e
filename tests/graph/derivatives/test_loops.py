"""Derivatives of loops, against the same written out and against central differences."""

import numpy as np
import pytest

import compiler
from compiler import Tensor, repeat
from compiler.graph.derivatives import loops
from compiler.graph.kinds.repeat import Repeat, with_iterations
from compiler.graph.nodes import Sink
from tests.differences import assert_gradients


def power(x: Tensor) -> Tensor:
    a = x @ x.T
    return repeat(5, lambda i, v: (a @ v).tanh() * (i + 1).cast("float64"), x[:, 0])


def two_states(x: Tensor) -> Tensor:
    w = x * 0.5
    h, c = repeat(4, lambda i, h, c: ((h * w + c).tanh(), c + h * h), x, x * 2)
    return h * c + h


def one_of_two(x: Tensor) -> Tensor:
    _, y = repeat(3, lambda i, n, y: (n + 1, y * x + n.cast("float64")), Tensor(0), x)
    return y


def loops_in_loops(x: Tensor) -> Tensor:
    return repeat(3, lambda i, v: repeat(2, lambda j, u: (u * x).sin() + v, v), x)


CASES = {"power": power, "two states": two_states, "one of two": one_of_two,
         "loops in loops": loops_in_loops}  # fmt: skip


@pytest.mark.parametrize("is_short", [False, True], ids=["kept", "computed again"])
@pytest.mark.parametrize("name", CASES)
def test_loops(name: str, is_short: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_short:
        monkeypatch.setattr(loops, "STORED_BYTES", 0)
    x = np.random.default_rng(0).uniform(-1, 1, (2, 3))
    assert_gradients(CASES[name], x, orders=2 if name == "power" and not is_short else 1)


def test_the_forward_loop_runs_once() -> None:
    x = Tensor(np.ones(3) * 0.5)
    y = repeat(6, lambda i, v: (v * x).exp(), x)
    slope = y.sum().gradient(x)
    compilation = compiler.compile(y, slope)
    assert compilation.check()
    root = with_iterations(compilation.optimized_graph.root)
    assert len({node.loop for node in root if isinstance(node, Repeat)}) == 2


def test_gradients_inside_a_loop() -> None:
    target = Tensor(np.array([1.0, -2.0]))

    def step(i: Tensor, w: Tensor) -> Tensor:
        loss = ((w - target) ** 2).sum()
        return w - 0.25 * loss.gradient(w)

    w = repeat(20, step, Tensor(np.zeros(2)))
    np.testing.assert_allclose(w.numpy(), [1, -2], atol=1e-5)
    assert isinstance(w.recipe, Repeat)
    assert compiler.compile(repeat(3, step, Tensor(np.zeros(2)))).check()
    assert Sink((w.node,)).sources


def test_long_loops_keep_few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    x = Tensor(np.full(64, 0.5))

    def peak() -> int:
        y = repeat(100, lambda i, v: (v * x).sin(), x)
        compiler.cache_clear()
        plan = compiler.prepare(y.sum().gradient(x), options=compiler.Options(cache=False))
        assert plan.memory is not None
        return plan.memory.peak

    kept = peak()
    monkeypatch.setattr(loops, "STORED_BYTES", 8192)
    assert peak() * 3 < kept
