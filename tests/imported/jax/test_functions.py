"""Functions of jax.nn, jax.numpy and jax.scipy that are several primitives."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest

from tests.imported.jax.case import Case, check, floats, whole


def cases() -> Iterator[Case]:
    """Functions by name."""
    x = floats(3, 5)
    for name in (
        "relu",
        "relu6",
        "sigmoid",
        "softplus",
        "silu",
        "swish",
        "log_sigmoid",
        "leaky_relu",
        "hard_sigmoid",
        "hard_silu",
        "hard_tanh",
        "elu",
        "celu",
        "selu",
        "gelu",
        "glu",
        "softmax",
        "log_softmax",
        "standardize",
        "mish",
        "soft_sign",
        "squareplus",
        "sparse_plus",
        "identity",
    ):
        given = x[:, :4] if name == "glu" else x
        yield Case(f"nn.{name}", getattr(jax.nn, name), (given,), 1e-4)
        yield Case(
            f"grad of nn.{name}",
            lambda x, n=name: jax.grad(lambda x: (getattr(jax.nn, n)(x) ** 2).sum())(x),
            (given,),
            1e-3,
        )
    for name in (
        "sinc",
        "deg2rad",
        "cosh",
        "nan_to_num",
        "diff",
        "ptp",
        "var",
        "cumsum",
        "ravel",
        "floor_divide",
        "mod",
        "fmod",
        "power",
        "logaddexp",
        "hypot",
        "copysign",
        "heaviside",
        "gcd",
        "float_power",
        "cross",
        "divmod",
        "fmax",
        "signbit",
        "trunc",
        "rint",
        "frexp",
        "ldexp",
        "modf",
    ):
        function = getattr(jnp, name)
        if name in (
            "floor_divide",
            "mod",
            "fmod",
            "power",
            "logaddexp",
            "hypot",
            "copysign",
            "heaviside",
            "float_power",
            "divmod",
            "fmax",
        ):
            yield Case(
                f"jnp.{name}", function, (floats(3, 4, low=0.5), floats(3, 4, low=0.5)), 1e-4
            )
        elif name == "gcd":
            yield Case(
                "jnp.gcd", function, (whole(5, low=1), whole(5, low=1)), refused="known only when"
            )
        elif name == "cross":
            yield Case("jnp.cross", function, (floats(4, 3), floats(4, 3)), 1e-4)
        elif name == "ldexp":
            yield Case("jnp.ldexp", function, (floats(4), whole(4, low=-3, high=3)), 1e-4)
        else:
            yield Case(f"jnp.{name}", function, (x,), 1e-4)
    yield Case(
        "jnp.percentile", lambda x: jnp.percentile(x, jnp.array([20.0, 50.0]), axis=0), (x,), 1e-4
    )
    yield Case("jnp.polyval, polyfit-free", lambda x: jnp.polyval(jnp.arange(4.0), x), (x,), 1e-4)
    yield Case("jnp.where of one", lambda x: jnp.where(x > 0, x, jnp.nan), (x,))
    yield Case(
        "jnp.select, piecewise",
        lambda x: (
            jnp.select([x > 1, x > 0], [x, -x]),
            jnp.piecewise(x, [x > 0, x <= 0], [jnp.sin, jnp.cos]),
        ),
        (x,),
        1e-4,
    )
    yield Case(
        "jax.image.resize", lambda x: jax.image.resize(x, (7, 9), "bilinear"), (floats(4, 5),), 1e-4
    )
    yield Case(
        "jax.scipy.special",
        lambda x: (
            jax.scipy.special.logit(x),
            jax.scipy.special.xlogy(x, x),
            jax.scipy.special.ndtri(x),
            jax.scipy.special.gammaln(x),
            jax.scipy.special.entr(x),
        ),
        (floats(5, low=0.1, high=0.9),),
        1e-3,
    )
    yield Case(
        "jax.scipy.stats",
        lambda x: (
            jax.scipy.stats.norm.logpdf(x),
            jax.scipy.stats.norm.cdf(x),
            jax.scipy.stats.norm.ppf(x / 5 + 0.5),
            jax.scipy.stats.gamma.logpdf(abs(x) + 0.1, 2.0),
        ),
        (floats(5),),
        1e-3,
    )
    yield Case(
        "jax.scipy.signal.convolve",
        lambda x, k: jax.scipy.signal.convolve(x, k, mode="same", method="direct"),
        (floats(9, 9), floats(3, 3)),
        1e-3,
    )


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
