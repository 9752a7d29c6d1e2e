"""Trip counts of a `while_loop` that follow from constants."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import compiler
from compiler.core.node import toposort
from compiler.graph.kinds.repeat import Repeat
from compiler.imported.constants import computed
from compiler.imported.jax import loops

X = np.linspace(0.1, 1, 6, dtype=np.float32)
LOOPS: dict[str, tuple[int, Callable[..., Any], Callable[..., Any], Any]] = {
    "up to a number": (500, lambda s: s[0] < 500, lambda s: (s[0] + 1, s[1] * 0.9), 0),
    "in steps": (250, lambda s: s[0] < 500, lambda s: (s[0] + 2, s[1] * 0.9), 0),
    "down": (300, lambda s: s[0] > 0, lambda s: (s[0] - 1, s[1] * 0.9), 300),
    "not at all": (0, lambda s: s[0] < 0, lambda s: (s[0] + 1, s[1] * 0.9), 0),
    "of floats": (200, lambda s: s[0] < 99.75, lambda s: (s[0] + 0.5, s[1] * 0.9), 0.0),
    "bounded": (300, lambda s: (s[0] < 300) & (s[1].sum() > 1), lambda s: (s[0] + 1, s[1] * 0.9),
                0),
    "two bounds": (200, lambda s: (s[0] < 300) & (s[0] < 200), lambda s: (s[0] + 1, s[1] * 0.9),
                   0),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_counts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trips, condition, body, first = LOOPS[name]
    monkeypatch.setattr(loops, "MOST_AT_ONCE", 1)

    def f(x: Any) -> Any:
        return lax.while_loop(condition, body, (first, x))

    made = compiler.from_jax(f, X)(X)
    counts = {n.count for n in toposort([t.node for t in made]) if isinstance(n, Repeat)}
    assert counts == ({trips} if trips else set())
    for got, wanted in zip(computed(made), f(X), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5)


def test_a_loop_for_each_element_stops_for_each() -> None:
    def f(x: Any) -> Any:
        return lax.while_loop(lambda s: (s[0] < 40) & (s[1] < 9), lambda s: (s[0] + 1, s[1] * 1.3),
                              (0, x))  # fmt: skip

    (count, value) = jax.vmap(f)(X)
    assert len(set(map(int, count))) > 3
    for got, wanted in zip(computed(compiler.from_jax(jax.vmap(f), X)(X)), (count, value),
                           strict=True):  # fmt: skip
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


def test_rows_of_many_steps_are_collected_in_loops_of_loops() -> None:
    def f(x: Any) -> Any:
        return lax.scan(lambda c, r: (jnp.sin(c + r), (c, r * 2)), 0.0, x, reverse=True)

    x = np.linspace(0, 1, 1009, dtype=np.float32)  # a prime: there is a rest
    made = compiler.from_jax(f, x)(x)
    tensors = jax.tree_util.tree_leaves(made)
    for got, wanted in zip(computed(tensors), jax.tree_util.tree_leaves(f(x)), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)


def test_a_key_is_handed_on() -> None:
    def f(key: Any) -> Any:
        def step(state: Any) -> Any:
            i, key, total = state
            key, own = jax.random.split(key)
            return i + 1, key, total + jax.random.uniform(own)

        return lax.while_loop(lambda s: s[0] < 5, step, (0, key, jnp.float32(0)))[2]

    key = jax.random.key(1)
    (got,) = computed([compiler.from_jax(f, key)(key)])
    np.testing.assert_allclose(got, f(key), rtol=1e-6)
