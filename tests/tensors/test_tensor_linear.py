"""Products of vectors and matrices, lengths and angles against NumPy, on every engine."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import DataError, ShapeError, Tensor
from tests.evaluate import assert_same, evaluate, every_engine

RNG = np.random.default_rng(17)
A, B = RNG.standard_normal((2, 3)), RNG.standard_normal((3, 4, 2))
ROW, VECTORS = RNG.integers(-5, 5, 4), RNG.standard_normal((4, 3)).astype(np.float32)
NORMS: tuple[Any, ...] = (2, 1, 0, 3, 0.5, -1, np.inf, -np.inf)

CASES: tuple[tuple[str, Callable[[], Tensor], Callable[[], Any]], ...] = (
    ("outer", lambda: Tensor(ROW).outer(ROW[:3]), lambda: np.outer(ROW, ROW[:3])),
    ("outer none", lambda: Tensor(ROW[:0]).outer(ROW), lambda: np.outer(ROW[:0], ROW)),
    ("inner", lambda: Tensor(B).inner(A.T), lambda: np.inner(B, A.T)),
    ("inner of rows", lambda: Tensor(ROW).inner(ROW), lambda: np.inner(ROW, ROW)),
    ("vdot", lambda: Tensor(A).vdot(A), lambda: np.vdot(A, A)),
    ("tensordot 1", lambda: Tensor(A).tensordot(B, 1), lambda: np.tensordot(A, B, 1)),
    ("tensordot 0", lambda: Tensor(A).tensordot(ROW, 0), lambda: np.tensordot(A, ROW, 0)),
    ("tensordot axes", lambda: Tensor(A).tensordot(B, ((0, 1), (2, 0))),
     lambda: np.tensordot(A, B, ((0, 1), (2, 0)))),
    ("kron", lambda: Tensor(A).kron(B), lambda: np.kron(A, B)),
    ("kron of rows", lambda: Tensor(ROW).kron([1, 2]), lambda: np.kron(ROW, [1, 2])),
    ("cross", lambda: Tensor(VECTORS).cross(VECTORS[::-1]),
     lambda: np.cross(VECTORS, VECTORS[::-1])),
    ("cross axis", lambda: Tensor(B).cross(B[::-1], 0), lambda: np.cross(B, B[::-1], axis=0)),
    *((f"norm {p}", lambda p=p: Tensor(VECTORS).norm(p, 1),
       lambda p=p: np.linalg.norm(VECTORS, p, 1)) for p in NORMS),
    ("norm of all", lambda: Tensor(B).norm(), lambda: np.linalg.norm(B)),
    ("norm kept", lambda: Tensor(A).norm("fro", dim=0, keepdim=True),
     lambda: np.linalg.norm(A, axis=0, keepdims=True)),
    ("norm of integers", lambda: Tensor(ROW).norm(), lambda: np.linalg.norm(ROW)),
    ("normalize", lambda: Tensor(VECTORS).normalize(),
     lambda: VECTORS / np.linalg.norm(VECTORS, axis=1, keepdims=True)),
    ("cosine", lambda: Tensor(VECTORS).cosine_similarity(VECTORS[::-1]),
     lambda: (VECTORS * VECTORS[::-1]).sum(1) / np.linalg.norm(VECTORS, axis=1)
     / np.linalg.norm(VECTORS[::-1], axis=1)),
    ("cosine of zeros", lambda: Tensor(VECTORS * 0).cosine_similarity(VECTORS),
     lambda: np.zeros(4, np.float32)),
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_as_numpy(case: Any, engine: str) -> None:
    name, ours, theirs = case
    expected = np.asarray(theirs())
    if name == "norm 0":
        expected = expected.astype(np.float32)
    tolerance = 1e-5 if expected.dtype == np.float32 else 1e-12
    exact = expected.dtype.kind == "i"
    got = evaluate(ours(), engine)
    assert_same(got, expected, name, rtol=0.0 if exact else tolerance)


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda: Tensor(A).tensordot(B, 2), ShapeError, "tensordot: the axes to sum over differ"),
        (lambda: Tensor(A).cross(A, 0), ShapeError, "cross: needs vectors of three elements"),
        (lambda: Tensor(A).norm("nuc"), DataError, "norm: no such norm"),
    ],
)
def test_refusals(use: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        use()
