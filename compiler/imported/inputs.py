"""Inputs of an imported program: assigned by place and by name, and checked."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from compiler.core.dtypes import DType
from compiler.core.errors import DataError

NamedShape: TypeAlias = tuple[int | str, ...]
"""The shape of an input: numbers, and names for extents that may differ."""
Described: TypeAlias = tuple[DType, NamedShape]
"""An element type and a shape."""


def short(dtype: DType, shape: Sequence[int | str]) -> str:
    """`f32[2,n]`."""
    return f"{dtype.short}[{','.join(map(str, shape))}]"


def signature(inputs: Mapping[str, Described]) -> str:
    """`x: f32[2,n], y: i64[2]`."""
    return ", ".join(f"{name}: {short(*described)}" for name, described in inputs.items())


def by_name(
    program: str, names: Collection[str], values: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Inputs by name, from those passed by place and by name. Raises `DataError` for an input that
    does not exist and for a missing one."""
    others = [name for name in named if name not in names]
    if len(values) > len(names) or others:
        raise DataError(program, "there is no such input",
                        got=", ".join(others) or f"{len(values)} inputs",
                        expected=", ".join(names))  # fmt: skip
    inputs = {**dict(zip(names, values, strict=False)), **named}
    if missing := [name for name in names if name not in inputs]:
        raise DataError(program, "an input is missing", got=", ".join(inputs) or "none",
                        expected=", ".join(missing))  # fmt: skip
    return inputs


def check_fits(program: str, name: str, value: Any, described: Described) -> None:
    """Raise `DataError` unless an array or a tensor has this element type and these extents."""
    dtype, extents = described
    fits = len(value.shape) == len(extents) and all(
        isinstance(wanted, str) or n == wanted
        for n, wanted in zip(value.shape, extents, strict=True)
    )
    if not fits or dtype != value.dtype:
        raise DataError(
            program, f"input {name} does not fit", got=f"{value.dtype} {tuple(value.shape)}",
            expected=f"{dtype} ({', '.join(map(str, extents))})",
        )  # fmt: skip
