"""ImageDecoder, next to ONNX's own cases: files that are long, broken, or known too late."""

import io

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from PIL import Image

import compiler
from compiler import DataError, Tensor


def _program(**attributes: str) -> compiler.OnnxProgram:
    node = helper.make_node("ImageDecoder", ["data"], ["y"], **attributes)
    given = helper.make_tensor_value_info("data", TensorProto.UINT8, [None])
    made = helper.make_tensor_value_info("y", TensorProto.UINT8, [None, None, None])
    graph = helper.make_graph([node], "test", [given], [made])
    model: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    return compiler.from_onnx(model)


def _file(image: Image.Image) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    file = io.BytesIO()
    image.save(file, "png")
    return np.frombuffer(file.getvalue(), np.uint8)


def test_a_long_file() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (200, 201, 3), dtype=np.uint8)
    data = _file(Image.fromarray(pixels))
    assert data.size > 1 << 16
    np.testing.assert_array_equal(_program()(data)["y"].numpy(), pixels)
    backwards = _program(pixel_format="BGR")(data)["y"]
    np.testing.assert_array_equal(backwards.numpy(), pixels[..., ::-1])


def test_other_modes_become_what_is_wanted() -> None:
    data = _file(Image.new("RGBA", (3, 2), (10, 20, 30, 40)))
    assert _program()(data)["y"].tolist() == [[[10, 20, 30]] * 3] * 2
    assert _program(pixel_format="Grayscale")(data)["y"].shape == (2, 3, 1)


@pytest.mark.parametrize("data", [np.zeros(0, np.uint8), np.arange(99, dtype=np.uint8)])
def test_broken_files_are_a_page(data: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> None:
    with pytest.raises(DataError, match="the image cannot be decoded"):
        _program()(data)


def test_it_has_to_be_known() -> None:
    data = Tensor.placeholder(9, dtype="uint8", name="data")
    with pytest.raises(DataError, match="known only when the program runs"):
        _program()(data)
    with pytest.raises(DataError, match="there is no such pixel format"):
        _program(pixel_format="CMYK")(np.zeros(9, np.uint8))
