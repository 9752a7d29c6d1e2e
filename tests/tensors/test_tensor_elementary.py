"""Functions made of elementary operations, against NumPy, on every engine."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, compile
from compiler.core import dtypes
from compiler.core.dtypes import DType
from tests.evaluate import FLOATS, assert_same, evaluate, every_engine, samples
from tests.validation import validation_set

RNG = np.random.default_rng(3)
ODD = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-9, -1e-9, 30.0, np.inf, -np.inf, np.nan])
FIRST, SECOND = (a.reshape(-1) for a in np.meshgrid(ODD, ODD))
HUGE = np.array([1e300, -1e300, 1e-300, 3.0])

Case = tuple[str, Callable[..., Any], Callable[..., Any], tuple[Any, ...]]


def leaky(a: Any) -> Any:
    return np.where(a < 0, a * 0.01, a)


CORNERS = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-300, -1e300])
CASES: tuple[Case, ...] = (
    ("floor_divide", lambda t, o: t.floor_divide(o), np.floor_divide, (FIRST, SECOND)),
    ("remainder", lambda t, o: t.remainder(o), np.remainder, (FIRST, SECOND)),
    ("fmax", lambda t, o: t.fmax(o), np.fmax, (FIRST, SECOND)),
    ("fmin", lambda t, o: t.fmin(o), np.fmin, (FIRST, SECOND)),
    ("fmax of integers", lambda t: t.fmax(2), lambda a: np.fmax(a, 2), (np.arange(5),)),
    ("hypot", lambda t, o: t.hypot(o), np.hypot, (FIRST, SECOND)),
    ("hypot of large", lambda t: t.hypot(HUGE[::-1]), lambda a: np.hypot(a, a[::-1]), (HUGE,)),
    ("atan2", lambda t, o: t.atan2(o), np.arctan2, (FIRST, SECOND)),
    ("atan2 of zeros and infinities", lambda t: t.atan2(CORNERS[:, None]),
     lambda a: np.arctan2(a, CORNERS[:, None]), (CORNERS,)),
    ("copysign", lambda t, o: t.copysign(o), np.copysign, (FIRST, SECOND)),
    ("signbit", lambda t: t.signbit(), np.signbit, (ODD,)),
    ("logaddexp", lambda t, o: t.logaddexp(o), np.logaddexp, (FIRST, SECOND)),
    ("logcumsumexp", lambda t: t.logcumsumexp(), np.logaddexp.accumulate, (ODD[:-2],)),
    ("logcumsumexp far", lambda t: t.logcumsumexp(1), lambda a: np.logaddexp.accumulate(a, 1),
     (np.array([[-800.0, 0, 900, 2], [1e4, -np.inf, 3, 4]]),)),
    ("nextafter", lambda t, o: t.nextafter(o), np.nextafter, (FIRST, SECOND)),
    ("nextafter of corners", lambda t: t.nextafter(CORNERS[:, None]),
     lambda a: np.nextafter(a, CORNERS[:, None]), (CORNERS,)),
    ("nextafter of singles", lambda t: t.nextafter(0),
     lambda a: np.nextafter(a, np.float32(0)), (np.array([1, -1, 1e-45, 0], "f4"),)),
    ("log10", lambda t: t.abs().log10(), lambda a: np.log10(np.abs(a)), (ODD,)),
    ("log1p", lambda t: t.log1p(), np.log1p, (ODD,)),
    ("expm1", lambda t: t.expm1(), np.expm1, (ODD,)),
    ("sinh", lambda t: t.sinh(), np.sinh, (np.append(ODD, [710.0, -700.0, 1e-5, 0.3]),)),
    ("cosh", lambda t: t.cosh(), np.cosh, (np.append(ODD, [710.0, -700.0, 1e-5, 0.3]),)),
    ("isclose", lambda t, o: t.isclose(o), np.isclose, (FIRST, SECOND)),
    ("isclose nan", lambda t, o: t.isclose(o, equal_nan=True),
     lambda a, b: np.isclose(a, b, equal_nan=True), (FIRST, SECOND)),
    ("isclose near", lambda t: t.isclose(t * (1 + 1e-6)), lambda a: np.isclose(a, a * (1 + 1e-6)),
     (ODD,)),
    ("allclose", lambda t: t.allclose(t), lambda a: np.bool_(np.allclose(a, a)), (ODD,)),
    ("count_nonzero", lambda t: t.count_nonzero(), np.count_nonzero, (ODD,)),
    ("count along", lambda t: t.count_nonzero(0), lambda a: np.count_nonzero(a, 0), (np.eye(3),)),
    ("nan_to_num", lambda t: t.nan_to_num(), np.nan_to_num, (ODD,)),
    ("nan_to_num given", lambda t: t.nan_to_num(1, 2, 3),
     lambda a: np.nan_to_num(a, nan=1, posinf=2, neginf=3), (ODD,)),
    ("leaky_relu", lambda t: t.leaky_relu(), leaky, (ODD,)),
    ("elu", lambda t: t.elu(), lambda a: np.where(a < 0, np.expm1(np.minimum(a, 0)), a), (ODD,)),
    ("relu6", lambda t: t.relu6(), lambda a: np.clip(a, 0, 6), (ODD,)),
    ("softsign", lambda t: t.softsign(), lambda a: a / (1 + np.abs(a)), (ODD,)),
    ("mish", lambda t: t.mish(), lambda a: a * np.tanh(np.logaddexp(a, 0)), (ODD,)),
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_as_numpy(case: Case, engine: str) -> None:
    name, ours, theirs, arrays = case
    with np.errstate(all="ignore"):
        expected = np.asarray(theirs(*arrays))
        got = evaluate(ours(*map(Tensor, arrays)), engine)
    # The sign of the greater of 0.0 and -0.0 is nobody's promise.
    has_signs = name not in ("fmax", "fmin", "relu6")
    assert_same(got, expected, name, ulps=8, has_signed_zeros=has_signs)


@every_engine
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_every_float(dtype: DType, engine: str) -> None:
    array = samples(dtype)
    x = Tensor(array)
    assert_same(evaluate(x.signbit(), engine), np.signbit(array))
    assert_same(evaluate(x.nan_to_num(), engine), np.nan_to_num(array))
    assert_same(evaluate(x.copysign(-1), engine), np.copysign(array, array.dtype.type(-1)))
    with np.errstate(all="ignore"):
        assert_same(evaluate(x.expm1(), engine), np.expm1(array), ulps=8)


@pytest.mark.parametrize("dtype", [dtypes.int8, dtypes.uint64, dtypes.int64], ids=str)
def test_integers(dtype: DType) -> None:
    array = samples(dtype)
    assert_same(evaluate(Tensor(array).nan_to_num()), array)
    assert_same(evaluate(Tensor(array).signbit()), array < 0)
    with np.errstate(over="ignore"):
        assert_same(evaluate(Tensor(array).expm1()), np.expm1(array), ulps=8)


@every_engine
def test_lerp(engine: str) -> None:
    start, end, share = (RNG.standard_normal(9) for _ in range(3))
    got = evaluate(Tensor(start).lerp(end, share), engine)
    assert_same(got, start + share * (end - start), rtol=1e-12)
    ends = [evaluate(Tensor(start).lerp(end, weight), engine) for weight in (0, 1)]
    np.testing.assert_array_equal(ends, [start, end])


@every_engine
def test_softmin(engine: str) -> None:
    array = RNG.standard_normal((2, 5))
    powers = np.exp(-array)
    got = evaluate(Tensor(array).softmin(), engine)
    assert_same(got, powers / powers.sum(-1, keepdims=True), rtol=1e-12)


DOMAINS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("log10", "log1p"), lambda size: size),
    **dict.fromkeys(("expm1", "sinh", "cosh", "asinh"), lambda size: np.append(size, -size)),
    "acosh": lambda size: 1 + size,
    "atanh": lambda size: np.append(size, -size)[np.append(size, size) < 1],
}
"""Of methods that are made of others: the arguments of magnitudes."""


def _numpys(name: str) -> str:
    return f"arc{name[1:]}" if name in ("acosh", "asinh", "atanh") else name


@pytest.mark.parametrize("name", DOMAINS)
def test_accuracy(name: str) -> None:
    """Within 4 units in the last place from the smallest to the largest magnitudes."""
    for dtype in (np.float32, np.float64):
        size = np.exp(RNG.uniform(-60, math.log(80), 4000)).astype(dtype)
        array = DOMAINS[name](size).astype(dtype)
        got = getattr(Tensor(array), name)().numpy()
        exact = getattr(np, _numpys(name))(array.astype(np.longdouble)).astype(dtype)
        np.testing.assert_array_max_ulp(got, exact, 4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", DOMAINS)
def test_against_validation_set_of_numpy(name: str, dtype: type[np.floating[Any]]) -> None:
    """Infinities, NaN, subnormal numbers and the ends of the range among them."""
    x, expected = validation_set(_numpys(name), dtype)
    got = getattr(Tensor(x), name)().numpy()
    np.testing.assert_array_max_ulp(got, expected, 4)


def test_running_sums_of_exp_are_little_code() -> None:
    """Steps of a scan that are computed again where they are read double the code of the next."""
    compilation = compile(Tensor(np.ones((45, 65), np.float32)).logcumsumexp(1))
    assert sum(len(source.rows) for source in compilation.source) < 5_000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("place", [0, 3, 9])
def test_running_sums_of_exp_from_infinities_on(dtype: type[np.floating[Any]], place: int) -> None:
    rows = np.array([math.inf, -math.inf, math.nan])[:, None] * np.ones((3, 20))
    array = np.where(np.arange(20) == place, rows, RNG.normal(size=(3, 20)) * 200).astype(dtype)
    array[:, :2] = -math.inf
    got = Tensor(array).logcumsumexp(1).numpy()
    with np.errstate(all="ignore"):
        assert_same(got, np.logaddexp.accumulate(array, 1), ulps=8)
