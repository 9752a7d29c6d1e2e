"""Products, convolutions, pooling and loops, against JAX's."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import compiler
from compiler import Tensor
from tests.gradients.case import Case

_MATMULS = (
    ((3, 4), (4, 5)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((4,), (4,)),
    ((2, 3, 4), (4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((3, 0), (0, 2)),
    ((0, 3), (3, 2)),
    ((1, 1), (1, 1)),
    ((2, 3, 4), (2, 4, 1)),
)
_EINSUMS = (
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("ij,ij->", (3, 4), (3, 4)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
    ("i,j->ij", (3,), (4,)),
    ("ii->i", (3, 3)),
    ("ij->ji", (3, 4)),
    ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 2)),
    ("iij->j", (3, 3, 2)),
)


def _conv(dims: int, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    layout = ("NCHW"[: 2 + dims], "OIHW"[: 2 + dims], "NCHW"[: 2 + dims])
    if dims == 1:
        layout = ("NCH", "OIH", "NCH")

    def f(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x,
            w,
            (stride,) * dims,
            [(padding, padding)] * dims,
            rhs_dilation=(dilation,) * dims,
            dimension_numbers=layout,
            feature_group_count=groups,
        )

    return f


def _convolutions() -> Iterator[Case]:
    for stride, padding, dilation, groups in (
        (1, 0, 1, 1),
        (2, 1, 1, 1),
        (3, 2, 1, 1),
        (1, 1, 2, 1),
        (2, 0, 2, 2),
        (1, 1, 1, 4),
        (2, 1, 1, 2),
    ):
        for dims, x in ((1, (2, 4, 9)), (2, (2, 4, 7, 6))):
            w = (4, 4 // groups, *(3, 2)[:dims])
            yield Case(
                f"conv{dims}d s{stride} p{padding} d{dilation} g{groups}",
                lambda x, w, n=dims, s=stride, p=padding, d=dilation, g=groups: getattr(
                    x, f"conv{n}d"
                )(w, None, s, p, d, g),
                _conv(dims, stride, padding, dilation, groups),
                (x, w),
            )


def _pool(kind: Any, start: float, size: int, stride: int, padding: int) -> Any:
    def f(x: Any) -> Any:
        return jax.lax.reduce_window(
            x,
            np.asarray(start, x.dtype),
            kind,
            (1, 1, size, size),
            (1, 1, stride, stride),
            [(0, 0), (0, 0), (padding, padding), (padding, padding)],
        )

    return f


def _repeated(n: int) -> Any:
    def f(x: Any, a: Any) -> Any:
        y: Any = compiler.repeat(n, lambda i, v: (v @ a).tanh() + v * i.cast(v.dtype) * 0.1, x)
        return y

    return f


def _repeated_by_jax(n: int) -> Any:
    def f(x: Any, a: Any) -> Any:
        return jax.lax.fori_loop(
            0, n, lambda i, v: jnp.tanh(v @ a) + v * i.astype(v.dtype) * 0.1, x
        )

    return f


def _attention(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]).astype(q.dtype)
    masked = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    return jax.nn.softmax(masked) @ v


IMAGE = ((1, 2, 5, 6),)
CASES = [
    *(Case(f"matmul {a} {b}", lambda x, y: x @ y, jnp.matmul, (a, b)) for a, b in _MATMULS),
    *(
        Case(
            f"einsum {formula}",
            lambda *xs, f=formula: Tensor.einsum(f, *xs),
            lambda *xs, f=formula: jnp.einsum(f, *xs),
            shapes,
        )
        for formula, *shapes in _EINSUMS
    ),
    Case("a matrix with itself", lambda x: x @ x.T @ x, lambda x: x @ x.T @ x),
    Case(
        "linear",
        lambda x, w, b: x.linear(w, b),
        lambda x, w, b: x @ w + b,
        ((2, 3, 4), (4, 5), (5,)),
    ),
    Case("outer", lambda x, y: x.outer(y), jnp.outer, ((3,), (4,))),
    Case("inner", lambda x, y: x.inner(y), jnp.inner, ((3, 4), (2, 4))),
    Case("kron", lambda x, y: x.kron(y), jnp.kron, ((2, 3), (3, 2))),
    Case("cross", lambda x, y: x.cross(y), jnp.cross, ((4, 3), (4, 3))),
    Case(
        "tensordot",
        lambda x, y: x.tensordot(y, ([2, 0], [0, 1])),
        lambda x, y: jnp.tensordot(x, y, ((2, 0), (0, 1))),
        ((2, 3, 4), (4, 2, 5)),
    ),
    *_convolutions(),
    Case(
        "conv_transpose2d",
        lambda x, w: x.conv_transpose2d(w, None, 2, 1),
        lambda x, w: jax.lax.conv_general_dilated(
            x,
            jnp.flip(w, (2, 3)).swapaxes(0, 1),
            (1, 1),
            [(1, 1), (1, 1)],
            lhs_dilation=(2, 2),
            dimension_numbers=("NCHW", "OIHW", "NCHW"),
        ),
        ((1, 3, 4, 4), (3, 2, 3, 3)),
    ),
    *(
        Case(
            f"max_pool2d {size} {stride} {padding}",
            lambda x, a=size, s=stride, p=padding: x.max_pool2d(a, s, p),
            _pool(jax.lax.max, -np.inf, size, stride, padding),
            IMAGE,
        )
        for size, stride, padding in ((2, 2, 0), (3, 1, 1), (2, 3, 0), (3, 2, 1))
    ),
    *(
        Case(
            f"avg_pool2d {size} {stride} {padding}",
            lambda x, a=size, s=stride, p=padding: x.avg_pool2d(a, s, p) * float(a * a),
            _pool(jax.lax.add, 0.0, size, stride, padding),
            IMAGE,
        )
        for size, stride, padding in ((2, 2, 0), (3, 1, 1), (2, 3, 0))
    ),
    Case(
        "adaptive_avg_pool2d",
        lambda x: x.adaptive_avg_pool2d((1, 1)),
        lambda x: x.mean((2, 3), keepdims=True),
        IMAGE,
    ),
    *(
        Case(f"repeat {n}", _repeated(n), _repeated_by_jax(n), ((2, 3), (3, 3)), -1, 1)
        for n in (1, 4)
    ),
    Case(
        "attention",
        lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=True),
        _attention,
        ((2, 4, 3), (2, 4, 3), (2, 4, 3)),
    ),
    Case(
        "interpolate",
        lambda x: x.interpolate(scale_factor=2, mode="bilinear"),
        lambda x: jax.image.resize(x, (1, 2, 10, 12), "bilinear"),
        IMAGE,
    ),
]
