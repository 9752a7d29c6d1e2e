"""Reading values of a program does not change its gradients."""

import random

import numpy as np
import pytest

import compiler
from compiler import Tensor
from tests.search.looks import OPERATIONS, START

Step = tuple[int, int, int, float]


def _drawn(draw: random.Random) -> tuple[list[Step], list[int]]:
    """Steps (operation, operands, a factor that no other step has), and what is summed."""
    count = draw.randint(2, 6)
    steps = [(draw.randrange(len(OPERATIONS)), draw.randint(0, n), draw.randint(0, n),
              1 + draw.random()) for n in range(count)]  # fmt: skip
    return steps, draw.sample(range(count + 1), draw.randint(1, count + 1))


def _right(steps: list[Step], summed: list[int]) -> list[np.ndarray]:
    """The gradient by each value: that by zeros which are added to it."""
    zeros = [Tensor(np.zeros(START.shape), requires_grad=True) for _ in range(len(steps) + 1)]
    values = [Tensor(START) + zeros[0]]
    for (operation, a, b, factor), zero in zip(steps, zeros[1:], strict=True):
        values.append(OPERATIONS[operation](values[a], values[b], 1.5) * factor + zero)
    total = sum(values[n].sum() for n in summed)
    return [each.numpy() for each in total.gradient(*zeros, allow_unused=True)]


@pytest.mark.parametrize("seed", range(40))
def test_gradients_of_values_that_were_looked_at(seed: int) -> None:
    draw = random.Random(seed)
    steps, summed = _drawn(draw)
    right = _right(steps, summed)
    values, kept = [Tensor(START, requires_grad=True)], {0}
    for operation, a, b, factor in steps:
        values.append(OPERATIONS[operation](values[a], values[b], 1.5) * factor)
        if draw.random() < 0.4:
            draw.choice(values).numpy()
        if draw.random() < 0.3:
            number = draw.randrange(1, len(values))
            if values[number].requires_grad:
                values[number].retain_grad()
                kept.add(number)
    total = sum(values[n].sum() for n in summed)
    if not total.requires_grad:
        return
    if draw.random() < 0.3:
        total.numpy()
    for value, wanted in zip(values, right, strict=True):
        if value.requires_grad:
            np.testing.assert_allclose(total.gradient(value, allow_unused=True).numpy(), wanted)
    total.backward()
    for number in kept:
        grad = values[number].grad
        found = np.zeros(START.shape) if grad is None else grad.numpy()
        np.testing.assert_allclose(found, right[number])


@pytest.mark.parametrize("is_seen", [False, True])
@pytest.mark.parametrize(
    ("name", "f", "slope"),
    [
        ("compared with itself", lambda x: x.isnan().where(0.0, x), [1, 1, 1]),
        ("an argument that is printed", lambda x: (x.numpy(), x * x)[1], [2, 4, -6]),
        ("one that is used before, too", lambda x: [x * x, x.numpy(), x * 3], [5, 7, -3]),
    ],
)
def test_of_arguments(name: str, f: object, slope: list[float], is_seen: bool) -> None:
    def function(x: Tensor) -> Tensor:
        made = f(x)  # type: ignore[operator]
        return made if isinstance(made, Tensor) else made[0] + made[2]

    x, one = Tensor(START[0]), Tensor(np.ones(3))
    y, pull = compiler.vjp(function, x)
    if is_seen:
        y.numpy()
    assert pull(one)[0].tolist() == slope
    assert compiler.grad(lambda v: function(v).sum())(x).tolist() == slope
    assert compiler.jvp(function, [x], [one])[1].tolist() == slope
