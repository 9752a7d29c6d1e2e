"""Libraries that support any array namespace: einops, SciPy, scikit-learn."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from compiler import Tensor
from compiler import array_api as xp

IMAGES = np.arange(96.0).reshape(2, 3, 4, 4)


def test_einops() -> None:
    einops = pytest.importorskip("einops.array_api")
    x = Tensor(IMAGES)
    rows = einops.rearrange(x, "b c h w -> b (h w) c")
    small = einops.reduce(x, "b c (h p) (w q) -> b c h w", "mean", p=2, q=2)
    wide = einops.repeat(x, "b c h w -> b c h (w r)", r=2)
    packed, _ = einops.pack([x, x[:, 0]], "b * h w")
    assert all(isinstance(each, Tensor) for each in (rows, small, wide, packed))
    np.testing.assert_array_equal(rows.numpy(), IMAGES.reshape(2, 3, 16).swapaxes(1, 2))
    expected = IMAGES.reshape(2, 3, 2, 2, 2, 2).mean((3, 5))
    np.testing.assert_allclose(small.numpy(), expected)
    np.testing.assert_array_equal(wide.numpy(), IMAGES.repeat(2, -1))
    assert packed.shape == (2, 4, 4, 4)


PROGRAM = """
import numpy as np
import scipy.special, scipy.stats, scipy.integrate, scipy.cluster.vq
import sklearn
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, f1_score, r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from compiler import Tensor, array_api as xp

random = np.random.default_rng(0)
X = random.random((12, 4))
y = (X[:, 0] + X[:, 1] > 1).astype(np.int64)
r = X @ np.arange(4.0) + 1


def same(made, expected):
    assert isinstance(made, Tensor | float), type(made)
    np.testing.assert_allclose(np.asarray(made), np.asarray(expected), rtol=1e-6, atol=1e-9)


def both(call):
    expected = call(X, y, r)
    made = call(Tensor(X), Tensor(y), Tensor(r))
    same(made, expected)


both(lambda X, y, r: scipy.special.logsumexp(X, axis=1))
both(lambda X, y, r: scipy.special.expit(X))
both(lambda X, y, r: scipy.stats.zscore(X, axis=0))
both(lambda X, y, r: scipy.stats.pearsonr(r, r * r).statistic)
both(lambda X, y, r: scipy.integrate.cumulative_trapezoid(X, axis=0))
both(lambda X, y, r: scipy.cluster.vq.whiten(X))
sklearn.set_config(array_api_dispatch=True)
both(lambda X, y, r: StandardScaler().fit_transform(X))
both(lambda X, y, r: MinMaxScaler().fit_transform(X))
both(lambda X, y, r: PCA(2, svd_solver="full").fit(X).explained_variance_)
both(lambda X, y, r: LinearDiscriminantAnalysis().fit(X, y).predict(X))
both(lambda X, y, r: make_pipeline(StandardScaler(), Ridge(solver="svd")).fit(X, r).predict(X))
both(lambda X, y, r: rbf_kernel(X))
both(lambda X, y, r: accuracy_score(y, 1 - y))
both(lambda X, y, r: f1_score(y, y))
both(lambda X, y, r: r2_score(r, r * 1.1))
print("same")
"""


def test_scipy_and_scikit_learn() -> None:
    """In a process of its own: SciPy reads SCIPY_ARRAY_API when it is loaded."""
    pytest.importorskip("sklearn")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True,
        env={**os.environ, "SCIPY_ARRAY_API": "1"}, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert ended.stdout.split()[-1:] == ["same"], ended.stderr[-3000:]


def test_a_function_for_any_namespace() -> None:
    def softmax(x: Tensor) -> Tensor:
        ns = x.__array_namespace__()
        shifted = ns.exp(x - ns.max(x, axis=-1, keepdims=True))
        return shifted / ns.sum(shifted, axis=-1, keepdims=True)

    x = xp.reshape(xp.arange(6, dtype=xp.float64), (2, 3))
    np.testing.assert_allclose(softmax(x).numpy(), x.softmax(-1).numpy())
