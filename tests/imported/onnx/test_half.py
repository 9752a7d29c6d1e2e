"""Operators that sum, square or count floats of 16 bits: as the same model in float64, rounded."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import compiler
from compiler import Tensor

X, PAIR, CLASSES = (1, 6, 41, 37), (2, 5_000), (70_000, 3)
CASES: dict[str, tuple[tuple[int, ...], dict[str, Any], int]] = {
    "ReduceMean": (PAIR, {}, 1), "ReduceL1": (PAIR, {"keepdims": 0}, 1), "ReduceL2": (PAIR, {}, 1),
    "ReduceLogSum": (PAIR, {}, 1), "ReduceSumSquare": ((2, 2), {}, 1),
    "ReduceLogSumExp": ((3, 4), {}, 1), "Mean": (PAIR, {}, 3), "Sum": ((2, 4), {}, 3),
    "MeanVarianceNormalization": (X, {}, 1), "LpNormalization": (PAIR, {"axis": 1}, 1),
    "LRN": (X, {"size": 3, "alpha": 0.01}, 1), "GlobalAveragePool": (X, {}, 1),
    "GlobalLpPool": (X, {"p": 2}, 1), "LpPool": (X, {"kernel_shape": [16, 16], "p": 2}, 1),
    "AveragePool": (X, {"kernel_shape": [32, 32], "dilations": [1, 1]}, 1),
    "SoftmaxCrossEntropyLoss": (CLASSES, {}, 2), "NegativeLogLikelihoodLoss": (CLASSES, {}, 2),
}  # fmt: skip


def _run(op: str, numbers: "np.ndarray[Any, Any]", dtype: str) -> "np.ndarray[Any, Any]":
    shape, attributes, count = CASES[op]
    kind = {"float16": TensorProto.FLOAT16, "float64": TensorProto.DOUBLE}[dtype]
    names = [f"x{n}" for n in range(count)]
    inputs = [helper.make_tensor_value_info(name, kind, shape) for name in names]
    values = dict.fromkeys(names, numbers.astype(dtype))
    if op.endswith("Loss"):
        inputs[1] = helper.make_tensor_value_info("x1", TensorProto.INT64, shape[:1])
        values["x1"] = np.arange(shape[0]) % shape[1]
    node = helper.make_node(op, names, ["y"], **attributes)
    graph = helper.make_graph(
        [node], "test", inputs, [helper.make_tensor_value_info("y", kind, None)])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made: Tensor = compiler.from_onnx(model)(**values)["y"]
    assert made.dtype == dtype
    return made.cast("float64").numpy()


@pytest.mark.parametrize("op", CASES)
def test_is_float64_rounded_once(op: str) -> None:
    rng = np.random.default_rng(0)
    shape = CASES[op][0]
    noise = np.ones(shape) if op.endswith("Loss") else rng.standard_normal(shape)
    middle = {"ReduceL2": 400, "MeanVarianceNormalization": 2000, "LRN": 900, "Mean": 30_000,
              "LpNormalization": 4000}.get(op, 90)  # fmt: skip
    numbers = (noise * middle / 45 + middle).astype(np.float16)
    got, right = _run(op, numbers, "float16"), _run(op, numbers, "float64")
    is_beyond = np.abs(right) > 65504
    assert not is_beyond.any() or op in ("ReduceL1",)
    near = np.abs(got - right) <= 2.0**-10 * np.abs(right) + 2.0**-13
    assert (near | is_beyond).all(), (got, right)
    assert np.isinf(got[is_beyond]).all()


def test_model_checker_knows_the_operators() -> None:
    assert all(onnx.defs.has(op) for op in CASES)
