"""Tensors in files: .npy and safetensors, memory-mapped and read on access.

A safetensors file is the length of its header (8 bytes, little-endian), the header, and the data.
The header is JSON: for each name the element type, the shape, and where the data begins and ends,
counted from the end of the header; `__metadata__` holds strings that describe the file.

The disk keeps data and runs nothing.
"""

import math
import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import Array, DType
from compiler.core.errors import DataError, DTypeError
from compiler.device.allocator import address_of
from compiler.device.buffers import new_buffer
from compiler.device.packing import elements_in_a_byte, unpacked
from compiler.device.program import CompiledSpec, Program, ProgramSpec
from compiler.graph.devices import DISK
from compiler.graph.nodes import LARGEST, MOST_AXES, Buffer
from compiler.settings.options import Cache, Mode

LENGTH_BYTES = 8
LONGEST_HEADER = 100_000_000
"""Bytes: what the format allows."""
_NPY = b"\x93NUMPY"
"""The first bytes of a .npy file. NumPy's loader would accept an archive or a pickle as well."""
ELEMENTS = {
    "BOOL": dtypes.bool_, "I8": dtypes.int8, "I16": dtypes.int16, "I32": dtypes.int32,
    "I64": dtypes.int64, "U8": dtypes.uint8, "U16": dtypes.uint16, "U32": dtypes.uint32,
    "U64": dtypes.uint64, "F16": dtypes.float16, "BF16": dtypes.bfloat16,
    "F32": dtypes.float32, "F64": dtypes.float64, "F8_E4M3": dtypes.float8_e4m3fn,
    "F8_E5M2": dtypes.float8_e5m2, "F8_E4M3FNUZ": dtypes.float8_e4m3fnuz,
    "F8_E5M2FNUZ": dtypes.float8_e5m2fnuz, "F8_E8M0": dtypes.float8_e8m0fnu,
    "F4": dtypes.float4_e2m1fn,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor of a safetensors file; `begin` and `end` are bytes from the file's start."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    begin: int
    end: int


Stamp: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class FilePart:
    """An array in a file, as it is sent to a worker that can read the same file."""

    path: str
    begin: int
    dtype: "np.dtype[Any]"
    size: int
    stamp: Stamp
    """Size in bytes and modification time in ns of the file."""

    def mapped(self) -> Array:
        """The array, flat, mapped into memory. Raises `DataError` for another file, or none."""
        stamp = stamp_of(self.path)
        if stamp != self.stamp:
            got = "no file" if stamp is None else f"{stamp[0]:,} bytes, changed at {stamp[1]} ns"
            expected = f"{self.stamp[0]:,} bytes, changed at {self.stamp[1]} ns"
            _refuse(Path(self.path), "the file here differs from the one that was opened", got,
                    expected)  # fmt: skip
        return np.memmap(self.path, self.dtype, "r", self.begin, (self.size,))


def stamp_of(path: str | Path) -> Stamp | None:
    """Size and modification time of a file; None if there is none."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def file_part(array: Array) -> FilePart | None:
    """The part of a file that an array is mapped from; None if it is not mapped, or not
    row-major."""
    base: Any = array
    while base is not None and not isinstance(base, np.memmap | _Mapped):
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    if base is None or not array.flags.c_contiguous or not array.size:
        return None
    path = base.path if isinstance(base, _Mapped) else str(Path(str(base.filename)).absolute())
    first = 0 if isinstance(base, _Mapped) else base.offset
    whole = np.frombuffer(base, np.uint8) if isinstance(base, _Mapped) else base
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    begin = first + address_of(array) - address_of(whole)
    stamp: Stamp | None = getattr(base, "stamp", None)
    return None if stamp is None else FilePart(path, begin, array.dtype, array.size, stamp)


class _Mapped(mmap.mmap):
    """A memory-mapped file with its path and stamp."""

    path: str
    stamp: "Stamp | None"


def read_npy(path: str | Path, dtype: DType | None = None) -> Buffer:
    """The array of a .npy file, as a buffer named after it; `dtype` is its element type if the
    format has no name for it.

    Raises `DataError` for a file of another kind and `DTypeError` for an unknown element type.
    """
    path = Path(path)
    with path.open("rb") as file:
        begin = file.read(len(_NPY))
    if begin != _NPY:
        _refuse(path, "no .npy file", f"a file that begins with {begin!r}", repr(_NPY))
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        array.stamp = stamp_of(path)
    except OSError:
        raise
    except Exception:
        array = _without_map(path)
    array = _named(array, dtype)
    if not all(type(extent) is int for extent in array.shape):
        _refuse(path, "no .npy file", f"shape {array.shape}", "a shape of whole numbers")
    element_type = dtypes.parse(array.dtype, "read")
    return new_buffer(_native(np.asarray(array), element_type), path.stem, DISK)


def _named(array: Any, dtype: DType | None) -> Any:
    """The array with an element type that the .npy format has no name for: NumPy writes those of
    ml_dtypes as bytes. Only bfloat16 has two bytes; there are many of one byte."""
    has_name = array.dtype.kind != "V" or array.dtype.names
    if dtype is None and not has_name and array.dtype.itemsize == dtypes.bfloat16.itemsize:
        dtype = dtypes.bfloat16
    if dtype is None and not has_name and array.dtype.itemsize == 1:
        raise DTypeError("load", "the file does not say which type its bytes are", got="1 byte",
                         expected=", ".join(t.name for t in dtypes.STORED),
                         hint=f'load(path, dtype="{dtypes.STORED[0]}")')  # fmt: skip
    if dtype is None or array.dtype == dtype.numpy:
        return array
    if has_name or array.dtype.itemsize != dtype.itemsize:
        raise DTypeError("load", "the file has elements of another type", got=str(array.dtype),
                         expected=f"{dtype}, or bytes without a name")  # fmt: skip
    return array.view(dtype.numpy)


def _without_map(path: Path) -> Any:
    """An array without elements cannot be mapped, but can be read."""
    try:
        return np.load(path, allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # NumPy has Python read the header: it fails in many ways
        got = f"{type(error).__name__}: {error}".rstrip(": ")
        _refuse(path, "no .npy file", got, "one array of numbers")


def read_safetensors(path: str | Path) -> dict[str, Buffer]:
    """The tensors of a safetensors file by name, in the order of the file.

    Only the header is read. Raises `DataError` for a file that breaks the format, and, naming the
    tensor, for an unsupported element type.
    """
    path = Path(path)
    entries = safetensors_entries(path)
    if not entries:
        return {}
    with path.open("rb") as file:
        mapped = _Mapped(file.fileno(), 0, access=mmap.ACCESS_READ)
        mapped.path, mapped.stamp = str(path.absolute()), stamp_of(path)
    return {e.name: new_buffer(_tensor(mapped, e), e.name, DISK) for e in entries}


def _tensor(mapped: mmap.mmap, entry: Entry) -> Array:
    stored = entry.dtype.numpy.newbyteorder("<")
    count = math.prod(entry.shape)
    if not count:
        return np.zeros(entry.shape, entry.dtype.numpy)
    if elements_in_a_byte(entry.dtype) > 1:
        packed = np.frombuffer(mapped, np.uint8, entry.end - entry.begin, entry.begin)
        return unpacked(packed, entry.dtype, count).reshape(entry.shape)
    flat: Array = np.frombuffer(mapped, stored, count, entry.begin)
    return _native(flat, entry.dtype).reshape(entry.shape)


def _native(array: Array, dtype: DType) -> Array:
    """The array itself if a buffer can hold it, else a copy with native layout.

    Bools are read now, and copied if one is stored as anything but 0 or 1.
    """
    kept = np.require(array, dtype.numpy, ["C_CONTIGUOUS", "ALIGNED"])
    if dtype != dtypes.bool_ or not kept.size or kept.view(np.uint8).max() <= 1:
        return kept
    return np.not_equal(kept.view(np.uint8), 0)


def safetensors_entries(path: Path) -> tuple[Entry, ...]:
    """The entries in the header of a safetensors file, checked, by position in the file."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        if size < LENGTH_BYTES or length > min(size - LENGTH_BYTES, LONGEST_HEADER):
            _refuse(path, "the header is longer than the file", f"{length:,} of {size:,} bytes")
        header = _header(path, file.read(length))
    start = LENGTH_BYTES + length
    entries = [
        _entry(path, name, row, start) for name, row in header.items() if name != "__metadata__"
    ]
    entries.sort(key=lambda e: (e.begin, e.end))
    position = start
    for entry in entries:
        if entry.begin != position:
            got, expected = f"{entry.begin - start:,}", f"{position - start:,}"
            _refuse(path, f"tensor {entry.name} overlaps another or leaves a hole", got, expected)
        position = entry.end
    if position != size:
        _refuse(path, "the tensors are not as long as the file", f"{size:,}", f"{position:,}")
    return tuple(entries)


def _header(path: Path, text: bytes) -> dict[str, Any]:
    try:
        import json

        header = json.loads(text, object_pairs_hook=lambda rows: _once(path, rows))
    except (ValueError, RecursionError) as error:
        _refuse(path, "the header is no JSON", str(error))
    if not isinstance(header, dict):
        _refuse(path, "the header is not a JSON object", type(header).__name__)
    return header


def _once(path: Path, rows: list[tuple[str, Any]]) -> dict[str, Any]:
    """Rows by name; a duplicate name is refused, because one row would be ignored."""
    by_name = dict(rows)
    if len(by_name) < len(rows):
        names = [name for name, _ in rows]
        twice = next(name for name in names if names.count(name) > 1)
        _refuse(path, "a name occurs twice in the header", twice, "each once")
    return by_name


def _entry(path: Path, name: str, row: Any, start: int) -> Entry:
    """One row of the header; `start` is where the data begins in the file."""
    match row:
        case {"dtype": str(element), "shape": list(shape), "data_offsets": [int(first), int(last)]}:
            pass
        case _:
            _refuse(path, f"the header of tensor {name} is incomplete", str(row))
    if element not in ELEMENTS:
        _refuse(path, f"tensor {name} has an unknown element type", element, ", ".join(ELEMENTS))
    if not all(type(extent) is int and extent >= 0 for extent in shape):
        _refuse(path, f"tensor {name} has no shape", str(shape), "whole numbers, 0 or more")
    if len(shape) > MOST_AXES:
        got, expected = f"{len(shape)} axes", f"at most {MOST_AXES} axes"
        _refuse(path, f"tensor {name} has too many axes", got, expected)
    if not all(type(place) is int for place in (first, last)):
        got = f"{first}, {last}"
        _refuse(path, f"tensor {name} has no data offsets", got, "whole numbers, 0 or more")
    if math.prod(filter(None, shape)) > LARGEST:
        got, expected = f"shape {shape}", f"at most {LARGEST:,} elements"
        _refuse(path, f"tensor {name} is too large", got, expected)
    dtype = ELEMENTS[element]
    size = math.prod(shape)
    if size % elements_in_a_byte(dtype):
        _refuse(path, f"tensor {name} ends inside a byte", f"{size:,} elements", "an even number")
    nbytes = size * dtype.itemsize // elements_in_a_byte(dtype)
    if first < 0 or last - first != nbytes:
        got, expected = f"{last - first:,} bytes from {first:,}", f"{nbytes:,} bytes"
        _refuse(path, f"the data of tensor {name} does not fit its shape", got, expected)
    return Entry(name, dtype, tuple(shape), start + first, start + last)


def _refuse(path: Path, what: str, got: str, expected: str = "") -> NoReturn:
    raise DataError(f"read {path.name}", what, got=got, expected=expected)


def allocate(size: int, dtype: DType, name: str = "") -> Array:
    """Refused: a disk gives out no memory (`DataError`)."""
    got = f"{name or 'a tensor'} of {size:,} {dtype}"
    raise DataError("device DISK", "a disk allocates no memory", got=got)


def compile_spec(
    spec: ProgramSpec, level: int, mode: Mode = "fast", cache: Cache = False
) -> CompiledSpec:
    """Refused: a disk runs no programs (`DataError`)."""
    raise DataError("device DISK", "a disk runs no programs", got=f"{spec.name}, level {level}")


def load(compiled: CompiledSpec) -> Program:
    """Refused as `compile_spec` is."""
    raise DataError("device DISK", "a disk runs no programs", got=compiled.name)
