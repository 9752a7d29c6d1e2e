"""`compiler.checkpoint`: intermediate values are recomputed, and less memory is used."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor, checkpoint, compile, jit, nn, optim
from compiler.core.errors import DataError, GradientError
from compiler.tensors.repeat import repeat
from tests.differences import assert_gradients

RNG = np.random.default_rng(0)
WEIGHTS = [RNG.normal(size=(32, 32)) / 6 for _ in range(16)]
Part = Callable[..., Any]


def part(x: Tensor, *weights: Tensor) -> Tensor:
    """Some layers."""
    for w in weights:
        x = (x @ w).tanh() * 1.5
    return x


def whole(x: Tensor, weights: list[Tensor], f: Part) -> Tensor:
    """All layers, four at a time."""
    for begin in range(0, len(weights), 4):
        x = f(x, *weights[begin : begin + 4])
    return x.square().sum()


def gradients(f: Part, **options: Any) -> tuple[list[Any], Any]:
    """Gradients by all weights, and the program."""
    weights = [Tensor(w, requires_grad=True) for w in WEIGHTS]
    x = Tensor(np.random.default_rng(1).normal(size=(256, 32)), requires_grad=True)
    found = whole(x, weights, f).gradient(x, *weights)
    made = compile(*found, options=Options(**options)) if options else compile(*found)
    return [np.asarray(value) for value in made.run()], made


def test_the_same_values_in_less_memory() -> None:
    plain, before = gradients(part)
    thrifty, after = gradients(checkpoint(part))
    for one, other in zip(plain, thrifty, strict=True):
        np.testing.assert_array_equal(one, other)
    held = sum(w.nbytes for w in WEIGHTS) * 2 + 2 * 256 * 32 * 8
    assert after.schedule.peak_bytes - held < 0.6 * (before.schedule.peak_bytes - held)
    told = [it for it in after.decisions if "checkpoint()" in it.reason]
    assert told and all(not it.taken for it in told)
    assert after.check()


def test_a_step_of_training_in_place() -> None:
    def trained(is_thrifty: bool) -> list[Any]:
        layers = [nn.Linear(24, 24) for _ in range(4)]
        model = nn.Sequential(*layers)
        for n, p in enumerate(model.parameters()):
            p.assign(np.random.default_rng(n).normal(size=p.shape).astype("f") / 5).realize()
        rule = optim.AdamW(model.parameters(), 0.01)
        half = layers[:2], layers[2:]

        def run(x: Tensor, layers: Any) -> Tensor:
            for layer in layers:
                x = layer(x).tanh()
            return x

        f = checkpoint(run) if is_thrifty else run

        @jit
        def step(x: Tensor) -> Tensor:
            loss = f(f(x, half[0]), half[1]).square().mean()
            loss.backward()
            rule.step()
            rule.zero_grad()
            return loss

        x = Tensor(np.random.default_rng(9).normal(size=(40, 24)).astype("f"))
        return [float(step(x)) for _ in range(4)]

    np.testing.assert_allclose(trained(True), trained(False), rtol=1e-6)


CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "of one": lambda x: checkpoint(lambda a: a.exp() * a.sin())(x) * x,
    "in another": lambda x: checkpoint(lambda a: checkpoint(lambda b: b.sin() * b)(a) + a.exp())(x),
    "what is around": lambda x: checkpoint(lambda a: (a * x.exp()).sin())(x * 2),
    "of a view": lambda x: checkpoint(lambda a: a.sin() * a)(x.T[1:]),
    "several results": lambda x: (p := checkpoint(lambda a: (a.sin(), {"b": a.exp() * a}))(x))[0]
    * p[1]["b"],
    "an argument given back": lambda x: checkpoint(lambda a: a)(x) ** 2,
    "what does not matter": lambda x: checkpoint(lambda a, b: a.sin() * a)(x, x.exp()) * x,
    "nothing of it": lambda x: checkpoint(lambda a: x.sin())(x * 2) * x,
    "by a keyword": lambda x: checkpoint(lambda a, *, b: a.sin() * b.exp())(x, b=x * 2),
    "a loop": lambda x: checkpoint(lambda a: repeat(3, lambda i, s: s.sin() + a, a))(x) ** 2,
    "in a loop": lambda x: repeat(3, lambda i, s: checkpoint(lambda a: a.sin() * a)(s) + x, x),
    "a number": lambda x: checkpoint(lambda a, n: (a * n).sin() * a)(x, 3),
    "a constant": lambda x: checkpoint(lambda a, c: (a * c).sin() * a)(x, Tensor.full((3, 4), 2.0)),
    "integers": lambda x: checkpoint(lambda a, n: (a[n] * a[n]).sin())(x, Tensor([2, 0])),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str) -> None:
    x = np.random.default_rng(0).uniform(0.2, 1, (3, 4))
    assert_gradients(CASES[name], x, rtol=1e-4)


def test_of_functions() -> None:
    f = checkpoint(lambda a: (a.sin() * a).sum())
    x = np.array([0.3, -0.8])
    found = compiler.grad(f)(Tensor(x)).numpy()
    np.testing.assert_allclose(found, np.cos(x) * x + np.sin(x), rtol=1e-6)
    _, slope = compiler.jvp(f, (Tensor(x),), (Tensor(np.ones(2)),))
    np.testing.assert_allclose(slope.numpy(), found.sum(), rtol=1e-6)


def test_in_shards_it_is_kept() -> None:
    x = Tensor(np.arange(8.0).reshape(4, 2), requires_grad=True)
    sharded = x.shard(("CPU:0", "CPU:1"), axis=0)
    slope = checkpoint(lambda a: a.sin() * a)(sharded).sum().gradient(x)
    np.testing.assert_allclose(slope.numpy(), np.cos(x.numpy()) * x.numpy() + np.sin(x.numpy()))


def test_dropout_is_the_same_again() -> None:
    x = Tensor(np.ones((64, 8)), requires_grad=True)
    y = checkpoint(lambda a: nn.Dropout(0.5)(a.sin()) * a)(x)
    kept = y.numpy() != 0
    slope = y.sum().gradient(x).numpy()
    assert 0 < kept.sum() < kept.size
    np.testing.assert_array_equal(slope != 0, kept)


def test_refused() -> None:
    held = Tensor([0.0, 0.0])

    def writes(x: Tensor) -> Tensor:
        return held.assign(x * 2) + 1

    with pytest.raises(GradientError, match="writes in place"):
        checkpoint(writes)(Tensor([1.0, 2.0], requires_grad=True))
    with pytest.raises(DataError, match="not a function"):
        checkpoint(3)  # type: ignore[arg-type]
