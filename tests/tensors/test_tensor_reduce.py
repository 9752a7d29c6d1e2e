"""Reductions, normalisations and matrix products against NumPy and high-precision formulas."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.errors import AxisError, CompileError, ShapeError
from compiler.core.node import toposort
from compiler.graph.words import operation, short
from compiler.tensor import Tensor
from tests.evaluate import (
    ENGINES,
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

FOLDS: dict[str, Callable[..., Any]] = {
    "sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "any": np.any, "all": np.all,
    "mean": np.mean,
}  # fmt: skip
AXES: tuple[Any, ...] = (None, 0, 1, -1, (0, 1), (0, 2), (-1, 0), (0, 1, 2), ())


def _close(dtype: DType) -> float:
    """A relative error that sums in another order may have."""
    return 16 * float(np.finfo(dtype.numpy).eps) if dtype.is_float else 1e-14


@every_engine
@pytest.mark.parametrize("method", FOLDS)
@pytest.mark.parametrize("dtype", NUMPYS, ids=str)
def test_folds(method: str, dtype: DType, engine: str) -> None:
    x = np.resize(samples(dtype), 24).reshape(2, 3, 4)
    if dtype.is_float:
        x = np.where(np.isfinite(x), np.clip(x, -3, 3), 1).astype(x.dtype)
    elif method == "mean":
        x = x % dtype.numpy.type(100) if dtype.is_integer else x  # limits would cancel out
    cases, tensor = Cases(engine), Tensor(x)
    for place, axis in enumerate(AXES):
        both = (False, True)
        for keepdim in both if engine == "graph" else both[(place + len(method)) % 2 :][:1]:
            ours = getattr(tensor, method)(axis, keepdim)
            expected = FOLDS[method](x, axis=axis, keepdims=keepdim)
            exact = method in ("max", "min", "any", "all") or not ours.dtype.is_float
            rtol = 0.0 if exact else max(_close(dtype), 1e-14)
            cases.same(ours, expected, f"{method} {dtype} {axis} {keepdim}", rtol=rtol)
    cases.check()


@every_engine
@pytest.mark.parametrize("method", FOLDS)
def test_special_values(method: str, engine: str) -> None:
    for values in (
        [1.0, np.nan, 3.0],
        [np.inf, -1.0],
        [-np.inf, np.inf],
        [-0.0, -0.0],
        [0.0, -0.0],
    ):
        x = np.array(values)
        got = evaluate(getattr(Tensor(x), method)(), engine)
        np.testing.assert_array_equal(got, FOLDS[method](x), f"{method} {values}")


@every_engine
@pytest.mark.parametrize("shape", ((0,), (0, 3), (3, 0), (2, 0, 3), (1, 1), ()))
def test_empty_and_single_axes(shape: tuple[int, ...], engine: str) -> None:
    x, cases = np.ones(shape, "f4"), Cases(engine)
    for axis in (None, *range(len(shape))):
        for method, numpys in FOLDS.items():
            try:
                expected = numpys(x, axis=axis)
            except ValueError:
                with pytest.raises(ShapeError, match=f"no elements have no {method}"):
                    getattr(Tensor(x), method)(axis)
                continue
            cases.same(getattr(Tensor(x), method)(axis), expected, f"{method} {shape} {axis}")
    cases.check()


@every_engine
def test_half_precision_accumulates_in_single(engine: str) -> None:
    x = np.full(5000, 0.1, "f2")
    expected = np.float16(np.sum(x.astype("f4")))
    assert_same(evaluate(Tensor(x).sum(), engine), expected, rtol=1e-3)
    ones = np.ones((4096, 2), "f2")  # added row by row in float16 they would stop at 2048
    assert_same(evaluate(Tensor(ones).sum(0), engine), np.array([4096, 4096], "f2"))
    large = Tensor(np.array([300, -300], "f2"))  # 300 * 300 is beyond float16
    assert_same(evaluate(large @ np.array([300, 300], "f2"), engine), np.float16(0))
    assert_same(evaluate(Tensor(np.full(70000, 1, "f2")).mean(), engine), np.float16(1))
    assert_same(evaluate(Tensor(np.full((1, 4096), 1, "f2")).matmul(np.ones(4096, "f2")), engine),
                np.array([4096], "f2"))  # fmt: skip


@every_engine
def test_result_types(engine: str) -> None:
    for dtype in NUMPYS:
        x = np.ones(3, dtype.numpy)
        for method in ("sum", "prod", "mean", "max", "any"):
            assert getattr(Tensor(x), method)().dtype.numpy == FOLDS[method](x).dtype
    small = Tensor(np.array([200, 100], "u1"))
    assert_same(evaluate(small.sum(dtype="uint8"), engine), np.uint8(44))
    assert_same(evaluate(small.prod(dtype="f4"), engine), np.float32(20000))


SPREAD = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.bool_)


@every_engine
@pytest.mark.parametrize("correction", (0, 1, 2, 9))
def test_var_and_std(correction: int, engine: str) -> None:
    x = np.random.default_rng(1).normal(3, 2, (3, 4, 2)).astype("f4")
    cases = Cases(engine)
    few = engine != "graph" and correction != 1  # one type that is converted, and one that is not
    for dtype in (dtypes.int32, dtypes.float32) if few else SPREAD:
        values = x.astype(dtype.numpy)
        for axis in (None, 0, (1, 2)):
            for method, numpys in (("var", np.var), ("std", np.std)):
                ours = getattr(Tensor(values), method)(axis, correction=correction)
                expected = numpys(values, axis=axis, ddof=correction)
                what = f"{method} {dtype} {axis}"
                cases.same(ours, expected, what, rtol=_close(dtype))
    cases.same(Tensor(x).var(), np.var(x, ddof=1), rtol=1e-5)
    cases.check()


@every_engine
@pytest.mark.parametrize("method", ("argmax", "argmin"))
def test_positions(method: str, engine: str) -> None:
    numpys = getattr(np, method)
    for dtype in NUMPYS:
        x = np.resize(samples(dtype), 24).reshape(2, 3, 4)
        cases, tensor = Cases(engine), Tensor(x)
        for axis in (None, 0, 1, -1):
            for keepdim in (False, True) if engine == "graph" or axis == 1 else (False,):
                expected = numpys(x, axis=axis, keepdims=keepdim)
                cases.same(getattr(tensor, method)(axis, keepdim), expected, f"{dtype} {axis}")
        cases.check()
    for values in ([1.0, np.nan, np.nan], [0.0, -0.0], [-np.inf, -np.inf], [np.inf, 3.0]):
        x = np.array(values)
        assert_same(evaluate(getattr(Tensor(x), method)(), engine), numpys(x))
    assert evaluate(getattr(Tensor(3.0), method)(), engine) == 0
    for shape, axis in (((0,), None), ((2, 0), 1)):
        with pytest.raises(ShapeError, match=f"no elements have no {method}"):
            getattr(Tensor.zeros(shape), method)(axis)
    assert evaluate(getattr(Tensor.zeros((0, 2)), method)(1), engine).shape == (0,)


def _softmax(x: Array, axis: Any) -> Array:
    e = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(e / e.sum(axis, keepdims=True))


@every_engine
@pytest.mark.parametrize("dtype", (*FLOATS, dtypes.int32), ids=str)
def test_normalisations(dtype: DType, engine: str) -> None:
    x = (np.random.default_rng(2).normal(size=(3, 4, 5)) * 4).astype(dtype.numpy)
    wide = x.astype("f8")
    result = dtype.numpy if dtype.is_float else np.dtype("f8")
    cases, rtol = Cases(engine), _close(dtype)
    for axis in (-1, 0, (1, 2)):
        soft = _softmax(wide, axis)
        total = np.log(np.exp(wide).sum(axis))
        spread = wide.var(axis, keepdims=True) + 1e-3
        norm = (wide - wide.mean(axis, keepdims=True)) / np.sqrt(spread)
        tensor = Tensor(x)
        for ours, expected in (
            (tensor.softmax(axis), soft),
            (tensor.log_softmax(dim=axis), np.log(soft)),
            (tensor.logsumexp(axis), total),
            (tensor.layernorm(axis, eps=1e-3), norm),
        ):
            cases.same(ours, expected.astype(result), axis, rtol=rtol)
    cases.check()


@every_engine
def test_normalisations_of_large_numbers_and_infinities(engine: str) -> None:
    x = np.array([[1e4, 1e4], [-1e4, 1e4]])
    assert evaluate(Tensor(x).softmax(), engine).tolist() == [[0.5, 0.5], [0, 1]]
    assert evaluate(Tensor(x).log_softmax(), engine)[1].tolist() == [-2e4, 0]
    infinite = np.array([[np.inf, 1], [-np.inf, -np.inf], [-np.inf, 2], [np.nan, 0]])
    got = evaluate(Tensor(infinite).logsumexp(), engine)
    np.testing.assert_array_equal(got, [np.inf, -np.inf, 2, np.nan])
    assert evaluate(Tensor(x).logsumexp(keepdim=True), engine).shape == (2, 1)


@every_engine
def test_normalisations_of_nothing(engine: str) -> None:
    for method in ("softmax", "log_softmax", "layernorm"):
        for shape in ((0, 3), (3, 0)):
            assert evaluate(getattr(Tensor.zeros(shape), method)(), engine).shape == shape
    with pytest.raises(ShapeError, match="no elements have no logsumexp"):
        Tensor.zeros(3, 0).logsumexp()
    assert evaluate(Tensor.zeros(0, 3).logsumexp(), engine).shape == (0,)


SHAPES = (
    ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((3, 4), (4, 2)), ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)), ((5, 1, 3, 4), (2, 4, 1)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)),
    ((3, 0), (0, 2)), ((0, 3), (3, 2)), ((1, 1), (1, 1)), ((0, 2, 3), (3, 4)),
)  # fmt: skip


@every_engine
@pytest.mark.parametrize(("left", "right"), SHAPES, ids=str)
def test_matmul_shapes(left: tuple[int, ...], right: tuple[int, ...], engine: str) -> None:
    random, cases = np.random.default_rng(3), Cases(engine)
    a, b = random.normal(size=left), random.normal(size=right)
    for ours in (Tensor(a) @ Tensor(b), Tensor(a).matmul(b), a @ Tensor(b), Tensor(a) @ b):
        cases.same(ours, a @ b, rtol=1e-13)
    cases.same(Tensor(a).dot(b), np.dot(a, b), rtol=1e-13)
    cases.check()


@every_engine
def test_matmul_types(engine: str) -> None:
    """Every pair on the graph's interpreter, for types are promoted before anything is compiled; on
    each later engine every type on either side, with a third of the others."""
    at = engine == "machine"
    arrays = {d: np.resize(samples(d)[:4], 6).reshape(2, 3) for d in NUMPYS}
    tensors = {d: Tensor(a) for d, a in arrays.items()}
    for row, (left, a) in enumerate(arrays.items()):
        cases = Cases(engine)
        for column, (right, b) in enumerate(arrays.items()):
            if engine != "graph" and (at + row + column) % 3:
                continue
            ours = tensors[left] @ tensors[right].reshape(3, 2)
            rtol = 1e-3 if ours.dtype.is_float else 0.0
            cases.same(ours, a @ b.reshape(3, 2), f"{left} @ {right}", rtol=rtol)
        cases.check()


@every_engine
def test_integer_products_wrap(engine: str) -> None:
    a = np.full((2, 3), 100, "i1")
    assert_same(evaluate(Tensor(a) @ a.T, engine), a @ a.T)


@every_engine
def test_dot_and_linear(engine: str) -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(40.0).reshape(2, 4, 5)
    assert_same(evaluate(Tensor(a).dot(b), engine), np.dot(a, b))
    assert_same(evaluate(Tensor(a).dot(2.5), engine), np.dot(a, 2.5))
    assert_same(evaluate(Tensor(a).linear(b[0]), engine), a @ b[0])
    assert_same(
        evaluate(Tensor(a).linear(b[0], [1, 2, 3, 4, 5]), engine), a @ b[0] + np.arange(1, 6)
    )


def test_the_graph_of_a_product_is_the_one_in_the_design() -> None:
    x, w = Tensor(np.ones((64, 784), "f4"), name="x"), Tensor(np.ones((784, 10), "f4"), name="w")
    printed = [f"{operation(node)} {short(node)}" for node in toposort([(x @ w).node])]
    assert printed == [
        "buffer f32[64,784]", "reshape f32[64,1,784]", "expand f32[64,10,784]",
        "buffer f32[784,10]", "permute f32[10,784]", "reshape f32[1,10,784]",
        "expand f32[64,10,784]", "mul f32[64,10,784]", "reduce sum f32[64,10,1]",
        "reshape f32[64,10]",
    ]  # fmt: skip


@pytest.mark.parametrize("method", ["sum", "prod", "max", "min", "any", "all", "argmax", "argmin"])
def test_rank_0_folds_along_0_as_numpys(method: str) -> None:
    for axis in (0, -1):
        expected = np.asarray(getattr(np, method)(np.array(2.5), axis=axis))
        made = getattr(Tensor(2.5), method)(axis)
        assert_same(made.numpy(), expected, method)
    assert Tensor(2.5).count_nonzero(0).item() == np.count_nonzero(np.array(2.5), axis=0) == 1


REFUSED: dict[str, tuple[type[CompileError], Callable[[Tensor], object], str]] = {
    "axis": (AxisError, lambda t: t.sum(3), "axis 3 is out of range"),
    "twice": (AxisError, lambda t: t.sum((0, -3)), "named twice"),
    "both": (AxisError, lambda t: t.mean(0, dim=1), "both axis= and dim="),
    "argmax axes": (AxisError, lambda t: t.argmax((0, 1)), "one axis"),
    "rank 0": (AxisError, lambda t: t.sum().sum(1), "rank 0 has none"),
    "softmax": (AxisError, lambda t: t.softmax(-4), "axis -4"),
    "matmul": (ShapeError, lambda t: t @ t, "the axes to sum over differ: 4 and 3"),
    "matmul batch": (ShapeError, lambda t: t @ Tensor.zeros(3, 4, 5), "(2, 3, 4) and (3, 4, 5)"),
    "matmul rank 0": (ShapeError, lambda t: t @ 2.0, "no axis to sum over"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    kind, call, message = REFUSED[name]
    with pytest.raises(kind) as caught:
        call(Tensor.zeros(2, 3, 4))
    assert message in str(caught.value)


@settings(max_examples=40)
@given(
    hnp.arrays(
        "i4", hnp.array_shapes(min_dims=1, max_dims=4, max_side=4), elements=st.integers(-9, 9)
    ),
    st.data(),
)
def test_any_axes(array: Array, data: st.DataObject) -> None:
    """Every engine on the same data: what they share is made once."""
    axes = tuple(data.draw(st.sets(st.integers(0, array.ndim - 1))))
    keepdim = data.draw(st.booleans())
    tensor = Tensor(array)
    for engine in ENGINES:
        cases = Cases(engine)
        for method in ("sum", "max", "all"):
            ours = getattr(tensor, method)(dim=axes, keepdim=keepdim)
            expected = FOLDS[method](array, axis=axes, keepdims=keepdim)
            cases.same(ours, expected, f"{engine} {method}")
        cases.check()
