"""values: the value of every node of a program, for a person to look at.

Computed by the graph's interpreter on the program's own inputs, before and after the graph passes.
It computes each value whole, so those that a kernel never makes in one piece, such as all products
of a convolution, may be larger than memory: what has more than `MOST` elements is left out.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from compiler import bindings
from compiler.graph.interpret import evaluate_all
from compiler.graph.markers import Placeholder
from compiler.graph.nodes import TensorNode
from compiler.node import toposort

if TYPE_CHECKING:
    from compiler.compilation import Compilation

Array = np.ndarray[Any, Any]
MOST = 1 << 22


def values(made: "Compilation") -> dict[str, Array]:
    """The values of graph and kernel entities; none while data are missing."""
    if any(isinstance(node, Placeholder) for node in toposort([made.written])):
        return {}  # nobody gave the data yet
    found: dict[TensorNode, Array] = {}
    for root in (made.written, made.simplest):
        given = bindings.graph_inputs(root, made.values_of_run())
        found |= evaluate_all(root.sources, given, MOST)
    named = {made.entity(node): value for node, value in found.items()}
    kernels = made.kernels
    for node in kernels.nodes:
        parents = kernels.parents[node]
        if parents and parents[-1] in named:
            named[kernels.entity(node)] = named[parents[-1]]
    return named
