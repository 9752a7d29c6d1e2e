"""Operators of ONNX Runtime's quantiser, against the same arithmetic in float64."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import compiler

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(3)
A = RNG.integers(0, 256, (2, 3, 4, 4), dtype=np.uint8)
B = RNG.integers(0, 256, (2, 3, 4, 4), dtype=np.uint8)
LEFT = RNG.integers(-128, 128, (5, 7), dtype=np.int8)
RIGHT = RNG.integers(-128, 128, (6, 7), dtype=np.int8)
BIAS = RNG.integers(-900, 900, 6, dtype=np.int32)


def run(op: str, *values: Any, output: int, **attributes: Any) -> Array:
    """The result of one node; arrays of rank 4 and 2 are its inputs, all else constants."""
    arrays = [np.asarray(each) for each in values]
    names = [f"v{place}" for place in range(len(arrays))]
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in zip(names[:4:3], arrays[:4:3], strict=True)
    ]
    constants = [numpy_helper.from_array(a, n) for n, a in zip(names, arrays, strict=True)]
    known = {each.name for each in inputs}
    node = helper.make_node(op, names, ["y"], domain="com.microsoft", **attributes)
    graph = helper.make_graph([node], "g", inputs,
                              [helper.make_tensor_value_info("y", output, None)],
                              [each for each in constants if each.name not in known])  # fmt: skip
    sets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    program = compiler.from_onnx(helper.make_model(graph, opset_imports=sets))
    return program(*(a for a in arrays[:4:3]))["y"].numpy()


def scale(value: float) -> Array:
    return np.array(value, np.float32)


def quantised(real: Array, step: float, zero: int, kind: Any) -> Array:
    limits = np.iinfo(kind)
    return np.clip(np.round(real / np.float32(step)) + zero, limits.min, limits.max)


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_pairs(op: str) -> None:
    zeros = [np.array(n, np.uint8) for n in (128, 3, 9)]
    made = run(op, A, scale(0.02), zeros[0], B, scale(0.05), zeros[1], scale(0.06), zeros[2],
               output=TensorProto.UINT8)  # fmt: skip
    one, other = (A.astype("f8") - 128) * 0.02, (B.astype("f8") - 3) * 0.05
    expected = quantised(one + other if op == "QLinearAdd" else one * other, 0.06, 9, np.uint8)
    assert made.dtype == np.uint8
    assert np.abs(made.astype(int) - expected).max() <= 1, "one step, where it is a tie"


@pytest.mark.parametrize("is_real", [False, True])
def test_gemm(is_real: bool) -> None:
    zero, scales = np.array(4, np.int8), RNG.uniform(0.01, 0.02, 6).astype("f4")
    rest = () if is_real else (scale(0.5), zero)
    made = run("QGemm", LEFT, scale(0.03), zero, RIGHT, scales, np.zeros(6, np.int8), BIAS, *rest,
               output=TensorProto.FLOAT if is_real else TensorProto.INT8, transB=1)  # fmt: skip
    sums = (LEFT.astype(int) - 4) @ RIGHT.astype(int).T + BIAS
    real = sums * (0.03 * scales.astype("f8"))
    if is_real:
        np.testing.assert_allclose(made, real, 1e-5)
    else:
        assert np.abs(made.astype(int) - quantised(real, 0.5, 4, np.int8)).max() <= 1
