"""NumPy's functions on tensors: as lazy as the methods, with NumPy's values; or an error."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from compiler.graph.nodes import Buffer
from compiler.tensors.numpy_calls import OTHERWISE, method_of, standard
from compiler.tensors.numpy_functions import ARRANGED
from tests.pages import page

A = np.arange(6, dtype=np.float32).reshape(2, 3) + 1
I = np.array([[3, -1, 4], [1, 5, -2]], np.int32)  # noqa: E741
INTEGERS = frozenset(("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift",
                      "right_shift"))  # fmt: skip


BELOW_ONE = frozenset(("arccos", "arcsin", "arctanh"))
UFUNCS = {function.__name__ for function in vars(np).values() if isinstance(function, np.ufunc)}
LAZY = {name for name in UFUNCS if method_of(Tensor, name)}


def test_elementwise_functions_are_those_with_a_method() -> None:
    named = {
        "absolute", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
        "arctanh", "bitwise_and", "bitwise_or", "bitwise_xor", "ceil", "copysign", "cos", "cosh",
        "divide", "equal", "exp", "exp2", "expm1", "fabs", "floor", "floor_divide", "fmax",
        "fmin", "fmod", "greater", "greater_equal", "hypot", "invert", "isfinite", "isinf",
        "isnan", "left_shift", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp",
        "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "maximum", "minimum",
        "multiply", "negative", "nextafter", "not_equal", "power", "remainder", "right_shift",
        "rint", "sign", "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh",
        "trunc",
    }  # fmt: skip
    assert named <= LAZY
    refused = UFUNCS - LAZY
    assert {"reciprocal", "gcd", "positive"} <= refused


@pytest.mark.parametrize("name", sorted(LAZY - {"matmul"}))
def test_elementwise(name: str) -> None:
    function: Any = getattr(np, name)
    array: Any = np.abs(I) if name in INTEGERS else A / 16 if name in BELOW_ONE else A / 2 + 0.5
    operands = (array, array[::-1].copy())[: function.nin]
    expected = function(*operands)
    for place in range(function.nin):
        mixed = [Tensor(v) if i == place else v for i, v in enumerate(operands)]
        made = function(*mixed)
        assert isinstance(made, Tensor) and not isinstance(made.node, Buffer)
        assert made.dtype == expected.dtype
        np.testing.assert_allclose(made.numpy(), expected, rtol=1e-6)
    assert function(*map(Tensor, operands)).node.origin.line > 0


CALLS: dict[str, Callable[[Any], Any]] = {
    "maximum of a number": lambda t: np.maximum(0, t - 3),
    "power of a number": lambda t: np.power(2, t),
    "array + t": lambda t: A + t,
    "array @ t": lambda t: A.T @ t,
    "array - t": lambda t: A - t,
    "array / t": lambda t: A / t,
    "array < t": lambda t: A[::-1] < t,
    "array == t": lambda t: t == A,
    "array ** t": lambda t: A**t,
    "number of NumPy": lambda t: np.float32(2) * t,
    "wider number of NumPy": lambda t: np.float64(2) * t,
    "list": lambda t: np.add([1, 2, 3], t),
    "sum": lambda t: np.sum(t, 0),
    "sum keepdims": lambda t: np.sum(t, axis=1, keepdims=True),
    "sum dtype": lambda t: np.sum(t, 0, np.float64),
    "add.reduce": lambda t: np.add.reduce(t),
    "maximum.reduce": lambda t: np.maximum.reduce(t, axis=1, keepdims=True),
    "mean": lambda t: np.mean(t, 0, None, None, True),
    "std": lambda t: np.std(t, axis=0),
    "std ddof": lambda t: np.std(t, 0, ddof=1),
    "var": lambda t: np.var(t),
    "max": lambda t: np.max(t, axis=(0, 1)),
    "amin": lambda t: np.amin(t, 1),
    "all": lambda t: np.all(t > 0),
    "argmax": lambda t: np.argmax(t, 1),
    "cumsum": lambda t: np.cumsum(t),
    "cumsum axis": lambda t: np.cumsum(t, 1),
    "concatenate": lambda t: np.concatenate([t, A], 1),
    "concatenate array first": lambda t: np.concatenate([A, t], axis=None),
    "stack": lambda t: np.stack([A, t], -1),
    "vstack": lambda t: np.vstack([t[0], A]),
    "hstack": lambda t: np.hstack([t, A]),
    "where": lambda t: np.where(A > 2, 0, t),
    "where of t": lambda t: np.where(t > 2, t, 0),
    "nonzero": lambda t: np.nonzero(t > 2)[1],
    "transpose": lambda t: np.transpose(t),
    "transpose order": lambda t: np.transpose(t, (0, 1)),
    "reshape": lambda t: np.reshape(t, (3, 2)),
    "reshape flat": lambda t: np.reshape(t, -1),
    "swapaxes": lambda t: np.swapaxes(t, 0, 1),
    "moveaxis": lambda t: np.moveaxis(t, 0, 1),
    "squeeze": lambda t: np.squeeze(t[None]),
    "expand_dims": lambda t: np.expand_dims(t, 1),
    "broadcast_to": lambda t: np.broadcast_to(t, (2, 2, 3)),
    "clip": lambda t: np.clip(t, 2, 4),
    "clip names": lambda t: np.clip(t, a_min=2, a_max=None),
    "repeat": lambda t: np.repeat(t, 2, 0),
    "repeat flat": lambda t: np.repeat(t, 2),
    "tile": lambda t: np.tile(t, (2, 1)),
    "tile a row": lambda t: np.tile(t[0], 2),
    "roll": lambda t: np.roll(t, 1),
    "flip": lambda t: np.flip(t),
    "rot90": lambda t: np.rot90(t),
    "pad": lambda t: np.pad(t, (1, 2)),
    "pad mode": lambda t: np.pad(t, ((1, 0), (0, 2)), "reflect"),
    "pad value": lambda t: np.pad(t, ((1, 0), (0, 2)), constant_values=7),
    "split": lambda t: np.split(t, 3, axis=1)[1],
    "array_split": lambda t: np.array_split(t, 2, axis=1)[0],
    "array_split at": lambda t: np.array_split(t, [1], axis=1)[1],
    "sort": lambda t: np.sort(-t, 1),
    "argsort": lambda t: np.argsort(-t, 1),
    "sort flat": lambda t: np.sort(-t, axis=None),
    "argsort flat": lambda t: np.argsort(-t, axis=None),
    "reduce all": lambda t: np.add.reduce(t, axis=None),
    "reduce": lambda t: np.maximum.reduce(t),
    "median": lambda t: np.median(t),
    "quantile": lambda t: np.quantile(t, 0.3, axis=0),
    "take": lambda t: np.take(t, [1, 0], axis=1),
    "tril": lambda t: np.tril(t),
    "triu": lambda t: np.triu(t, k=1),
    "diag": lambda t: np.diag(t[0], 1),
    "diagonal": lambda t: np.diagonal(t),
    "trace": lambda t: np.trace(t),
    "dot": lambda t: np.dot(A, t.T),
    "matmul": lambda t: np.matmul(A.T, t),
    "einsum": lambda t: np.einsum("ij,kj->ik", t, A),
    "outer": lambda t: np.outer(t[0], A[1]),
    "inner": lambda t: np.inner(t, A),
    "tensordot": lambda t: np.tensordot(t, A, 2),
    "kron": lambda t: np.kron(t, A),
    "cross": lambda t: np.cross(t, A[::-1].copy()),
    "norm": lambda t: np.linalg.norm(t),
    "norm axis": lambda t: np.linalg.norm(t, axis=1, keepdims=True),
    "round": lambda t: np.round(t / 3, 2),
    "diff": lambda t: np.diff(t),
    "zeros_like": lambda t: np.zeros_like(t),
    "full_like": lambda t: np.full_like(t, 3),
    "isclose": lambda t: np.isclose(A, t),
    "count_nonzero": lambda t: np.count_nonzero(t),
    "atleast_2d": lambda t: np.atleast_2d(t[0]),
    "searchsorted": lambda t: np.searchsorted(t[0], [1.5]),
    "argwhere": lambda t: np.argwhere(t > 2),
    "average": lambda t: np.average(t, 0),
    "average by weights": lambda t: np.average(t, 1, A),
    "broadcast_arrays": lambda t: np.broadcast_arrays(t, A[0])[1],
    "column_stack": lambda t: np.column_stack([t[0], A[1]]),
    "copy": lambda t: np.copy(t),
    "flatnonzero": lambda t: np.flatnonzero(t > 2),
    "percentile": lambda t: np.percentile(t, 30, axis=0),
    "ptp": lambda t: np.ptp(t, axis=1),
    "nansum": lambda t: np.nansum(np.where(t > 2, t, np.nan), axis=1),
    "nanprod": lambda t: np.nanprod(np.where(t > 2, t, np.nan), axis=1),
    "nanmax": lambda t: np.nanmax(np.where(t > 2, t, np.nan), axis=1),
    "nanmin": lambda t: np.nanmin(np.where(t > 2, t, np.nan), axis=1),
    "nanmean": lambda t: np.nanmean(np.where(t > 2, t, np.nan), axis=1),
    "cumulative_sum": lambda t: np.cumulative_sum(t, axis=1, include_initial=True),
    "matrix_transpose": lambda t: np.matrix_transpose(t),
    "unique_counts": lambda t: np.unique_counts(t % 2)[1],
    "unstack": lambda t: np.unstack(t)[1],
    "inv": lambda t: np.linalg.inv(t[:, :2]),
    "svd": lambda t: np.linalg.svd(t, full_matrices=False)[1],
    "solve": lambda t: np.linalg.solve(t[:, :2], A),
    "empty_like": lambda t: 0 * np.empty_like(t),
    "imag": lambda t: np.imag(t),
    "real": lambda t: np.real(t),
    "meshgrid": lambda t: np.meshgrid(t[0], A[1])[1],
    "pinv": lambda t: np.linalg.pinv(t),
    "trace dtype": lambda t: np.trace(t, dtype=np.float64),
}


@pytest.mark.parametrize("name", CALLS)
def test_whole_arrays(name: str) -> None:
    expected = np.asarray(CALLS[name](A))
    made = CALLS[name](Tensor(A))
    assert isinstance(made, Tensor)
    assert made.shape == expected.shape and made.dtype == expected.dtype
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-6)


def test_what_is_no_array_is_computed() -> None:
    t = Tensor(A)
    assert np.allclose(t, A) is True and np.array_equal(t + 1, A) is False
    assert np.shape(t) == (2, 3) and np.ndim(t) == 2 and np.size(t) == 6
    assert np.asarray(t + 1).tolist() == (A + 1).tolist()


def words(text: str) -> set[str]:
    return set(text.split())


ON_ARRAYS = {
    f"{it.__module__}.{it.__name__}".removeprefix("numpy.")
    for it in [*vars(np).values(), *vars(np.linalg).values()]
    if hasattr(it, "_implementation")
}
"""NumPy's functions that hand over calls with tensors."""


