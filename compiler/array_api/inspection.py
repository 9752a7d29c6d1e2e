"""The devices, element types and capabilities of this namespace."""

from typing import Any

from compiler.array_api.data_types import KINDS, isdtype
from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.errors import DataError
from compiler.graph.devices import DEFAULT

VERSION = "2024.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", VERSION)
"""The supported versions of the standard; each includes the one before."""

STANDARD = (
    dtypes.bool_, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8,
    dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.float32, dtypes.float64,
)  # fmt: skip
"""The supported types of the standard. float16 and bfloat16 are not part of it."""


class NamespaceInfo:
    """Information about this namespace for libraries."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean masks and data-dependent shapes are supported: the data are computed."""
        return {
            "boolean indexing": True, "data-dependent shapes": True, "max dimensions": None,
        }  # fmt: skip

    def default_device(self) -> str:
        """The default device of new tensors."""
        return DEFAULT

    def default_dtypes(self, *, device: object = None) -> dict[str, DType | None]:
        """The default types; complex numbers are not supported."""
        _check_device(device)
        return {
            "real floating": dtypes.asked(None, "default_dtypes"), "complex floating": None,
            "integral": dtypes.int64, "indexing": dtypes.int64,
        }  # fmt: skip

    def dtypes(
        self, *, device: object = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """The supported types of the standard, by name; only those of `kind`, if given."""
        _check_device(device)
        kinds = tuple(KINDS) if kind is None else kind
        return {dtype.name: dtype for dtype in STANDARD if isdtype(dtype, kinds)}

    def devices(self) -> list[str]:
        """Devices that run programs. CPU:1, CPU:2, … share the same processor."""
        return [DEFAULT, "INTERPRET"]


def _check_device(device: object) -> None:
    if device is not None and not isinstance(device, str):
        what, expected = "a device is named by a string", f"{DEFAULT} or another device"
        raise DataError("device", what, got=repr(device), expected=expected)


def __array_namespace_info__() -> NamespaceInfo:
    """Information about this namespace for libraries."""
    return NamespaceInfo()
