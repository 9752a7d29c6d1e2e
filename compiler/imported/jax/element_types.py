"""Element types of JAX as ours; a key of random numbers is one word of 64 bits."""

from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.errors import DataError
from compiler.core.lazy import loading

KEYS = "threefry2x32"
"""The generator whose keys fit into 64 bits: JAX's usual one."""


def jax_itself() -> Any:
    """JAX, loaded by the first that asks for it."""
    with loading():
        import jax
    return jax


def generator_of(dtype: Any) -> Any:
    """What JAX knows of the generator of a type of keys; None for a type of numbers."""
    return getattr(dtype, "_impl", None)


def is_key(dtype: Any) -> bool:
    """Whether these are keys of random numbers."""
    return generator_of(dtype) is not None


def problem_of(dtype: Any) -> str:
    """Why elements of this type cannot be computed with; "" if they can."""
    generator = generator_of(dtype)
    if generator is not None:
        name = str(generator.name)
        return "" if name == KEYS else f"keys of the generator {name}"
    if isinstance(dtype, np.dtype) and dtypes.of_numpy(dtype) is not None:
        return ""
    return f"elements of type {dtype}"


def dtype_of(dtype: Any, where: str) -> DType:
    """The type of ours; `DataError` for one that we do not have."""
    if problem := problem_of(dtype):
        raise DataError("from_jax", f"{where}: {problem} are not supported", got=str(dtype),
                        expected=", ".join(t.name for t in dtypes.ALL))  # fmt: skip
    return dtypes.uint64 if is_key(dtype) else dtypes.parse(dtype)