def test_functions_are_those_with_a_method_or_of_the_array_api() -> None:
    methods = words(
        "all allclose amax amin any argmax argmin argsort atleast_1d atleast_2d broadcast_to clip "
        "concatenate count_nonzero cross cumprod cumsum diag diagonal diff dot expand_dims "
        "flip fliplr flipud full_like inner isclose kron max mean median min moveaxis nan_to_num "
        "nonzero ones_like outer pad prod quantile ravel repeat reshape roll rot90 round save "
        "searchsorted sort split squeeze stack std sum swapaxes take take_along_axis tensordot "
        "tile trace transpose tril triu unique var vdot where zeros_like"
    )
    adopted = words(
        "astype cumulative_prod cumulative_sum empty_like imag linalg.cholesky linalg.cross "
        "linalg.det linalg.diagonal linalg.eigh linalg.eigvalsh linalg.inv linalg.matmul "
        "linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.matrix_transpose "
        "linalg.outer linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd linalg.svdvals "
        "linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm matrix_transpose meshgrid "
        "real unique_all unique_counts unique_inverse unique_values unstack"
    )
    assert {name for name in ON_ARRAYS if method_of(Tensor, name)} == methods
    rest = ON_ARRAYS - methods - set(ARRANGED)
    assert {name for name in rest if standard(name)} == adopted


