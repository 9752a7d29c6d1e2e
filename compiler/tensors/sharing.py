"""Memory shared with other libraries in place, by DLPack: `np.from_dlpack(x)` and back.

Tensors share memory among each other, and none of them sees a write to another: so it is given away
to be read only. Version 1 of DLPack can say so; a library that asks for an older one gets a copy,
unless it asks for none: then it is on its word.

NumPy makes the capsules and reads them, but knows no bfloat16: such memory goes through NumPy as
int16, and the type that the capsule names is put right.
"""

import ctypes
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from compiler.core.dtypes import bfloat16
from compiler.core.errors import DataError

Array: TypeAlias = "np.ndarray[Any, Any]"

CPU = (1, 0)
"""The processor's memory, as DLPack numbers it: all our devices share it."""
FIRST_WITH_FLAGS = 1
"""The first version of DLPack that can say that memory is to be read only."""
INTEGER, BFLOAT = 0, 4
"""DLPack's numbers for kinds of elements."""


class _Tensor(ctypes.Structure):
    """DLPack's DLTensor: where an array is, its shape and type."""

    _fields_ = (
        ("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
    )  # fmt: skip


class _Versioned(ctypes.Structure):
    """DLPack's DLManagedTensorVersioned: what a capsule holds from version 1 on."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    )  # fmt: skip


def capsule(
    array: Array, stream: object, version: Any,
    device: Sequence[int] | None, copy: bool | None,
) -> Any:  # fmt: skip
    """The DLPack capsule of an array's memory, of a copy of it where one is asked for or needed.

    Raises `BufferError` for another device than the processor, and `DataError` for a stream, which
    a processor does not have.
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
    """The same memory without the mark that it is to be read only, which NumPy keeps to itself."""
    if not array.size:
        return np.empty_like(array)
    memory: Any = (ctypes.c_byte * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array  # for as long as somebody reads it
    return np.frombuffer(memory, array.dtype).reshape(array.shape)


def array_of(x: Any) -> Array:
    """The memory of `x`, an array of any library, as an array of NumPy's.

    Raises `BufferError` or `RuntimeError` for memory or elements that NumPy does not know.
    """
    if not str(getattr(x, "dtype", "")).endswith(bfloat16.name):
        return np.from_dlpack(x)
    return np.from_dlpack(_AsIntegers(x)).view(bfloat16.numpy)


class _AsIntegers:
    """An array of bfloat16 that calls its elements int16."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **given: Any) -> Any:
        return _retyped(self.array.__dlpack__(**given), INTEGER)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def _retyped(made: Any, code: int) -> Any:
    """A capsule that nobody has taken yet, whose elements are of another kind of the same size."""
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
