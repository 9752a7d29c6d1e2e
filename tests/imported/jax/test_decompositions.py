"""Decompositions of matrices."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.imported.jax.case import Case, check, floats


def cases() -> Iterator[Case]:
    """Matrices of sizes that are written out, and of sizes that are repeated."""
    for n in (4, 20):
        a = floats(n, n) * 0.2 + np.eye(n, dtype="f4") * 2
        stack = np.stack([a, a.T])
        yield Case(f"cholesky of {n}", jnp.linalg.cholesky, (a @ a.T,), 1e-3)
        yield Case(f"cholesky of several of {n}", jnp.linalg.cholesky, (stack @ stack.mT,), 1e-3)
        yield Case(f"solve of {n}", jnp.linalg.solve, (a, floats(n)), 1e-3)
        yield Case(
            f"inv, det, slogdet of {n}",
            lambda a: (jnp.linalg.inv(a), jnp.linalg.det(a), jnp.linalg.slogdet(a)),
            (stack,),
            1e-3,
        )
        yield Case(f"qr of {n}", jnp.linalg.qr, (a,), 1e-3)
        yield Case(
            f"qr of {n}, complete", lambda a: jnp.linalg.qr(a, "complete"), (a[:, :3],), 1e-3
        )
        yield Case(f"lu of {n}", lambda a: jax.scipy.linalg.lu(a), (floats(n, n),), 1e-3)
        for lower in (True, False):
            for trans in (0, 1):
                yield Case(
                    f"solve_triangular of {n} {lower} {trans}",
                    lambda a, b, o=lower, t=trans: jax.scipy.linalg.solve_triangular(a, b, t, o),
                    (a, floats(n, 3)),
                    1e-3,
                )
    yield Case(
        "triangular_solve from the right",
        lambda a, b: lax.linalg.triangular_solve(
            a, b, left_side=False, lower=True, unit_diagonal=True
        ),
        (floats(4, 4), floats(3, 4)),
        1e-3,
    )
    yield Case("cholesky of none", jnp.linalg.cholesky, (-np.eye(3, dtype="f4"),))
    yield Case(
        "lstsq by qr, cond-free",
        lambda a, b: jax.scipy.linalg.solve_triangular(
            jnp.linalg.qr(a)[1], jnp.linalg.qr(a)[0].T @ b
        ),
        (floats(6, 3), floats(6)),
        1e-3,
    )
    yield Case(
        "eigh, svd",
        lambda a: (jnp.linalg.eigh(a), jnp.linalg.svd(a)),
        (np.eye(3, dtype="f4"),),
        refused="eigh",
    )


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
