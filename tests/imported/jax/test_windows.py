"""Convolutions and reductions over windows."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.imported.jax.case import Case, check, floats


def cases() -> Iterator[Case]:
    """Windows with strides, gaps and borders."""
    for name, init, f in (
        ("add", 0.0, lax.add),
        ("max", -np.inf, lax.max),
        ("min", np.inf, lax.min),
        ("mul", 1.0, lax.mul),
        ("odd", 0.0, lambda a, b: a + b * 0.5),
    ):

        def window(x: Any, init: float = init, f: Any = f) -> Any:
            return lax.reduce_window(x, np.float32(init), f, (2, 3), (1, 2), "SAME")

        yield Case(f"reduce_window {name}", window, (floats(5, 7),), 1e-4)
        yield Case(
            f"reduce_window {name}, dilated",
            lambda x, i=init, f=f: lax.reduce_window(
                x, np.float32(i), f, (2, 2), (2, 1), ((1, 0), (0, 2)), (2, 1), (1, 3)
            ),
            (floats(5, 7),),
            1e-4,
        )
    pool = partial(
        lax.reduce_window,
        init_value=-np.inf,
        computation=lax.max,
        window_dimensions=(1, 3, 3, 1),
        window_strides=(1, 2, 2, 1),
    )
    yield Case(
        "grad of max pool",
        jax.grad(lambda x: (pool(x, padding="SAME") ** 2).sum()),
        (floats(2, 7, 8, 3),),
    )
    yield Case(
        "jvp of max pool",
        lambda x, t: jax.jvp(partial(pool, padding="VALID"), (x,), (t,)),
        (floats(1, 7, 8, 2), floats(1, 7, 8, 2)),
    )

    def conv(**given: Any) -> Callable[..., Any]:
        usual = {"window_strides": (1, 1), "padding": "SAME"}
        return lambda x, w: lax.conv_general_dilated(x, w, **{**usual, **given})

    x, w = floats(2, 4, 9, 8), floats(6, 4, 3, 3)
    nhwc = lax.conv_dimension_numbers((2, 9, 8, 4), (3, 3, 4, 6), ("NHWC", "HWIO", "NHWC"))
    for name, given in {
        "plain": {},
        "stride": {"window_strides": (2, 3)},
        "valid": {"padding": "VALID"},
        "negative padding": {"padding": ((-1, 2), (1, -2))},
        "dilated image": {"lhs_dilation": (2, 3), "padding": ((1, 1), (2, 0))},
        "dilated window": {"rhs_dilation": (2, 1)},
        "all": {
            "window_strides": (2, 1),
            "padding": ((2, 0), (3, 1)),
            "lhs_dilation": (2, 1),
            "rhs_dilation": (1, 2),
        },
    }.items():
        yield Case(f"conv, {name}", conv(**given), (x, w), 1e-3)
        yield Case(
            f"grad of conv, {name}",
            lambda x, w, g=given: jax.grad(lambda x, w: (conv(**g)(x, w) ** 2).sum(), (0, 1))(x, w),
            (x, w),
            2e-3,
        )
    yield Case(
        "conv, NHWC", conv(dimension_numbers=nhwc), (floats(2, 9, 8, 4), floats(3, 3, 4, 6)), 1e-3
    )
    yield Case("conv, groups", conv(feature_group_count=2), (x, floats(6, 2, 3, 3)), 1e-3)
    yield Case("conv, depthwise", conv(feature_group_count=4), (x, floats(8, 1, 3, 3)), 1e-3)
    yield Case(
        "grad of conv, groups",
        lambda x, w: jax.grad(lambda x, w: (conv(feature_group_count=2)(x, w) ** 2).sum(), (0, 1))(
            x, w
        ),
        (x, floats(6, 2, 3, 3)),
        2e-3,
    )
    yield Case("conv, batch groups", conv(batch_group_count=2), (x, floats(6, 4, 3, 3)), 1e-3)
    yield Case(
        "conv_transpose",
        lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"),
        (floats(2, 5, 6, 3), floats(3, 3, 3, 4)),
        1e-3,
    )
    yield Case(
        "conv, 1 axis",
        lambda x, w: lax.conv(x, w, (2,), "SAME"),
        (floats(2, 3, 9), floats(4, 3, 3)),
        1e-3,
    )
    yield Case(
        "conv, 3 axes",
        lambda x, w: lax.conv(x, w, (1, 1, 1), "SAME"),
        (floats(1, 2, 4, 5, 4), floats(3, 2, 2, 3, 2)),
        1e-3,
    )
    yield Case(
        "conv, no axes", lambda x, w: lax.conv(x, w, (), ()), (floats(5, 3), floats(4, 3)), 1e-4
    )
    yield Case("jnp.convolve", jnp.convolve, (floats(9), floats(3)), 1e-4)
    yield Case(
        "vmap of conv over weights", jax.vmap(conv(), (None, 0)), (x, floats(3, 6, 4, 3, 3)), 1e-3
    )


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
