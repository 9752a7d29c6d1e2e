"""JAX's element types as ours; a random key is one 64-bit word."""

from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.errors import DataError
from compiler.core.lazy import loading

KEYS = "threefry2x32"
"""The generator whose keys fit into 64 bits: JAX's default."""


def jax_itself() -> Any:
    """JAX, imported on first use."""
    with loading():
        import jax
    return jax


def generator_of(dtype: Any) -> Any:
    """The generator of a key type; None for a numeric type."""
    return getattr(dtype, "_impl", None)


def is_key(dtype: Any) -> bool:
    """True for a type of random keys."""
    return generator_of(dtype) is not None


def problem_of(dtype: Any) -> str:
    """The reason why elements of this type are not supported; "" if they are."""
    generator = generator_of(dtype)
    if generator is not None:
        name = str(generator.name)
        return "" if name == KEYS else f"keys of the generator {name}"
    if isinstance(dtype, np.dtype) and dtypes.of_numpy(dtype) is not None:
        return ""
    return f"elements of type {dtype}"


def dtype_of(dtype: Any, where: str) -> DType:
    """Our element type. Raises `DataError` if there is none."""
    if problem := problem_of(dtype):
        raise DataError("from_jax", f"{where}: {problem} are not supported", got=str(dtype),
                        expected=", ".join(t.name for t in dtypes.ALL))  # fmt: skip
    return dtypes.uint64 if is_key(dtype) else dtypes.parse(dtype)
