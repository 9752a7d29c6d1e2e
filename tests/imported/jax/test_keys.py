"""Random numbers: the same bits as those of JAX."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from tests.imported.jax.case import Case, check

REFUSED = {
    "gamma": "random_gamma", "ball": "random_gamma", "dirichlet": "random_gamma",
    "beta": "random_gamma", "poisson": "known only when",
}  # fmt: skip
"""Distributions that draw until one is accepted."""


def cases() -> Iterator[Case]:
    """Every distribution."""
    key = jax.random.key(3)
    draws: dict[str, Any] = {
        "bits": lambda k: jax.random.bits(k, (5,)),
        "bits of 64": lambda k: jax.random.bits(k, (5,), "uint8"),
        "bits of 16": lambda k: jax.random.bits(k, (5,), "uint16"),
        "uniform": lambda k: jax.random.uniform(k, (3, 4)),
        "normal": lambda k: jax.random.normal(k, (7,)),
        "randint": lambda k: jax.random.randint(k, (9,), -5, 17),
        "split": lambda k: jax.random.uniform(jax.random.split(k, 5)[3]),
        "fold_in": lambda k: jax.random.uniform(jax.random.fold_in(k, 9)),
        "bernoulli": lambda k: jax.random.bernoulli(k, 0.3, (9,)),
        "permutation": lambda k: jax.random.permutation(k, 9),
        "choice": lambda k: jax.random.choice(k, 9, (4,)),
        "choice, weights": lambda k: jax.random.choice(
            k, 4, (3,), p=jnp.array([0.1, 0.2, 0.3, 0.4])
        ),
        "choice without": lambda k: jax.random.choice(k, 9, (4,), replace=False),
        "categorical": lambda k: jax.random.categorical(k, jnp.arange(5.0), shape=(7,)),
        "truncated_normal": lambda k: jax.random.truncated_normal(k, -1, 1, (5,)),
        "exponential": lambda k: jax.random.exponential(k, (5,)),
        "gumbel": lambda k: jax.random.gumbel(k, (5,)),
        "laplace": lambda k: jax.random.laplace(k, (5,)),
        "cauchy": lambda k: jax.random.cauchy(k, (5,)),
        "logistic": lambda k: jax.random.logistic(k, (5,)),
        "bfloat16": lambda k: jax.random.normal(k, (5,), "bfloat16"),
        "rademacher": lambda k: jax.random.rademacher(k, (5,)),
        "keys over vmap": lambda k: jax.vmap(lambda k: jax.random.normal(k, (3,)))(
            jax.random.split(k, 4)
        ),
        "keys in scan": lambda k: lax.scan(
            lambda k, _: (jax.random.split(k)[0], jax.random.uniform(k)), k, None, 20
        )[1],
        "gamma": lambda k: jax.random.gamma(k, 2.0, (3,)),
        "poisson": lambda k: jax.random.poisson(k, 2.0, (3,)),
        "ball": lambda k: jax.random.ball(k, 3),
        "orthogonal": lambda k: jax.random.orthogonal(k, 3),
        "multivariate_normal": lambda k: jax.random.multivariate_normal(
            k, jnp.zeros(2), jnp.eye(2)
        ),
        "dirichlet": lambda k: jax.random.dirichlet(k, jnp.ones(3)),
        "beta": lambda k: jax.random.beta(k, 1.0, 2.0),
    }
    for name, draw in draws.items():
        close = 2e-2 if name == "bfloat16" else 1e-5
        yield Case(f"random.{name}", draw, (key,), close, REFUSED.get(name, ""))
        if name in ("uniform", "split"):
            yield Case(f"random.{name}, raw key", draw, (jax.random.PRNGKey(0),), 1e-5)


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
