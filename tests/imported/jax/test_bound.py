"""Primitives of annotations and of other versions of JAX, which none of its functions bind today:
each is bound by its name, against the function that it stands for."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import Primitive

import compiler
from compiler.imported.constants import computed
from tests.imported.jax.case import floats, whole
from tests.imported.reached import reaching

X, Y = floats(3, 4), floats(3, 4)
X[0, 0], Y[0, 0], X[0, 1], Y[0, 1] = 0.0, -0.0, np.nan, np.nan
WHOLE = whole(3, 4, low=-(2**31), high=2**31 - 1)
PIVOTS = np.array([[3, 1, 3, 3], [1, 2, 2, 3]], np.int32)


class Row(NamedTuple):
    """A primitive with parameters, what it computes, and its operands."""

    name: str
    function: Callable[..., Any]
    operands: tuple[Any, ...]
    parameters: dict[str, Any]


def inner(x: Any) -> Any:
    """A program to be called."""
    return jnp.sin(x) * 2, x.sum()


def called(name: str, parameter: str = "jaxpr", **more: Any) -> Row:
    """A primitive that calls a program."""
    return Row(name, inner, (X,), {parameter: jax.make_jaxpr(inner)(X), **more})


def permutation(pivots: Any) -> Any:
    """The order of rows, one exchange after another."""
    orders = np.tile(np.arange(5, dtype=np.int32), (len(pivots), 1))
    for order, row in zip(orders, pivots, strict=True):
        for place, other in enumerate(row):
            order[[place, other]] = order[[other, place]]
    return orders


def upper_half(x: Any, y: Any) -> Any:
    """The upper 32 bits of products of 64 bits."""
    return ((x.astype(np.int64) * y.astype(np.int64)) >> 32).astype(np.int32)


ROWS = [
    *map(called, ("closed_call", "pjit", "remat", "remat_opt", "checkpoint", "composite")),
    *(called(name, "call_jaxpr") for name in ("core_call", "call", "xla_call", "custom_lin",
                                               "custom_vmap_call", "custom_vjp_call")),
    *(called(name, "fun_jaxpr") for name in ("custom_jvp_call_jaxpr", "custom_vjp_call_jaxpr")),
    called("linear_call", "callee"),
    *(Row(name, lambda x: x, (X,), {}) for name in (
        "copy_p", "name", "tie", "device_put", "sharding_constraint", "reshard", "pvary",
        "reduce_scatter_done", "layout_constraint", "to_edtype", "from_edtype", "random_clone",
        "real", "conj",
    )),
    Row("broadcast_to", lambda x: np.broadcast_to(x, (2, 3, 4)), (X,), {"shape": (2, 3, 4)}),
    Row("expand_dims", lambda x: np.expand_dims(x, 1), (X,), {"dimensions": (1,)}),
    Row("empty", lambda: np.zeros((2, 3), np.float32), (), {"shape": (2, 3), "dtype": "f4"}),
    Row("eq_to", lambda x, y: x.view(np.int32) == y.view(np.int32), (X, Y), {}),
    Row("mulhi", upper_half, (WHOLE, WHOLE[::-1].copy()), {}),
    Row("lu_pivots_to_permutation", permutation, (PIVOTS,), {"permutation_size": 5}),
    Row("pmax", lambda x: x.max(0), (X[1:],), {"axes": (0,)}),
    Row("pmin", lambda x: x.min((0, 1)), (X[1:],), {"axes": (0, 1)}),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_it_computes_the_function_that_it_stands_for(row: Row) -> None:
    wanted = row.function(*row.operands)
    primitive = Primitive(row.name)
    primitive.multiple_results = isinstance(wanted, tuple)
    expected = list(wanted) if isinstance(wanted, tuple) else [wanted]
    described = [jax.core.ShapedArray(it.shape, it.dtype) for it in expected]
    primitive.def_abstract_eval(
        lambda *_, **__: described if primitive.multiple_results else described[0]
    )
    bind = lambda *operands: primitive.bind(*operands, **row.parameters)  # noqa: E731
    with reaching("jax"):
        results = compiler.from_jax(bind, *row.operands)(*row.operands)
    got = computed(jax.tree_util.tree_leaves(results))
    for one, other in zip(got, map(np.asarray, expected), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=2e-6)


@pytest.mark.parametrize("name", ["debug_callback", "dce_sink"])
def test_what_has_no_result_changes_none(name: str) -> None:
    primitive = Primitive(name)
    primitive.multiple_results = True
    primitive.def_abstract_eval(lambda *_: [])

    def function(x: Any) -> Any:
        primitive.bind(x)
        return x + 1

    with reaching("jax"):
        result = compiler.from_jax(function, X)(X)
    np.testing.assert_array_equal(computed([result])[0], X + 1)
