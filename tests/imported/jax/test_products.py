"""Matrix products."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from tests.imported.jax.case import Case, check, floats, whole


def cases() -> Iterator[Case]:
    """Every place of the axes."""
    yield Case("dot", lambda x, y: x @ y, (floats(3, 4), floats(4, 5)), 1e-4)
    yield Case("dot, vectors", jnp.dot, (floats(4), floats(4)), 1e-4)
    yield Case(
        "dot, bfloat16",
        jnp.dot,
        (floats(4, 3, dtype=jnp.bfloat16), floats(3, 2, dtype=jnp.bfloat16)),
        3e-2,
    )
    yield Case(
        "dot, int8 to int32",
        lambda x, y: lax.dot(x, y, preferred_element_type="int32"),
        (whole(3, 9, low=-128, high=127, dtype="i1"), whole(9, 4, low=-128, high=127, dtype="i1")),
    )
    yield Case(
        "dot, bfloat16 to float32",
        lambda x, y: lax.dot(x, y, preferred_element_type="float32"),
        (floats(3, 4, dtype=jnp.bfloat16), floats(4, 5, dtype=jnp.bfloat16)),
        1e-4,
    )
    yield Case("dot, int32", lambda x, y: x @ y, (whole(3, 4), whole(4, 5)))
    yield Case("dot, bool", lambda x, y: x @ y, (whole(3, 4) > 0, whole(4, 5) > 0))
    yield Case("batch_matmul", lax.batch_matmul, (floats(2, 3, 4), floats(2, 4, 5)), 1e-4)
    for numbers, x, y in (
        ((((2,), (1,)), ((0,), (0,))), floats(2, 3, 4), floats(2, 4, 5)),
        ((((0, 2), (1, 0)), ((), ())), floats(2, 3, 4), floats(4, 2, 5)),
        ((((1,), (2,)), ((0, 3), (1, 0))), floats(2, 3, 4, 5), floats(5, 2, 3, 6)),
        ((((), ()), ((), ())), floats(2, 3), floats(4)),
        ((((), ()), ((0,), (0,))), floats(3, 2), floats(3, 4)),
    ):
        yield Case(
            f"dot_general {numbers}", lambda x, y, n=numbers: lax.dot_general(x, y, n), (x, y), 1e-4
        )
    yield Case(
        "einsum",
        lambda x, y, z: jnp.einsum("bij,bjk,ck->bic", x, y, z),
        (floats(2, 3, 4), floats(2, 4, 5), floats(6, 5)),
        1e-4,
    )
    yield Case(
        "tensordot, outer, vdot, kron",
        lambda x, y: (jnp.tensordot(x, y, 1), jnp.outer(x, y), jnp.vdot(x, y.T), jnp.kron(x, y)),
        (floats(3, 4), floats(4, 3)),
        1e-4,
    )
    yield Case(
        "jax.nn.dot_product_attention",
        jax.nn.dot_product_attention,
        (floats(2, 5, 3, 4), floats(2, 6, 3, 4), floats(2, 6, 3, 4)),
        1e-3,
    )
    yield Case(
        "ragged_dot",
        lax.ragged_dot,
        (floats(7, 3), floats(3, 3, 4), whole(3, low=0, high=3)),
        1e-4,
    )


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
