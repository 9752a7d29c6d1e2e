"""The operation that made the first NaN, found from a NaN backwards.

A NaN in a loss or in a gradient was made somewhere: by 0 / 0, by a logarithm of what is below 0, by
infinities that were subtracted. All that is computed from it is NaN, too, so what is looked for is
a value that has NaN while nothing that it is computed from has.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.keywords import program_call
from compiler.core.origin import Origin
from compiler.core.printable import ShownAsText, printout
from compiler.graph.nodes import TensorNode
from compiler.graph.printer import Graph
from compiler.graph.words import operation, short

Values = Callable[[TensorNode], "Array | None"]


class Asked(Protocol):
    """A compilation: its graph after the passes, values by entity, lines of nodes."""

    @property
    def optimized_graph(self) -> Graph:
        """The graph after its passes."""
        ...

    def values(self, entity: str) -> Array | None:
        """The value of an entity; None where it has none."""
        ...

    def lines_of(self, node: TensorNode) -> list[Origin]:
        """The user's lines that a node comes from."""
        ...


@dataclass(frozen=True, slots=True)
class Operand:
    """A value that a NaN was made of: its entity, what it is, and its ends."""

    entity: str
    text: str
    least: float
    greatest: float

    def __str__(self) -> str:
        return f"{self.entity} {self.text}, {self.least:.5g} to {self.greatest:.5g}"


@dataclass(frozen=True, slots=True)
class Beginning:
    """A value that has NaN while nothing that it is computed from has: `count` of `size` elements.

    `reached` is how many other values of the program have NaN because of it.
    """

    entity: str
    text: str
    count: int
    size: int
    operands: tuple[Operand, ...]
    line: Origin | None
    reached: int


@dataclass(frozen=True, slots=True)
class FirstNan(ShownAsText):
    """The places where NaN begins, in the order of computation; empty and false if nowhere."""

    beginnings: tuple[Beginning, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.beginnings)

    def __str__(self) -> str:
        if not self:
            return "no value is NaN"
        return printout(line for each in self.beginnings for line in _lines_of(each))


def _lines_of(each: Beginning) -> Iterable[str]:
    yield f"NaN begins at {each.entity} {each.text}: {each.count:,} of {each.size:,} elements"
    for operand in each.operands:
        yield f"  of {operand}"
    if each.line is not None:
        yield f"  in {each.line.file}:{each.line.line}  {each.line.text}"
    yield f"  {each.reached:,} other values have NaN because of it"


def began(order: Iterable[TensorNode], values: Values) -> dict[TensorNode, TensorNode]:
    """For each node that has NaN where that began; `order` has sources before users."""
    begin_of: dict[TensorNode, TensorNode] = {}
    for node in order:
        if _has_nan(values(node)):
            begin_of[node] = next((begin_of[s] for s in node.sources if s in begin_of), node)
    return begin_of


@program_call
def first_nan(compilation: Asked) -> FirstNan:
    """The operations of a compiled program that make NaN, on its inputs; false if there is none.

    The program is looked at as it is after the graph passes. Values too large to be kept
    (`values.py`) are passed over.
    """
    graph = compilation.optimized_graph

    def value_of(node: TensorNode) -> Array | None:
        return compilation.values(graph.entity(node))

    begin_of = began(graph.nodes, value_of)
    reached = Counter(begin_of.values())
    return FirstNan(tuple(
        _beginning(compilation, node, value_of, reached[node] - 1)
        for node in graph.nodes if begin_of.get(node) is node
    ))  # fmt: skip


def _beginning(program: Asked, node: TensorNode, values: Values, reached: int) -> Beginning:
    value, entity = values(node), program.optimized_graph.entity
    assert value is not None
    operands = [
        Operand(entity(each), short(each), float(np.min(held)), float(np.max(held)))
        for each in dict.fromkeys(node.sources)
        if (held := values(each)) is not None and held.size and held.dtype.kind in "fiub"
    ]
    lines = program.lines_of(node)
    count = int(np.isnan(value).sum())
    text = f"{operation(node)} {short(node)}"
    return Beginning(entity(node), text, count, value.size, tuple(operands),
                     lines[0] if lines else None, reached)  # fmt: skip


def _has_nan(value: Array | None) -> bool:
    return value is not None and value.dtype.kind in "fc" and bool(np.isnan(value).any())
