"""Unrolled and counted loops."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.imported.jax.case import Case, check, floats


def cases() -> Iterator[Case]:
    """Short and long ones."""
    x = floats(3, 4)
    for length in (0, 3, 100):
        rows = floats(length, 4) * 0.1
        for reverse in (False, True):
            yield Case(
                f"scan of {length}, reverse={reverse}",
                lambda x, r, v=reverse: lax.scan(
                    lambda c, r: (c * 0.9 + r, (c.sum(), r * 2)), x, r, reverse=v
                ),
                (x[0], rows),
                1e-4,
            )
        yield Case(
            f"scan of {length}, no operands",
            lambda x, n=length: lax.scan(lambda c, _: (jnp.sin(c), None), x, None, n),
            (x,),
            1e-4,
        )
        yield Case(
            f"fori_loop to {length}",
            lambda x, n=length: lax.fori_loop(0, n, lambda i, c: c + i * 0.1, x),
            (x,),
            1e-4,
        )
    yield Case(
        "grad of scan",
        jax.grad(
            lambda x: lax.scan(lambda c, r: (jnp.tanh(c + r), c * r), x[0], jnp.tile(x, (9, 1)))[
                1
            ].sum()
        ),
        (x,),
        1e-3,
    )
    yield Case(
        "grad of a longer scan",
        jax.grad(
            lambda x: lax.scan(lambda c, r: (jnp.tanh(c + r), c * r), x[0], jnp.tile(x, (50, 1)))[
                1
            ].sum()
        ),
        (x,),
        1e-3,
    )
    yield Case("vmap of scan", jax.vmap(lambda x: lax.scan(lambda c, r: (c + r, c), 0.0, x)), (x,))
    yield Case(
        "scan in scan",
        lambda x: lax.scan(
            lambda c, r: (lax.scan(lambda d, s: (d + s * 0.1, d), c, r)[0], c),
            0.0,
            jnp.tile(x, (40, 9)),
        ),
        (x,),
        1e-3,
    )
    yield Case("map", lambda x: lax.map(lambda r: r.sum() * r, x), (x,), 1e-4)
    yield Case(
        "while_loop, i < n",
        lambda x: lax.while_loop(lambda s: s[0] < 9, lambda s: (s[0] + 2, s[1] * 1.5), (0, x)),
        (x,),
        1e-4,
    )
    yield Case(
        "while_loop, many",
        lambda x: lax.while_loop(
            lambda s: s[0] < 700, lambda s: (s[0] + 2, jnp.sin(s[1]) + 0.1), (0, x)
        ),
        (x,),
        1e-4,
    )
    yield Case(
        "while_loop, bounded",
        lambda x: lax.while_loop(
            lambda s: (s[0] < 60) & (s[1].max() < 9), lambda s: (s[0] + 1, s[1] * 1.3), (0, abs(x))
        ),
        (x,),
        1e-4,
    )
    yield Case(
        "while_loop, halving",
        lambda x: lax.while_loop(lambda s: s[0] > 0, lambda s: (s[0] // 2, s[1] + s[0]), (1000, x)),
        (x,),
    )
    yield Case(
        "while_loop, data",
        lambda x: lax.while_loop(lambda s: s.max() < 9, lambda s: s * 1.3, abs(x) + 1),
        (x,),
        1e-4,
        refused="known only when",
    )
    yield Case(
        "fori_loop, computed limits",
        lambda x, n: lax.fori_loop(0, n, lambda i, c: c + 1, x),
        (x, np.int32(3)),
        refused="known only when",
    )
    yield Case(
        "fori_loop with updates",
        lambda x: lax.fori_loop(0, 60, lambda i, c: c.at[i].set(c[i - 1] * 0.9 + 1), x),
        (floats(60),),
        1e-4,
    )
    yield Case(
        "vmap of fori_loop",
        jax.vmap(lambda x: lax.fori_loop(0, 5, lambda i, c: c * x, x)),
        (floats(4),),
        1e-4,
    )


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
