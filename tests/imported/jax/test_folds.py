"""Reductions and cumulative operations."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.imported.jax.case import Case, check, floats, whole


def cases() -> Iterator[Case]:
    """Reductions along several axes."""
    x = floats(3, 4, 5)
    for name in (
        "sum",
        "prod",
        "max",
        "min",
        "mean",
        "any",
        "all",
        "argmax",
        "argmin",
        "std",
        "median",
        "nansum",
    ):
        for axes in (None, 1, -1):
            yield Case(
                f"jnp.{name} {axes}",
                lambda x, n=name, a=axes: getattr(jnp, n)(x, axis=a),
                (x,),
                1e-4,
            )
        yield Case(
            f"jnp.{name}, int32",
            lambda x, n=name: getattr(jnp, n)(x, axis=0),
            (whole(4, 3, low=-3, high=3),),
            1e-4,
        )
    for name in ("reduce_and", "reduce_or", "reduce_xor"):
        yield Case(f"{name}, bool", lambda x, n=name: getattr(lax, n)(x, (1,)), (x > 0,))
        yield Case(
            f"{name}, int32", lambda x, n=name: getattr(lax, n)(x, (0, 2)), (whole(3, 2, 5),)
        )
    yield Case(
        "reduce", lambda x: lax.reduce(x, np.float32(1), lambda a, b: a * b, (0, 2)), (x,), 1e-4
    )
    yield Case(
        "reduce, several",
        lambda x, i: lax.reduce(
            (x, i),
            (np.float32(-np.inf), np.int32(-1)),
            lambda a, b: tuple(jnp.where(a[0] >= b[0], p, q) for p, q in zip(a, b, strict=True)),
            (1,),
        ),
        (floats(3, 7), np.tile(np.arange(7, dtype="i4"), (3, 1))),
    )
    for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
        for reverse in (False, True):
            yield Case(
                f"{name}, reverse={reverse}",
                lambda x, n=name, r=reverse: getattr(lax, n)(x, 1, r),
                (x,),
                1e-4,
            )
    yield Case("cumsum, int32", lambda x: lax.cumsum(x, 0), (whole(9),))
    yield Case("associative_scan", lambda x: lax.associative_scan(jnp.add, x), (floats(9),), 1e-4)
    yield Case(
        "associative_scan, pairs",
        lambda x, y: lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, y)),
        (floats(9), floats(9)),
        1e-4,
    )
    yield Case(
        "grad of cumsum, cumprod, cummax",
        jax.grad(lambda x: (jnp.cumsum(x) * jnp.cumprod(x) * lax.cummax(x)).sum()),
        (floats(5, low=0.5),),
        1e-3,
    )
    yield Case(
        "logsumexp, softmax", lambda x: (jax.nn.logsumexp(x, 1), jax.nn.softmax(x, -1)), (x,), 1e-4
    )


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
