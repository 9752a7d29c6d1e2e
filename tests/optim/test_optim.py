"""Optimisers against the same rules in NumPy; schedules, clipping, saving, errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor, optim

Array = np.ndarray[Any, Any]
START = np.array([1.0, -2.0, 0.5], "float64")


def grad_of(p: Array) -> Array:
    return 2 * p + np.cos(p)


def sgd(momentum: float, dampening: float, decay: float, nesterov: bool) -> list[Array]:
    p, velocity, rows = START.copy(), None, []
    for _ in range(5):
        g = grad_of(p) + decay * p
        if momentum:
            velocity = g if velocity is None else momentum * velocity + (1 - dampening) * g
            g = g + momentum * velocity if nesterov else velocity
        p = p - 0.1 * g
        rows.append(p)
    return rows


def adam(decay: float, is_apart: bool) -> list[Array]:
    p, m, v, rows = START.copy(), np.zeros(3), np.zeros(3), []
    for count in range(1, 6):
        g = grad_of(p)
        if is_apart:
            p = p * (1 - 0.1 * decay)
        else:
            g = g + decay * p
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        root = np.sqrt(v) / np.sqrt(1 - 0.99**count) + 1e-8
        p = p - 0.1 / (1 - 0.9**count) * m / root
        rows.append(p)
    return rows


RULES: dict[str, tuple[Callable[[list[Tensor]], optim.Optimizer], list[Array]]] = {
    "plain": (lambda ps: optim.SGD(ps, 0.1), sgd(0, 0, 0, False)),
    "momentum": (lambda ps: optim.SGD(ps, 0.1, 0.9), sgd(0.9, 0, 0, False)),
    "dampened": (lambda ps: optim.SGD(ps, 0.1, 0.9, 0.5, 0.1), sgd(0.9, 0.5, 0.1, False)),
    "nesterov": (lambda ps: optim.SGD(ps, 0.1, 0.9, nesterov=True), sgd(0.9, 0, 0, True)),
    "adam": (lambda ps: optim.Adam(ps, 0.1, (0.9, 0.99)), adam(0, False)),
    "adam decayed": (lambda ps: optim.Adam(ps, 0.1, (0.9, 0.99), weight_decay=0.2),
                     adam(0.2, False)),
    "adamw": (lambda ps: optim.AdamW(ps, 0.1, (0.9, 0.99), weight_decay=0.2), adam(0.2, True)),
}


@pytest.mark.parametrize("is_captured", [False, True], ids=["plain", "jit"])
@pytest.mark.parametrize("name", RULES)
def test_rules(name: str, is_captured: bool) -> None:
    make, rows = RULES[name]
    p = Tensor(START.copy(), requires_grad=True)
    optimizer = make([p])

    def step() -> None:
        (p * p + p.sin()).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    run = compiler.jit(step) if is_captured else step
    for row in rows:
        run()
        np.testing.assert_allclose(p.numpy(), row, rtol=1e-12)
    assert optimizer.count.item() == 5


def test_a_rate_that_changes_compiles_nothing() -> None:
    p = Tensor(np.ones(3, "float32"), requires_grad=True)
    optimizer = optim.SGD([p], 1.0)
    schedule = optim.Schedule(optimizer, optim.warmup(2, optim.cosine(4)))
    rates, before = [], 0
    for _ in range(8):
        p.grad = Tensor(np.full(3, 1.0, "float32"))
        optimizer.step()
        rates.append(optimizer.lr)
        schedule.step()
        before = before or compiler.cache_info().schedules.misses
    assert compiler.cache_info().schedules.misses == before
    np.testing.assert_allclose(rates, [0.5, 1, 1, 0.5 + 0.5**1.5, 0.5, 0.5 - 0.5**1.5, 0, 0],
                               atol=1e-12)  # fmt: skip
    np.testing.assert_allclose(p.numpy(), 1 - sum(rates), rtol=1e-6)
    assert [optim.steps(2, 0.5)(n) for n in range(4)] == [1, 1, 0.5, 0.5]
    assert optim.exponential(0.5)(3) == 0.125
    cycle = optim.one_cycle(100)
    np.testing.assert_allclose([cycle(0), cycle(29), cycle(99)], [1 / 25, 1, 1 / 25e4], rtol=1e-9)


def test_groups_and_what_is_saved() -> None:
    a, b = (Tensor(np.ones(2), requires_grad=True) for _ in range(2))
    groups = [{"params": [a], "lr": 0.5}, {"params": [b]}]
    optimizer = optim.Adam(groups, 0.1)
    assert "1 parameters, lr 0.5" in repr(optimizer)
    for p in (a, b):
        p.grad = Tensor(np.full(2, 3.0))
    optimizer.step()
    np.testing.assert_allclose([a.numpy()[0], b.numpy()[0]], [0.5, 0.9], rtol=1e-6)
    state = {name: tensor.numpy().copy() for name, tensor in optimizer.state_dict().items()}
    other = optim.Adam(groups, 0.7)
    other.load_state_dict(state)
    assert other.groups[1].lr == 0.1 and other.count.item() == 1
    assert other.kept[1]["mean"].numpy().tolist() == state["state.1.mean"].tolist()
    with pytest.raises(DataError, match="count is missing"):
        other.load_state_dict({name: v for name, v in state.items() if name != "count"})


def test_parameters_without_a_gradient_stay() -> None:
    a, b = (Tensor(np.ones(2), requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([a, b], 0.5)
    (a * 2).sum().backward()
    optimizer.step()
    assert a.numpy().tolist() == [0, 0] and b.numpy().tolist() == [1, 1]


def test_clipping() -> None:
    a, b = (Tensor(np.ones(2), requires_grad=True) for _ in range(2))
    (a * 3 + b * 4).sum().backward()
    norm = optim.clip_grad_norm([a, b], 1.0)
    assert a.grad is not None and b.grad is not None
    np.testing.assert_allclose(norm.item(), np.sqrt(50), rtol=1e-6)
    np.testing.assert_allclose(a.grad.numpy(), 3 / np.sqrt(50), rtol=1e-5)
    optim.clip_grad_value([b], 0.25)
    assert b.grad.numpy().tolist() == [0.25, 0.25]


def stepped(option: str) -> None:
    """A step after one option of the group was set."""
    p = Tensor(np.ones(2), requires_grad=True)
    optimizer = optim.SGD([p])
    optimizer.groups[0].options[option] = 0.5
    p.sum().backward()
    optimizer.step()


def one() -> Tensor:
    """A parameter."""
    return Tensor(np.ones(1), requires_grad=True)


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "none": (lambda: optim.SGD([]), "no parameters"),
    "no tensor": (lambda: optim.SGD([3]), "is not a tensor"),  # type: ignore[list-item]
    "no gradients": (lambda: optim.SGD([Tensor(np.ones(1))]), "collects no gradients"),
    "twice": (lambda: optim.SGD([Tensor(np.ones(1), requires_grad=True)] * 2), "occurs twice"),
    "group": (lambda: optim.SGD([{"parameters": [], "lr": 1}]), "a group has no parameters"),
    "option of a group": (lambda: stepped("lr"), "no such option(.|\n)*group.lr = … sets"),
    "earlier option": (lambda: stepped("decay"), "decay was renamed: write weight_decay="),
    "option": (lambda: optim.SGD([{"params": [], "speed": 1}]), "no such option"),
    "nesterov": (lambda: optim.SGD([], nesterov=True), "needs momentum"),
    "betas": (lambda: optim.Adam([], betas=(1.0, 0.9)), "out of range"),
    "rate below 0": (lambda: optim.SGD([], lr=-1), "lr is out of range"),
    "rate of a text": (lambda: optim.AdamW([], lr="a"), "lr is out of range"),
    "one beta": (lambda: optim.Adam([], betas=1), "the betas are out of range"),
    "rate of a group": (lambda: optim.Adam([{"params": [one()], "lr": -1}]), "lr is out of range"),
    "eps": (lambda: optim.Adam([], eps=-1.0), "eps is out of range"),
    "momentum": (lambda: optim.SGD([], momentum=-0.5), "momentum is out of range"),
    "weight decay": (lambda: optim.AdamW([], weight_decay=-1.0), "weight_decay is out of range"),
    "warmup": (lambda: optim.warmup(0), "number of steps"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, words = REFUSED[name]
    with pytest.raises(DataError, match=words):
        call()


@pytest.mark.parametrize("is_captured", [False, True])
def test_a_parameter_counts_its_own_steps(is_captured: bool) -> None:
    """The first step of Adam is rate * sign(gradient), whenever it comes (Kingma and Ba, 2015)."""
    a, b = (Tensor(np.array([1.0]), requires_grad=True) for _ in range(2))
    adam = optim.Adam([a, b], lr=0.1)

    def step(has_b: bool) -> None:
        ((a * a) + (b * b if has_b else 0)).sum().backward()
        adam.step()
        adam.zero_grad()

    run = compiler.jit(step) if is_captured else step
    present = (False, False, True, True, False, True)
    found = []
    for has_b in present:
        run(has_b)
        found.append(b.item())
    right = _adam_alone(sum(present))
    np.testing.assert_allclose([found[n] for n, has_b in enumerate(present) if has_b], right)
    assert found[:2] == [1.0, 1.0] and found[4] == found[3]

    state = {name: each.numpy().copy() for name, each in adam.state_dict().items()}
    assert state["count"] == 6 and state["state.1.steps"] == 3
    values = [each.numpy().copy() for each in (a, b)]
    others = [Tensor(each, requires_grad=True) for each in values]
    other = optim.Adam(others, lr=0.1)
    other.load_state_dict(state)
    (a * a + b * b).sum().backward()
    adam.step()
    sum((each * each).sum() for each in others).backward()
    other.step()
    assert [each.item() for each in others] == [a.item(), b.item()]


def _adam_alone(steps: int) -> list[float]:
    """Adam of x² from 1, in Python's numbers."""
    x, mean, square, found = 1.0, 0.0, 0.0, []
    for count in range(1, steps + 1):
        slope = 2 * x
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        x -= 0.1 * (mean / (1 - 0.9**count)) / ((square / (1 - 0.999**count)) ** 0.5 + 1e-8)
        found.append(x)
    return found
