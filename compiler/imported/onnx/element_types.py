"""ONNX's element types and constants as ours."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Array, DType
from compiler.core.errors import DataError, DTypeError
from compiler.core.lazy import loading
from compiler.device.packing import elements_in_a_byte, unpacked
from compiler.graph.nodes import LARGEST
from compiler.tensor import Tensor

if TYPE_CHECKING:
    from onnx import TensorProto

NUMBERS = {
    1: dtypes.float32, 2: dtypes.uint8, 3: dtypes.int8, 4: dtypes.uint16, 5: dtypes.int16,
    6: dtypes.int32, 7: dtypes.int64, 9: dtypes.bool_, 10: dtypes.float16, 11: dtypes.float64,
    12: dtypes.uint32, 13: dtypes.uint64, 16: dtypes.bfloat16, 17: dtypes.float8_e4m3fn,
    18: dtypes.float8_e4m3fnuz, 19: dtypes.float8_e5m2, 20: dtypes.float8_e5m2fnuz,
    21: dtypes.uint4, 22: dtypes.int4, 23: dtypes.float4_e2m1fn, 24: dtypes.float8_e8m0fnu,
    25: dtypes.uint2, 26: dtypes.int2,
}  # fmt: skip
"""ONNX's numbers of the supported types."""


def dtype_of(number: int, where: str) -> DType:
    """The type of that number. Raises `DTypeError` if it is not supported."""
    if number in NUMBERS:
        return NUMBERS[number]
    raise DTypeError(
        "from_onnx", f"{where} has elements of a type that tensors do not have",
        got=name_of(number), expected=", ".join(t.name for t in NUMBERS.values()),
    )  # fmt: skip


def wide(x: Tensor) -> Tensor:
    """Floats in a type wide enough for their sums and squares; integers unchanged."""
    return x.cast(x.dtype.accumulator)


def name_of(number: int) -> str:
    """ONNX's own name of a type."""
    with loading():
        import onnx
    names: dict[int, str] = {v: k for k, v in onnx.TensorProto.DataType.items()}
    return names.get(number, str(number)).lower()


def array_of(tensor: "TensorProto", where: str, folder: str = "") -> Array:
    """The values of a TensorProto; those in another file are memory-mapped, not copied."""
    with loading():
        from onnx import numpy_helper
    dtype = dtype_of(tensor.data_type, where)
    shape = tuple(tensor.dims)
    if any(n < 0 for n in shape) or int(np.prod(shape, dtype=object)) > LARGEST:
        raise DataError("from_onnx", f"{where} has an impossible shape", got=str(shape),
                        expected="extents of 0 or more that fit into memory")  # fmt: skip
    if tensor.data_location == tensor.EXTERNAL:
        return _external(tensor, dtype, shape, where, folder)
    try:
        array = numpy_helper.to_array(tensor)
    except (ValueError, TypeError) as error:
        raise DataError("from_onnx", f"the data of {where} do not fit its shape", got=str(error),
                        expected=f"{dtype} {shape}") from error  # fmt: skip
    return np.asarray(array, dtype.numpy)


def _external(
    tensor: "TensorProto", dtype: DType, shape: tuple[int, ...], where: str, folder: str
) -> Array:
    """Values in a file in the model's folder, memory-mapped, or unpacked if several share a byte.
    Any other location is refused."""
    said = {each.key: each.value for each in tensor.external_data}
    root = Path(folder).resolve()
    path = (root / said.get("location", "")).resolve()
    if not folder or not path.is_relative_to(root) or not path.is_file():
        raise DataError(
            "from_onnx", f"the data of {where} are not in the folder of the model",
            got=said.get("location", "no place"), expected="a file in the folder of the model",
        )  # fmt: skip
    count, each = int(np.prod(shape)), elements_in_a_byte(dtype)
    offset, size = int(said.get("offset", 0)), -(-count * dtype.itemsize // each)
    if offset < 0 or path.stat().st_size < offset + size:
        raise DataError("from_onnx", f"the file with the data of {where} is too short",
                        got=f"{path.stat().st_size:,} bytes",
                        expected=f"{offset + size:,}")  # fmt: skip
    if not size:
        return np.zeros(shape, dtype.numpy)
    if each > 1:
        packed = np.memmap(path, np.uint8, "r", offset, (size,))
        return unpacked(packed, dtype, count).reshape(shape)
    return np.memmap(path, dtype.numpy.newbyteorder("<"), "r", offset, shape)
