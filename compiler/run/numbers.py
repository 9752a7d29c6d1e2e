"""numbers: programs that differ only in scalar constants share one, which takes them as data.

    for i in range(100):
        (x + float(i)).numpy()        compiled for i = 0, 1, 2, then once for all others

A number in a program is a constant of its kernels, which can be simplified by constant folding. If
a fourth program differs from three others in its numbers alone, those that differ become data of
rank 0. The operations stay the same, and so do the results, except for the order in which other
loops add up sums.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from compiler.core.kept import Kept
from compiler.core.node import toposort
from compiler.core.origin import no_origin
from compiler.device.buffers import new_buffer
from compiler.graph.kinds.shaping import broadcast_node
from compiler.graph.nodes import Const, Elementwise, Sink, TensorNode
from compiler.ops.table import OPS
from compiler.settings.options import Options

APART = 3
"""The number of programs that are compiled with their constants: one that runs a few times keeps
them, a loop is compiled four times. Chosen, not measured."""
KEPT = 256
"""Kinds of programs whose numbers are known, least recently used first out. A choice."""
Place = tuple[TensorNode, int]


@dataclass(slots=True)
class Met:
    """The numbers of the programs of one kind: how many, the first ones, and which differed."""

    first: tuple[int, ...]
    others: set[tuple[int, ...]] = field(default_factory=set)
    varying: set[int] = field(default_factory=set)

    def note(self, bits: tuple[int, ...]) -> None:
        """Remember the numbers of one more program."""
        self.varying |= {n for n, pair in enumerate(zip(self.first, bits, strict=True))
                         if pair[0] != pair[1]}  # fmt: skip
        if bits != self.first and len(self.others) < APART:
            self.others.add(bits)

    @property
    def is_often(self) -> bool:
        """True if the next one should take its numbers as data."""
        return len(self.others) >= APART


class Kinds(Kept[tuple[Sink, Options], Met]):
    """Programs by their structure without numbers."""

    def __init__(self, bound: int = KEPT) -> None:
        super().__init__(bound)
        self.shared = 0
        """Runs that reused a program compiled for other numbers."""

    def varying(self, root: Sink, options: Options, bits: tuple[int, ...]) -> frozenset[int]:
        """The numbers of a program that become data; none as long as few programs were seen."""
        key = root, options
        with self.lock:
            met = self.held(key) or self.keep(key, Met(bits))
            met.note(bits)
            return frozenset(met.varying) if met.is_often else frozenset()

    def clear(self) -> None:
        """Forget all of them."""
        with self.lock:
            super().clear()
            self.shared = 0


KINDS = Kinds()


def places(nodes: Sequence[TensorNode]) -> list[Place]:
    """The operands that are numbers, of operations that may take them when they run."""
    return [(node, n) for node in toposort(nodes) for n in _numbers(node)]


def bits(numbers: Sequence[Place]) -> tuple[int, ...]:
    """The bits of each number."""
    return tuple(_const(place).bits for place in numbers)


def as_data(nodes: Sequence[TensorNode], chosen: Sequence[Place]) -> list[TensorNode]:
    """`nodes` with a new Buffer of rank 0 in place of each number chosen."""
    wanted = set(chosen)
    done: dict[TensorNode, TensorNode] = {}
    with no_origin():
        for node in toposort(nodes):
            sources = tuple(
                _buffer((node, n)) if (node, n) in wanted else done[source]
                for n, source in enumerate(node.sources)
            )
            done[node] = node if sources == node.sources else node.made_again(sources)
    return [done[node] for node in nodes]


def _numbers(node: TensorNode) -> Iterator[int]:
    if not isinstance(node, Elementwise) or len(node.devices) != 1:
        return
    if not OPS[node.op].takes_numbers:
        return
    for n, source in enumerate(node.sources):
        if isinstance(source, Const) and source.dtype.kind != "bool" and not source.extents:
            yield n


def _const(place: Place) -> Const:
    node, n = place
    constant = node.sources[n]
    assert isinstance(constant, Const)
    return constant


def _buffer(place: Place) -> TensorNode:
    """The number of a place as data where its operation runs, spread to its shape."""
    number = _const(place)
    array = np.array(number.value, number.dtype.numpy)
    return broadcast_node(new_buffer(array, device=place[0].devices[0]), number.shape)
