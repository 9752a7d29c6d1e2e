"""Memory shared with other libraries in place, by DLPack, as in `np.from_dlpack(x)`.

Tensors share memory, and a write to one must not change another: memory is exported as read-only.
Only DLPack from version 1 on has a read-only flag. A library that requests an older version gets a
copy; if it forbids a copy, it is responsible for not writing.

NumPy makes and reads the capsules, but does not support bfloat16: such memory passes through NumPy
as int16, and the type in the capsule is corrected.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from compiler.core.dtypes import Array, bfloat16
from compiler.core.errors import DataError

CPU = (1, 0)
"""DLPack's number of CPU memory, which all our devices share."""
FIRST_WITH_FLAGS = 1
"""The first version of DLPack with a read-only flag."""
INTEGER, BFLOAT = 0, 4
"""DLPack's numbers for kinds of elements."""


class _Tensor(ctypes.Structure):
    """DLPack's DLTensor: address, shape and type of an array."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
    )  # fmt: skip


class _Versioned(ctypes.Structure):
    """DLPack's DLManagedTensorVersioned: the content of a capsule from version 1 on."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    )  # fmt: skip


def capsule(
    array: Array, stream: object, version: Any,
    device: Sequence[int] | None, copy: bool | None,
) -> Any:  # fmt: skip
    """The DLPack capsule of an array's memory, or of a copy if one is requested or needed.

    Raises `BufferError` for a device other than the CPU, and `DataError` for a stream, which a CPU
    does not have.
    """
    if stream is not None:
        raise DataError("__dlpack__", "a processor has no streams", got=repr(stream),
                        expected="stream=None")  # fmt: skip
    if device is not None and tuple(device) != CPU:
        raise BufferError(f"this memory is on DLPack's device {CPU}, not on {tuple(device)}")
    is_new = version is not None and version[0] >= FIRST_WITH_FLAGS
    given = array if is_new else _writable(array)
    given = np.array(given) if copy or (copy is None and not is_new) else given
    is_brain = array.dtype.name == bfloat16.name
    plain = given.view(np.int16) if is_brain else given
    made = plain.__dlpack__(max_version=version) if is_new else plain.__dlpack__()
    return _retyped(made, BFLOAT) if is_brain else made


def _writable(array: Array) -> Array:
    """The same memory without NumPy's read-only flag."""
    if not array.size:
        return np.empty_like(array)
    memory: Any = (ctypes.c_byte * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array  # for as long as it is read
    return np.frombuffer(memory, array.dtype).reshape(array.shape)


def array_of(x: Any) -> Array:
    """The memory of `x`, an array of any library, as a NumPy array.

    Raises `BufferError` or `RuntimeError` for memory or elements that NumPy does not support.
    """
    if not str(getattr(x, "dtype", "")).endswith(bfloat16.name):
        return np.from_dlpack(x)
    return np.from_dlpack(_AsIntegers(x)).view(bfloat16.numpy)


class _AsIntegers:
    """An array of bfloat16 whose elements are declared as int16."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **given: Any) -> Any:
        return _retyped(self.array.__dlpack__(**given), INTEGER)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def _retyped(made: Any, code: int) -> Any:
    """A capsule that nobody has consumed yet, with another element kind of the same size."""
    name = _name_of(ctypes.py_object(made))
    place = _pointer_in(ctypes.py_object(made), name)
    if name == b"dltensor_versioned":
        _Versioned.from_address(place).tensor.code = code
    else:
        _Tensor.from_address(place).code = code
    return made


_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.restype, _name_of.argtypes = ctypes.c_char_p, (ctypes.py_object,)
_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype, _pointer_in.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
