"""Memory shared with other libraries, by DLPack: `np.from_dlpack(x)`, `from_dlpack(array)`.

A tensor shares what it is made of, and what is computed for it; nothing is copied. Tensors share
memory among each other, so they give it away to be read; see `tensors/sharing.py`.
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
    """A tensor of the memory of `x`, an array of any library that has `__dlpack__`.

    Later writes to `x` are seen until the tensor has been computed. Copied where `copy` is true,
    and where the array is not row-major; the latter is refused where `copy` is false
    (`DataError`, which is a ValueError).
    """
    if not hasattr(x, "__dlpack__"):
        what, got = "this does not share its memory by DLPack", type(x).__name__
        raise DataError("from_dlpack", what, got=got, expected="an array with __dlpack__")
    array = array_of(x)
    if copy is False and not array.flags.c_contiguous:
        raise CopyNeeded(
            "from_dlpack", "an array that is not row-major must be copied, and copy=False forbids "
            "it", got=f"strides {array.strides}", expected="a row-major array",
        )  # fmt: skip
    return placed(Tensor(array.copy() if copy else array), device)
