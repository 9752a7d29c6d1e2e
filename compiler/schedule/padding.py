"""padding: decides if the padding of a convolution is stored once or predicated in each load.

    out[y,x] = Σ c,k,l  image[c, y + k - 1, x + l - 1] * weights[o,c,k,l]

If the padding is fused, each load has a predicate, `0 <= y + k - 1 < 32 & …`, and there is one load
for each tap of each output channel. If the padded image is stored first, loads need no predicate.
"""

from dataclasses import dataclass

from compiler.core.reason import Number, Reason
from compiler.core.text import microseconds
from compiler.graph.nodes import MOVEMENT, Cast, Elementwise, Expand, Pad, Reduce, TensorNode
from compiler.schedule.demand import Demand

PREDICATE_NS = 0.1
"""The cost of one comparison of a predicate for one load, in nanoseconds: the operation itself, and
the register tiles that it prevents. With stored padding, 3×3 convolutions were faster by 0.11 ns
per comparison (4 channels of 8×8), 0.16 (8 of 16×16) and 0.21 (16 of 32×32) on one core of an EPYC
(AVX2, 2026-11-23). Strided by 2, 672 channels of 14², 5×5, take 366 µs with 0.02, which chooses
predicates, and 137 with 0.1; 240 of 28², 3×3, 180 and 54; 64 of 112², 336 and 227; 16 of 28², 14.0
and 5.9; with 0.2 all take as long as with 0.1 (EPYC, Zen 4, AVX-512, 2026-11-24)."""


def slid(order: list[TensorNode]) -> set[TensorNode]:
    """The Pads that sums of products read through movement that repeats elements (windows)."""
    windows: set[TensorNode] = set()
    for node in order:
        if isinstance(node, Reduce) and node.op == "sum":
            value = node.sources[0]
            if isinstance(value, Elementwise) and value.op == "mul":
                for source in value.sources:
                    windows.update(_paddings(source))
    return windows


def _paddings(node: TensorNode) -> list[TensorNode]:
    """The outermost Pad of an operand without repetition below it, as a list of one or none.

    A cast after the Pad is allowed.
    """
    pads: list[TensorNode] = []
    while isinstance(node, (*MOVEMENT, Cast)):
        if isinstance(node, Expand):
            pads.clear()
        elif isinstance(node, Pad) and any(map(any, node.widths)):
            pads.append(node)
        node = node.sources[0]
    return pads[:1]


@dataclass(frozen=True, slots=True)
class Predicates:
    """The costs of predicated loads and of padding written to memory, in nanoseconds."""

    loads: int
    """Predicated loads in sums."""
    sides: int
    """Comparisons per load."""
    nbytes: int
    asked: float
    memory: float

    @property
    def is_written(self) -> bool:
        """True if the zeros are written to memory."""
        return self.asked > self.memory

    @property
    def reason(self) -> Reason:
        """Both costs, in words and as numbers."""
        return Reason(
            f"{self.loads:,} predicated loads in sums, {self.sides} comparisons each, cost "
            f"{microseconds(self.asked, 1)}; {self.nbytes:,} bytes stored with their padding, then "
            f"read without predicates, cost {microseconds(self.memory, 1)}",
            Number("predicated loads", self.asked, "ns", "padding in memory", self.memory),
            Number("loads in sums", self.loads),
            Number("comparisons of each", self.sides),
            Number("written with zeros", self.nbytes, "bytes"),
        )


def predicates(
    node: TensorNode, demands: list[Demand], fixed_ns: float, byte_ns: float
) -> Predicates:
    """The costs of predicated loads, and of storing the padding once."""
    assert isinstance(node, Pad)
    loads = sum(demand.evaluations for demand in demands if demand.is_in_reduction)
    sides = sum(width != 0 for pair in node.widths for width in pair)
    memory = node.nbytes * (1 + len(demands)) * byte_ns + fixed_ns
    return Predicates(loads, sides, node.nbytes, loads * sides * PREDICATE_NS, memory)


def below(node: TensorNode) -> TensorNode:
    """The value that is padded: the first one below movement."""
    while isinstance(node, MOVEMENT):
        node = node.sources[0]
    return node
