"""Primitives that move elements."""

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.imported.jax.case import Case, check, floats


def cases() -> Iterator[Case]:
    """Every way to move them."""
    x = floats(3, 4, 5)
    yield Case("broadcast", lambda x: lax.broadcast(x, (2, 1)), (x,))
    yield Case(
        "broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (3, 2, 4), (0, 2)), (x[:, :, 0],)
    )
    yield Case(
        "broadcast_in_dim, extent 1",
        lambda x: lax.broadcast_in_dim(x, (3, 6), (0, 1)),
        (floats(3, 1),),
    )
    yield Case("reshape", lambda x: lax.reshape(x, (5, 12)), (x,))
    yield Case("reshape, dimensions", lambda x: lax.reshape(x, (12, 5), (1, 0, 2)), (x,))
    yield Case("transpose", lambda x: lax.transpose(x, (2, 0, 1)), (x,))
    yield Case("squeeze", lambda x: lax.squeeze(x, (0, 2)), (floats(1, 4, 1),))
    yield Case("expand_dims", lambda x: lax.expand_dims(x, (0, 2)), (x,))
    yield Case("rev", lambda x: lax.rev(x, (0, 2)), (x,))
    yield Case("concatenate", lambda x, y: lax.concatenate([x, y, x], 1), (x, x[:, :2]))
    yield Case("slice", lambda x: lax.slice(x, (0, 1, 0), (2, 4, 5), (1, 2, 3)), (x,))
    yield Case("slice_in_dim", lambda x: lax.slice_in_dim(x, 1, 4, 2, 2), (x,))
    for widths in (
        ((0, 0, 0), (1, 2, 0), (0, 0, 1)),
        ((-1, 0, 0), (-1, 3, 2), (2, -2, 0)),
        ((1, 1, 1), (0, 0, 0), (-2, -2, 1)),
    ):
        for value in (0.0, 1.5):
            yield Case(
                f"pad {widths} with {value}",
                lambda x, v=value, w=widths: lax.pad(x, np.float32(v), w),
                (x,),
            )
    yield Case(
        "pad, computed value", lambda x, v: lax.pad(x, v, ((1, 2, 1),)), (floats(4), np.float32(3))
    )
    yield Case("iota", lambda: lax.iota("int32", 5), ())
    yield Case("broadcasted_iota", lambda: lax.broadcasted_iota("float32", (3, 4), 1), ())
    yield Case("full", lambda: lax.full((2, 3), 1.5, "bfloat16"), ())
    yield Case("split", lambda x: lax.split(x, (1, 3), 1), (x,))
    yield Case(
        "tile, stack, unstack",
        lambda x: (jnp.tile(x, (2, 1, 3)), jnp.stack([x, x], 1), jnp.unstack(x)),
        (x,),
    )
    yield Case(
        "roll, flip, rot90", lambda x: (jnp.roll(x, 2, 1), jnp.flip(x, 0), jnp.rot90(x)), (x,)
    )
    yield Case("empty shapes", lambda x: (x[:0].sum(0), jnp.concatenate([x[:0], x])), (x,))
    yield Case(
        "jnp.pad modes",
        lambda x: [
            jnp.pad(x, 2, mode=m) for m in ("edge", "reflect", "wrap", "symmetric", "constant")
        ],
        (floats(4, 5),),
    )


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
