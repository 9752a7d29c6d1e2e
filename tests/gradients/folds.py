"""Reductions, scans and functions composed of them, against JAX's."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.gradients.case import Case

_FOLDS: dict[str, Any] = {
    "sum": jnp.sum,
    "prod": jnp.prod,
    "max": jnp.max,
    "min": jnp.min,
    "mean": jnp.mean,
    "logsumexp": jax.nn.logsumexp,
}
_SCANS: dict[str, Any] = {
    "cumsum": jnp.cumsum,
    "cumprod": jnp.cumprod,
    "cummax": jax.lax.cummax,
    "cummin": jax.lax.cummin,
    "logcumsumexp": jax.lax.cumlogsumexp,
}
X = ((2, 3, 4),)


def _folds() -> Iterator[Case]:
    for name, f in _FOLDS.items():
        for axes in (None, 0, -1, (0, 2), (1,)):
            if axes is None and name == "logsumexp":
                continue
            yield Case(
                f"{name} {axes}",
                lambda x, n=name, a=axes: getattr(x, n)(a),
                lambda x, f=f, a=axes: f(x, axis=a),
                X,
            )
        yield Case(
            f"{name} kept",
            lambda x, n=name: getattr(x, n)(1, keepdim=True) * x,
            lambda x, f=f: f(x, axis=1, keepdims=True) * x,
            X,
        )
        yield Case(
            f"{name} of one",
            lambda x, n=name: getattr(x, n)(1),
            lambda x, f=f: f(x, axis=1),
            ((3, 1),),
        )
        if name != "logsumexp":
            yield Case(
                f"{name} of rank 0", lambda x, n=name: getattr(x, n)(), lambda x, f=f: f(x), ((),)
            )
        yield Case(
            f"{name} of one element",
            lambda x, n=name: getattr(x, n)(0),
            lambda x, f=f: f(x, axis=0),
            ((3, 0),),
        )
        if name in ("sum", "prod"):
            yield Case(
                f"{name} of nothing",
                lambda x, n=name: getattr(x, n)(1),
                lambda x, f=f: f(x, axis=1),
                ((3, 0),),
            )


def _scans() -> Iterator[Case]:
    for name, f in _SCANS.items():
        for shape, axis in (
            ((4, 3), 0),
            ((2, 5), 1),
            ((3, 1), 1),
            ((0, 3), 0),
            ((1,), 0),
            ((9,), 0),
        ):
            yield Case(
                f"{name} {shape} {axis}",
                lambda x, n=name, a=axis: getattr(x, n)(a),
                lambda x, f=f, a=axis: f(x, axis=a),
                (shape,),
            )


def _zeros(*places: int) -> np.ndarray[Any, Any]:
    x = np.array([1.5, -0.5, 2.0, 3.0])
    x[list(places)] = 0
    return x


def _norm(ord: float, axis: Any) -> Any:
    def f(x: Any) -> Any:
        return jnp.sum(jnp.abs(x) ** ord, axis=axis) ** (1 / ord)

    return f


CASES = [
    *_folds(),
    *_scans(),
    *(
        Case(
            f"{name} with zeros {places}", lambda x, n=name: getattr(x, n)(0), f, (_zeros(*places),)
        )
        for name, f in (("prod", jnp.prod), ("cumprod", jnp.cumprod))
        for places in ((1,), (0, 2), (3,), (0, 1, 3), (0, 1, 2, 3))
        if name == "prod" or len(places) == 1
    ),
    *(
        Case(
            f"cumprod with zeros {places}",
            lambda x: x.cumprod(0),
            jnp.cumprod,
            (_zeros(*places),),
            second=False,
        )
        for places in ((0, 2), (0, 1, 3), (0, 1, 2, 3))
    ),
    Case(
        "prod with zeros over axes",
        lambda x: x.prod((0, 2)),
        lambda x: jnp.prod(x, (0, 2)),
        (np.array([[[1.5, 0, 2], [0, 0, 1]], [[3, 0, 1], [2, 1, 0]]]),),
    ),
    *(
        Case(
            f"{name} {axis} {c}",
            lambda x, n=name, a=axis, c=c: getattr(x, n)(a, correction=c),
            lambda x, f=f, a=axis, c=c: f(x, axis=a, ddof=c),
            X,
        )
        for name, f in (("var", jnp.var), ("std", jnp.std))
        for axis in (None, 0, (0, 2))
        for c in (0, 1)
    ),
    *(
        Case(
            f"{name} {axis}",
            lambda x, n=name, a=axis: getattr(x, n)(a),
            lambda x, f=f, a=axis: f(x, axis=a),
            X,
        )
        for name, f in (("softmax", jax.nn.softmax), ("log_softmax", jax.nn.log_softmax))
        for axis in (-1, 0, (0, 2))
    ),
    Case("softmax of one", lambda x: x.softmax(1), lambda x: jax.nn.softmax(x, 1), ((3, 1),)),
    Case("softmax of nothing", lambda x: x.softmax(1), lambda x: jax.nn.softmax(x, 1), ((3, 0),)),
    Case(
        "softmax of large",
        lambda x: (x * 100).softmax(),
        lambda x: jax.nn.softmax(x * 100),
        close=100,
    ),
    *(
        Case(f"norm {ord} {axis}", lambda x, o=ord, a=axis: x.norm(o, a), _norm(ord, axis), X, 0.2)
        for ord in (1, 2, 3, 2.5)
        for axis in (None, 1, (0, 2))
    ),
    Case("norm inf", lambda x: x.norm(np.inf, 1), lambda x: jnp.max(jnp.abs(x), 1), X),
    Case(
        "normalize",
        lambda x: x.normalize(2, 1),
        lambda x: x / jnp.linalg.norm(x, axis=1, keepdims=True),
        X,
    ),
    Case(
        "layernorm", lambda x: x.layernorm(-1), lambda x: jax.nn.standardize(x, -1, epsilon=1e-5), X
    ),
    Case(
        "rms_norm",
        lambda x, w: x.rms_norm(-1, w),
        lambda x, w: x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * w,
        ((3, 4), (4,)),
    ),
    Case("sort", lambda x: x.sort(1), lambda x: jnp.sort(x, 1), ((3, 5),)),
    Case(
        "sort downwards",
        lambda x: x.sort(0, descending=True),
        lambda x: jnp.sort(x, 0, descending=True),
        ((5, 3),),
    ),
    Case("topk", lambda x: x.topk(2, 1)[0], lambda x: jax.lax.top_k(x, 2)[0], ((3, 5),)),
    Case(
        "topk of least",
        lambda x: x.topk(3, 1, largest=False)[0],
        lambda x: -jax.lax.top_k(-x, 3)[0],
        ((2, 5),),
    ),
    Case("kthvalue", lambda x: x.kthvalue(2, 1)[0], lambda x: jnp.sort(x, 1)[:, 1], ((3, 5),)),
    Case("median", lambda x: x.median(1), lambda x: jnp.median(x, 1), ((3, 5),)),
    Case("median of even", lambda x: x.median(1), lambda x: jnp.median(x, 1), ((3, 4),)),
    Case(
        "quantile",
        lambda x: x.quantile([0.1, 0.6], 1),
        lambda x: jnp.quantile(x, jnp.array([0.1, 0.6], x.dtype), 1),
        ((3, 5),),
    ),
    Case("diff", lambda x: x.diff(2, 1), lambda x: jnp.diff(x, 2, 1), ((3, 5),)),
    Case(
        "l1_loss", lambda x, y: x.l1_loss(y), lambda x, y: jnp.abs(x - y).mean(), ((3, 4), (3, 4))
    ),
    Case(
        "mse_loss", lambda x, y: x.mse_loss(y), lambda x, y: ((x - y) ** 2).mean(), ((3, 4), (3, 4))
    ),
    Case(
        "cross_entropy",
        lambda x: x.cross_entropy(np.array([0, 3, 1])),
        lambda x: -jax.nn.log_softmax(x)[jnp.arange(3), jnp.array([0, 3, 1])].mean(),
    ),
    Case(
        "bce with logits",
        lambda x, y: x.binary_cross_entropy_with_logits(y.sigmoid()),
        lambda x, y: (jax.nn.softplus(x) - x * jax.nn.sigmoid(y)).mean(),
        ((3, 4), (3, 4)),
    ),
    Case(
        "bce",
        lambda x, y: x.binary_cross_entropy(y),
        lambda x, y: -(y * jnp.log(x) + (1 - y) * jnp.log(1 - x)).mean(),
        ((3, 4), (3, 4)),
        0.1,
        0.9,
    ),
    Case(
        "huber_loss",
        lambda x, y: x.huber_loss(y),
        lambda x, y: jnp.where(abs(x - y) <= 1, (x - y) ** 2 / 2, abs(x - y) - 0.5).mean(),
        ((3, 4), (3, 4)),
    ),
]
