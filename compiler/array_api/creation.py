"""New tensors, and tensors from arrays and numbers. Default types are NumPy's: float64, int64,
bool.

Memory is shared with other libraries by DLPack, in both directions without a copy. Tensors share
memory with each other, so it is exported as read-only; see `tensors/sharing.py`.
"""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from compiler.array_api.arguments import is_tensor, placed, tensor
from compiler.core.dtypes import DType, Scalar, parse
from compiler.core.errors import DataError
from compiler.core.keywords import public
from compiler.tensor import Tensor
from compiler.tensors.sharing import array_of

Shape: TypeAlias = int | Sequence[int]
Type: TypeAlias = DType | None


@public
def arange(
    start: int | float, /, stop: int | float | None = None, step: int | float = 1, *,
    dtype: Type = None, device: object = None,
) -> Tensor:  # fmt: skip
    """start, start + step, … below `stop`. A single argument is `stop`, with `start` 0."""
    return placed(Tensor.arange(start, stop, step, dtype), device)


@public
def asarray(
    obj: object, /, *, dtype: Type = None, device: object = None, copy: bool | None = None
) -> Tensor:  # fmt: skip
    """A tensor from a tensor, an array, a number, a nested list of these, or a buffer.

    A tensor, or an array that is row-major, aligned and in native byte order, is shared unless
    `copy` is true or `dtype` differs. Raises `DataError`, also a ValueError, if `copy` is false but
    a copy is needed.
    """
    if copy is False and not _is_shared(obj, dtype, device):
        raise CopyNeeded(
            "asarray", "this must be copied, and copy=False forbids it", got=type(obj).__name__,
            expected="a tensor or an array, row-major, of the type and on the device asked for",
        )  # fmt: skip
    if isinstance(obj, Tensor):
        same = obj if dtype is None or obj.dtype == dtype else obj.cast(dtype)
        return placed(same.clone() if copy and same is obj else same, device)
    data = np.array(_plain(obj), copy=True) if copy else _plain(obj)
    return placed(Tensor(data, dtype), device)


class CopyNeeded(DataError, ValueError):
    """A copy is needed, but forbidden."""


def _is_shared(obj: object, dtype: Type, device: object) -> bool:
    """True if a tensor made from `obj` shares its memory."""
    if not isinstance(obj, Tensor | np.ndarray):
        return False
    if dtype is not None and parse(obj.dtype, "asarray") != parse(dtype, "asarray"):
        return False
    here = obj.device if isinstance(obj, Tensor) else "CPU"
    is_plain = isinstance(obj, Tensor) or (obj.flags.c_contiguous and obj.flags.aligned)
    return bool(is_plain) and device in (None, here)


def _plain(obj: object) -> object:
    """`obj` with the tensors in its lists replaced by numbers, and a buffer by an array."""
    if isinstance(obj, list | tuple):
        return [_plain(each) for each in obj]
    if is_tensor(obj):
        return np.asarray(obj)
    return np.asarray(obj) if isinstance(obj, bytearray | memoryview) else obj


@public
def empty(shape: Shape, *, dtype: Type = None, device: object = None) -> Tensor:
    """A tensor with unspecified elements; they are 0."""
    return placed(Tensor.zeros(shape, dtype=dtype), device)


@public
def empty_like(x: Tensor, /, *, dtype: Type = None, device: object = None) -> Tensor:
    """A tensor with unspecified elements, and the shape and, by default, the type and device of
    `x`."""
    return placed(tensor("empty_like", x).zeros_like(dtype), device, x)


@public
def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Type = None,
    device: object = None,
) -> Tensor:  # fmt: skip
    """1 on diagonal `k`, 0 elsewhere."""
    return placed(Tensor.eye(n_rows, n_cols, dtype, diagonal=k), device)


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


@public
def full(
    shape: Shape, fill_value: Scalar, *, dtype: Type = None, device: object = None
) -> Tensor:  # fmt: skip
    """`fill_value` everywhere."""
    return placed(Tensor.full(shape, fill_value, dtype), device)


@public
def full_like(
    x: Tensor, /, fill_value: Scalar, *, dtype: Type = None, device: object = None
) -> Tensor:  # fmt: skip
    """`fill_value` everywhere, with the shape and, by default, the type of `x`."""
    return placed(tensor("full_like", x).full_like(fill_value, dtype), device, x)


@public
def linspace(
    start: int | float, stop: int | float, /, num: int, *, dtype: Type = None,
    device: object = None, endpoint: bool = True,
) -> Tensor:  # fmt: skip
    """`num` evenly spaced numbers from `start` to `stop`, including `stop` if `endpoint`."""
    return placed(Tensor.linspace(start, stop, num, endpoint, dtype), device)


@public
def meshgrid(*arrays: Tensor, indexing: Literal["xy", "ij"] = "xy") -> list[Tensor]:
    """Coordinates of a grid: each vector broadcast along the axes of the others."""
    return list(Tensor.meshgrid(*arrays, indexing=indexing))


@public
def ones(shape: Shape, *, dtype: Type = None, device: object = None) -> Tensor:
    """1 everywhere."""
    return placed(Tensor.ones(shape, dtype=dtype), device)


@public
def ones_like(x: Tensor, /, *, dtype: Type = None, device: object = None) -> Tensor:
    """1 everywhere, with the shape and, by default, the type and device of `x`."""
    return placed(tensor("ones_like", x).ones_like(dtype), device, x)


@public
def tril(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The lower triangle: 0 above diagonal `k` of the last two axes."""
    return tensor("tril", x).tril(k)


@public
def triu(x: Tensor, /, *, k: int = 0) -> Tensor:
    """The upper triangle: 0 below diagonal `k` of the last two axes."""
    return tensor("triu", x).triu(k)


@public
def zeros(shape: Shape, *, dtype: Type = None, device: object = None) -> Tensor:
    """0 everywhere."""
    return placed(Tensor.zeros(shape, dtype=dtype), device)


@public
def zeros_like(x: Tensor, /, *, dtype: Type = None, device: object = None) -> Tensor:
    """0 everywhere, with the shape and, by default, the type and device of `x`."""
    return placed(tensor("zeros_like", x).zeros_like(dtype), device, x)
