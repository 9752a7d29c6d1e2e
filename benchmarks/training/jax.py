"""The same steps in JAX, derivatives by value_and_grad, the whole step jitted."""

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.training import BATCH, CHARACTERS, HEADS, LAYERS, LENGTH, WIDTH

Tree = dict[str, Any]


def _linear(generator: Any, inputs: int, outputs: int) -> Tree:
    bound = inputs**-0.5
    return {"w": generator.uniform(-bound, bound, (outputs, inputs)).astype("float32"),
            "b": generator.uniform(-bound, bound, outputs).astype("float32")}  # fmt: skip


def _norm(width: int) -> Tree:
    return {"w": np.ones(width, "float32"), "b": np.zeros(width, "float32")}


def _apply(p: Tree, x: Any) -> Any:
    return x @ p["w"].T + p["b"]


def _mlp(jax: Any, generator: Any) -> tuple[Tree, Callable[[Tree, Any], Any]]:
    p = {"a": _linear(generator, 784, 512), "b": _linear(generator, 512, 10)}
    return p, lambda p, x: _apply(p["b"], jax.nn.relu(_apply(p["a"], x)))


def _cnn(jax: Any, generator: Any) -> tuple[Tree, Callable[[Tree, Any], Any]]:
    sizes = {"first": (32, 1, 3, 3), "second": (64, 32, 3, 3)}
    p: Tree = {
        name: {"w": generator.uniform(-0.1, 0.1, shape).astype("float32"),
            "b": np.zeros(shape[0], "float32"), "norm": _norm(shape[0])}
        for name, shape in sizes.items()
    }  # fmt: skip
    p["out"] = _linear(generator, 256, 10)

    def layer(q: Tree, x: Any) -> Any:
        x = jax.lax.conv(x, q["w"], (1, 1), "SAME") + q["b"][:, None, None]
        mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
        scale = q["norm"]["w"] / jax.numpy.sqrt(variance + 1e-5)
        x = (x - mean[:, None, None]) * scale[:, None, None] + q["norm"]["b"][:, None, None]
        window = (1, 1, 2, 2)
        return jax.lax.reduce_window(jax.nn.relu(x), -np.inf, jax.lax.max, window, window, "VALID")

    def forward(p: Tree, x: Any) -> Any:
        x = layer(p["second"], layer(p["first"], x))
        return _apply(p["out"], x.reshape(len(x), -1))

    return p, forward


def _transformer(jax: Any, generator: Any) -> tuple[Tree, Callable[[Tree, Any], Any]]:
    def block() -> Tree:
        return {"n1": _norm(WIDTH), "n2": _norm(WIDTH), "in": _linear(generator, WIDTH, 3 * WIDTH),
                "out": _linear(generator, WIDTH, WIDTH),
                "wide": _linear(generator, WIDTH, 4 * WIDTH),
                "narrow": _linear(generator, 4 * WIDTH, WIDTH)}  # fmt: skip

    p: Tree = {"characters": generator.standard_normal((CHARACTERS, WIDTH)).astype("float32"),
               "places": generator.standard_normal((LENGTH, WIDTH)).astype("float32"),
               "blocks": [block() for _ in range(LAYERS)], "norm": _norm(WIDTH),
               "last": _linear(generator, WIDTH, CHARACTERS)["w"]}  # fmt: skip
    mask = np.tril(np.ones((LENGTH, LENGTH), bool))

    def norm(q: Tree, x: Any) -> Any:
        far = x - x.mean(-1, keepdims=True)
        return far / jax.numpy.sqrt((far**2).mean(-1, keepdims=True) + 1e-5) * q["w"] + q["b"]

    def attention(q: Tree, x: Any) -> Any:
        n = len(x)
        parts = jax.numpy.split(_apply(q["in"], x), 3, -1)
        query, key, value = (
            part.reshape(n, LENGTH, HEADS, -1).transpose(0, 2, 1, 3) for part in parts
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS)
        shares = jax.nn.softmax(jax.numpy.where(mask, scores, -np.inf), -1)
        return _apply(q["out"], (shares @ value).transpose(0, 2, 1, 3).reshape(n, LENGTH, WIDTH))

    def forward(p: Tree, numbers: Any) -> Any:
        x = p["characters"][numbers] + p["places"]
        for q in p["blocks"]:
            x = x + attention(q, norm(q["n1"], x))
            x = x + _apply(q["narrow"], jax.nn.gelu(_apply(q["wide"], norm(q["n2"], x))))
        return (norm(p["norm"], x) @ p["last"].T).reshape(-1, CHARACTERS)

    return p, forward


def step_of(network: str, peer: str) -> Callable[[], Any]:
    """A step on data that stay the same; gives the loss."""
    import jax

    jnp, generator = jax.numpy, np.random.default_rng(0)
    make = {"mlp": _mlp, "cnn": _cnn, "transformer": _transformer}[network]
    parameters, forward = make(jax, generator)
    rows = {"mlp": 128, "cnn": 64, "transformer": BATCH}[network]
    y = generator.integers(0, 10, rows)
    x: Any = generator.standard_normal((rows, 784 if network == "mlp" else 64)).astype("float32")
    if network == "cnn":
        x = x.reshape(rows, 1, 8, 8)
    if network == "transformer":
        x = generator.integers(0, CHARACTERS, (rows, LENGTH))
        y = generator.integers(0, CHARACTERS, rows * LENGTH)

    def loss_of(p: Tree, x: Any, y: Any) -> Any:
        return -jax.nn.log_softmax(forward(p, x))[jnp.arange(len(y)), y].mean()

    def adamw(p: Any, g: Any, m: Any, v: Any, count: Any) -> Any:
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        root = jnp.sqrt(v) / jnp.sqrt(1 - 0.999**count) + 1e-8
        return p * (1 - 1e-5) - 1e-3 / (1 - 0.9**count) * m / root, m, v

    def step(p: Tree, state: Any, x: Any, y: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(p, x, y)
        if network == "mlp":
            return loss, jax.tree.map(lambda a, g: a - 0.1 * g, p, grads), state
        m, v, count = state
        count = count + 1
        rows = jax.tree.map(lambda *each: adamw(*each, count), p, grads, m, v)
        leaf = lambda it: isinstance(it, tuple)  # noqa: E731
        p, m, v = (jax.tree.map(lambda it, n=n: it[n], rows, is_leaf=leaf) for n in range(3))
        return loss, p, (m, v, count)

    run = jax.jit(step, donate_argnums=(0, 1))
    zeros = jax.tree.map(jnp.zeros_like, parameters)
    held = [jax.tree.map(jnp.asarray, parameters),
            (zeros, jax.tree.map(jnp.zeros_like, parameters), jnp.zeros(()))]  # fmt: skip
    given = jnp.asarray(x), jnp.asarray(y)

    def one() -> Any:
        loss, held[0], held[1] = run(*held, *given)
        return loss.block_until_ready()

    return one