@pytest.mark.parametrize("name", [*OTHERWISE, *ARRANGED])
def test_rows_are_functions_of_numpy(name: str) -> None:
    owner: Any = np
    for part in name.split("."):
        owner = getattr(owner, part)
    assert callable(owner)
    assert not OTHERWISE.get(name) or hasattr(Tensor, OTHERWISE[name])


def test_lines_are_the_users() -> None:
    t = Tensor(A)
    made = [np.exp(t), A + t, np.sum(t), np.concatenate([t, t])]
    origins = [each.node.origin for each in made]
    assert [each.method for each in origins if each] == ["exp", "add", "sum", "concatenate"]
    assert {each.file for each in origins if each} == {__file__}


def test_in_place() -> None:
    array, t = A.copy(), Tensor(A)

    def in_place() -> None:
        nonlocal array
        array += t

    assert page(in_place) == [
        "add: a lazy result cannot be written into an array",
        "  got:      out=, or an operator in place, as array += x",
        "  expected: a new tensor: array = array + x",
        "  hint:     array += x.numpy() computes x now",
    ]
    assert page(lambda: np.exp(t, out=array))[0].startswith("exp: a lazy result cannot")
    assert page(lambda: np.sum(t, out=array))[0].startswith("sum: a lazy result cannot")
    assert np.array_equal(array, A)


