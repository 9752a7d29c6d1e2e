"""Elements moved, read and written at indices, against JAX's."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from compiler import Tensor
from tests.gradients.case import Case

X = ((2, 3, 4),)
ROWS = np.array([2, 0, 2, 1])
PLACES = np.array([[0, 2, 2, 1], [1, 1, 0, 2]])

_PADS = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def _along(x: Any, places: Any) -> Any:
    return jnp.take_along_axis(x, jnp.asarray(places), 0)


CASES = [
    Case("reshape", lambda x: x.reshape(6, -1) * 2, lambda x: x.reshape(6, -1) * 2, X),
    Case("permute", lambda x: x.permute(2, 0, 1), lambda x: x.transpose(2, 0, 1), X),
    Case(
        "expand", lambda x: x.expand(3, 2, 4), lambda x: jnp.broadcast_to(x, (3, 2, 4)), ((2, 1),)
    ),
    Case(
        "broadcast of nothing",
        lambda x: x.expand(0, 4),
        lambda x: jnp.broadcast_to(x, (0, 4)),
        ((1, 4),),
    ),
    Case("flip", lambda x: x.flip((0, 2)), lambda x: jnp.flip(x, (0, 2)), X),
    Case("roll", lambda x: x.roll(2, 1), lambda x: jnp.roll(x, 2, 1), X),
    Case("roll of all", lambda x: x.roll(5), lambda x: jnp.roll(x, 5), X),
    Case(
        "roll of two", lambda x: x.roll((1, -3), (0, 2)), lambda x: jnp.roll(x, (1, -3), (0, 2)), X
    ),
    Case("tile", lambda x: x.tile(2, 1, 3), lambda x: jnp.tile(x, (2, 1, 3)), X),
    Case(
        "repeat_interleave", lambda x: x.repeat_interleave(3, 1), lambda x: jnp.repeat(x, 3, 1), X
    ),
    Case("rot90", lambda x: x.rot90(1, (0, 2)), lambda x: jnp.rot90(x, 1, (0, 2)), X),
    Case("diagonal", lambda x: x.diagonal(1, 1, 2), lambda x: jnp.diagonal(x, 1, 1, 2), X),
    Case("diag", lambda x: x.diag(1), lambda x: jnp.diag(x, 1), ((3,),)),
    Case("trace", lambda x: x.trace(), lambda x: jnp.trace(x), ((3, 4),)),
    Case("tril", lambda x: x.tril(-1), lambda x: jnp.tril(x, -1), X),
    Case("triu", lambda x: x.triu(1), lambda x: jnp.triu(x, 1), X),
    Case(
        "cat",
        lambda x, y: x.cat(y, x, dim=1) ** 2,
        lambda x, y: jnp.concatenate([x, y, x], 1) ** 2,
        ((2, 3), (2, 1)),
    ),
    Case(
        "cat with nothing",
        lambda x, y: x.cat(y, dim=1),
        lambda x, y: jnp.concatenate([x, y], 1),
        ((2, 3), (2, 0)),
    ),
    Case(
        "stack", lambda x, y: x.stack(y, dim=1), lambda x, y: jnp.stack([x, y], 1), ((2, 3), (2, 3))
    ),
    Case(
        "split",
        lambda x: x.split([1, 2], 1)[1] * x.chunk(3, 1)[0],
        lambda x: x[:, 1:] * x[:, :1],
        X,
    ),
    *(
        Case(
            f"pad {ours}",
            lambda x, m=ours: x.pad(((0, 0), (1, 2), (2, 0)), mode=m) ** 2,
            lambda x, m=theirs: jnp.pad(x, ((0, 0), (1, 2), (2, 0)), m) ** 2,
            X,
        )
        for ours, theirs in (
            ("constant", "constant"),
            ("reflect", "reflect"),
            ("replicate", "edge"),
            ("circular", "wrap"),
        )
    ),
    Case("slices", lambda x: x[1:, ::2, ::-1], lambda x: x[1:, ::2, ::-1], X),
    Case("slices that step back", lambda x: x[:, 2:0:-1, -3:-1], lambda x: x[:, 2:0:-1, -3:-1], X),
    Case("an empty slice", lambda x: x[:, 2:2] * 3, lambda x: x[:, 2:2] * 3, X),
    Case(
        "a new axis",
        lambda x: x[..., None, 1] * x[0, :, None],
        lambda x: x[..., None, 1] * x[0, :, None],
        ((3, 3),),
    ),
    Case("rows", lambda x: x[ROWS] ** 2, lambda x: x[ROWS] ** 2, ((3, 4),)),
    Case(
        "rows and columns", lambda x: x[ROWS, ROWS[::-1]], lambda x: x[ROWS, ROWS[::-1]], ((3, 4),)
    ),
    Case("rows between slices", lambda x: x[:, ROWS, 1:], lambda x: x[:, ROWS, 1:], X),
    Case("rows apart", lambda x: x[ROWS % 2, :, ROWS], lambda x: x[ROWS % 2, :, ROWS], X),
    Case("no rows", lambda x: x[ROWS[:0]], lambda x: x[ROWS[:0]], ((3, 4),)),
    Case("take", lambda x: x.take(PLACES), lambda x: jnp.take(x, PLACES), ((3, 4),)),
    Case("take along", lambda x: x.take(ROWS, 2), lambda x: jnp.take(x, ROWS, 2), X),
    Case("gather", lambda x: x.gather(0, PLACES), lambda x: _along(x, PLACES), ((3, 4),)),
    Case(
        "take_along_axis",
        lambda x: x.take_along_axis(PLACES, 0),
        lambda x: _along(x, PLACES),
        ((3, 4),),
    ),
    Case("index_select", lambda x: x.index_select(1, ROWS), lambda x: x[:, ROWS], X),
    Case(
        "scatter_add",
        lambda x, u: x.scatter_add(0, PLACES, u),
        lambda x, u: x.at[PLACES, np.arange(4)].add(u),
        ((3, 4), (2, 4)),
    ),
    Case(
        "scatter",
        lambda x, u: x.scatter(0, PLACES[:1], u),
        lambda x, u: x.at[PLACES[:1], np.arange(4)].set(u),
        ((3, 4), (1, 4)),
    ),
    Case(
        "scatter_reduce max",
        lambda x, u: x.scatter_reduce(0, PLACES, u, "amax"),
        lambda x, u: x.at[PLACES, np.arange(4)].max(u),
        ((3, 4), (2, 4)),
    ),
    Case(
        "scatter_reduce min",
        lambda x, u: x.scatter_reduce(0, PLACES, u, "amin"),
        lambda x, u: x.at[PLACES, np.arange(4)].min(u),
        ((3, 4), (2, 4)),
    ),
    Case(
        "index_add",
        lambda x, u: x.index_add(0, ROWS, u),
        lambda x, u: x.at[ROWS].add(u),
        ((3, 2), (4, 2)),
    ),
    Case(
        "index_put",
        lambda x, u: x.index_put((ROWS,), u, accumulate=True),
        lambda x, u: x.at[ROWS].add(u),
        ((3, 2), (4, 2)),
    ),
    Case(
        "set",
        lambda x, u: x.set((slice(None), slice(1, 3)), u) * x,
        lambda x, u: x.at[:, 1:3].set(u) * x,
        ((3, 4), (3, 2)),
    ),
    Case(
        "set of one",
        lambda x, u: x.set((1, slice(None, None, 2)), u) ** 2,
        lambda x, u: x.at[1, ::2].set(u) ** 2,
        ((3, 4), ()),
    ),
    Case(
        "masked_fill",
        lambda x: x.masked_fill(np.eye(3, 4) > 0, 2.0) ** 2,
        lambda x: jnp.where(np.eye(3, 4) > 0, 2.0, x) ** 2,
        ((3, 4),),
    ),
    Case(
        "unfold",
        lambda x: x.unfold(1, 3, 2) ** 2,
        lambda x: jnp.stack([x[:, i : i + 3] for i in (0, 2, 4)], 1) ** 2,
        ((2, 7),),
    ),
    Case(
        "as_strided",
        lambda x: x.as_strided((3, 3), (2, 1), 1) ** 2,
        lambda x: x.ravel()[np.arange(3)[:, None] * 2 + np.arange(3) + 1] ** 2,
        ((3, 4),),
    ),
    Case(
        "meshes",
        lambda x, y: Tensor.meshgrid(x, y, indexing="ij")[0] * y,
        lambda x, y: x[:, None] * y,
        ((3,), (4,)),
    ),
]
