"""RoiAlign whose number of sampling points depends on the regions, against ONNX's reference."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import compiler
from compiler import DataError, Tensor, compile

IMAGES = np.random.default_rng(0).standard_normal((2, 3, 9, 7)).astype(np.float32)
ROIS = np.array([[0, 0, 6, 6], [1.5, 2, 4, 12], [3, 3, 3.2, 3.1], [-9, -9, -5, -4]], np.float32)
OF = np.array([1, 0, 1, 0])


def _model(mode: str, how: str) -> onnx.ModelProto:
    node = helper.make_node(
        "RoiAlign", ["x", "rois", "of"], ["y"], mode=mode, output_height=3, output_width=2,
        coordinate_transformation_mode=how, spatial_scale=0.75,
    )  # fmt: skip
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 9, 7]),
        helper.make_tensor_value_info("rois", TensorProto.FLOAT, [4, 4]),
        helper.make_tensor_value_info("of", TensorProto.INT64, [4]),
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 3, 3, 2])
    graph = helper.make_graph([node], "test", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)])


@pytest.mark.parametrize("how", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_places_follow_from_the_regions(mode: str, how: str) -> None:
    model = _model(mode, how)
    (expected,) = ReferenceEvaluator(model).run(None, {"x": IMAGES, "rois": ROIS, "of": OF})
    made = compiler.from_onnx(model)(IMAGES, ROIS, OF)["y"]
    assert compile(made).check().ok
    np.testing.assert_allclose(made.numpy(), expected, 1e-5, 1e-6)


def test_regions_have_to_be_known() -> None:
    program = compiler.from_onnx(_model("avg", "half_pixel"))
    rois = Tensor.placeholder(4, 4, dtype="float32", name="rois")
    with pytest.raises(DataError, match="known only when the program runs"):
        program(IMAGES, rois, OF)
