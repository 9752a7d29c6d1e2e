"""Larger programs of JAX: networks and their steps of training, solvers, fractals, chains."""

import itertools
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.imported.jax.case import Case, floats, whole

KEY = jax.random.key(0)


def network(params: Any, image: Any) -> Any:
    """The MLP that learns digits: log-probabilities of one image."""
    for w, b in params[:-1]:
        image = jax.nn.relu(jnp.dot(w, image) + b)
    w, b = params[-1]
    logits = jnp.dot(w, image) + b
    return logits - jax.scipy.special.logsumexp(logits)


def networks() -> Iterator[Case]:
    """Neural network and data loading; larger programs."""
    sizes = (64, 32, 32, 10)
    params = [(floats(m, n) * 0.1, floats(m)) for n, m in itertools.pairwise(sizes)]
    images, labels = floats(16, 64), whole(16, low=0, high=10)
    batched = jax.vmap(network, (None, 0))

    def loss(params: Any, images: Any, targets: Any) -> Any:
        return -jnp.mean(batched(params, images) * targets)

    def update(params: Any, images: Any, labels: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, images, jax.nn.one_hot(labels, 10))
        return value, [
            (w - 0.01 * dw, b - 0.01 * db) for (w, b), (dw, db) in zip(params, grads, strict=True)
        ]

    yield Case("MLP: one image", network, (params, images[0]), 1e-3)
    yield Case("MLP: a batch by vmap", batched, (params, images), 1e-3)
    yield Case(
        "MLP: accuracy",
        lambda p, x, y: jnp.mean(jnp.argmax(batched(p, x), 1) == y),
        (params, images, labels),
    )
    yield Case("MLP: a step of training", update, (params, images, labels), 1e-3)
    yield Case(
        "MLP: an epoch by scan",
        lambda p, x, y: lax.scan(lambda p, b: update(p, *b)[::-1], p, (x, y)),
        (params, floats(5, 16, 64), whole(5, 16, low=0, high=10)),
        1e-3,
    )
    yield Case(
        "CNN: loss and gradient",
        jax.value_and_grad(cnn_loss),
        (
            {"c1": floats(3, 3, 1, 4), "c2": floats(3, 3, 4, 8), "w": floats(7 * 7 * 8, 10) * 0.1},
            floats(4, 28, 28, 1),
            whole(4, low=0, high=10),
        ),
        5e-3,
    )
    block = {
        n: floats(16, m) * 0.3 for n, m in (("q", 16), ("k", 16), ("v", 16), ("o", 16), ("up", 64))
    }
    block["down"] = floats(64, 16) * 0.1
    yield Case("transformer block", transformer, (block, floats(2, 9, 16)), 1e-3)
    yield Case(
        "transformer block: gradient",
        jax.grad(lambda p, x: (transformer(p, x) ** 2).mean()),
        (block, floats(2, 9, 16)),
        2e-3,
    )
    yield Case(
        "RNN by scan: gradient",
        jax.grad(recurrent),
        ((floats(8, 8) * 0.3, floats(4, 8), floats(8)), floats(30, 4)),
        2e-3,
    )
    yield Case("ODE: Runge-Kutta by scan", runge_kutta, (np.array([1.0, 0.0], "f4"),), 1e-3)
    yield Case(
        "ODE: gradient through the solver",
        jax.grad(lambda y: runge_kutta(y)[-1].sum()),
        (np.array([1.0, 0.0], "f4"),),
        2e-3,
    )
    yield Case(
        "Mandelbrot by fori_loop",
        mandelbrot,
        (np.linspace(-2, 1, 30, dtype="f4"), np.linspace(-1, 1, 20, dtype="f4")),
    )
    yield Case(
        "Mandelbrot by while_loop",
        mandelbrot_while,
        (np.linspace(-2, 1, 30, dtype="f4"), np.linspace(-1, 1, 20, dtype="f4")),
    )
    yield Case(
        "Mandelbrot by vmap of while_loop",
        lambda x, y: jax.vmap(jax.vmap(escape, (0, None)), (None, 0))(x, y),
        (np.linspace(-2, 1, 30, dtype="f4"), np.linspace(-1, 1, 20, dtype="f4")),
    )
    yield Case(
        "game of life",
        lambda x: lax.fori_loop(0, 8, lambda _, x: life(x), x),
        ((floats(20, 20) > 0).astype("i4"),),
    )
    yield Case("k-means step", kmeans, (floats(50, 2), floats(4, 2)), 1e-4)
    yield Case("Adam by hand", adam, (floats(9), floats(9), floats(9, low=0.1), np.int32(3)), 1e-3)
    yield Case("Metropolis chain", metropolis, (KEY, np.float32(0.5)), 1e-3)


