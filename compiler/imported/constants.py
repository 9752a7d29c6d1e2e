"""Constants: values that are computed while the program is built."""

from collections.abc import Sequence

from compiler.core.dtypes import Array
from compiler.core.node import toposort
from compiler.device import buffers
from compiler.graph.interpret import interpret
from compiler.graph.kinds.markers import PLACEHOLDER, Placeholder
from compiler.graph.nodes import Buffer
from compiler.tensor import Tensor

MOST_COMPUTED = 1 << 16
"""The size up to which a value that depends only on constants is computed: shapes, indices, masks,
small tables."""


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


def constant(array: Array, name: str = "") -> Tensor:
    """An array as a tensor; a single number is a constant of the program."""
    if array.size == 1:
        return Tensor(array.item(), dtype=array.dtype).reshape(*array.shape)
    return Tensor(array, name=name)
