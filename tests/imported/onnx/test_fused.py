"""Operators written by ONNX Runtime's optimiser, against the same arithmetic in float64."""

import math
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

from compiler.core.errors import DataError
from tests.imported.onnx.test_runtime import RNG, Array, run, scale

FLOAT = TensorProto.FLOAT
X = RNG.normal(size=(2, 3, 5)).astype("f4")
Y = RNG.normal(size=(2, 3, 5)).astype("f4")
GAIN, SHIFT, BIAS = (RNG.normal(size=5).astype("f4") for _ in range(3))
BENT: list[tuple[str, list[float], Any]] = [
    ("Relu", [], lambda x: np.maximum(x, 0)),
    ("Sigmoid", [], lambda x: 1 / (1 + np.exp(-x))),
    ("Tanh", [], np.tanh),
    ("Clip", [-0.5, 0.7], lambda x: np.clip(x, -0.5, 0.7)),
    ("LeakyRelu", [0.3], lambda x: np.where(x < 0, 0.3 * x, x)),
    ("HardSigmoid", [0.3, 0.4], lambda x: np.clip(0.3 * x + 0.4, 0, 1)),
]


def close(made: Array, expected: Array) -> None:
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "parameters", "function"), BENT, ids=[row[0] for row in BENT])
def test_products_and_what_follows(name: str, parameters: list[float], function: Any) -> None:
    image, weight = RNG.normal(size=(1, 2, 4)).astype("f4"), RNG.normal(size=(3, 2, 1)).astype("f4")
    other, bias = RNG.normal(size=(1, 3, 4)).astype("f4"), RNG.normal(size=3).astype("f4")
    (made,) = run("FusedConv", image, weight, bias, other, output=FLOAT, inputs=(0, 3),
                  activation=name, activation_params=parameters or None)  # fmt: skip
    sums = np.einsum("bcn,oci->bon", image.astype("f8"), weight) + bias[:, None] + other
    close(made, function(sums))
    told = {f"activation_{which}": n
            for which, n in zip(("alpha", "beta"), parameters, strict=False)}  # fmt: skip
    (made,) = run("FusedGemm", X[0], Y[0], BIAS[:3], output=FLOAT, activation=name, transB=1,
                  alpha=0.5, **told)  # fmt: skip
    close(made, function(0.5 * X[0].astype("f8") @ Y[0].T + BIAS[:3]))


def test_a_function_that_is_not_known_is_refused() -> None:
    with pytest.raises(DataError, match="FusedGemm: unknown activation"):
        run("FusedGemm", X[0], Y[0], output=FLOAT, activation="Sine", transB=1)


@pytest.mark.parametrize("turned", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_scaled_products(turned: tuple[int, int]) -> None:
    a = X.swapaxes(1, 2) if turned[0] else X
    b = Y if turned[1] else Y.swapaxes(1, 2)
    (made,) = run("FusedMatMul", np.ascontiguousarray(a), np.ascontiguousarray(b), output=FLOAT,
                  alpha=0.25, transA=turned[0], transB=turned[1])  # fmt: skip
    close(made, 0.25 * X.astype("f8") @ Y.swapaxes(1, 2))


def test_products_of_batches_that_stand_second() -> None:
    """[rows, batch, columns]: how attention has its heads before they are moved."""
    a, b = np.moveaxis(X, 1, 0).copy(), np.moveaxis(Y, 1, 0).copy()
    (made,) = run("FusedMatMul", a, b, output=FLOAT, transBatchA=1, transBatchB=1, transB=1)
    close(made, X.astype("f8") @ Y.swapaxes(1, 2))


def normal(x: Array) -> Array:
    return np.array([x_ * (1 + math.erf(x_ / math.sqrt(2))) / 2 for x_ in x.flat]).reshape(x.shape)


def test_gelu() -> None:
    wide = X.astype("f8")
    close(run("Gelu", X, output=FLOAT)[0], normal(wide))
    close(run("BiasGelu", X, BIAS, output=FLOAT)[0], normal(wide + BIAS))
    close(run("QuickGelu", X, output=FLOAT, alpha=1.5)[0], wide / (1 + np.exp(-1.5 * wide)))
    biased = wide + BIAS
    inner = math.sqrt(2 / math.pi) * (biased + 0.044715 * biased**3)
    close(run("FastGelu", X, BIAS, output=FLOAT)[0], biased * (1 + np.tanh(inner)) / 2)


@pytest.mark.parametrize("has_bias", [False, True])
def test_norms_of_sums(has_bias: bool) -> None:
    bias = BIAS if has_bias else None
    total = X.astype("f8") + Y + (BIAS if has_bias else 0)
    mean, square = total.mean(-1, keepdims=True), (total**2).mean(-1, keepdims=True)
    inverse = 1 / np.sqrt(square - mean**2 + 1e-3)
    made = run("SkipLayerNormalization", X, Y, GAIN, SHIFT, bias, output=FLOAT, inputs=(0, 1),
               results=4, epsilon=1e-3)  # fmt: skip
    wanted = ((total - mean) * inverse * GAIN + SHIFT, mean, inverse, total)
    for got, expected in zip(made, wanted, strict=True):
        close(got, expected)
    made = run("SkipSimplifiedLayerNormalization", X, Y, GAIN, bias, output=FLOAT, inputs=(0, 1),
               results=4, epsilon=1e-3)  # fmt: skip
    inverse = 1 / np.sqrt(square + 1e-3)
    for got, expected in zip(made, (total * inverse * GAIN, mean, inverse, total), strict=True):
        close(got, expected)


def test_a_norm_that_stands_in_the_domain_of_onnx() -> None:
    (made,) = run("SimplifiedLayerNormalization", X, GAIN, output=FLOAT, domain="", epsilon=1e-3)
    wide = X.astype("f8")
    close(made, wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-3) * GAIN)


def test_products_of_8_bits_in_float() -> None:
    b, zeros = RNG.integers(0, 256, (5, 4), dtype=np.uint8), np.array([128, 3, 0, 255], np.uint8)
    scales = RNG.uniform(0.01, 0.02, 4).astype("f4")
    real = (b.astype("f8") - zeros) * scales
    (made,) = run("DynamicQuantizeMatMul", X, b, scales, zeros, BIAS[:4], output=FLOAT)
    expected = X.astype("f8") @ real + BIAS[:4]
    step = (X.max() - X.min()) / 255
    assert 0 < np.abs(made - expected).max() <= 0.5 * step * np.abs(real).sum(0).max()
    a = RNG.integers(-128, 128, (3, 5), dtype=np.int8)
    (made,) = run("MatMulIntegerToFloat", a, b, scale(0.03), scales, np.array(-7, np.int8), zeros,
                  output=FLOAT)  # fmt: skip
    close(made, (a.astype("f8") + 7) * np.float32(0.03) @ real)


def test_a_pool_of_powers_over_a_whole_image() -> None:
    """ONNX has no case of its own for it."""
    (made,) = run("GlobalLpPool", X, output=FLOAT, domain="", p=3)
    close(made, (np.abs(X.astype("f8")) ** 3).sum(2, keepdims=True) ** (1 / 3))
