"""Elementwise primitives."""

from collections.abc import Iterator
from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.imported.jax.case import SPECIAL, Case, check, floats, whole

UNARY = {
    "abs": (-2, 2),
    "neg": (-2, 2),
    "sqrt": (0, 4),
    "rsqrt": (0.1, 4),
    "exp": (-5, 5),
    "exp2": (-5, 5),
    "log": (0.1, 4),
    "log1p": (-0.9, 4),
    "expm1": (-3, 3),
    "sin": (-9, 9),
    "cos": (-9, 9),
    "tan": (-1, 1),
    "asin": (-1, 1),
    "acos": (-1, 1),
    "atan": (-9, 9),
    "sinh": (-4, 4),
    "cosh": (-4, 4),
    "tanh": (-4, 4),
    "asinh": (-9, 9),
    "acosh": (1, 9),
    "atanh": (-0.9, 0.9),
    "erf": (-3, 3),
    "erfc": (-3, 5),
    "erf_inv": (-0.99, 0.99),
    "lgamma": (0.2, 30),
    "digamma": (0.2, 30),
    "cbrt": (-9, 9),
    "square": (-3, 3),
    "sign": (-2, 2),
    "floor": (-9, 9),
    "ceil": (-9, 9),
    "logistic": (-9, 9),
    "is_finite": (-2, 2),
    "reciprocal": (0.3, 3),
}
BINARY = (
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "max",
    "min",
    "pow",
    "atan2",
    "nextafter",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
)
OF_BITS = (
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "shift_left",
    "shift_right_logical",
    "shift_right_arithmetic",
)


