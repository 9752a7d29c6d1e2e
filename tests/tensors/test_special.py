"""Special functions against mpmath's, and bit operations against NumPy's."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import DTypeError, Tensor
from compiler.imported.constants import computed

mpmath = pytest.importorskip("mpmath", reason="mpmath is not installed")

SMALL = [1e-10, -1e-10, 1e-30]
LINE = np.linspace(-6.3, 12, 83).tolist() + SMALL
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], list[float], float]] = {
    "erfc": (mpmath.erfc, LINE, 2.5),
    "erfinv": (mpmath.erfinv, [*np.linspace(-0.999, 0.999, 41), *SMALL, 1 - 6e-8], 6),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), [*LINE, 1e20], 1.5),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), [*LINE, 1e5, 1e20], math.inf),
    "digamma": (mpmath.digamma, [*LINE, 1e5, 1e20], math.inf),
}
"""The reference, the arguments, and the maximal error in units in the last place; where the
function crosses 0 it is an absolute error."""


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_beside_mpmath(name: str, dtype: Any) -> None:
    reference, arguments, units = FUNCTIONS[name]
    x = np.array(arguments, dtype)
    wanted = np.array([float(mpmath.re(reference(mpmath.mpf(float(v))))) for v in x])
    for got in (getattr(Tensor(x), name)().numpy(), *computed([getattr(Tensor(x), name)()])):
        assert got.dtype == dtype
        error = np.abs(got.astype(np.float64) - wanted)
        unit = np.spacing(np.abs(wanted).astype(dtype)).astype(np.float64)
        if math.isinf(units):  # 1 unit where float64 is rounded once
            allowed = unit + np.maximum(np.abs(wanted), 1) * 1e-14
        else:
            allowed = units * unit
        assert (error <= allowed).all(), (x[error > allowed], got[error > allowed])


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, math.inf, -math.inf, math.nan]
AT_EDGES = {
    "erfc": [1, 1, None, None, None, None, 0, 2, math.nan],
    "erfinv": [0, -0.0, math.inf, -math.inf, *[math.nan] * 5],
    "lgamma": [math.inf, math.inf, 0, math.inf, 0, math.inf, math.inf, math.inf, math.nan],
    "digamma": [-math.inf, math.inf, None, math.nan, None, math.nan, math.inf, math.nan, math.nan],
    "cbrt": [0, -0.0, 1, -1, None, None, math.inf, -math.inf, math.nan],
}


@pytest.mark.parametrize("name", AT_EDGES)
def test_at_edges(name: str) -> None:
    got = getattr(Tensor(SPECIAL), name)().tolist()
    for value, wanted in zip(got, AT_EDGES[name], strict=True):
        if wanted is not None:
            np.testing.assert_equal(value, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nextafter(dtype: Any) -> None:
    tiny = np.nextafter(dtype(0), dtype(1))
    x = np.array([0, 0, -0.0, 1, -1, math.inf, 5, math.nan, 1, -tiny, 3], dtype)
    y = np.array([1, -1, 0, 2, 2, 0, 5, 1, -math.inf, 1, math.nan], dtype)
    np.testing.assert_equal(Tensor(x).nextafter(y).numpy(), np.nextafter(x, y))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint32, np.int64])
def test_popcount(dtype: Any) -> None:
    info = np.iinfo(dtype)
    x = np.array([0, 1, 3, info.max, info.min, 85, 100], dtype)
    expected = [bin(int(v) % 2**info.bits).count("1") for v in x]
    assert Tensor(x).popcount().tolist() == expected
    assert Tensor(x).popcount().dtype == dtype


def test_popcount_of_floats_is_refused() -> None:
    with pytest.raises(DTypeError, match="only integers have bits to count"):
        Tensor([1.0]).popcount()
