"""What is known of a tensor while a program is written: its data, where nothing else is needed."""

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
"""Elements up to which a value is computed because a shape or a number hangs on it."""


def leaves(tensor: Tensor) -> list[Buffer | Placeholder]:
    """The data that a tensor is computed from."""
    return [n for n in toposort([tensor.node]) if isinstance(n, Buffer | Placeholder)]


def has_data(node: Buffer | Placeholder) -> bool:
    """Whether data were given for it: it is no place for those of a later run."""
    return isinstance(node, Buffer) and node.unique != PLACEHOLDER


def computed(tensors: Sequence[Tensor]) -> list[Array]:
    """What tensors of known data are, by the interpreter of the graph: nothing is compiled."""
    roots = [tensor.node for tensor in tensors]
    inputs = {n: buffers.data(n) for n in toposort(roots) if isinstance(n, Buffer)}
    return interpret(roots, inputs)
