"""A JAX function with arguments, and a check that its program gives the same results as JAX."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import compiler
from compiler.core.errors import CompileError
from compiler.imported.constants import computed
from tests.imported.reached import reaching

Array = np.ndarray[Any, Any]
_random = np.random.default_rng(7)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, np.inf, -np.inf, np.nan, 1e30], "f4")
"""JAX takes numbers below the least normal one for 0 on processors: there are none of these."""


@dataclass(frozen=True)
class Case:
    """A function and its arguments; `close` is the relative error that is allowed."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    close: float = 2e-5
    refused: str = ""
    """A word of the message where it is not supported."""


def floats(*shape: int, low: float = -2.0, high: float = 2.0, dtype: Any = "f4") -> Any:
    """Numbers of a range."""
    return np.asarray(_random.uniform(low, high, shape)).astype(dtype)


def whole(*shape: int, low: int = -50, high: int = 50, dtype: Any = "i4") -> Any:
    """Whole numbers of a range."""
    return np.asarray(_random.integers(low, high, shape)).astype(dtype)


def results(case: Case, is_compiled: bool) -> tuple[list[Array], list[Array]]:
    """The results of the program, by the graph's interpreter or by machine code; and those of
    JAX."""
    with reaching("jax"):
        made = compiler.from_jax(case.function, *case.arguments)(*case.arguments)
    tensors = jax.tree_util.tree_leaves(made)
    if is_compiled and tensors:
        tensors[0].realize(*tensors[1:])
    got = [t.numpy() for t in tensors] if is_compiled else computed(tensors)
    arguments = jax.tree_util.tree_map(jnp.asarray, case.arguments)
    return got, [
        np.asarray(v) for v in jax.tree_util.tree_leaves(jax.jit(case.function)(*arguments))
    ]


def check(case: Case, is_compiled: bool = False) -> None:
    """Equal to what JAX gives, in type and shape too; or refused in words."""
    if case.refused:
        try:
            compiler.from_jax(case.function, *case.arguments)(*case.arguments)
        except CompileError as error:
            assert "from_jax" in str(error) and case.refused in str(error)
            return
        raise AssertionError("it was not refused")
    got, wanted = results(case, is_compiled)
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind not in "fV":
            np.testing.assert_array_equal(one, other)
            continue
        wide = (a.astype(np.float64) for a in (one, other))
        np.testing.assert_allclose(*wide, rtol=case.close, atol=case.close / 10)
