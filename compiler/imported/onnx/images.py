"""ImageDecoder: the bytes of an image file as an image.

Pillow decodes them while the model is walked: the shape of all that follows hangs on them, so they
have to be given then. It is loaded by the models that have such a node.
"""

import io
from typing import Any

import numpy as np

from compiler.core.errors import DataError
from compiler.core.lazy import loading
from compiler.device import buffers
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer
from compiler.imported.onnx.call import Call, operator
from compiler.imported.onnx.element_types import Array
from compiler.tensor import Tensor

FORMATS = {"RGB": "RGB", "BGR": "RGB", "Grayscale": "L"}
"""ONNX's formats as Pillow's modes."""


@operator("ImageDecoder")
def decode_image(call: Call, data: Tensor) -> Tensor:
    """[bytes] → [height, width, channels] of uint8."""
    wanted = call.get("pixel_format", "RGB")
    if wanted not in FORMATS:
        raise call.refused("there is no such pixel format", wanted, ", ".join(FORMATS))
    image = _decoded(call, _bytes_of(call, data), FORMATS[wanted])
    image = image.reshape(*image.shape[:2], -1)
    return Tensor(image[..., ::-1] if wanted == "BGR" else image)


def _bytes_of(call: Call, data: Tensor) -> bytes:
    """What the file holds, however long it is, if it was given as it is."""
    node = data.node
    if isinstance(node, Buffer) and node.unique != PLACEHOLDER:
        return bytes(buffers.data(node).tobytes())
    return bytes(call.known(0, "the image file").tobytes())


def _decoded(call: Call, data: bytes, mode: str) -> Array:
    try:
        with loading():
            from PIL import Image
    except ImportError as error:
        raise DataError("from_onnx", f"{call.op}: images are decoded by Pillow",
                        got="no Pillow", expected="pip install pillow") from error  # fmt: skip
    try:
        with Image.open(io.BytesIO(data)) as image:
            made: Any = np.array(image.convert(mode))
    except Exception as error:  # a broken or hostile file fails in many ways
        raise call.refused("the image cannot be decoded", f"{type(error).__name__}: {error}",
                           "the bytes of an image file") from error  # fmt: skip
    return np.asarray(made, np.uint8)
