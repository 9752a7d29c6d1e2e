"""Elementwise operations against NumPy: every type, every pair of types, every special value."""

import itertools
import math
import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from compiler.core import dtypes
from compiler.core.dtypes import DType, to_float
from compiler.core.errors import CompileError, DataError, DTypeError, ShapeError
from compiler.ops import references
from compiler.tensor import Tensor
from tests.evaluate import (
    FLOATS,
    NUMPYS,
    Array,
    Cases,
    assert_same,
    evaluate,
    every_engine,
    samples,
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
Function = Callable[..., Any]

UNARY: dict[str, Function] = {
    "neg": np.negative, "abs": np.abs, "sign": np.sign, "bitwise_not": np.invert,
    "logical_not": np.logical_not, "sqrt": np.sqrt, "square": np.square, "exp": np.exp,
    "exp2": np.exp2, "log": np.log, "log2": np.log2, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "tanh": np.tanh, "trunc": np.trunc, "floor": np.floor, "ceil": np.ceil, "isnan": np.isnan,
    "isinf": np.isinf, "isfinite": np.isfinite,
}  # fmt: skip


# Elementary functions: every engine may differ from NumPy by this many units in the last place.
ELEMENTARY = {"exp", "exp2", "log", "log2", "sin", "cos", "tan", "tanh", "pow", "hypot"}
ULPS = 4
# Of two zeros either may be the greater: NumPy's own answer depends on the length of the array.
EITHER_ZERO = {"maximum", "minimum"}


class Agreement(Cases):
    """Both give the same value, or both refuse."""

    def agree(self, ours: Callable[[], Tensor], theirs: Callable[[], Any], what: str) -> None:
        """One more; what NumPy refuses is tried at once."""
        try:
            expected = theirs()
        except (TypeError, OverflowError, ValueError):
            with pytest.raises(CompileError):
                evaluate(ours(), self._engine)
            return
        name = what.split()[0]
        ulps = ULPS if name in ELEMENTARY else 0
        self.same(ours(), expected, what, ulps=ulps, has_signed_zeros=name not in EITHER_ZERO)


SAMPLES = {dtype: Tensor(samples(dtype)) for dtype in NUMPYS}
"""One tensor for each type: programs over many pairs have few inputs."""


@every_engine
@pytest.mark.parametrize("method", UNARY)
def test_unary(method: str, engine: str) -> None:
    ours, theirs, cases = getattr(Tensor, method), UNARY[method], Agreement(engine)
    for dtype, x in SAMPLES.items():
        cases.agree(partial(ours, x), partial(theirs, samples(dtype)), f"{method} {dtype}")
    cases.check()


@every_engine
def test_round_is_to_even_and_keeps_integers(engine: str) -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4999, np.nan, np.inf], "f4")
    assert_same(evaluate(Tensor(x).round(), engine), np.rint(x))
    for dtype in (dtypes.int8, dtypes.uint64, dtypes.bool_):
        assert_same(evaluate(Tensor(samples(dtype)).round(), engine), samples(dtype))


def _edges(dtype: DType) -> tuple[Array, Array]:
    """Every pair of numbers at the limits of a type, subnormal numbers too."""
    limits = np.finfo(dtype.numpy)
    sizes = [0, limits.smallest_subnormal, 3 * limits.smallest_subnormal, limits.tiny, 1, 3, 4,
             limits.max / 2, limits.max, np.inf, np.nan]  # fmt: skip
    positive = np.array(sizes, dtype.numpy)
    both = np.meshgrid(*[np.concatenate([positive, -positive])] * 2)
    return both[0], both[1]


@every_engine
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_hypot_at_the_limits_of_its_type(dtype: DType, engine: str) -> None:
    first, second = _edges(dtype)
    got = evaluate(Tensor(first).hypot(second), engine)
    assert_same(got, np.hypot(first, second), "hypot", ulps=2)
    beside = np.isinf(first) & np.isnan(second)
    assert beside.any() and np.all(got[beside] == np.inf)


