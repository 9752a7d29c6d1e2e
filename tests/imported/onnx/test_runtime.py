"""Operators of ONNX Runtime's quantiser, against the same arithmetic in float64."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import compiler
from tests.imported.reached import reaching

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(3)
A = RNG.integers(0, 256, (2, 3, 4, 4), dtype=np.uint8)
B = RNG.integers(0, 256, (2, 3, 4, 4), dtype=np.uint8)
LEFT = RNG.integers(-128, 128, (5, 7), dtype=np.int8)
RIGHT = RNG.integers(-128, 128, (6, 7), dtype=np.int8)
BIAS = RNG.integers(-900, 900, 6, dtype=np.int32)


def run(
    op: str, *values: Any, output: int = TensorProto.UINT8, inputs: tuple[int, ...] = (0,),
    results: int = 1, domain: str = "com.microsoft", **attributes: Any,
) -> list[Array]:  # fmt: skip
    """The results of one node: values at `inputs` are given, None is left out, the rest known."""
    arrays = {f"v{n}": np.asarray(each) for n, each in enumerate(values) if each is not None}
    names = [f"v{n}" if each is not None else "" for n, each in enumerate(values)]
    given = [names[place] for place in inputs]
    described = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(arrays[n].dtype),
                                      arrays[n].shape) for n in given
    ]  # fmt: skip
    made = [helper.make_tensor_value_info(f"y{n}", output, None) for n in range(results)]
    node = helper.make_node(op, names, [each.name for each in made], domain=domain,
                            **attributes)  # fmt: skip
    constants = [numpy_helper.from_array(a, n) for n, a in arrays.items() if n not in given]
    graph = helper.make_graph([node], "g", described, made, constants)
    sets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    with reaching("onnx"):
        program = compiler.from_onnx(helper.make_model(graph, opset_imports=sets))
        tensors = program(*(arrays[n] for n in given)).values()
    return [each.numpy() for each in tensors]


def scale(value: float) -> Array:
    return np.array(value, np.float32)


def quantised(real: Array, step: float, zero: int, kind: Any) -> Array:
    limits = np.iinfo(kind)
    return np.clip(np.round(real / np.float32(step)) + zero, limits.min, limits.max)


def is_one_step_off(made: Array, expected: Array, kind: Any) -> bool:
    """At most by one step, where it is a tie."""
    return made.dtype == kind and bool(np.abs(made.astype(int) - expected).max() <= 1)


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
def test_pairs(op: str) -> None:
    zeros = [np.array(n, np.uint8) for n in (128, 3, 9)]
    (made,) = run(op, A, scale(0.02), zeros[0], B, scale(0.05), zeros[1], scale(0.06), zeros[2],
                  inputs=(0, 3))  # fmt: skip
    one, other = (A.astype("f8") - 128) * 0.02, (B.astype("f8") - 3) * 0.05
    expected = quantised(one + other if op == "QLinearAdd" else one * other, 0.06, 9, np.uint8)
    assert is_one_step_off(made, expected, np.uint8)


def test_without_zero_points() -> None:
    (made,) = run("QLinearAdd", A, scale(0.02), None, B, scale(0.05), None, scale(0.08),
                  inputs=(0, 3))  # fmt: skip
    expected = quantised(A * 0.02 + B * 0.05, 0.08, 0, np.uint8)
    assert is_one_step_off(made, expected, np.uint8)


@pytest.mark.parametrize("is_real", [False, True])
def test_gemm(is_real: bool) -> None:
    zero, scales = np.array(4, np.int8), RNG.uniform(0.01, 0.02, 6).astype("f4")
    rest = () if is_real else (scale(0.5), zero)
    (made,) = run("QGemm", LEFT, scale(0.03), zero, RIGHT, scales, np.zeros(6, np.int8), BIAS,
                  *rest, output=TensorProto.FLOAT if is_real else TensorProto.INT8,
                  inputs=(0, 3), transB=1)  # fmt: skip
    sums = (LEFT.astype(int) - 4) @ RIGHT.astype(int).T + BIAS
    real = sums * (0.03 * scales.astype("f8"))
    if is_real:
        np.testing.assert_allclose(made, real, 1e-5)
    else:
        assert is_one_step_off(made, quantised(real, 0.5, 4, np.int8), np.int8)


def softmax(x: Array, axis: int) -> Array:
    e = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(e / e.sum(axis, keepdims=True))


def means(x: Array) -> Array:
    return np.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 3)).mean((4, 5))


@pytest.mark.parametrize(("op", "attributes", "function"), [
    ("Sigmoid", {}, lambda x: 1 / (1 + np.exp(-x))),
    ("LeakyRelu", {"alpha": 0.2}, lambda x: np.where(x < 0, 0.2 * x, x)),
    ("Softmax", {"axis": 1, "opset": 13}, lambda x: softmax(x, 1)),
    ("Softmax", {"axis": 1, "opset": 11}, lambda x: softmax(x.reshape(2, -1), 1).reshape(x.shape)),
    ("AveragePool", {"kernel_shape": [2, 2]}, means),
    ("AveragePool", {"kernel_shape": [2, 2], "channels_last": 1},
     lambda x: np.moveaxis(means(np.moveaxis(x, -1, 1)), 1, -1)),
    ("GlobalAveragePool", {}, lambda x: x.mean((2, 3), keepdims=True)),
    ("GlobalAveragePool", {"channels_last": 1}, lambda x: x.mean((1, 2), keepdims=True)),
])  # fmt: skip
def test_functions_of_one(op: str, attributes: dict[str, Any], function: Any) -> None:
    zeros = np.array(110, np.uint8), np.array(57, np.uint8)
    (made,) = run(f"QLinear{op}", A, scale(0.02), zeros[0], scale(0.01), zeros[1], **attributes)
    expected = quantised(function((A.astype("f8") - 110) * 0.02), 0.01, 57, np.uint8)
    assert made.shape == expected.shape and len(np.unique(expected)) > 3
    assert is_one_step_off(made, expected, np.uint8)


def test_joined_and_chosen() -> None:
    """Each part has a scale and a zero point of its own."""
    zeros = [np.array(n, np.uint8) for n in (128, 3, 9)]
    one, other = (A.astype("f8") - 128) * 0.02, (B.astype("f8") - 3) * 0.05
    (joined,) = run("QLinearConcat", scale(0.06), zeros[2], A, scale(0.02), zeros[0], B,
                    scale(0.05), zeros[1], inputs=(2, 5), axis=-3)  # fmt: skip
    expected = quantised(np.concatenate([one, other], 1), 0.06, 9, np.uint8)
    assert is_one_step_off(joined, expected, np.uint8)
    (chosen,) = run("QLinearWhere", A > 100, A, scale(0.02), zeros[0], B, scale(0.05), zeros[1],
                    scale(0.06), zeros[2], inputs=(0, 1, 4))  # fmt: skip
    expected = quantised(np.where(A > 100, one, other), 0.06, 9, np.uint8)
    assert is_one_step_off(chosen, expected, np.uint8)


def test_to_a_scale_and_back() -> None:
    """Its own domain has them for types that ONNX's lacks before version 21."""
    x, zeros = RNG.normal(size=(3, 4)).astype("f4"), np.array([-3, 5, 0, 9], np.int16)
    scales = np.array([1e-3, 2e-3, 5e-4, 1e-4], np.float32)
    (held,) = run("QuantizeLinear", x, scales, zeros, output=TensorProto.INT16, axis=1)
    assert is_one_step_off(held, np.clip(np.round(x / scales) + zeros, -32768, 32767), np.int16)
    (real,) = run("DequantizeLinear", held, scales, zeros, output=TensorProto.FLOAT, axis=1)
    np.testing.assert_allclose(real, (held - zeros.astype("f8")) * scales, 1e-6)