def cases() -> Iterator[Case]:
    """Every function, of several types."""
    for name, (low, high) in UNARY.items():
        function = getattr(lax, name)
        yield Case(name, function, (floats(3, 5, low=low, high=high),), 1e-4)
        yield Case(f"{name}, special numbers", function, (SPECIAL,), 1e-4)
        for dtype in ("bfloat16", "float16"):
            x = floats(7, low=low, high=high, dtype=jnp.dtype(dtype))
            yield Case(f"{name}, {dtype}", function, (x,), 2e-2)
    for name in BINARY:
        function, positive = getattr(lax, name), name == "pow"
        x, y = floats(3, 4, low=0.1 if positive else -2), floats(3, 4)
        yield Case(name, function, (x, y), 1e-4)
        if name not in ("atan2", "nextafter", "pow"):
            yield Case(f"{name}, int32", function, (whole(3, 4), whole(3, 4, low=1)))
            u = whole(3, 4, low=0, dtype="u1"), whole(3, 4, low=1, dtype="u1")
            yield Case(f"{name}, uint8", function, u)
        if name != "nextafter":
            h = floats(6, low=0.5, dtype=jnp.bfloat16), floats(6, low=0.5, dtype=jnp.bfloat16)
            yield Case(f"{name}, bfloat16", function, h, 2e-2)
    for name in OF_BITS:
        function = getattr(lax, name)
        for dtype in ("int32", "uint32", "int8", "uint16"):
            amount = whole(9, low=0, high=40, dtype=dtype)
            yield Case(
                f"{name}, {dtype}", function, (whole(9, low=0, high=100, dtype=dtype) * 3, amount)
            )
        if "shift" not in name:
            yield Case(f"{name}, bool", function, (whole(9) > 0, whole(9) > 0))
    for dtype in ("int32", "uint8", "int16", "uint32"):
        x = whole(9, low=0, high=120, dtype=dtype)
        yield Case(f"population_count, {dtype}", lax.population_count, (x,))
        yield Case(f"clz, {dtype}", lax.clz, (x,))
        yield Case(f"bitwise_not, {dtype}", lax.bitwise_not, (x,))
        yield Case(f"abs, neg, sign, {dtype}", lambda x: (abs(x), -x, lax.sign(x)), (x,))
    yield Case("bitwise_not, bool", lax.bitwise_not, (whole(9) > 0,))
    for power in (-3, -1, 0, 1, 2, 5, 10):
        yield Case(
            f"integer_pow {power}",
            lambda x, p=power: lax.integer_pow(x, p),
            (floats(3, 4, low=0.5),),
            1e-4,
        )
    yield Case("integer_pow, int32", lambda x: lax.integer_pow(x, 3), (whole(5),))
    yield Case("pow, int exponent", lambda x, y: x**y, (floats(4), whole(4, low=0, high=5)), 1e-4)
    for method in lax.RoundingMethod:
        yield Case(
            f"round {method.name}",
            partial(lax.round, rounding_method=method),
            (np.array([0.5, 1.5, -0.5, -2.5, 2.4, -0.2, 1e9], "f4"),),
        )
    yield Case("clamp", lax.clamp, (np.float32(-1), floats(3, 4), np.float32(1)))
    yield Case("clamp, arrays", lax.clamp, (floats(3) - 3, floats(3), floats(3) + 3))
    yield Case("select", lax.select, (whole(3, 4) > 0, floats(3, 4), floats(3, 4)))
    yield Case(
        "select_n, numbers",
        lax.select_n,
        (whole(6, low=0, high=3), floats(6), floats(6), floats(6)),
    )
    numbers = np.array([0.3, -1.7, 300.5, -5e9, 3e12, np.nan, np.inf, 0], "f4")
    for dtype in ("int32", "uint8", "int8", "float16", "bfloat16", "bool", "uint32"):
        x = numbers if dtype[0] in "fb" else numbers[:3]
        x = x if not dtype.startswith("u") else np.abs(x)
        yield Case(
            f"convert float32 to {dtype}",
            partial(lax.convert_element_type, new_dtype=dtype),
            (x,),
            1e-2,
        )
        yield Case(
            f"convert int32 to {dtype}",
            partial(lax.convert_element_type, new_dtype=dtype),
            (whole(9) * 7,),
        )
    for source, target in (("f4", "i4"), ("f4", "u1"), ("f2", "u2"), ("i4", "i2")):
        yield Case(
            f"bitcast {source} to {target}",
            partial(lax.bitcast_convert_type, new_dtype=target),
            (floats(3, 4, low=-99, high=99, dtype=source),),
        )
    yield Case(
        "bitcast u1 to f4",
        partial(lax.bitcast_convert_type, new_dtype="f4"),
        (whole(3, 4, low=0, dtype="u1"),),
    )
    for bits in ((5, 10), (8, 7), (8, 23), (4, 3), (8, 3)):
        yield Case(
            f"reduce_precision {bits}",
            partial(lax.reduce_precision, exponent_bits=bits[0], mantissa_bits=bits[1]),
            (floats(9) * 50,),
            0,
        )
    yield Case(
        "stop_gradient, optimization_barrier",
        lambda x: lax.optimization_barrier(lax.stop_gradient(x)),
        (floats(3),),
    )
    yield Case("bessel_i0e", lax.bessel_i0e, (floats(3),), refused="bessel_i0e")
    yield Case("complex", lambda x: jnp.abs(x + 1j), (floats(3),), refused="complex64")
    yield Case(
        "igamma", lax.igamma, (floats(3, low=0.5), floats(3, low=0.5)), 1e-3, refused="igamma"
    )
    yield Case(
        "polygamma",
        lax.polygamma,
        (np.ones(3, "f4"), floats(3, low=0.5)),
        1e-3,
        refused="polygamma",
    )
    yield Case(
        "zeta", lax.zeta, (floats(3, low=2, high=4), floats(3, low=0.5)), 1e-3, refused="zeta"
    )
    yield Case(
        "betainc",
        lax.betainc,
        (floats(3, low=0.5), floats(3, low=0.5), floats(3, low=0, high=1)),
        1e-3,
        refused="regularized_incomplete_beta",
    )
    yield Case("fft", lambda x: jnp.abs(jnp.fft.rfft(x)), (floats(8),), 1e-4, refused="fft")


CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_in_jax(case: Case) -> None:
    check(case)
