"""Memory shared with other libraries, by DLPack: `np.from_dlpack(x)`, `from_dlpack(array)`.

Memory is shared in both directions without a copy. Tensors share memory with each other, so it is
exported as read-only; see `tensors/sharing.py`.
"""

from typing import Any

from compiler.array_api.arguments import placed
from compiler.array_api.creation import CopyNeeded
from compiler.core.errors import DataError
from compiler.core.keywords import public
from compiler.tensor import Tensor
from compiler.tensors.sharing import array_of


@public
def from_dlpack(x: Any, /, *, device: object = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of `x`, an array of any library that has `__dlpack__`.

    Later writes to `x` are visible until the tensor has been computed. The memory is copied if
    `copy` is true, or if the array is not row-major; the latter raises `DataError` (a ValueError)
    if `copy` is false.
    """
    if not hasattr(x, "__dlpack__"):
        what, got = "the object does not support DLPack", type(x).__name__
        raise DataError("from_dlpack", what, got=got, expected="an array with __dlpack__")
    array = array_of(x)
    if copy is False and not array.flags.c_contiguous:
        raise CopyNeeded(
            "from_dlpack", "an array that is not row-major must be copied, and copy=False forbids "
            "it", got=f"strides {array.strides}", expected="a row-major array",
        )  # fmt: skip
    return placed(Tensor(array.copy() if copy else array), device)
