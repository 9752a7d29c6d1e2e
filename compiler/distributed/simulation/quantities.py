"""quantities: bytes, bytes per second and seconds, parsed from text with units.

    "10 GB/s"  "25 Gbit/s"  "12.5 GiB/s"     bytes a second: 1e10, 3.125e9, 1.3e10
    "20 µs"    "0.5 ms"                      seconds: 2e-5, 5e-4
    "64 GB"    "64 GiB"                      bytes: 6.4e10, 6.9e10

A number by itself is in bytes, bytes a second or seconds. `B` is a byte and `b` or `bit` a bit.
"""

import math
import re

from compiler.core.errors import DataError

_WRITTEN = re.compile(r"\s*([0-9][0-9_,]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?)\s*(\S*)\s*")
_PREFIXES = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2.0**10,
             "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}  # fmt: skip
_SIZES = {"B": 1.0, "byte": 1.0, "bytes": 1.0, "bit": 1 / 8, "b": 1 / 8}
BYTES = {prefix + unit: factor * size
         for prefix, factor in _PREFIXES.items() for unit, size in _SIZES.items()}  # fmt: skip
RATES = {f"{unit}/s": factor for unit, factor in BYTES.items()}
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "μs": 1e-6, "us": 1e-6, "ns": 1e-9}


def nbytes(value: str | float, name: str) -> float:
    """A number of bytes above 0. Raises `DataError` otherwise, which names the field `name`."""
    return _quantity(value, BYTES, name, 'bytes, or "64 GB"', least=1)


def rate(value: str | float, name: str) -> float:
    """Bytes per second above 0; infinity for instant transfers."""
    return _quantity(value, RATES, name, 'bytes a second, or "10 GB/s"', least=1e-9)


def seconds(value: str | float, name: str) -> float:
    """Seconds, 0 or more."""
    return _quantity(value, SECONDS, name, 'seconds, or "20 µs"', least=0)


def _quantity(
    value: str | float, units: dict[str, float], name: str, expected: str, least: float
) -> float:
    """The value in the unit whose factor is 1."""
    number = _number(value, units)
    if number is None or math.isnan(number) or number < least:
        raise DataError("Cluster", f"{name} is no such quantity", got=f"{name}={value!r}",
                        expected=expected)  # fmt: skip
    return number


def _number(value: object, units: dict[str, float]) -> float | None:
    """The number in the base unit; None if the value is no number in one of these units."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    written = _WRITTEN.fullmatch(value) if isinstance(value, str) else None
    if written is None or written[2] not in units:
        return None
    return float(written[1].replace(",", "").replace("_", "")) * units[written[2]]
