"""Gradients pass through captured functions as without `jit`; the backward pass compiles once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import GradientError, Tensor, jit, nn, optim
from compiler.replay.function import NotCapturedWarning
from compiler.tensors.gradients import no_grad


def _leaf(*values: float) -> Tensor:
    return Tensor(np.array(values), requires_grad=True)


def test_a_captured_loss() -> None:
    w = _leaf(2.0, 3.0)
    f = jit(lambda x: (w * w * x).sum())
    for n in (1.0, 2.0):
        w.grad = None
        loss = f(np.full(2, n))
        assert loss.requires_grad
        (loss + (w * 0).sum()).backward()
        assert w.grad.numpy().tolist() == [4 * n, 6 * n]


@pytest.mark.parametrize("trunk_wrap", [jit, lambda f: f])
@pytest.mark.parametrize("head_wrap", [jit, lambda f: f])
def test_parts_of_a_model(trunk_wrap: Callable[..., Any], head_wrap: Callable[..., Any]) -> None:
    found = []
    for is_wrapping in (False, True):
        Tensor.manual_seed(0)
        trunk, head = nn.Linear(2, 4), nn.Linear(4, 1)
        optimizer = optim.SGD([*trunk.parameters(), *head.parameters()], lr=0.1)
        f: Any = lambda x, trunk=trunk: trunk(x).relu()  # noqa: E731
        g: Any = lambda h, head=head: head(h).square().mean()  # noqa: E731
        f, g = (trunk_wrap(f), head_wrap(g)) if is_wrapping else (f, g)
        losses = []
        for n in (1.0, 2.0, 3.0):
            loss = g(f(Tensor(np.full((3, 2), n, "float32"))))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        found.append([*losses, *trunk.weight.numpy().ravel()])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_the_backward_pass_is_compiled_once() -> None:
    w = _leaf(2.0, 3.0)
    f = jit(lambda x: (w * x).sin().sum())
    counts = []
    for n in range(5):
        w.grad = None
        f(np.full(2, float(n))).backward()
        np.testing.assert_allclose(w.grad.numpy(), n * np.cos(n * w.numpy()))
        counts.append(compiler.cache_info().programs.misses)
    assert f.cache_info().captures == 1
    assert counts[1:] == counts[1:2] * 4


def test_an_argument_that_requires_gradients() -> None:
    f = jit(lambda a, b: (a * b).sum())
    for n in (2.0, 3.0):
        a, b = _leaf(n), _leaf(5.0)
        f(a, b * 2).backward()
        assert (a.grad.item(), b.grad.item()) == (10, 2 * n)
    f(a, a).backward()
    assert a.grad.item() == 10 + 6


def test_a_derivative_inside_goes_on_outside() -> None:
    w, v = _leaf(3.0), _leaf(2.0)

    @jit
    def learn(h: Tensor) -> Tensor:
        loss = (h * v).sum()
        loss.backward()
        return loss

    for n in (1.0, 4.0):
        w.grad = v.grad = None
        if n == 1:
            with pytest.warns(NotCapturedWarning, match="history"):
                loss = learn(w * n)
        else:
            loss = learn(w * n)
        assert (loss.item(), w.grad.item(), v.grad.item()) == (6 * n, 2 * n, 3 * n)


def test_results_without_a_history() -> None:
    w = _leaf(2.0)
    f = jit(lambda x: (w * x, (w * x).detach(), x * 2))
    one, two, three = f(np.ones(1))
    assert [each.requires_grad for each in (one, two, three)] == [True, False, False]
    with no_grad():
        assert not f(np.ones(1))[0].requires_grad
    w.requires_grad_(False)
    assert not f(np.ones(1))[0].requires_grad


def test_second_order_and_functions_of_functions() -> None:
    w = _leaf(2.0)
    cube = jit(lambda x: (w * x) ** 3)
    slope = cube(np.array([1.0])).sum().gradient(w)
    assert slope.item() == 12 and slope.gradient(w).item() == 12
    f = jit(lambda x: (x**3).sum())
    assert compiler.grad(compiler.grad(f))(np.array(2.0)).item() == 12
    value, pull = compiler.vjp(f, np.array([2.0]))
    assert value.item() == 8 and pull(Tensor(np.array(1.0)))[0].item() == 12
    again = compiler.checkpoint(cube)
    w.grad = None
    again(Tensor(np.array([1.0]))).sum().backward()
    assert w.grad.item() == 12


def test_memory_that_was_written_since_is_refused() -> None:
    w = _leaf(2.0)
    f = jit(lambda x: (w * w * x).sum())
    loss = f(np.ones(1))
    w.assign(np.array([5.0]))
    with pytest.raises(GradientError, match="was overwritten"):
        loss.backward()
    x = Tensor(np.ones(1))
    loss = f(x)
    x.assign(np.array([7.0])).realize()
    with pytest.raises(GradientError, match="was overwritten"):
        loss.backward()


def test_state_that_is_assigned_has_a_history() -> None:
    found = []
    for wrap in (lambda f: f, jit):
        w, state = _leaf(2.0), Tensor(np.zeros(1)).realize()
        f = wrap(lambda x, w=w, state=state: state.assign(w * x))
        f(Tensor(np.array([3.0])))
        state.numpy()
        state.sum().backward()
        found.append(w.grad.item())
        state.assign(np.ones(1)).realize()
        assert not state.requires_grad
    assert found == [3, 3]


def test_random_numbers_of_the_call_go_back() -> None:
    w = Tensor(np.ones(50), requires_grad=True)
    f = jit(lambda x: w * x * (Tensor.rand(50) > 0.5))
    losses = [f(np.ones(50)) for _ in range(3)]
    masks = [each.numpy() for each in losses]
    assert not np.array_equal(masks[0], masks[1])
    for loss, mask in zip(losses, masks, strict=True):
        w.grad = None
        loss.sum().backward()
        np.testing.assert_array_equal(w.grad.numpy(), mask)
