"""ImageDecoder: the bytes of an image file as an image.

Pillow decodes the bytes while the model is walked, because all shapes after it depend on them; so
they have to be passed as data. Pillow is imported only for models with this operator.
"""

import io
from typing import Any

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.errors import DataError
from compiler.core.lazy import loading
from compiler.device import buffers
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer
from compiler.imported.onnx.call import Call, operator
from compiler.tensor import Tensor

FORMATS = {"RGB": "RGB", "BGR": "RGB", "Grayscale": "L"}
"""Pillow's modes for ONNX's formats."""


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
    """The content of the file, if it was passed as data."""
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
            pixels: Any = np.array(image.convert(mode))
    except Exception as error:  # a broken or hostile file fails in many ways
        raise call.refused("the image cannot be decoded", f"{type(error).__name__}: {error}",
                           "the bytes of an image file") from error  # fmt: skip
    return np.asarray(pixels, np.uint8)
