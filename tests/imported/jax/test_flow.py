"""Calls and branches."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.imported.jax.case import Case, check, floats


@jax.custom_vjp
def _clipped(x: Any) -> Any:
    return x * x


_clipped.defvjp(lambda x: (x * x, x), lambda x, g: (jnp.clip(2 * x * g, -0.5, 0.5),))


def cases() -> Iterator[Case]:
    """Known and computed branches."""
    x = floats(3, 4)
    yield Case("jit in jit", jax.jit(lambda x: jax.jit(jnp.sin)(x) + 1), (x,))
    yield Case("cond, known", lambda x: lax.cond(True, jnp.sin, jnp.cos, x), (x,))
    yield Case("cond", lambda x, p: lax.cond(p, jnp.sin, jnp.cos, x), (x, np.bool_(True)))
    yield Case(
        "cond, computed",
        lambda x: lax.cond(x.sum() > 0, lambda x: (x, 1), lambda x: (-x, 2), x),
        (x,),
    )
    for n in (-1, 0, 1, 2, 5):
        yield Case(
            f"switch {n}",
            lambda x, i: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x),
            (x, np.int32(n)),
        )
    yield Case("vmap of cond", jax.vmap(lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)), (x,))
    yield Case(
        "grad of cond",
        jax.grad(lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x).sum()),
        (x,),
        1e-4,
    )
    yield Case(
        "checkpoint", jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), (x,), 1e-4
    )
    yield Case(
        "custom_jvp", jax.grad(lambda x: jax.nn.relu(x).sum() + jax.nn.silu(x).sum()), (x,), 1e-4
    )
    yield Case("custom_vjp", jax.grad(_clipped), (np.float32(0.5),))
    yield Case("debug.print", lambda x: (jax.debug.print("{}", x), x + 1)[1], (x,))
    yield Case(
        "custom_linear_solve",
        lambda a, b: lax.custom_linear_solve(
            lambda v: a * v, b, lambda _, b: b / a, symmetric=True
        ),
        (floats(3, low=1), floats(3)),
        1e-4,
    )
    yield Case(
        "hessian, jacfwd, jacrev",
        lambda x: [
            f(lambda x: jnp.sin(x).sum() * x.prod())(x)
            for f in (jax.hessian, jax.jacfwd, jax.jacrev)
        ],
        (floats(4),),
        1e-3,
    )
    yield Case(
        "linearize, vjp",
        lambda x: (jax.linearize(jnp.sin, x)[1](x), jax.vjp(jnp.sin, x)[1](x)),
        (x,),
        1e-4,
    )
    yield Case(
        "pure_callback",
        lambda x: jax.pure_callback(np.sin, x, x),
        (x,),
        1e-4,
        refused="pure_callback",
    )


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
