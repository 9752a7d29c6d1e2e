"""Values known while the program is built."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from compiler.core.node import toposort
from compiler.device import buffers
from compiler.graph.interpret import interpret
from compiler.graph.kinds.markers import PLACEHOLDER, Placeholder
from compiler.graph.nodes import Buffer
from compiler.tensor import Tensor

Array: TypeAlias = np.ndarray[Any, Any]

MOST_KNOWN = 1 << 16
"""The size up to which a value is computed because a shape or a number depends on it."""


def leaves(tensor: Tensor) -> list[Buffer | Placeholder]:
    """The data nodes that a tensor is computed from."""
    return [n for n in toposort([tensor.node]) if isinstance(n, Buffer | Placeholder)]


def has_data(node: Buffer | Placeholder) -> bool:
    """True for a node whose data were passed; a placeholder for later runs has none."""
    return isinstance(node, Buffer) and node.unique != PLACEHOLDER


def computed(tensors: Sequence[Tensor]) -> list[Array]:
    """The values of tensors with known data, from the interpreter of the graph: nothing is
    compiled."""
    roots = [tensor.node for tensor in tensors]
    inputs = {n: buffers.data(n) for n in toposort(roots) if isinstance(n, Buffer)}
    return interpret(roots, inputs)
