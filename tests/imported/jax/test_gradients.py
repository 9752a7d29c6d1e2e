"""Gradients of imported functions equal JAX's."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import compiler
from compiler import Tensor
from compiler.tensors import trees
from tests.imported.jax.case import floats, whole


def network(p: Any, x: Any) -> Any:
    h = jax.nn.gelu(x @ p["first"]["w"] + p["first"]["b"])
    h = (h - h.mean(-1, keepdims=True)) * lax.rsqrt(h.var(-1, keepdims=True) + 1e-5)
    return jax.nn.log_softmax(h @ p["second"])


def recurrent(p: Any, x: Any) -> Any:
    def step(h: Any, row: Any) -> Any:
        new = jnp.tanh(h @ p["w"] + row)
        return new, new * 2

    last, rows = lax.scan(step, jnp.zeros(3, x.dtype), x)
    return rows * last


def counted(p: Any, x: Any) -> Any:
    return lax.fori_loop(0, 5, lambda i, h: jnp.sin(h * p["w"]) + h / (i + 1), x)


def convolution(p: Any, x: Any) -> Any:
    y = lax.conv_general_dilated(x, p["w"], (2, 1), "SAME", feature_group_count=2)
    return lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 1, 1), "VALID")


def picking(p: Any, x: Any) -> Any:
    rows = p["table"][jnp.array([0, 2, 2, 1])]
    y = jnp.zeros((5, 3)).at[jnp.array([4, 0, 0, 1])].add(rows * x)
    y = jnp.where(y > 0.5, jnp.sort(y, 0), lax.cumsum(y, 0))
    return lax.dynamic_slice(y, (1, 0), (3, 2)) * lax.top_k(x[0], 2)[0]


def branches(p: Any, x: Any) -> Any:
    y = lax.cond(x.sum() > 0, lambda v: jnp.sin(v), lambda v: v * v, x)
    return y * lax.switch(1, [jnp.cos, jnp.tanh, jnp.exp], p["w"])


def attention(p: Any, x: Any) -> Any:
    q, k, v = jnp.split(x @ p["w"], 3, -1)
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / 2
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[1:], bool)), scores, -1e9)
    return jax.nn.softmax(scores) @ v


FUNCTIONS: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "network": (
        network,
        {"first": {"w": floats(4, 6), "b": floats(6)}, "second": floats(6, 3)},
        floats(5, 4),
    ),
    "recurrent": (recurrent, {"w": floats(3, 3)}, floats(6, 3)),
    "a long scan": (recurrent, {"w": floats(3, 3, low=-0.5, high=0.5)}, floats(70, 3)),
    "counted": (counted, {"w": floats(4)}, floats(2, 4)),
    "convolution": (convolution, {"w": floats(4, 1, 3, 3)}, floats(1, 2, 6, 6)),
    "picking": (picking, {"table": floats(3, 3)}, floats(4, 3)),
    "branches": (branches, {"w": floats(4)}, floats(4)),
    "attention": (attention, {"w": floats(4, 12)}, floats(2, 5, 4)),
    "checkpointed": (jax.checkpoint(network), {"first": {"w": floats(4, 6), "b": floats(6)},
                                               "second": floats(6, 3)}, floats(5, 4)),
    "mapped": (lambda p, x: jax.vmap(lambda r: jnp.outer(r, r) @ p["w"])(x), {"w": floats(4)},
               floats(3, 4)),
}  # fmt: skip


def check(ours: Any, theirs: Any) -> None:
    leaves = jax.tree_util.tree_leaves(theirs)
    found = jax.tree_util.tree_leaves(ours)  # which orders dicts by their keys
    assert len(found) == len(leaves)
    for one, other in zip(found, leaves, strict=True):
        scale = max(float(jnp.abs(other).max()), 1e-3)
        np.testing.assert_allclose(one.numpy(), other, 2e-4, 2e-5 * scale)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_by_parameters_and_inputs(name: str) -> None:
    function, parameters, x = FUNCTIONS[name]
    program = compiler.from_jax(function, parameters, x)
    weight = np.asarray(jnp.cos(jnp.arange(program(parameters, x).size, dtype="f4")))
    weight = weight.reshape(program(parameters, x).shape)

    def loss(p: Any, x: Any) -> Any:
        return (function(p, x) * weight).sum()

    wanted = jax.jit(jax.grad(loss, (0, 1)))(parameters, jnp.asarray(x))
    found = compiler.grad(lambda p, x: (program(p, x) * weight).sum(), (0, 1))(parameters, x)
    check(found, wanted)

    leaves = [Tensor(each, requires_grad=True) for each in trees.flat((parameters, x))]
    given = trees.like((parameters, x), leaves)
    (program(*given) * weight).sum().backward()
    check(trees.like((parameters, x), [leaf.grad for leaf in leaves]), wanted)


def test_a_gradient_that_jax_takes_is_differentiated_here() -> None:
    x, rows = floats(3), whole(3, low=0, high=3)

    def energy(x: Any) -> Any:
        return (jnp.sin(x) * x[rows]).sum()

    program = compiler.from_jax(jax.grad(energy), x)
    found = compiler.grad(lambda x: program(x).sum())(x)
    check(found, jax.grad(lambda x: jax.grad(energy)(x).sum())(jnp.asarray(x)))