def rounded(x: Array) -> Array:
    """The numbers after DynamicQuantizeLinear and back."""
    low, high = min(x.min(), 0), max(x.max(), 0)
    step = np.float32((high - low) / 255) if high > low else np.float32(1)
    zero = np.clip(np.round(-low / step), 0, 255)
    return np.asarray((np.clip(np.round(x / step) + zero, 0, 255) - zero) * step)


@pytest.mark.parametrize("is_each", [False, True])
@pytest.mark.parametrize("steps", [3, 12])
def test_lstm_of_quantised_weights(steps: int, is_each: bool) -> None:
    """Scales of the direction or of each column; few steps are written out, many are a loop."""
    hidden, width = 5, 4
    x = RNG.normal(size=(steps, 2, width)).astype("f4")
    w = RNG.integers(0, 256, (1, width, 4 * hidden), dtype=np.uint8)
    r = RNG.integers(0, 256, (1, hidden, 4 * hidden), dtype=np.uint8)
    shape = (1, 4 * hidden) if is_each else (1,)
    scales = [RNG.uniform(0.004, 0.008, shape).astype("f4") for _ in range(2)]
    zeros = [RNG.integers(110, 140, shape, dtype=np.uint8) for _ in range(2)]
    bias = RNG.normal(size=(1, 8 * hidden)).astype("f4")
    every, last, cell = run(
        "DynamicQuantizeLSTM", x, w, r, bias, None, None, None, None, scales[0], zeros[0],
        scales[1], zeros[1], output=TensorProto.FLOAT, results=3, hidden_size=hidden,
    )  # fmt: skip
    real_w, real_r = ((v[0] - z.astype("f8")) * s for v, z, s in zip((w, r), zeros, scales,
                                                                    strict=True))  # fmt: skip
    h, c, from_x = np.zeros((2, hidden)), np.zeros((2, hidden)), rounded(x) @ real_w
    for step in range(steps):
        gates = from_x[step] + rounded(h) @ real_r + bias[0, : 4 * hidden] + bias[0, 4 * hidden :]
        i, o, f = (1 / (1 + np.exp(-gates[:, n * hidden : (n + 1) * hidden])) for n in range(3))
        c = f * c + i * np.tanh(gates[:, 3 * hidden :])
        h = o * np.tanh(c)
        np.testing.assert_allclose(every[step, 0], h, atol=2e-2)
    np.testing.assert_allclose(last[0], h, atol=2e-2)
    np.testing.assert_allclose(cell[0], c, atol=5e-2)
    np.testing.assert_array_equal(every[-1], last)
