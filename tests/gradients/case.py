"""A function of our tensors and one of JAX's arrays, and a comparison of their derivatives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import compiler
from compiler import Tensor
from tests.differences import values

Array = np.ndarray[Any, Any]
CLOSE = {"float64": 1e-10, "float32": 2e-5}


@dataclass(frozen=True)
class Case:
    """A function of ours and of JAX's, and the shapes of its arguments, or the arguments."""

    name: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    given: tuple[Any, ...] = ((3, 4),)
    low: float = -2.0
    high: float = 2.0
    second: bool = True
    """True if second derivatives are compared, too."""
    close: float = 1.0
    """How many times the usual error is allowed."""

    def arguments(self, dtype: str) -> list[Array]:
        """The arguments, drawn anew for each name."""
        generator = np.random.default_rng(sum(map(ord, self.name)))
        return [
            each.astype(dtype)
            if isinstance(each, np.ndarray)
            else generator.uniform(self.low, self.high, each).astype(dtype)
            for each in self.given
        ]


def assert_equal(got: Sequence[Array], wanted: Sequence[Any], close: float, what: str) -> None:
    """Arrays that are close, relative to the greatest element of each."""
    assert len(got) == len(wanted)
    for one, other in zip(got, map(np.asarray, wanted), strict=True):
        assert (one.shape, one.dtype) == (other.shape, other.dtype), what
        scale = float(np.max(np.abs(other), initial=0.0, where=np.isfinite(other)))
        np.testing.assert_allclose(
            one, other, rtol=close, atol=close * max(scale, 0.1), err_msg=what
        )


def check(case: Case, dtype: str) -> None:
    """The vector-Jacobian product, the Jacobian-vector product and the Hessian's are JAX's."""
    home = jax if hasattr(jax, "enable_x64") else jax.experimental
    with home.enable_x64(True):
        _check(case, dtype)


def _check(case: Case, dtype: str) -> None:
    arrays, close = case.arguments(dtype), case.close * CLOSE[dtype]
    xs, theirs = [Tensor(a) for a in arrays], [jnp.asarray(a) for a in arrays]
    generator = np.random.default_rng(0)
    vs = [generator.uniform(-1, 1, a.shape).astype(dtype) for a in arrays]

    result, pull = jax.vjp(case.theirs, *theirs)
    weight = np.asarray(generator.uniform(0.5, 1.5, result.shape), result.dtype)
    y, ours_pull = compiler.vjp(case.ours, *xs)
    assert_equal([y.numpy()], [result], close, "the value")
    slopes = ours_pull(Tensor(weight))
    wanted = pull(jnp.asarray(weight))
    assert_equal(values(*slopes), wanted, close, "the gradient, by the interpreter")
    slopes[0].realize(*slopes[1:])
    assert_equal([each.numpy() for each in slopes], wanted, close, "the gradient")

    if dtype == "float32":
        return  # the same rules: once is enough

    _, change = compiler.jvp(case.ours, xs, [Tensor(v) for v in vs])
    _, wanted_change = jax.jvp(case.theirs, theirs, [jnp.asarray(v) for v in vs])
    assert_equal(values(change), [wanted_change], close, "the change forwards")
    if not case.second:
        return

    def slope(*given: Any) -> Any:
        _, back = jax.vjp(case.theirs, *given)
        return back(jnp.asarray(weight))

    def own_slope(*given: Any) -> Any:
        _, back = compiler.vjp(case.ours, *given)
        return back(Tensor(weight))

    _, wanted_curve = jax.jvp(slope, tuple(theirs), tuple(jnp.asarray(v) for v in vs))
    _, again = compiler.vjp(own_slope, *xs)
    curve = again(tuple(Tensor(v) for v in vs))
    assert_equal(values(*curve), wanted_curve, 10 * close, "the second derivative")
