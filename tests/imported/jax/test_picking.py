"""Gather, scatter, dynamic slices and sorting."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.imported.jax.case import SPECIAL, Case, check, floats, whole


def cases() -> Iterator[Case]:
    """Every way to index."""
    x = floats(3, 4, 5)
    yield Case("sort", lambda x: (lax.sort(x, dimension=1), jnp.argsort(x, descending=True)), (x,))
    yield Case("sort, special numbers", lax.sort, (SPECIAL[::-1].copy(),))
    yield Case(
        "sort, several operands",
        lambda k, x: lax.sort((k, x), dimension=0),
        (whole(9, 2, low=0, high=4), floats(9, 2)),
    )
    yield Case(
        "sort, two keys",
        lambda a, b, x: lax.sort((a, b, x), num_keys=2),
        (whole(30, low=0, high=4), whole(30, low=0, high=4), floats(30)),
    )
    yield Case("top_k", lambda x: lax.top_k(x, 3), (x,))
    yield Case("top_k, int32", lambda x: lax.top_k(x, 2), (whole(3, 9),))
    yield Case("approx_max_k", lambda x: lax.approx_max_k(x, 3), (floats(3, 9),))
    yield Case("unique of a size", lambda x: jnp.unique(x, size=5), (whole(9, low=0, high=4),))
    yield Case("searchsorted", jnp.searchsorted, (np.arange(9, dtype="f4"), floats(4) * 4))
    yield Case("histogram", lambda x: jnp.histogram(x, 5, (-2, 2)), (floats(30),))
    yield Case("bincount", lambda x: jnp.bincount(x, length=6), (whole(30, low=0, high=6),))
    yield Case("nonzero of a size", lambda x: jnp.nonzero(x > 0, size=6), (floats(9),))
    x, i = floats(5, 6, 4), whole(3, low=-5, high=5)
    yield Case("x[i]", lambda x, i: x[i], (x, i))
    yield Case("x[i, j]", lambda x, i, j: x[i, j], (x, i, whole(3, low=0, high=6)))
    yield Case("x[:, i]", lambda x, i: x[:, i], (x, i))
    yield Case("x[i, :, j]", lambda x, i, j: x[i, :, j], (x, i, whole(3, low=0, high=4)))
    yield Case("x[i] of two axes", lambda x, i: x[i], (x, whole(2, 3, low=0, high=5)))
    yield Case("x[1:3, i, None]", lambda x, i: x[1:3, i, None], (x, i))
    yield Case("x[3]", lambda x: x[3], (x,))
    yield Case("x[::-2, 1:]", lambda x: x[::-2, 1:], (x,))
    yield Case("x[mask] of a size", lambda x: x[np.array([True, False] * 2 + [True])], (x,))
    for mode in ("clip", "fill", "wrap"):
        yield Case(
            f"take, {mode}",
            lambda x, i, m=mode: jnp.take(x, i, axis=0, mode=m),
            (x, whole(4, low=0, high=9)),
        )
    yield Case(
        "take, promised",
        lambda x, i: x.at[i].get(mode="promise_in_bounds"),
        (x, whole(4, low=0, high=5)),
    )
    yield Case(
        "take, fill of integers",
        lambda x, i: jnp.take(x, i, axis=0, mode="fill"),
        (whole(5, 2), np.array([0, 7, 3], "i4")),
    )
    yield Case(
        "take_along_axis",
        lambda x, i: jnp.take_along_axis(x, i, 1),
        (x, whole(5, 3, 4, low=0, high=6)),
    )
    yield Case("vmap of x[i]", jax.vmap(lambda x, i: x[i]), (x, whole(5, low=0, high=6)))
    yield Case(
        "vmap of dynamic_slice",
        jax.vmap(lambda x, i: lax.dynamic_slice(x, (i, 0), (2, 3))),
        (x, whole(5, low=0, high=9)),
    )
    for name in ("set", "add", "multiply", "min", "max", "subtract"):
        yield Case(
            f"x.at[i].{name}",
            lambda x, i, v, n=name: getattr(x.at[i], n)(v),
            (x, i if name != "set" else np.array([1, 3, 0], "i4"), floats(3, 6, 4)),
            1e-4,
        )
    yield Case("x.at[i, 1:3].set", lambda x, i: x.at[i, 1:3].set(1.0), (x, i))
    yield Case(
        "x.at[i, j].add", lambda x, i, j: x.at[i, j].add(1.0), (x, i, whole(3, low=0, high=6))
    )
    yield Case(
        "x.at[i].set outside", lambda x, i: x.at[i].set(1.0), (x, np.array([1, 7, -9], "i4"))
    )
    yield Case(
        "x.at[i].add clip", lambda x, i: x.at[i].add(1.0, mode="clip"), (x, np.array([1, 7], "i4"))
    )
    yield Case("x.at[2].apply", lambda x: x.at[2].apply(jnp.sin), (x,))
    yield Case(
        "x.at[i].get fill",
        lambda x, i: x.at[i].get(mode="fill", fill_value=7.0),
        (x, np.array([1, 7], "i4")),
    )
    yield Case(
        "vmap of x.at[i].add",
        jax.vmap(lambda x, i, v: x.at[i].add(v)),
        (x, whole(5, 2, low=0, high=6), floats(5, 2, 4)),
        1e-4,
    )
    yield Case("grad of x[i]", jax.grad(lambda x, i: (x[i] ** 2).sum()), (x, i), 1e-4)
    yield Case(
        "grad of take_along_axis",
        jax.grad(lambda x, i: (jnp.take_along_axis(x, i, 1) ** 2).sum()),
        (x, whole(5, 3, 4, low=0, high=6)),
        1e-4,
    )
    yield Case(
        "grad of sort",
        jax.grad(lambda x: (jnp.sort(x) * jnp.arange(9.0)).sum()),
        (floats(9),),
        1e-4,
    )
    for start in ((1, 2, 0), (4, -3, 9)):
        yield Case(
            f"dynamic_slice {start}", lambda x, s=start: lax.dynamic_slice(x, s, (2, 3, 4)), (x,)
        )
        yield Case(
            f"dynamic_slice {start}, computed",
            lambda x, *s: lax.dynamic_slice(x, s, (2, 3, 4)),
            (x, *map(np.int32, start)),
        )
        yield Case(
            f"dynamic_update_slice {start}",
            lambda x, u, s=start: lax.dynamic_update_slice(x, u, s),
            (x, floats(2, 6, 3)),
        )
        yield Case(
            f"dynamic_update_slice {start}, computed",
            lambda x, u, *s: lax.dynamic_update_slice(x, u, s),
            (x, floats(2, 6, 3), *map(np.int32, start)),
        )
    yield Case(
        "dynamic_index_in_dim, update",
        lambda x, i, r: (
            lax.dynamic_index_in_dim(x, i, 1),
            lax.dynamic_update_index_in_dim(x, r, i, 1),
        ),
        (x, np.int32(2), floats(5, 4)),
    )
    yield Case("one_hot", lambda i: jax.nn.one_hot(i, 5), (whole(4, low=-1, high=6),))
    yield Case(
        "segment_sum",
        lambda x, i: jax.ops.segment_sum(x, i, 4),
        (floats(9, 2), whole(9, low=0, high=4)),
        1e-4,
    )
    yield Case(
        "tril, triu, diag, trace",
        lambda x: (jnp.tril(x), jnp.triu(x, 1), jnp.diag(x), jnp.trace(x), jnp.diag(x[0])),
        (floats(4, 4),),
    )
    yield Case(
        "meshgrid, eye, linspace",
        lambda x: (jnp.meshgrid(x, x), jnp.eye(3), jnp.linspace(x[0], 3.0, 5)),
        (floats(4),),
    )
    yield Case(
        "interp", lambda x: jnp.interp(x, jnp.arange(5.0), jnp.arange(5.0) ** 2), (floats(6) * 3,)
    )


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
