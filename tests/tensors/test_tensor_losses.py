"""Losses against their formulas in NumPy, on every engine."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import AxisError, DataError, DTypeError, ShapeError, Tensor
from tests.evaluate import assert_same, evaluate, every_engine

RNG = np.random.default_rng(23)
X, T = RNG.standard_normal((4, 5)), RNG.standard_normal((4, 5))
P = 1 / (1 + np.exp(-X))
Q = np.exp(T) / np.exp(T).sum(1, keepdims=True)
CLASSES = np.array([3, 0, 4, 3])
PARTLY = np.array([3, -100, 4, -100])
WEIGHT = np.array([1.0, 2.0, 0.5, 4.0, 0.25])
IMAGE = RNG.standard_normal((2, 5, 3))
PIXELS = RNG.integers(0, 5, (2, 3))


def logs(x: Any, axis: int = 1) -> Any:
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def picked(x: Any, classes: Any) -> Any:
    """-log softmax at the classes; axis 1 holds the classes."""
    return -np.take_along_axis(logs(x), np.expand_dims(classes, 1), 1).squeeze(1)


def huber(d: Any, delta: float) -> Any:
    return np.where(np.abs(d) <= delta, d * d / 2, delta * (np.abs(d) - delta / 2))


def smoothed(x: Any, classes: Any, s: float) -> Any:
    soft = np.eye(5)[classes] * (1 - s) + s / 5
    return -(soft * logs(x)).sum(1)


CASES: tuple[tuple[str, Callable[[], Tensor], Callable[[], Any]], ...] = (
    ("mse", lambda: Tensor(X).mse_loss(T), lambda: ((X - T) ** 2).mean()),
    ("mse sum", lambda: Tensor(X).mse_loss(T, "sum"), lambda: ((X - T) ** 2).sum()),
    ("mse none", lambda: Tensor(X).mse_loss(T, "none"), lambda: (X - T) ** 2),
    ("mse number", lambda: Tensor(X).mse_loss(2), lambda: ((X - 2) ** 2).mean()),
    ("l1", lambda: Tensor(X).l1_loss(T), lambda: np.abs(X - T).mean()),
    ("huber", lambda: Tensor(X).huber_loss(T, 0.5), lambda: huber(X - T, 0.5).mean()),
    ("smooth l1", lambda: Tensor(X).smooth_l1_loss(T, 2.0), lambda: huber(X - T, 2.0).mean() / 2),
    ("nll", lambda: Tensor(logs(X)).nll_loss(CLASSES), lambda: picked(X, CLASSES).mean()),
    ("entropy", lambda: Tensor(X).cross_entropy(CLASSES), lambda: picked(X, CLASSES).mean()),
    ("entropy computed", lambda: Tensor(X).cross_entropy(Tensor(CLASSES) + 0, reduction="sum"),
     lambda: picked(X, CLASSES).sum()),
    ("entropy bytes", lambda: Tensor(X).cross_entropy(CLASSES.astype(np.uint8)),
     lambda: picked(X, CLASSES).mean()),
    ("entropy none", lambda: Tensor(IMAGE).cross_entropy(PIXELS, reduction="none"),
     lambda: picked(IMAGE, PIXELS)),
    ("entropy row", lambda: Tensor(X[0]).cross_entropy(3), lambda: picked(X[:1], [3])[0]),
    ("entropy weighted", lambda: Tensor(X).cross_entropy(CLASSES, WEIGHT),
     lambda: (picked(X, CLASSES) * WEIGHT[CLASSES]).sum() / WEIGHT[CLASSES].sum()),
    ("entropy ignoring", lambda: Tensor(X).cross_entropy(PARTLY),
     lambda: picked(X, CLASSES)[[0, 2]].mean()),
    ("entropy smoothed", lambda: Tensor(X).cross_entropy(CLASSES, label_smoothing=0.2),
     lambda: smoothed(X, CLASSES, 0.2).mean()),
    ("entropy smoothed ignoring", lambda: Tensor(X).cross_entropy(PARTLY, label_smoothing=0.2),
     lambda: smoothed(X, CLASSES, 0.2)[[0, 2]].mean()),
    ("entropy soft", lambda: Tensor(X).cross_entropy(Q), lambda: -(Q * logs(X)).sum(1).mean()),
    ("entropy soft weighted", lambda: Tensor(X).cross_entropy(Q, WEIGHT),
     lambda: -(Q * WEIGHT * logs(X)).sum(1).mean()),
    ("entropy of impossible", lambda: Tensor([[-np.inf, 0.0, 0.0]]).cross_entropy([1]),
     lambda: np.log(2.0)),
    ("bce", lambda: Tensor(P).binary_cross_entropy(X > 0),
     lambda: -np.where(X > 0, np.log(P), np.log1p(-P)).mean()),
    ("bce certain", lambda: Tensor([0.0, 1.0, 1.0]).binary_cross_entropy([0.0, 1.0, 0.0], "none"),
     lambda: np.array([0.0, 0.0, 100.0])),
    ("bce logits", lambda: Tensor(X).binary_cross_entropy_with_logits(P),
     lambda: (np.logaddexp(0, X) - X * P).mean()),
    ("bce far", lambda: Tensor([-1e4, 1e4]).binary_cross_entropy_with_logits(1, "none"),
     lambda: np.array([1e4, 0.0])),
    ("kl", lambda: Tensor(logs(X)).kl_div(Q), lambda: (Q * (np.log(Q) - logs(X))).mean()),
    ("kl of zeros", lambda: Tensor(logs(X)).kl_div(Q * 0, "batchmean"), lambda: 0.0),
    ("kl batch", lambda: Tensor(logs(X)).kl_div(logs(T), "batchmean", log_target=True),
     lambda: (Q * (np.log(Q) - logs(X))).sum() / 4),
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_formulas(case: Any, engine: str) -> None:
    name, ours, theirs = case
    got = evaluate(ours(), engine)
    assert_same(got, np.asarray(theirs(), np.float64), name, rtol=1e-11)


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda x: x.mse_loss(T[0]), ShapeError, "mse_loss: the target does not fit"),
        (lambda x: x.mse_loss(T, "max"), DataError, "mse_loss: no such reduction"),
        (lambda x: x.cross_entropy([1, 2]), ShapeError, "the classes do not fit the scores"),
        (lambda x: x.cross_entropy([0, 1, 2, 5]), AxisError, "a target class is out of range"),
        (lambda x: x.nll_loss([0, 1, 2, -1]), AxisError, "a target class is out of range"),
        (lambda x: x.nll_loss(T[:, 0]), DTypeError, "nll_loss: classes are integers"),
        (lambda x: x.cross_entropy(Q[:2]), ShapeError, "the probabilities do not fit"),
        (lambda x: x.cross_entropy(CLASSES, WEIGHT[:2]), ShapeError, "one weight per class"),
        (lambda x: x.cross_entropy(CLASSES, label_smoothing=2), DataError, "no such smoothing"),
    ],
)
def test_refusals(use: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        use(Tensor(X))
