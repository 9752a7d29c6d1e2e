"""Load and save tensors: a .npy file holds one, a .safetensors file any number of them by name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from compiler.core import dtypes, lazy
from compiler.core.errors import DataError
from compiler.tensors import live, watching
from compiler.tensors.value import TensorValue, traced

SUFFIXES = (".npy", ".safetensors")
FOLDERS = (".zarr",)
"""Formats that are read, but not written."""


@traced
class Files(TensorValue):
    """Loading and saving."""

    __slots__ = ()

    @classmethod
    def load(cls, path: str | Path, dtype: object = None) -> Self | dict[str, Self]:
        """The tensor of a .npy file or a .zarr folder, or a dict of those of a .safetensors file by
        name.

        The file is memory-mapped: nothing is read until kernels use it, so it may be larger than
        memory. A tensor is copied if it cannot be used in place: not row-major, not in native byte
        order, or not aligned to its elements, as happens in safetensors files. Truth values are
        read at once, to check that they are 0 or 1.

        `dtype` gives the element type of a .npy file whose elements NumPy stores as raw bytes
        (float8, int4, …); two-byte elements are bfloat16 by default. Chunks of a .zarr folder are
        read by the workers of a cluster, if one is in use, else here, at once.

        The file must not be truncated while a tensor of it exists; `save` replaces a file instead.
        Raises `DataError` for other kinds of files, and `FileNotFoundError`.
        """
        with lazy.loading():  # imported late: files are seldom read
            from compiler.device import disk

        place = _checked("load", path, SUFFIXES + FOLDERS)
        watching.refuse_reading(place.name)
        if place.suffix in FOLDERS:
            return cls._of(lazy.load("compiler.distributed.zarr", "from_zarr")(place))
        if place.suffix == ".npy":
            known = None if dtype is None else dtypes.parse(dtype, "load")
            return cls._of(disk.read_npy(place, known))
        return {name: cls._of(node) for name, node in disk.read_safetensors(place).items()}

    def save(self, path: str | Path) -> None:
        """Compute this tensor and write it as a .npy file. `compiler.save` writes several
        tensors."""
        if _checked("save", path).suffix != ".npy":
            raise DataError(
                "save", "this file holds tensors by name", got=Path(path).name,
                expected="a .npy file", hint='compiler.save(path, {"name": tensor})',
            )  # fmt: skip
        save_tensors(path, self)


def save_tensors(path: str | Path, value: TensorValue | Mapping[str, TensorValue]) -> None:
    """Write a tensor as a .npy file, or a dict of tensors as a .safetensors file.

    Tensors that are not computed yet are computed now. The file is replaced atomically, so tensors
    loaded from it earlier keep their values. All values are of one moment: threads that would write
    the tensors wait until they are saved. Raises `DataError` for another kind of file, or if the
    value does not fit the format.
    """
    with lazy.loading():
        from compiler.device import save

    place = _checked("save", path)
    is_one = place.suffix == ".npy"
    values = [value] if is_one else list(value.values()) if isinstance(value, Mapping) else [None]
    if not all(isinstance(each, TensorValue) for each in values):
        raise DataError(
            "save", f"a {place.suffix} file does not hold that", got=type(value).__name__,
            expected="a tensor" if is_one else "a dict from names to tensors",
        )  # fmt: skip

    def write(held: Sequence[Any]) -> None:
        arrays = [np.asarray(each) for each in held]
        if isinstance(value, Mapping):
            save.write_safetensors(place, dict(zip(value, arrays, strict=True)))
        else:
            save.write_npy(place, arrays[0])

    if not values or watching.current():  # refused while a function is captured
        write(values)
    else:
        live.unchanged(values, write)


def _checked(operation: str, path: str | Path, known: tuple[str, ...] = SUFFIXES) -> Path:
    """The path, if its suffix is a known format."""
    if not isinstance(path, str | Path) or "\0" in str(path):
        raise DataError(
            operation, "not a path of a file", got=repr(path), expected="a str or a Path"
        )
    place = Path(path)
    if place.suffix not in known:
        raise DataError(
            operation, "unknown kind of file", got=place.name,
            expected="a name that ends in " + " or ".join(known),
        )  # fmt: skip
    return place