@every_engine
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_copysign_takes_the_sign_of_everything(dtype: DType, engine: str) -> None:
    first, second = _edges(dtype)
    got, expected = evaluate(Tensor(first).copysign(second), engine), np.copysign(first, second)
    assert_same(got, expected, "copysign")
    np.testing.assert_array_equal(np.signbit(got), np.signbit(second))


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _gelu(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS: dict[str, Function] = {
    "sigmoid": _sigmoid, "silu": lambda x: x * _sigmoid(x), "gelu": _gelu,
    "softplus": lambda x: np.logaddexp(x, 0),
    "erf": np.vectorize(math.erf, otypes="d"), "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(np.abs(x)),
}  # fmt: skip


@every_engine
@pytest.mark.parametrize("method", ACTIVATIONS)
def test_activations(method: str, engine: str) -> None:
    for dtype in (*FLOATS, dtypes.int32, dtypes.int8):
        values = np.array([-3, -2, -1, 1, 2, 4], dtype.numpy)
        x = Tensor(np.abs(values) if method == "rsqrt" else values)
        got = evaluate(getattr(x, method)(), engine)
        expected = ACTIVATIONS[method](values.astype("f8")).astype(to_float(dtype).numpy)
        rtol = 4 * float(np.finfo(expected.dtype).eps)
        assert_same(got, expected, (method, dtype.name), rtol)


@every_engine
def test_gelu_by_erf(engine: str) -> None:
    x = np.linspace(-4, 4, 33)
    expected = 0.5 * x * (1 + ACTIVATIONS["erf"](x / math.sqrt(2)))
    assert_same(evaluate(Tensor(x).gelu("none"), engine), expected, rtol=1e-14)
    assert np.abs(evaluate(Tensor(x).gelu(), engine) - expected).max() > 1e-5
    with pytest.raises(DTypeError, match="unknown approximation"):
        Tensor(x).gelu("exact")


@every_engine
def test_relu(engine: str) -> None:
    for dtype in (*FLOATS, dtypes.int16, dtypes.uint8):
        x = samples(dtype)
        expected = np.maximum(x, dtype.numpy.type(0))
        got = evaluate(Tensor(x).relu(), engine)
        assert_same(got, expected, dtype, has_signed_zeros=False)
    with pytest.raises(DTypeError):
        Tensor([True]).relu()


@every_engine
def test_comparisons_with_integers_out_of_range(engine: str) -> None:
    cases = Cases(engine)
    for dtype, number in itertools.product(
        (dtypes.int8, dtypes.uint64, dtypes.int64, dtypes.bool_), (-1, 256, 2**70, -(2**70))
    ):
        x = samples(dtype)
        for function in (operator.lt, operator.ge, operator.eq, operator.ne):
            what = f"{function.__name__} {dtype} {number}"
            expected = function(x.astype(object), number).astype(bool)
            cases.same(function(SAMPLES[dtype], number), expected, what)
    cases.check()


@every_engine
def test_comparisons_of_signed_with_unsigned_are_exact(engine: str) -> None:
    signed = np.array([2**63 - 1, 2**53, -1, 5, 5])
    unsigned = np.array([2**63, 2**53 + 1, 2**64 - 1, 5, 4], "u8")
    for function in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        got = evaluate(function(Tensor(signed), Tensor(unsigned)), engine)
        assert_same(got, function(signed, unsigned), function.__name__)
        got = evaluate(function(Tensor(unsigned), Tensor(signed)), engine)
        assert_same(got, function(unsigned, signed), function.__name__)


@every_engine
def test_numpy_scalars_are_not_weak(engine: str) -> None:
    x = np.array([1, 2], "i1")
    for scalar in (np.float32(2), np.int64(300), np.float64(0.5), np.bool_(True), np.uint8(200)):
        assert_same(evaluate(Tensor(x) + scalar, engine), x + scalar)
        assert_same(evaluate(scalar + Tensor(x), engine), scalar + x)


@every_engine
def test_arrays_and_lists_are_operands(engine: str) -> None:
    x = np.arange(3.0)
    assert_same(evaluate(x - Tensor(x[::-1]), engine), x - x[::-1])
    assert_same(evaluate(Tensor(x) * [1, 2, 3], engine), x * [1, 2, 3])
    assert_same(evaluate([1, 2, 3] - Tensor(x), engine), [1, 2, 3] - x)
    assert_same(evaluate(x == Tensor(x), engine), x == x)


@every_engine
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floor_division_of_random_floats(dtype: DType, engine: str) -> None:
    random = np.random.default_rng(7)
    a = (random.normal(size=4000) * 50).astype(dtype.numpy)
    b = random.normal(size=4000).astype(dtype.numpy)
    b[::7] = (a / 3).astype(dtype.numpy)[::7]
    b[::11] *= -1
    assert_same(evaluate(Tensor(a) // Tensor(b), engine), a // b)
    assert_same(evaluate(Tensor(a) % Tensor(b), engine), a % b)


@every_engine
def test_division_by_zero_and_of_the_minimum(engine: str) -> None:
    x = np.array([7, -7, 0, -128], "i1")
    tensor = Tensor(x)
    assert evaluate(tensor // 0, engine).tolist() == [0, 0, 0, 0]
    assert evaluate(tensor % 0, engine).tolist() == [0, 0, 0, 0]
    assert evaluate(tensor.idiv(0), engine).tolist() == [0, 0, 0, 0]
    assert evaluate(tensor // -1, engine).tolist() == [-7, 7, 0, -128]
    assert evaluate(tensor.fmod(4), engine).tolist() == [3, -3, 0, 0]
    assert evaluate(tensor % 4, engine).tolist() == [3, 1, 0, 0]
    assert evaluate(tensor.idiv(2), engine).tolist() == [3, -3, 0, -64]
    assert evaluate(tensor // 2, engine).tolist() == [3, -4, 0, -64]


@every_engine
def test_rounding_modes_of_div(engine: str) -> None:
    a, b = np.array([7.0, -7.0]), np.array([2.0, 2.0])
    assert evaluate(Tensor(a).div(b), engine).tolist() == [3.5, -3.5]
    assert evaluate(Tensor(a).div(b, "trunc"), engine).tolist() == [3.0, -3.0]
    assert evaluate(Tensor(a).div(b, "floor"), engine).tolist() == [3.0, -4.0]
    with pytest.raises(DTypeError, match="unknown rounding"):
        Tensor(a).div(b, "up")


@every_engine
def test_power(engine: str) -> None:
    for dtype in (*FLOATS, dtypes.int32, dtypes.uint8):
        base = np.array([0, 1, 2, 3, 5], dtype.numpy)
        exponent = np.array([0, 3, 2, 1, 3], dtype.numpy)
        expected = np.power(base, exponent)
        assert_same(evaluate(Tensor(base) ** Tensor(exponent), engine), expected, rtol=1e-3)
    assert evaluate(Tensor([2, -1, 1, 0]) ** Tensor([-1, -3, -5, -1]), engine).tolist() == [
        0, -1, 1, 0,
    ]  # fmt: skip
    with pytest.raises(DTypeError, match="negative powers"):
        Tensor([1, 2]) ** -1


@every_engine
def test_shifts_past_the_width(engine: str) -> None:
    x = np.array([1, -8, 127, -128], "i1")
    assert evaluate(Tensor(x) << 8, engine).tolist() == [0, 0, 0, 0]
    assert evaluate(Tensor(x) >> 100, engine).tolist() == [0, -1, 0, -1]
    assert evaluate(Tensor(x) << Tensor(np.array([-1, -1, -1, -1], "i1")), engine).any() == 0


@every_engine
def test_where_and_masked_fill(engine: str) -> None:
    x = np.array([[1.0, np.nan, -0.0]])
    condition = np.array([[True], [False]])
    got = evaluate(Tensor(condition).where(Tensor(x), -1), engine)
    assert_same(got, np.where(condition, x, -1.0))
    numbers = np.array([0.0, 2.0, np.nan])
    assert_same(evaluate(Tensor(numbers).where(1, 2), engine), np.where(numbers, 1, 2))
    assert_same(evaluate(Tensor(numbers).where(1, 2.5), engine), np.where(numbers, 1, 2.5))
    filled = Tensor(np.array([1, 2, 3], "i1")).masked_fill([True, False, True], 9)
    assert_same(evaluate(filled, engine), np.array([9, 2, 9], "i1"))


@every_engine
def test_clip(engine: str) -> None:
    x = np.array([-5, 0, 5, 9], "i2")
    for low, high in ((0, 6), (None, 3), (-1, None), (4, 2), (None, None)):
        expected = x if (low, high) == (None, None) else np.clip(x, low, high)
        assert_same(evaluate(Tensor(x).clip(low, high), engine), expected)
        assert_same(evaluate(Tensor(x).clamp(min=low, max=high), engine), expected)


@every_engine
def test_mulacc(engine: str) -> None:
    a, b = np.array([1.5, 2.0], "f4"), np.array([[3.0], [4.0]], "f4")
    assert_same(evaluate(Tensor(a).mulacc(b, 1), engine), a * b + 1)


@every_engine
@pytest.mark.parametrize("target", NUMPYS, ids=str)
def test_casts(target: DType, engine: str) -> None:
    cases = Cases(engine)
    for dtype, tensor in SAMPLES.items():
        x = samples(dtype)
        cases.same(tensor.cast(target), references.cast(x, target), f"{dtype} to {target}")
        if not dtype.is_float or target.is_float:
            cases.same(tensor.cast(target), x.astype(target.numpy), f"{dtype} to {target}")
    cases.check()


@every_engine
def test_float_to_integer_saturates(engine: str) -> None:
    x = np.array([1e30, -1e30, np.nan, np.inf, -np.inf, 2.9, -2.9])
    for dtype in (dtypes.int8, dtypes.int64, dtypes.uint32, dtypes.uint64):
        low, high = dtype.minimum, dtype.maximum
        got = evaluate(Tensor(x).cast(dtype), engine).tolist()
        assert got == [high, low, 0, high, low, 2, max(-2, low)]


@every_engine
def test_named_casts_and_bitcast(engine: str) -> None:
    x = Tensor([0.0, 1.5, -2.0])
    names = {"half": "f2", "float": "f4", "double": "f8", "int": "i4", "long": "i8", "bool": "?"}
    for method, name in names.items():
        assert evaluate(getattr(x, method)(), engine).dtype == np.dtype(name)
    single = np.array([1.0, -0.0, np.nan, np.inf], "f4")
    assert_same(evaluate(Tensor(single).bitcast("int32"), engine), single.view("i4"))
    assert_same(evaluate(Tensor(True).bitcast("uint8"), engine), np.uint8(1))
    for wrong in ("int64", "bool", "float16"):
        with pytest.raises(DTypeError, match="bits cannot be reinterpreted"):
            Tensor(single).bitcast(wrong)
    with pytest.raises(DTypeError):
        Tensor(np.array([3], "u1")).bitcast("bool")


def test_integers_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="300") as caught:
        Tensor(np.array([1], "u1")) + 300
    assert "does not fit into uint8" in str(caught.value)
    with pytest.raises(DataError):
        Tensor([1.0]) + 10**400
    with pytest.raises(DataError, match="object"):
        Tensor([1]) + object()
    with pytest.raises(DataError):
        Tensor([1]) + 1j


def test_equality_with_strangers_is_identity() -> None:
    x = Tensor([1, 2])
    assert (x == None) is False  # noqa: E711
    assert (x != "text") is True
    assert len({x, Tensor([1, 2]), x}) == 2


@every_engine
@given(hnp.mutually_broadcastable_shapes(num_shapes=3, min_side=0, max_side=4), st.data())
def test_broadcasting(engine: str, shapes: hnp.BroadcastableShapes, data: st.DataObject) -> None:
    a, b, c = (
        data.draw(hnp.arrays("i4", shape, elements=st.integers(-9, 9)))
        for shape in shapes.input_shapes
    )
    cases, ours = Cases(engine), Tensor(a) + Tensor(b) * Tensor(c)
    assert ours.shape == shapes.result_shape
    cases.same(ours, a + b * c)
    cases.same(Tensor(a > 0).where(b, c), np.where(a > 0, b, c))
    cases.check()


@given(hnp.array_shapes(min_side=0, max_side=3), hnp.array_shapes(min_side=0, max_side=3))
def test_broadcasting_fails_when_numpy_fails(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    try:
        expected = np.broadcast_shapes(left, right)
    except ValueError:
        with pytest.raises(ShapeError):
            Tensor.zeros(left) + Tensor.ones(right)
    else:
        assert (Tensor.zeros(left) + Tensor.ones(right)).shape == expected


def test_where_of_an_array() -> None:
    """`Tensor.where(condition, yes, no)` is written as NumPy's `where` is."""
    x = Tensor([1.0, 2.0])
    assert Tensor.where(x > 1, x, 0).tolist() == [0.0, 2.0]
    for condition in (np.array([True, False]), [True, False], np.array([3, 0])):
        assert Tensor.where(condition, x, 9).tolist() == [1.0, 9.0]  # type: ignore[arg-type]
        assert Tensor.where(condition, 9, x).tolist() == [9.0, 2.0]  # type: ignore[arg-type]
    with pytest.raises(DataError, match="where: where needs a tensor"):
        Tensor.where(np.array([True]), 1, 2)  # type: ignore[arg-type]
