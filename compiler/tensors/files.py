"""Tensors from files and into files: .npy holds one, .safetensors any number of them by name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from compiler.core import dtypes, lazy
from compiler.core.errors import DataError
from compiler.tensors import live, watching
from compiler.tensors.construction import Construction
from compiler.tensors.value import TensorValue, traced

SUFFIXES = (".npy", ".safetensors")
FOLDERS = (".zarr",)
"""What is read, but not written."""


@traced
class Files(Construction):
    """Reading and writing."""

    __slots__ = ()

    @classmethod
    def load(cls, path: str | Path, dtype: object = None) -> Self | dict[str, Self]:
        """The tensor of a .npy file, of a .zarr folder, or those of a .safetensors file by name.

        Nothing is read yet: the file is mapped into memory, kernels read it in place, and only
        where they touch it; it may be larger than the memory. Copied are tensors that cannot be
        used in place: not row-major, not native, or not aligned to their elements, as happens in
        safetensors files; truth values are read at once, to make sure that they are some.
        `dtype` says what the elements of a .npy file are where they are bytes to it: NumPy writes
        types that are not its own so (float8, int4, …; what has two bytes is taken for bfloat16).
        Of a .zarr folder each worker reads its own chunks where a cluster is in use, else it is all
        read here.
        The file must not be shortened while a tensor of it exists; `save` replaces it instead.
        Raises `DataError` for files of other kinds, `FileNotFoundError` where there is none.
        """
        with lazy.loading():  # files are seldom read
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
        """Computes this tensor and writes it as a .npy file; `compiler.save` writes several."""
        if _checked("save", path).suffix != ".npy":
            raise DataError(
                "save", "this file holds tensors by name", got=Path(path).name,
                expected="a .npy file", hint='compiler.save(path, {"name": tensor})',
            )  # fmt: skip
        save_tensors(path, self)


def save_tensors(path: str | Path, value: TensorValue | Mapping[str, TensorValue]) -> None:
    """Writes a tensor as a .npy file, or tensors by name as a .safetensors file.

    What is not computed yet is computed now. The file is replaced in one step, so that tensors
    that were loaded from it stay as they are. All values are of one moment: threads that would
    write them wait until they are in the file.
    Raises `DataError` for another kind of file, or where the value is not what it holds.
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

    if not values or watching.current():  # where a function is captured that is refused
        write(values)
    else:
        live.unchanged(values, write)


def _checked(operation: str, path: str | Path, known: tuple[str, ...] = SUFFIXES) -> Path:
    """The path, if its suffix says that we know the format."""
    if not isinstance(path, str | Path) or "\0" in str(path):
        raise DataError(operation, "no path of a file", got=repr(path), expected="a str or a Path")
    place = Path(path)
    if place.suffix not in known:
        raise DataError(
            operation, "unknown kind of file", got=place.name,
            expected="a name that ends in " + " or ".join(known),
        )  # fmt: skip
    return place
