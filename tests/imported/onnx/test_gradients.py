"""Gradients of ONNX models, by inputs and by parameters, against central differences."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import compiler
from compiler import Tensor
from tests.differences import STEP

pytestmark = pytest.mark.filterwarnings("ignore")
Array = np.ndarray[Any, Any]
_random = np.random.default_rng(5)


def model(nodes: list[Any], shape: tuple[int, ...], **constants: Array) -> Any:
    """A model of one input `x` and one output `y`, in float64."""
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.DOUBLE, shape)],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)],
        [numpy_helper.from_array(each, name) for name, each in constants.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def node(op: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def drawn(*shape: int) -> Array:
    return _random.uniform(-1, 1, shape)


MODELS = {
    "perceptron": model(
        [node("Transpose", "w", "wt"), node("MatMul", "x wt", "h"), node("Add", "h b", "i"),
         node("Relu", "i", "j"), node("Gemm", "j v", "k", transB=1), node("Softmax", "k", "y")],
        (3, 4), w=drawn(5, 4), b=drawn(5), v=drawn(2, 5),
    ),
    "convolution": model(
        [node("Conv", "x w b", "h", strides=[1, 1], pads=[1, 1, 1, 1], group=2),
         node("BatchNormalization", "h s c m d", "i"), node("LeakyRelu", "i", "j"),
         node("MaxPool", "j", "k", kernel_shape=[2, 2], strides=[2, 2]),
         node("GlobalAveragePool", "k", "y")],
        (1, 2, 6, 6), w=drawn(4, 1, 3, 3), b=drawn(4), s=drawn(4), c=drawn(4), m=drawn(4),
        d=np.abs(drawn(4)) + 0.5,
    ),
    "recurrent": model(
        [node("LSTM", "x w r b", "h", hidden_size=3), node("Squeeze", "h a", "y")],
        (4, 2, 2), w=drawn(1, 12, 2), r=drawn(1, 12, 3), b=drawn(1, 24),
        a=np.array([1]),
    ),
    "picking": model(
        [node("Gather", "t i", "h", axis=0), node("Mul", "h x", "j"),
         node("Clip", "j low high", "k"), node("ReduceLogSumExp", "k", "l", axes=[1], keepdims=1),
         node("Pow", "x two", "m"), node("Div", "l m", "y")],
        (3, 4), t=drawn(5, 4), i=np.array([0, 4, 0]), low=np.array(-0.3), high=np.array(0.4),
        two=np.array(2.0),
    ),
}  # fmt: skip


def with_one(made: Any, name: str, value: Array) -> Any:
    """The model with another constant."""
    other = onnx.ModelProto()
    other.CopyFrom(made)
    for each in other.graph.initializer:
        if each.name == name:
            each.CopyFrom(numpy_helper.from_array(value, name))
    return other


def differences(f: Any, at: Array) -> Array:
    """By central differences."""
    slope = np.zeros_like(at)
    for index in np.ndindex(at.shape):
        ends = []
        for sign in (1, -1):
            moved = at.copy()
            moved[index] += sign * STEP
            ends.append(f(moved))
        slope[index] = (ends[0] - ends[1]) / (2 * STEP)
    return slope


@pytest.mark.parametrize("name", MODELS)
def test_by_inputs_and_parameters(name: str) -> None:
    made = MODELS[name]
    program = compiler.from_onnx(made)
    shape = program.inputs["x"][1]
    x = np.random.default_rng(0).uniform(0.2, 1, shape)
    weight = np.random.default_rng(1).uniform(0.5, 1.5, program(x)["y"].shape)

    def value(program: Any, x: Array) -> float:
        return float((program(x)["y"].numpy() * weight).sum())

    by_input = differences(lambda x: value(program, x), x)
    slope = compiler.grad(lambda x: (program(x)["y"] * weight).sum())(x)
    np.testing.assert_allclose(slope.numpy(), by_input, 1e-5, 1e-6)

    parameters = program.parameters
    for each in parameters.values():
        each.requires_grad_()
    given = Tensor(x, requires_grad=True)
    (program(given)["y"] * weight).sum().backward()
    assert given.grad is not None
    np.testing.assert_allclose(given.grad.numpy(), by_input, 1e-5, 1e-6)
    for key, parameter in parameters.items():
        at = parameter.numpy().copy()
        wanted = differences(
            lambda v, key=key: value(compiler.from_onnx(with_one(made, key, v)), x), at
        )
        assert parameter.grad is not None, key
        np.testing.assert_allclose(parameter.grad.numpy(), wanted, 1e-5, 1e-6, err_msg=key)


def test_what_learns_is_read_anew() -> None:
    program = compiler.from_onnx(MODELS["perceptron"])
    x = drawn(3, 4)
    before = program(x)["y"].numpy()
    w = program.parameters["w"].requires_grad_()
    np.testing.assert_allclose(program(x)["y"].numpy(), before)
    w.assign(w.detach() * 0)
    assert not np.allclose(program(x)["y"].numpy(), before)