def cnn_loss(params: Any, images: Any, labels: Any) -> Any:
    """Two convolutions with pooling, and a dense layer."""
    x = images
    for name in ("c1", "c2"):
        x = lax.conv_general_dilated(
            x, params[name], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = lax.reduce_window(
            jax.nn.relu(x), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"
        )
    logits = x.reshape(x.shape[0], -1) @ params["w"]
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()


def transformer(p: Any, x: Any) -> Any:
    """Attention of 4 heads and two dense layers, each with a normalisation before it."""

    def normed(x: Any) -> Any:
        with jax.named_scope("norm"):
            return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    heads = lambda x: x.reshape(*x.shape[:2], 4, -1)  # noqa: E731
    with jax.named_scope("attention"):
        h = normed(x)
        q, k, v = (heads(h @ p[n]) for n in "qkv")
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
        mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        shares = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf))
        x = x + jnp.einsum("bhqk,bkhd->bqhd", shares, v).reshape(x.shape) @ p["o"]
    with jax.named_scope("mlp"):
        return x + jax.nn.gelu(normed(x) @ p["up"]) @ p["down"]


def recurrent(params: Any, xs: Any) -> Any:
    """The last state of a recurrent network, squared."""
    w, u, b = params
    return (
        lax.scan(lambda h, x: (jnp.tanh(w @ h + x @ u + b), None), jnp.zeros(8), xs)[0] ** 2
    ).sum()


def runge_kutta(y: Any, step: float = 0.05, count: int = 60) -> Any:
    """A pendulum, in steps of the fourth order: every state."""

    def slope(y: Any) -> Any:
        return jnp.stack([y[1], -jnp.sin(y[0])])

    def advance(y: Any, _: Any) -> Any:
        a = slope(y)
        b = slope(y + step / 2 * a)
        c = slope(y + step / 2 * b)
        d = slope(y + step * c)
        new = y + step / 6 * (a + 2 * b + 2 * c + d)
        return new, new

    return lax.scan(advance, y, None, count)[1]


def mandelbrot(x: Any, y: Any, most: int = 40) -> Any:
    """After how many steps points leave."""
    a, b = jnp.meshgrid(x, y)

    def step(_: Any, state: Any) -> Any:
        re, im, n = state
        inside = re * re + im * im < 4
        re, im = (
            jnp.where(inside, new, old)
            for new, old in ((re * re - im * im + a, re), (2 * re * im + b, im))
        )
        return re, im, n + inside

    return lax.fori_loop(0, most, step, (a * 0, b * 0, jnp.zeros(a.shape, "int32")))[2]


def mandelbrot_while(x: Any, y: Any, most: int = 40) -> Any:
    """The same until all points have left."""
    a, b = jnp.meshgrid(x, y)

    def step(state: Any) -> Any:
        i, re, im, n = state
        inside = re * re + im * im < 4
        re, im = (
            jnp.where(inside, new, old)
            for new, old in ((re * re - im * im + a, re), (2 * re * im + b, im))
        )
        return i + 1, re, im, n + inside

    return lax.while_loop(
        lambda s: (s[0] < most) & jnp.any(s[1] ** 2 + s[2] ** 2 < 4),
        step,
        (0, a * 0, b * 0, jnp.zeros(a.shape, "int32")),
    )[3]


def escape(a: Any, b: Any, most: int = 40) -> Any:
    """The same for one point."""
    return lax.while_loop(
        lambda s: (s[0] < most) & (s[1] ** 2 + s[2] ** 2 < 4),
        lambda s: (s[0] + 1, s[1] ** 2 - s[2] ** 2 + a, 2 * s[1] * s[2] + b),
        (0, a * 0, b * 0),
    )[0]


def life(x: Any) -> Any:
    """The next generation on a torus."""
    near = sum(
        jnp.roll(x, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
    )
    return ((near == 3) | ((x == 1) & (near == 2))).astype(x.dtype)


def kmeans(points: Any, centres: Any) -> Any:
    """One step: who belongs to whom, and the new centres."""
    nearest = jnp.argmin(((points[:, None] - centres) ** 2).sum(-1), 1)
    total = jax.ops.segment_sum(points, nearest, len(centres))
    count = jnp.bincount(nearest, length=len(centres))
    return total / jnp.maximum(count, 1)[:, None]


def adam(p: Any, m: Any, v: Any, t: Any) -> Any:
    """One step for the sum of squares."""
    g = jax.grad(lambda p: (p**2).sum())(p)
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    return p - 0.1 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v


def metropolis(key: Any, x: Any) -> Any:
    """A chain of a normal distribution."""

    def step(x: Any, key: Any) -> Any:
        move, accept = jax.random.split(key)
        new = x + jax.random.normal(move)
        x = jnp.where(jnp.log(jax.random.uniform(accept)) < 0.5 * (x**2 - new**2), new, x)
        return x, x

    return lax.scan(step, x, jax.random.split(key, 30))[1]
