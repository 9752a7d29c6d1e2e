"""PyTorch's element types and tensors as ours: memory is shared where it can be."""

from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Array, DType
from compiler.core.errors import DTypeError
from compiler.core.lazy import loading


def dtype_of(torch_dtype: Any, where: str) -> DType:
    """Our type of that name. Raises `DTypeError` if it is not supported."""
    name = str(torch_dtype).removeprefix("torch.")
    types = {t.name: t for t in dtypes.ALL}
    if name in types:
        return types[name]
    raise DTypeError(
        "from_torch", f"{where} has elements of a type that tensors do not have", got=name,
        expected=", ".join(types),
    )  # fmt: skip


def array_of(tensor: Any, where: str) -> Array:
    """The values of a PyTorch tensor: a view of its memory if that is row-major."""
    with loading():
        import torch
    dtype = dtype_of(tensor.dtype, where)
    plain = tensor.detach().resolve_conj().resolve_neg()
    if plain.device.type != "cpu" or plain.layout != torch.strided:
        plain = plain.cpu().to_dense() if plain.layout != torch.strided else plain.cpu()
    plain = plain.contiguous()
    if dtype.numpy.isbuiltin == 1:  # those of ml_dtypes are 2: PyTorch does not know them
        return np.asarray(plain.numpy())
    bits = {8: torch.uint8, 16: torch.int16}[dtype.bits]
    return np.asarray(plain.view(bits).numpy().view(dtype.numpy))
