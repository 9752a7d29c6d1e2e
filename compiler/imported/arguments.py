"""Arguments of an operator: each is read by its function, or refused unless it is the default.

    argument        the function
    read            computes with it
    not read        `DataError`, unless the value is the schema's default, or the argument is of the
                    importer's table of those that cannot change a value

PyTorch's arguments are read by what a function declares (no `**options`); attributes of ONNX and
parameters of JAX are asked for while it runs, and `Reads` has which were.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from compiler.core.errors import DataError

REQUIRED = object()
"""The default of an argument that has none."""
SHOWN = 60
"""Characters of a value in an error message."""


class Refusing(Protocol):
    """A node of an imported program that can raise errors."""

    def refused(self, problem: str, got: object, expected: str) -> DataError:
        """The error for this node."""
        ...


@dataclass(frozen=True, slots=True)
class Unread:
    """An argument that no function reads: its value and its default."""

    name: str
    value: Any
    default: Any = REQUIRED

    @property
    def is_default(self) -> bool:
        """True if the value is the default: then the result does not depend on it."""
        return self.value is None or is_same(self.value, self.default)

    @property
    def got(self) -> str:
        """The argument with its value."""
        text = str(self.value)
        return f"{self.name}={text if len(text) <= SHOWN else text[:SHOWN] + '…'}"

    @property
    def expected(self) -> str:
        """The argument with its default."""
        return f"no {self.name}" if self.default is REQUIRED else f"{self.name}={self.default}"


class Reads:
    """The attributes, by name, and inputs, by place, that a function has read."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.places: set[int] = set()


def first_refused(
    unread: Iterable[Unread], operator: str, unchanged: Mapping[str, str]
) -> Unread | None:
    """The first argument of an operator that is not the default and not in the table of those that
    cannot change a value."""
    refused = (e for e in unread if not e.is_default and not reason(unchanged, operator, e.name))
    return next(refused, None)


def refusal(call: Refusing, unread: Unread) -> DataError:
    """The error for an argument that no function reads."""
    return call.refused(f"the argument {unread.name} is not supported with this value",
                        unread.got, unread.expected)  # fmt: skip


def is_same(value: Any, default: Any) -> bool:
    """True if two argument values are equal: numbers, strings, lists of them."""
    if default is REQUIRED:
        return False
    if isinstance(value, list | tuple | np.ndarray):
        if not isinstance(default, list | tuple | np.ndarray) or len(value) != len(default):
            return False
        return all(is_same(a, b) for a, b in zip(value, default, strict=True))
    is_plain = isinstance(value, bool | int | float | str | bytes | np.number)
    return value is default or (is_plain and not _is_list(default) and bool(value == default))


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple | np.ndarray)


def reason(table: Mapping[str, str], operator: str, argument: str) -> str:
    """The reason why an argument of an operator cannot change a value; "" if it can.

    A table has keys `argument`, `operator.argument`, or `operator.*` for all arguments of one
    operator.
    """
    keys = (f"{operator}.{argument}", argument, f"{operator}.*")
    return next((table[key] for key in keys if key in table), "")
