"""save: arrays to files that `disk.py` reads: .npy and safetensors.

A file is replaced atomically (`core/replacing.py`): processes that have mapped the old file keep
the old data, and none sees a partial file.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Array
from compiler.core.errors import DataError
from compiler.core.replacing import replacing
from compiler.device.disk import ELEMENTS, LENGTH_BYTES
from compiler.device.packing import elements_in_a_byte, packed

ALIGNMENT = 8
"""Bytes: the data of a safetensors file begins at a multiple of this, so that every tensor can be
used in place."""


def write_npy(path: Path, array: Array) -> None:
    """Write one array as a .npy file; types that NumPy does not have are stored as bytes."""
    if dtypes.parse(array.dtype, "save").is_storage:
        array = array.view("V1")
    with replacing(path) as file:
        np.save(file, array, allow_pickle=False)


def write_safetensors(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays by name as a safetensors file, wide elements first, so that all are aligned.

    Raises `DataError` for a name that the format reserves.
    """
    names = {dtype: short for short, dtype in ELEMENTS.items()}
    header: dict[str, Any] = {}
    ordered = sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize)
    position = 0
    for name, array in ordered:
        if not isinstance(name, str) or name == "__metadata__":
            raise DataError(
                "save", "no name for a tensor", got=repr(name),
                expected="a string other than __metadata__",
            )  # fmt: skip
        dtype = dtypes.parse(array.dtype, "save")
        each = elements_in_a_byte(dtype)
        if dtype not in names or array.size % each:
            raise DataError(
                "save", f"the format cannot hold tensor {name}",
                got=f"{array.size:,} elements of {dtype}",
                expected=f"an even number of {dtype}" if dtype in names else ", ".join(ELEMENTS),
            )  # fmt: skip
        header[name] = {
            "dtype": names[dtype],
            "shape": list(array.shape),
            "data_offsets": [position, position + array.nbytes // each],
        }
        position += array.nbytes // each
    import json  # not at import: nothing else needs it

    text = json.dumps(header).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    with replacing(path) as file:
        file.write(len(text).to_bytes(LENGTH_BYTES, "little") + text)
        for _, array in ordered:
            whole = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
            plain = whole.reshape(-1).view(np.uint8)  # a buffer has NumPy's types alone
            dtype = dtypes.parse(array.dtype, "save")
            file.write((packed(plain, dtype) if elements_in_a_byte(dtype) > 1 else plain).data)
