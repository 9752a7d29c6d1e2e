"""Every function of the namespace against NumPy's of the same name, values and types."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import array_api as xp

A = (np.arange(12.0).reshape(3, 4) - 4.5) / 3
B = np.array([[2, 3, -1, 4], [5, 1, 2, 7], [3, 8, -6, 1]], np.int32)
S = np.array([[4.0, 1.0], [1.0, 3.0]])
T = np.array([[True, False, True, True], [False, False, True, False], [True, True, True, True]])


def words(text: str) -> list[str]:
    return text.split()


ONE = words(
    "abs cos cosh exp expm1 floor ceil trunc round isfinite isinf isnan negative positive "
    "reciprocal sign signbit sin sinh square tan tanh atan asinh conj real imag"
)
ABOVE = words("sqrt log log10 log1p log2 acosh")
BELOW = words("acos asin atanh")
TWO = words(
    "add atan2 copysign divide equal greater greater_equal hypot less less_equal logaddexp "
    "logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal remainder "
    "floor_divide subtract"
)
BITS = words("bitwise_and bitwise_or bitwise_xor")
SHIFTS = words("bitwise_left_shift bitwise_right_shift")
FOLDS = words("sum prod max min mean std var all any")

Case = Callable[[Any, Callable[[Any], Any]], Any]
"""A call in a namespace, with what makes arrays there."""


def call(name: str, *arrays: Any, **given: Any) -> Case:
    """`name` on arrays, with other arguments by name."""
    return lambda ns, of: getattr(ns, name)(*map(of, arrays), **given)


CASES: dict[str, Case] = {
    **{name: call(name, A) for name in ONE},
    **{name: call(name, np.abs(A) + 1) for name in ABOVE},
    **{name: call(name, A / 4) for name in BELOW},
    **{name: call(name, A, A[::-1].copy()) for name in TWO},
    **{name: call(name, B, B[::-1].copy()) for name in BITS},
    **{name: call(name, B, np.abs(B) % 5) for name in SHIFTS},
    **{f"{name} of an axis": call(name, A, axis=1) for name in FOLDS},
    **{f"{name} kept": call(name, A, axis=(0, 1), keepdims=True) for name in FOLDS},
    "bitwise_invert": call("bitwise_invert", B),
    "logical_not": call("logical_not", T),
    "pow": lambda ns, of: ns.pow(of(A), 2),
    "a number first": lambda ns, of: ns.subtract(2, of(A)),
    "a number compared": lambda ns, of: ns.less(of(np.int8([1, 2])), 100),
    "clip": lambda ns, of: ns.clip(of(A), -0.5, of(np.float64(1))),
    "sum of small integers": lambda ns, of: ns.sum(of(np.uint8([200, 100]))),
    "sum dtype": lambda ns, of: ns.sum(of(B), dtype=ns.float32),
    "std corrected": call("std", A, axis=0, correction=1.5),
    "cumulative_sum": call("cumulative_sum", A, axis=1, include_initial=True),
    "cumulative_prod": call("cumulative_prod", A[0]),
    "count_nonzero": call("count_nonzero", T, axis=0),
    "diff": call("diff", A, axis=0, n=2),
    "diff appended": lambda ns, of: ns.diff(of(A), prepend=of(A[:, :1]), append=of(A)),
    "argmax": call("argmax", A, axis=1),
    "argmin": call("argmin", A),
    "argsort": call("argsort", B, axis=0),
    "sort": call("sort", B),
    "searchsorted": lambda ns, of: ns.searchsorted(of(A[0]), of(A), side="right"),
    "take": lambda ns, of: ns.take(of(A), of(np.array([2, 0])), axis=0),
    "take_along_axis": lambda ns, of: ns.take_along_axis(of(A), of(np.array([[0, 3]])), axis=1),
    "where": lambda ns, of: ns.where(of(T), of(A), 0.5),
    "nonzero": lambda ns, of: ns.nonzero(of(T))[1],
    "matmul": lambda ns, of: ns.matmul(of(A), of(A.T.copy())),
    "matrix_transpose": call("matrix_transpose", A),
    "tensordot": lambda ns, of: ns.tensordot(of(A), of(A), axes=((0,), (0,))),
    "vecdot": lambda ns, of: ns.vecdot(of(A), of(A[0])),
    "vecdot of small integers": lambda ns, of: ns.vecdot(of(np.int8([9, 2])), of(np.int8([1, 3]))),
    "broadcast_arrays": lambda ns, of: ns.broadcast_arrays(of(A[0]), of(A))[0],
    "broadcast_to": lambda ns, of: ns.broadcast_to(of(A), (2, 3, 4)),
    "concat": lambda ns, of: ns.concat([of(A), of(B)], axis=-1),
    "concat flat": lambda ns, of: ns.concat([of(A), of(A[0])], axis=None),
    "expand_dims": call("expand_dims", A, axis=1),
    "flip": call("flip", A, axis=(0, 1)),
    "moveaxis": lambda ns, of: ns.moveaxis(of(A[None]), 0, -1),
    "permute_dims": lambda ns, of: ns.permute_dims(of(A), (1, 0)),
    "repeat": lambda ns, of: ns.repeat(of(A), 2, axis=1),
    "repeat by counts": lambda ns, of: ns.repeat(of(A), of(np.array([2, 0, 1])), axis=0),
    "reshape": lambda ns, of: ns.reshape(of(A), (2, -1), copy=True),
    "roll": lambda ns, of: ns.roll(of(A), (1, 2), axis=(0, 1)),
    "squeeze": lambda ns, of: ns.squeeze(of(A[None]), axis=0),
    "stack": lambda ns, of: ns.stack([of(A), of(A)], axis=1),
    "tile": lambda ns, of: ns.tile(of(A), (2, 1, 2)),
    "unstack": lambda ns, of: ns.unstack(of(A), axis=1)[2],
    "arange": lambda ns, of: ns.arange(1, 9, 3),
    "arange of floats": lambda ns, of: ns.arange(0.5, dtype=ns.float32, stop=3),
    "asarray": lambda ns, of: ns.asarray([[1, 2], [3, 4]], dtype=ns.int16),
    "asarray of arrays": lambda ns, of: ns.asarray([of(A[0])[1], 2.0]),
    "empty": lambda ns, of: ns.empty((0, 2), dtype=ns.int8),
    "eye": lambda ns, of: ns.eye(3, 4, k=-1),
    "full": lambda ns, of: ns.full((2, 2), 7),
    "full_like": lambda ns, of: ns.full_like(of(B), 7),
    "linspace": lambda ns, of: ns.linspace(1, 2, 4, endpoint=False),
    "meshgrid": lambda ns, of: ns.meshgrid(of(A[0]), of(B[0]), indexing="ij")[1],
    "ones": lambda ns, of: ns.ones((2, 1), dtype=ns.bool),
    "zeros_like": call("zeros_like", B),
    "ones_like": call("ones_like", B, dtype=np.float32),
    "zeros": lambda ns, of: ns.zeros(3),
    "tril": call("tril", A, k=1),
    "triu": call("triu", A, k=-1),
    "astype": lambda ns, of: ns.astype(of(A), ns.int32),
    "constants": lambda ns, of: ns.asarray([ns.e, ns.pi, ns.inf, ns.nan]),
    "newaxis": lambda ns, of: of(A)[:, ns.newaxis],
    "mask": lambda ns, of: of(A)[of(T)],
    "inv": lambda ns, of: ns.linalg.inv(of(S)),
    "det": lambda ns, of: ns.linalg.det(of(np.stack([S, S @ S]))),
    "slogdet": lambda ns, of: ns.linalg.slogdet(of(S)).logabsdet,
    "cholesky": lambda ns, of: ns.linalg.cholesky(of(S), upper=True),
    "eigh": lambda ns, of: ns.linalg.eigh(of(S)).eigenvalues,
    "eigvalsh": lambda ns, of: ns.linalg.eigvalsh(of(S)),
    "solve": lambda ns, of: ns.linalg.solve(of(S), of(S[0])),
    "solve stacks": lambda ns, of: ns.linalg.solve(of(S[None]), of(np.stack([S, S + 1]))),
    "svdvals": lambda ns, of: ns.linalg.svdvals(of(A)),
    "pinv": lambda ns, of: ns.linalg.pinv(of(A)),
    "matrix_rank": lambda ns, of: ns.linalg.matrix_rank(of(A)),
    "matrix_power": lambda ns, of: ns.linalg.matrix_power(of(S), 5),
    "matrix_power of inverses": lambda ns, of: ns.linalg.matrix_power(of(S), -2),
    "matrix_power 0": lambda ns, of: ns.linalg.matrix_power(of(S), 0),
    "diagonal": lambda ns, of: ns.linalg.diagonal(of(A), offset=1),
    "trace": lambda ns, of: ns.linalg.trace(of(A)),
    "cross": lambda ns, of: ns.linalg.cross(of(A[:, :3]), of(A[:, 1:])),
    "outer": lambda ns, of: ns.linalg.outer(of(A[0]), of(A[1])),
    **{
        f"vector_norm {order}": lambda ns, of, order=order: ns.linalg.vector_norm(
            of(A), axis=1, ord=order, keepdims=True
        )
        for order in (2, 1, 0, 3.5, math.inf, -math.inf)
    },
    **{
        f"matrix_norm {order}": lambda ns, of, order=order: ns.linalg.matrix_norm(
            of(A), ord=order, keepdims=True
        )
        for order in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_values_and_types_are_numpys(name: str) -> None:
    expected = np.asarray(CASES[name](np, lambda array: array))
    made = CASES[name](xp, xp.asarray)
    assert made.shape == expected.shape
    assert made.dtype == expected.dtype
    if expected.size and name != "empty":
        np.testing.assert_allclose(made.numpy(), expected, rtol=1e-12, atol=1e-14)


def test_decompositions_multiply_back() -> None:
    stack = np.stack([A, A * A])
    x = xp.asarray(stack)
    left, values, right = xp.linalg.svd(x, full_matrices=False)
    np.testing.assert_allclose(((left * values[:, None, :]) @ right).numpy(), stack, atol=1e-12)
    full = xp.linalg.svd(x)
    assert full.U.shape == (2, 3, 3) and full.S.shape == (2, 3) and full.Vh.shape == (2, 4, 4)
    for mode, inner in (("reduced", 3), ("complete", 3)):
        made = xp.linalg.qr(x, mode=mode)
        assert made.Q.shape == (2, 3, inner) and made.R.shape == (2, inner, 4)
        np.testing.assert_allclose((made.Q @ made.R).numpy(), stack, atol=1e-12)
    found = xp.linalg.eigh(xp.asarray(S))
    vectors = found.eigenvectors
    again = (vectors * found.eigenvalues) @ vectors.mT
    np.testing.assert_allclose(again.numpy(), S, atol=1e-12)


def test_what_occurs_several_times() -> None:
    data = np.array([[3.0, -0.0, math.nan], [0.0, 3.0, math.nan]])
    found = xp.unique_all(xp.asarray(data))
    np.testing.assert_array_equal(found.values.numpy(), [0, 3, math.nan, math.nan])
    assert found.indices.tolist() == [1, 0, 2, 5]
    assert found.inverse_indices.tolist() == [[1, 0, 2], [0, 1, 3]]
    assert found.counts.tolist() == [2, 2, 1, 1]
    whole = xp.asarray(B)
    assert xp.unique_values(whole).tolist() == np.unique(B).tolist()
    values, counts = xp.unique_counts(whole)
    assert dict(zip(values.tolist(), counts.tolist(), strict=True))[3] == 2
    values, inverse = xp.unique_inverse(whole)
    assert values.take(inverse).tolist() == B.tolist()
    assert xp.unique_all(xp.zeros((0, 2))).inverse_indices.shape == (0, 2)