def test_what_would_leave_the_graph() -> None:
    t: Any = Tensor(A)
    assert page(lambda: np.histogram(t)) == [
        "np.histogram: this would leave the graph: it is not an operation on tensors",
        "  got:      a Tensor",
        "  expected: an array, or an operation of tensors",
        "  hint:     write x.histogram(...); np.histogram(x.numpy()) computes x now",
    ]
    hint = "  hint:     np.linalg.eig(x.numpy()) computes x now"
    assert page(lambda: np.linalg.eig(t))[-1] == hint
    assert page(lambda: np.heaviside(t, t))[-1] == (
        "  hint:     np.heaviside(x.numpy()) computes x now"
    )
    assert page(lambda: np.exp(t, dtype=np.float64))[1] == "  got:      a Tensor and dtype="
    assert page(lambda: np.multiply.outer(t, t))[0].startswith("np.multiply.outer: this would")
    assert page(lambda: np.copy(t, order="F")) == [
        "np.copy: for tensors: got an unexpected keyword argument 'order'",
        "  got:      a Tensor, order=",
        "  hint:     np.copy(x.numpy(), ...) computes x now",
    ]
    assert page(lambda: np.sum(t, where=A > 2))[0] == "sum: there is no argument where"
    assert page(lambda: np.split(t, 2, axis=1))[0] == "np.split: axis 1 has no such equal parts"
    assert page(lambda: np.pad(t, 1, "mean"))[0].startswith("np.pad: tensors are padded")
    assert page(lambda: np.linalg.norm(t, 2))[0].startswith("np.linalg.norm: this matrix norm")


OF_ONE = sorted(name for name in LAZY if getattr(np, name).nin == 1)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "float16", "float32"])
@pytest.mark.parametrize("name", OF_ONE)
def test_types_of_results_are_numpys(name: str, dtype: str) -> None:
    array, function = np.array([1, 0, 1]).astype(dtype), getattr(np, name)
    try:
        with np.errstate(all="ignore"):
            expected = function(array).dtype
    except TypeError:
        with pytest.raises(TypeError):
            function(Tensor(array))
        return
    assert function(Tensor(array)).numpy().dtype == expected


def test_rounding_and_absolute_values_in_floats() -> None:
    halves = np.array([-2.5, -0.5, 0.5, 1.5, np.nan, -np.inf], np.float32)
    for name in ("rint", "fabs"):
        for array in (halves, I):
            function = getattr(np, name)
            np.testing.assert_array_equal(function(Tensor(array)).numpy(), function(array))
