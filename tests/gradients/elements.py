"""Elementwise operations, against JAX's."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special

from tests.gradients.case import Case

_UNARY: dict[str, tuple[Any, float, float]] = {
    "neg": (jnp.negative, -2, 2),
    "abs": (jnp.abs, 0.1, 2),
    "square": (jnp.square, -2, 2),
    "sqrt": (jnp.sqrt, 0.1, 4),
    "rsqrt": (jax.lax.rsqrt, 0.1, 4),
    "reciprocal": (jnp.reciprocal, 0.3, 3),
    "exp": (jnp.exp, -3, 3),
    "exp2": (jnp.exp2, -3, 3),
    "expm1": (jnp.expm1, -3, 3),
    "log": (jnp.log, 0.1, 5),
    "log2": (jnp.log2, 0.1, 5),
    "log10": (jnp.log10, 0.1, 5),
    "log1p": (jnp.log1p, -0.9, 5),
    "sin": (jnp.sin, -4, 4),
    "cos": (jnp.cos, -4, 4),
    "tan": (jnp.tan, -1.2, 1.2),
    "asin": (jnp.arcsin, -0.9, 0.9),
    "acos": (jnp.arccos, -0.9, 0.9),
    "atan": (jnp.arctan, -4, 4),
    "sinh": (jnp.sinh, -3, 3),
    "cosh": (jnp.cosh, -3, 3),
    "tanh": (jnp.tanh, -3, 3),
    "asinh": (jnp.arcsinh, -3, 3),
    "acosh": (jnp.arccosh, 1.1, 4),
    "atanh": (jnp.arctanh, -0.9, 0.9),
    "erf": (special.erf, -2, 2),
    "erfc": (special.erfc, -2, 2),
    "erfinv": (special.erfinv, -0.9, 0.9),
    "lgamma": (special.gammaln, 0.2, 6),
    "digamma": (special.digamma, 0.3, 6),
    "cbrt": (jnp.cbrt, 0.2, 6),
    "sigmoid": (jax.nn.sigmoid, -4, 4),
    "silu": (jax.nn.silu, -4, 4),
    "relu": (jax.nn.relu, -2, 2),
    "relu6": (jax.nn.relu6, -3, 9),
    "gelu": (jax.nn.gelu, -3, 3),
    "softplus": (jax.nn.softplus, -4, 4),
    "softsign": (jax.nn.soft_sign, -4, 4),
    "mish": (jax.nn.mish, -4, 4),
    "elu": (jax.nn.elu, -3, 3),
    "leaky_relu": (jax.nn.leaky_relu, -3, 3),
    "hardtanh": (jax.nn.hard_tanh, -3, 3),
    "sign": (jnp.sign, -2, 2),
    "floor": (jnp.floor, -5, 5),
    "ceil": (jnp.ceil, -5, 5),
    "round": (jnp.round, -5, 5),
    "trunc": (jnp.trunc, -5, 5),
    "nan_to_num": (jnp.nan_to_num, -5, 5),
}
_LOOSE = {
    "erfc": 50,
    "lgamma": 100,
    "digamma": 1e5,
    "erfinv": 20,
    "acosh": 10,
    "atanh": 5,
    "asin": 5,
    "acos": 5,
    "tan": 5,
}
"""JAX has float32 of these to fewer digits, and series of its own in float64."""
_SMALL = (
    "expm1",
    "log1p",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "atanh",
    "erf",
    "erfc",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sigmoid",
    "softplus",
    "gelu",
    "elu",
    "erfinv",
)
"""Functions that are smooth at 0: their gradients lose no digits near it, and none at it."""
NEAR_ZERO = np.array([0.0, -0.0, 1e-12, -1e-12, 1e-7, -1e-7, 1e-4, -1e-4, 3e-3, -3e-3])

_BINARY: dict[str, tuple[Any, float, float]] = {
    "add": (jnp.add, -2, 2),
    "sub": (jnp.subtract, -2, 2),
    "mul": (jnp.multiply, -2, 2),
    "div": (jnp.divide, 0.3, 3),
    "mod": (jnp.remainder, 0.3, 3),
    "fmod": (jnp.fmod, 0.3, 3),
    "pow": (jnp.power, 0.3, 3),
    "maximum": (jnp.maximum, -2, 2),
    "minimum": (jnp.minimum, -2, 2),
    "fmax": (jnp.fmax, -2, 2),
    "fmin": (jnp.fmin, -2, 2),
    "hypot": (jnp.hypot, -2, 2),
    "atan2": (jnp.arctan2, -2, 2),
    "copysign": (jnp.copysign, -2, 2),
    "logaddexp": (jnp.logaddexp, -3, 3),
}
SHAPES = (
    ((3, 4), (3, 4)),
    ((3, 4), (4,)),
    ((3, 1), (1, 4)),
    ((), (3,)),
    ((), ()),
    ((2, 0), (1, 0)),
    ((1,), (1,)),
    ((2, 1, 3), (4, 1)),
    ((0,), (1,)),
)
"""Equal, broadcast, of rank 0, of size 0 and 1."""


def _method(name: str) -> Any:
    return lambda *xs: getattr(xs[0], name)(*xs[1:])


CASES = [
    *(
        Case(name, _method(name), f, ((3, 4),), low, high, close=_LOOSE.get(name, 1))
        for name, (f, low, high) in _UNARY.items()
    ),
    *(
        Case(
            f"{name} {shape}",
            _method(name),
            _UNARY[name][0],
            (shape,),
            0.3,
            0.8,
            close=_LOOSE.get(name, 1),
        )
        for name in ("exp", "tanh", "relu", "log1p", "erfc")
        for shape in ((), (0, 3), (1,))
    ),
    *(
        Case(
            f"{name} near 0",
            _method(name),
            _UNARY[name][0],
            (NEAR_ZERO,),
            second=False,
            close=_LOOSE.get(name, 1),
        )
        for name in _SMALL
    ),
    *(
        Case(f"{name} {' '.join(map(str, shapes))}", _method(name), f, shapes, low, high)
        for name, (f, low, high) in _BINARY.items()
        for shapes in (SHAPES if name in ("mul", "pow", "maximum", "hypot") else SHAPES[:3])
    ),
    Case(
        "lerp",
        lambda a, b, w: a.lerp(b, w),
        lambda a, b, w: a + w * (b - a),
        ((3, 4), (4,), (3, 1)),
    ),
    Case(
        "mulacc", lambda a, b, c: a.mulacc(b, c), lambda a, b, c: a * b + c, ((3, 4), (4,), (3, 1))
    ),
    Case(
        "where",
        lambda a, b: (a > 0).where(a * a, b),
        lambda a, b: jnp.where(a > 0, a * a, b),
        ((3, 4), (4,)),
    ),
    Case("clip", lambda a, b, c: a.clip(b, c), jnp.clip, ((3, 4), np.full(4, -1.0), np.ones(()))),
    Case("a number to a power", lambda a: 2.0**a, lambda a: 2.0**a),
    Case(
        "a power that is a number",
        lambda a: a**3 + a**-2 + a**0.5,
        lambda a: a**3 + a**-2 + a**0.5,
        ((3, 4),),
        0.3,
        3,
    ),
    Case(
        "cast",
        lambda a: (a.cast("float32") * 2).cast("float64"),
        lambda a: (a.astype("float32") * 2).astype("float64"),
        second=False,
        close=1e3,
    ),
]
