"""The topics of JAX's documentation, written anew: a function and its arguments for each.

Left out is what needs devices or several processes, and what does no computing (timing, profiling,
errors, printing of jaxprs).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.imported.jax.case import Case, floats
from tests.imported.jax.larger import networks

KEY = jax.random.key(0)


def selu(x: Any, alpha: float = 1.67, scale: float = 1.05) -> Any:
    """The activation of the first pages."""
    return scale * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)


def quickstart() -> Iterator[Case]:
    """Quickstart, key concepts, thinking in JAX."""
    x = floats(5)
    yield Case("selu", selu, (np.arange(5.0, dtype="f4"),))
    yield Case("jit of selu", jax.jit(selu), (floats(1000),))
    logistic = lambda x: jnp.sum(1.0 / (1.0 + jnp.exp(-x)))  # noqa: E731
    yield Case("grad of a sum of logistics", jax.grad(logistic), (np.arange(3.0, dtype="f4"),))
    yield Case(
        "grad of jit of grad",
        jax.grad(jax.jit(jax.grad(jax.jit(jax.grad(lambda x: 1 / (1 + jnp.exp(-x))))))),
        (np.float32(1),),
        1e-4,
    )
    yield Case(
        "hessian by jacfwd of jacrev", jax.jit(jax.jacfwd(jax.jacrev(logistic))), (x[:3],), 1e-4
    )
    matrix = floats(15, 10)
    yield Case(
        "vmap of a matrix times a vector",
        jax.vmap(lambda v: jnp.dot(matrix, v)),
        (floats(7, 10),),
        1e-4,
    )
    yield Case("norm of rows", lambda x: (x - x.mean(0)) / x.std(0), (floats(30, 4),), 1e-4)
    yield Case("an array updated", lambda x: x.at[0].set(10.0), (x,))
    yield Case(
        "pytrees in and out",
        lambda p, x: {"y": p["w"] @ x + p["b"], "n": (x.sum(), [x])},
        ({"w": floats(3, 5), "b": floats(3)}, x),
        1e-4,
    )
    yield Case("static argument", partial(lambda n, x: x**n, 3), (x,), 1e-4)
    yield Case("64 bits become 32", lambda x: jnp.sin(x) + 1, (np.linspace(0, 1, 5),), 1e-4)
    yield Case("a closed-over array", lambda x: matrix @ x, (floats(10),), 1e-4)


def jitted() -> Iterator[Case]:
    """Just-in-time compilation, control flow."""
    yield Case(
        "a global log side effect", lambda x: (jnp.log(x), jnp.log(2.0)), (floats(3, low=1),)
    )
    yield Case("branch on a static value", lambda x: x if 3 > 0 else -x, (floats(3),))
    yield Case(
        "loop over a static range", lambda x: sum(x**i for i in range(4)), (floats(3),), 1e-4
    )
    yield Case(
        "while with a counter",
        lambda x: lax.while_loop(lambda s: s[1] < 10, lambda s: (s[0] + s[1], s[1] + 1), (x, 0)),
        (np.float32(3),),
    )
    yield Case(
        "piecewise by where", lambda x: jnp.where(x < 3, 3 * x**2, -4 * x), (floats(5) * 3,), 1e-4
    )
    yield Case(
        "piecewise by cond",
        lambda x: lax.cond(x < 3, lambda x: 3.0 * x**2, lambda x: -4 * x, x),
        (np.float32(2),),
    )
    yield Case(
        "grad of piecewise by cond",
        jax.grad(lambda x: lax.cond(x < 3, lambda x: 3.0 * x**2, lambda x: -4 * x, x)),
        (np.float32(2),),
    )
    yield Case(
        "cond on an operand",
        lambda p, x: lax.cond(p, lambda x: x + 1, lambda x: x - 1, x),
        (np.bool_(False), floats(1)),
    )
    yield Case(
        "switch",
        lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.exp], x),
        (np.int32(1), floats(3)),
    )
    yield Case("fori_loop", lambda x: lax.fori_loop(0, 10, lambda i, s: s + i, x), (np.float32(0),))
    yield Case(
        "fori_loop to an operand",
        lambda n: lax.fori_loop(0, n, lambda i, s: s + i, 0),
        (np.int32(5),),
        refused="known only when",
    )
    yield Case(
        "while_loop until a value",
        lambda x: lax.while_loop(lambda x: x < 10, lambda x: x + 2, x),
        (np.float32(1),),
        refused="known only when",
    )
    yield Case(
        "scan that sums", lambda x: lax.scan(lambda c, x: (c + x, c), 0.0, x), (floats(9),), 1e-4
    )
    yield Case(
        "a triangular loop",
        lambda x: lax.fori_loop(
            0, 4, lambda i, c: lax.fori_loop(0, 3, lambda j, c: c + x[i, j], c), 0.0
        ),
        (floats(4, 3),),
        1e-4,
    )
    yield Case(
        "logical operators",
        lambda x: (jnp.logical_and(x > 0, x < 1), (x > 0) | (x < -1), ~(x > 0)),
        (floats(5),),
    )


def vectorised() -> Iterator[Case]:
    """Automatic vectorisation."""

    def convolve(x: Any, w: Any) -> Any:
        return jnp.array([jnp.dot(x[i - 1 : i + 2], w) for i in range(1, len(x) - 1)])

    x, w = np.arange(5, dtype="f4"), np.array([2.0, 3.0, 4.0], "f4")
    xs, ws = np.stack([x, x + 1]), np.stack([w, w * 2])
    yield Case("convolve", convolve, (x, w))
    yield Case("vmap of convolve", jax.vmap(convolve), (xs, ws))
    yield Case(
        "vmap over axis 1", jax.vmap(convolve, in_axes=1, out_axes=1), (xs.T.copy(), ws.T.copy())
    )
    yield Case("vmap of one operand", jax.vmap(convolve, in_axes=[0, None]), (xs, w))
    yield Case("jit of vmap", jax.jit(jax.vmap(convolve)), (xs, ws))
    yield Case(
        "gradients of each example",
        jax.vmap(jax.grad(lambda w, x: (w @ x) ** 2), (None, 0)),
        (floats(4), floats(6, 4)),
        1e-4,
    )
    yield Case(
        "nested vmap, outer product",
        jax.vmap(jax.vmap(lambda a, b: a * b, (None, 0)), (0, None)),
        (floats(3), floats(4)),
    )
    yield Case(
        "vmap of a sort and an index", jax.vmap(lambda x: x[jnp.argsort(x)[0]]), (floats(3, 5),)
    )
    yield Case(
        "vmap of a sum named by axis",
        jax.vmap(lambda x: x - lax.psum(x, "i"), axis_name="i"),
        (floats(5),),
        1e-4,
    )


def predict(w: Any, b: Any, inputs: Any) -> Any:
    """The logistic regression of the cookbook."""
    return 1 / (1 + jnp.exp(-(inputs @ w + b)))


def derivatives() -> Iterator[Case]:
    """Automatic differentiation, the autodiff cookbook, higher derivatives, custom rules."""
    inputs, targets = floats(4, 3), np.array([1, 1, 0, 1], "f4")
    w, b = floats(3), np.float32(0.2)

    def loss(w: Any, b: Any) -> Any:
        p = predict(w, b, inputs)
        return -jnp.sum(jnp.log(p * targets + (1 - p) * (1 - targets)))

    def of_tree(params: Any) -> Any:
        return loss(params["w"], params["b"])

    yield Case(
        "grad of tanh, three times", jax.grad(jax.grad(jax.grad(jnp.tanh))), (np.float32(2),), 1e-3
    )
    yield Case("grad with argnums", jax.grad(loss, (0, 1)), (w, b), 1e-4)
    yield Case("grad of a dict", jax.grad(of_tree), ({"w": w, "b": b},), 1e-4)
    yield Case("value_and_grad", jax.value_and_grad(loss, (0, 1)), (w, b), 1e-4)
    yield Case(
        "Hessian times vector, forward over reverse",
        lambda w, v: jax.jvp(jax.grad(lambda w: loss(w, b)), (w,), (v,))[1],
        (w, floats(3)),
        1e-3,
    )
    yield Case(
        "Hessian times vector, reverse over reverse",
        lambda w, v: jax.grad(lambda w: jnp.vdot(jax.grad(loss)(w, b), v))(w),
        (w, floats(3)),
        1e-3,
    )
    yield Case(
        "jacfwd and jacrev",
        lambda w: (
            jax.jacfwd(lambda w: predict(w, b, inputs))(w),
            jax.jacrev(lambda w: predict(w, b, inputs))(w),
        ),
        (w,),
        1e-4,
    )
    yield Case("hessian", jax.hessian(lambda w: loss(w, b)), (w,), 1e-3)
    yield Case(
        "jvp",
        lambda w, v: jax.jvp(lambda w: predict(w, b, inputs), (w,), (v,)),
        (w, floats(3)),
        1e-4,
    )
    yield Case(
        "vjp", lambda w, u: jax.vjp(lambda w: predict(w, b, inputs), w)[1](u), (w, floats(4)), 1e-4
    )
    yield Case(
        "vmap of vjp: matrix times Jacobian",
        lambda w, m: jax.vmap(jax.vjp(lambda w: predict(w, b, inputs), w)[1])(m),
        (w, floats(5, 4)),
        1e-4,
    )
    yield Case(
        "stop_gradient (TD loss)",
        jax.grad(lambda t, s, r, u: (r + lax.stop_gradient(t @ u) - t @ s) ** 2),
        (floats(3), floats(3), np.float32(1), floats(3)),
        1e-4,
    )
    yield Case(
        "straight-through round",
        jax.grad(lambda x: x + lax.stop_gradient(jnp.round(x) - x)),
        (np.float32(3.2),),
    )
    yield Case(
        "custom_jvp: log1pexp",
        jax.vmap(jax.grad(log1pexp)),
        (np.array([-3, 0.5, 100], "f4"),),
        1e-4,
    )
    yield Case(
        "custom_vjp: clipped gradient",
        jax.grad(lambda t: jnp.sum(clip_gradient(-0.75, 0.75, jnp.sin(t) * 3))),
        (floats(5),),
        1e-4,
    )
    yield Case("fixed point by a bounded loop", jax.jit(babylonian), (np.float32(7),), 1e-4)
    yield Case("implicit derivative of a solve", jax.grad(implicit_root), (np.float32(2.0),), 1e-3)
    yield Case(
        "complex derivative",
        jax.grad(lambda z: jnp.abs(jnp.cos(z + 0j)) ** 2),
        (np.float32(0.5),),
        1e-4,
        refused="complex64",
    )
    yield Case(
        "gradient of a matrix inverse",
        jax.grad(lambda m: jnp.linalg.inv(m).sum()),
        (np.eye(3, dtype="f4") * 2 + 0.1,),
        1e-3,
    )
    yield Case(
        "numerical check", lambda w: (loss(w + 1e-2, b) - loss(w - 1e-2, b)) / 2e-2, (w,), 1e-2
    )
    yield Case(
        "checkpoint",
        jax.grad(lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.cos(y)))(x).sum()),
        (floats(5),),
        1e-4,
    )
    yield Case(
        "checkpoint with a policy",
        jax.grad(
            jax.checkpoint(
                lambda w: jnp.tanh(w @ w.T).sum(), policy=jax.checkpoint_policies.dots_saveable
            )
        ),
        (floats(3, 3),),
        1e-4,
    )


@jax.custom_jvp
def log1pexp(x: Any) -> Any:
    """log(1 + exp(x)) with a stable derivative."""
    return jnp.log(1.0 + jnp.exp(x))


@log1pexp.defjvp
def _log1pexp_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return log1pexp(x), (1 - 1 / (1 + jnp.exp(x))) * t


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def clip_gradient(low: float, high: float, x: Any) -> Any:
    """The identity, whose gradient is held between two numbers."""
    return x


clip_gradient.defvjp(
    lambda low, high, x: (x, None), lambda low, high, _, g: (jnp.clip(g, low, high),)
)


def babylonian(a: Any) -> Any:
    """A square root by iteration, until it no longer moves, in at most 30 steps."""

    def step(state: Any) -> Any:
        i, _, x = state
        return i + 1, x, 0.5 * (x + a / x)

    return lax.while_loop(
        lambda s: (s[0] < 30) & (jnp.abs(s[1] - s[2]) > 1e-6), step, (0, a, a / 2)
    )[2]


def implicit_root(a: Any) -> Any:
    """x with x³ + x = a, derived by its equation."""
    return lax.custom_root(
        lambda x: x**3 + x - a,
        jnp.float32(1),
        lambda f, x: lax.fori_loop(0, 20, lambda _, x: x - f(x) / (3 * x**2 + 1), x),
        lambda g, y: y / g(1.0),
    )


def random_numbers() -> Iterator[Case]:
    """Pseudorandom numbers."""
    yield Case(
        "normal of one key twice", lambda k: (jax.random.normal(k), jax.random.normal(k)), (KEY,)
    )
    yield Case(
        "split, then draw",
        lambda k: [jax.random.normal(s, (3,)) for s in jax.random.split(k, 3)],
        (KEY,),
    )
    yield Case(
        "all at once or one by one",
        lambda k: (
            jax.random.normal(k, (3,)),
            jnp.stack([jax.random.normal(s) for s in jax.random.split(k, 3)]),
        ),
        (KEY,),
    )
    yield Case("a key made inside", lambda: jax.random.uniform(jax.random.key(42), (2, 3)), ())
    yield Case("a shuffle", lambda k: jax.random.permutation(k, jnp.arange(10)), (KEY,))
    yield Case("random walks", lambda k: jnp.cumsum(jax.random.rademacher(k, (20, 5)), 0), (KEY,))
    yield Case(
        "pi by throwing darts",
        lambda k: 4 * (jnp.sum(jax.random.uniform(k, (1000, 2)) ** 2, 1) < 1).mean(),
        (KEY,),
    )
    yield Case("gamma", lambda k: jax.random.gamma(k, 2.0), (KEY,), refused="random_gamma")


def trees() -> Iterator[Case]:
    """Pytrees, stateful computations, convolutions, sharp bits."""
    layers = [
        {"weights": floats(n, m), "biases": floats(m)} for n, m in ((1, 16), (16, 16), (16, 1))
    ]

    def forward(params: Any, x: Any) -> Any:
        *hidden, last = params
        for layer in hidden:
            x = jax.nn.relu(x @ layer["weights"] + layer["biases"])
        return x @ last["weights"] + last["biases"]

    def update(params: Any, x: Any, y: Any) -> Any:
        grads = jax.grad(lambda p: jnp.mean((forward(p, x) - y) ** 2))(params)
        return jax.tree.map(lambda p, g: p - 1e-2 * g, params, grads)

    x = floats(32, 1)
    yield Case("an MLP of lists of dicts: update", update, (layers, x, x**2), 1e-3)
    yield Case("tree.map of two trees", lambda a, b: jax.tree.map(jnp.add, a, b), (layers, layers))
    yield Case(
        "a NamedTuple as state",
        linear_step,
        (Point(np.float32(1), np.float32(-1)), floats(20), floats(20)),
        1e-4,
    )
    yield Case("a counter as state", lambda n: (n + 1, n), (np.int32(3),))
    image, kernel = (
        floats(40, 40),
        np.outer(*[np.exp(-(np.linspace(-2, 2, 5) ** 2))] * 2).astype("f4"),
    )
    yield Case(
        "convolve in 1 axis",
        lambda x: jnp.convolve(x, jnp.ones(10) / 10, mode="same"),
        (floats(50),),
        1e-4,
    )
    yield Case(
        "blurred image", lambda x: jax.scipy.signal.convolve(x, kernel, mode="same"), (image,), 1e-3
    )
    yield Case(
        "blurred image, direct",
        lambda x: jax.scipy.signal.convolve2d(x, kernel, mode="same"),
        (image,),
        1e-3,
    )
    yield Case(
        "convolution of NHWC images",
        lambda x, w: lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        (floats(1, 20, 18, 3), floats(3, 3, 3, 3)),
        1e-3,
    )
    yield Case(
        "strided, dilated, transposed",
        lambda x, w: lax.conv_general_dilated(
            x,
            w,
            (1, 1),
            ((2, 2), (2, 2)),
            lhs_dilation=(2, 2),
            rhs_dilation=(2, 1),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        ),
        (floats(1, 9, 8, 3), floats(3, 3, 3, 2)),
        1e-3,
    )
    yield Case(
        "in-place update by at[]",
        lambda x: x.at[1, :].set(1.0).at[::2, 3:].add(7.0),
        (floats(5, 6),),
    )
    yield Case("index out of range: clipped", lambda x: x[11], (np.arange(10.0, dtype="f4"),))
    yield Case(
        "index out of range: filled",
        lambda x: x.at[11].get(mode="fill", fill_value=jnp.nan),
        (np.arange(10.0, dtype="f4"),),
    )
    yield Case(
        "where that hides a NaN",
        jax.grad(lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), 0.0).sum()),
        (floats(5),),
        1e-4,
    )
    yield Case("sizes that data decide, given", lambda x: jnp.where(x > 0, size=4), (floats(9),))
    yield Case("integers wrap", lambda x: x + 200, (np.array([100, 3], "u1"),))


class Point(NamedTuple):
    """The parameters of a line."""

    weight: Any
    bias: Any


def linear_step(params: Any, x: Any, y: Any) -> Any:
    """A step of gradient descent."""
    grads = jax.grad(lambda p: jnp.mean((p.weight * x + p.bias - y) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


TOPICS: dict[str, Callable[[], Iterator[Case]]] = {
    "quickstart, key concepts": quickstart,
    "jit, control flow": jitted,
    "vmap": vectorised,
    "derivatives": derivatives,
    "random numbers": random_numbers,
    "pytrees, state, convolutions, sharp bits": trees,
    "larger programs": networks,
}


def cases() -> list[Case]:
    """All of them."""
    return [case for topic in TOPICS.values() for case in topic()]
