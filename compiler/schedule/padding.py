"""padding: zeros around an image that slides past weights, written once or asked for by each load.

    out[y,x] = Σ c,k,l  image[c, y + k - 1, x + l - 1] * weights[o,c,k,l]

Fused, each load is under a gate, `0 <= y + k - 1 < 32 & …`, and there is one for each tap of each
output channel. Written to memory with its zeros, the image is read without any.
"""

from compiler.graph.nodes import MOVEMENT, Elementwise, Expand, Pad, Reduce, TensorNode
from compiler.schedule.demand import Demand

GATE_NS = 0.02
"""Cost of one comparison of a gate at one load, nanoseconds."""


def slid(order: list[TensorNode]) -> set[TensorNode]:
    """The paddings in front of sums of products, below whatever repeats elements."""
    found: set[TensorNode] = set()
    for node in order:
        if isinstance(node, Reduce) and node.op == "sum":
            value = node.sources[0]
            if isinstance(value, Elementwise) and value.op == "mul":
                for source in value.sources:
                    found.update(_paddings(source))
    return found


def _paddings(node: TensorNode) -> list[TensorNode]:
    """The outermost padding of an operand that has no repetition below it; none or one."""
    found: list[TensorNode] = []
    while isinstance(node, MOVEMENT):
        if isinstance(node, Expand):
            found.clear()
        elif isinstance(node, Pad) and any(map(any, node.widths)):
            found.append(node)
        node = node.sources[0]
    return found[:1]


def against_gates(node: TensorNode, demands: list[Demand], fixed_ns: float, byte_ns: float) -> str:
    """Why a padding is written once, with both costs; "" where gates are cheaper."""
    assert isinstance(node, Pad)
    loads = sum(demand.evaluations for demand in demands if demand.is_in_reduction)
    sides = sum(width != 0 for pair in node.widths for width in pair)
    gates = loads * sides * GATE_NS
    memory = node.nbytes * (1 + len(demands)) * byte_ns + fixed_ns
    if gates <= memory:
        return ""
    return (
        f"{loads:,} loads in sums would ask whether they are inside, {sides} comparisons each, "
        f"{gates / 1000:,.1f} µs; {node.nbytes:,} bytes written with their zeros, then read "
        f"without asking, cost {memory / 1000:,.1f} µs"
    )


def below(node: TensorNode) -> TensorNode:
    """What is padded: the first value under movement."""
    while isinstance(node, MOVEMENT):
        node = node.sources[0]
    return node
