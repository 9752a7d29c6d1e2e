"""Products and convolutions of quantised values: exact with any zero points, and taken by words."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor

onnx = pytest.importorskip("onnx")
OPTIONS = Options(machine="amd-zen4")
Array = np.ndarray[Any, Any]


def program(op: str, x: Array, constants: dict[str, Array], **attributes: Any) -> Tensor:
    """The result of one operator on an input and constants."""
    helper, arrays = onnx.helper, onnx.numpy_helper
    node = helper.make_node(op, ["x", *constants], ["y"], **attributes)
    given = helper.make_tensor_value_info("x", arrays.from_array(x).data_type, x.shape)
    made = helper.make_tensor_value_info("y", onnx.TensorProto.INT32, None)
    held = [arrays.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph([node], "g", [given], [made], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    return next(iter(compiler.from_onnx(model)(x).values()))


def values(dtype: Any, *shape: int) -> Array:
    info = np.iinfo(dtype)
    return np.random.default_rng(sum(shape)).integers(info.min, info.max + 1, shape).astype(dtype)


def checked(made: Tensor, expected: Array) -> None:
    """Machine code has these numbers, and one kernel multiplies words."""
    compilation = compiler.compile(made, OPTIONS)
    assert sum(choices.has("dot") for choices in compilation.choices.values()) == 1
    np.testing.assert_array_equal(compilation.run()[0], expected.astype(np.int32))
    plain = compiler.compile(made, replace(OPTIONS, machine="x86-avx2"))
    np.testing.assert_array_equal(plain.run()[0], expected.astype(np.int32))


@pytest.mark.parametrize(("x_zero", "w_zero"), [(0, 0), (114, 0), (114, 7)])
def test_convolutions_with_zero_points(x_zero: int, w_zero: int) -> None:
    x, w = values(np.uint8, 1, 9, 8, 20), values(np.int8, 17, 9, 3, 3)
    constants = {"w": w, "a": np.uint8(x_zero), "b": np.full(17, w_zero, np.int8)}
    made = program("ConvInteger", x, constants, pads=[1, 0, 1, 2])
    padded = np.pad(x.astype(np.int64) - x_zero, ((0, 0), (0, 0), (1, 1), (0, 2)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    checked(made, np.einsum("nchwij,ocij->nohw", seen, w.astype(np.int64) - w_zero))


@pytest.mark.parametrize(("a_zero", "b_zero"), [(0, 0), (114, 0), (0, 7), (114, 7)])
def test_products_with_zero_points(a_zero: int, b_zero: int) -> None:
    a, b = values(np.uint8, 12, 37), values(np.int8, 37, 20)
    made = program("MatMulInteger", a, {"b": b, "y": np.uint8(a_zero), "z": np.int8(b_zero)})
    checked(made, (a.astype(np.int64) - a_zero) @ (b.astype(np.int64) - b_zero))


def test_a_zero_point_of_each_column() -> None:
    a, b, zeros = values(np.uint8, 12, 37), values(np.int8, 37, 20), values(np.int8, 20)
    made = program("MatMulInteger", a, {"b": b, "y": np.uint8(3), "z": zeros})
    checked(made, (a.astype(np.int64) - 3) @ (b.astype(np.int64) - zeros))
