"""Conversion of arguments to tensors."""

from typing import Any

import numpy as np

from compiler.core.dtypes import Scalar
from compiler.core.errors import DataError
from compiler.graph.nodes import TensorNode
from compiler.tensor import Tensor
from compiler.tensors.value import TensorValue, as_node, common_type, operand_of


def tensor(operation: str, value: object) -> Tensor:
    """`value`, a tensor or an array, as a tensor. Raises `DataError` for a Python number, whose
    type the standard does not define here."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray | np.generic):
        return Tensor(value)
    raise DataError(
        operation, "the standard takes an array here", got=type(value).__name__,
        expected="a tensor", hint="xp.asarray(data) makes one",
    )  # fmt: skip


def pair(operation: str, first: object, second: object) -> tuple[Tensor, Any]:
    """Two operands, the first as a tensor; a Python number takes the type of the other.

    Raises `DataError` if both are Python numbers.
    """
    if isinstance(first, Scalar) and isinstance(second, Scalar):
        tensor(operation, first)
    parts = [operand_of(operation, each) for each in (first, second)]
    left = parts[0]
    node = left if isinstance(left, TensorNode) else as_node(operation, left, common_type(parts))
    return Tensor.from_node(node), second


def placed(made: Tensor, device: object, like: Tensor | None = None) -> Tensor:
    """`made` moved to `device`, by default to that of `like`."""
    wanted = device if device is not None or like is None else like.device
    return made if wanted in (None, made.device) else made.to(wanted)  # type: ignore[arg-type]


def is_tensor(value: object) -> bool:
    """True if a value is a tensor, of any class."""
    return isinstance(value, TensorValue)
