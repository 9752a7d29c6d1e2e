"""tiles: the registers of a scalar node, by its unrolled ranges, and their lanes.

    i0.1 unrolled 2, i1.1 unrolled 3, r2 a loop, i1.2 a vector of 16:
    in1[i0.1*64 + r2]            2 registers of one lane
    in2[r2*48 + i1.1*16 + i1.2]  3 registers of 16 lanes
    their product                6 registers of 16 lanes

An index is a sum of multiples of ranges. For any unrolled iteration, and any lane, it is the index
of the first plus a constant, so a single register holds it for all.
"""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from compiler.core.dtypes import int64
from compiler.core.errors import InternalError
from compiler.core.node import toposort
from compiler.loops.nodes import Alu, Body, Const, Range, ScalarNode
from compiler.loops.placement import dependencies

Iterations: TypeAlias = Mapping[Range, int]
"""One combination: the iteration of each unrolled range."""
Key: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """The unrolled ranges of a node, one register per combination, and its vector range."""

    ranges: tuple[Range, ...] = ()
    vector: Range | None = None
    dot: Range | None = None
    """The range whose iterations are the elements of the word in each lane."""

    @property
    def lanes(self) -> int:
        """The lanes of each register; in a register of words, its elements."""
        return self.words * (1 if self.dot is None else self.dot.extent)

    @property
    def words(self) -> int:
        """The lanes of an operation; in a register of words, its words."""
        return 1 if self.vector is None else self.vector.extent

    def combinations(self) -> Iterator[dict[Range, int]]:
        """The iterations of each register, the last range fastest."""
        for iterations in itertools.product(*(range(r.extent) for r in self.ranges)):
            yield dict(zip(self.ranges, iterations, strict=True))

    def shortest_fastest(self) -> Iterator[dict[Range, int]]:
        """The same, with the shortest range fastest. This order keeps the fewest values live:
        those along the longer ranges are used once, one after the other."""
        ranges = sorted(self.ranges, key=lambda r: -r.extent)
        for iterations in itertools.product(*(range(r.extent) for r in ranges)):
            yield dict(zip(ranges, iterations, strict=True))

    def key(self, iterations: Iterations) -> Key:
        """The key of the register for these iterations; other ranges are ignored."""
        return tuple(iterations[r] for r in self.ranges)


PLAIN = Tile()


class Tiles:
    """The tile of each node of a body, and the coefficients of each index."""

    def __init__(self, body: Body) -> None:
        self.order: list[ScalarNode] = toposort([body])
        self.needs = dependencies(body)
        self._tiles: dict[frozenset[Range], Tile] = {}
        self.coefficients: dict[ScalarNode, dict[Range, int]] = {}
        """For each integer that is a sum of multiples of tagged ranges, the multiples."""
        if any(isinstance(n, Range) and is_tagged(n) for n in self.order):
            for node in self.order:
                self._note(node)

    def of(self, node: ScalarNode) -> Tile:
        """The registers of `node`."""
        return self.over(self.needs[node])

    def over(self, ranges: Iterable[Range]) -> Tile:
        """The tile of a node that depends on `ranges`."""
        key = frozenset(ranges)
        found = self._tiles.get(key)
        if found is None:
            found = self._tiles[key] = _tile(key)
        return found

    def stride(self, node: ScalarNode, along: Range | None) -> int | None:
        """The stride of `node` along `along`; None if it is not constant."""
        if along is None or along not in self.needs[node]:
            return 0
        known = self.coefficients.get(node)
        return None if known is None else known.get(along, 0)

    def divisor(self, node: ScalarNode, lanes: Range | None) -> int:
        """A number that always divides the integer `node` in the first lane."""
        if isinstance(node, Const):
            return abs(int(node.value))
        if node is lanes:
            return 0
        if not isinstance(node, Alu) or node.op not in ("add", "sub", "mul"):
            return 1
        a, b = (self.divisor(s, lanes) for s in node.sources)
        return a * b if node.op == "mul" else math.gcd(a, b)

    def _note(self, node: ScalarNode) -> None:
        """Record the coefficients of an integer that depends on tagged ranges."""
        if isinstance(node, Range):
            if is_tagged(node):
                self.coefficients[node] = {node: 1}
            return
        if not isinstance(node, Alu) or node.dtype != int64 or node.op not in ("add", "sub", "mul"):
            return
        parts = [self._parts(s) for s in node.sources]
        first, second = parts
        if first is None or second is None or not (first or second):
            return
        if node.op == "mul":
            self._note_multiple(node, first, second)
            return
        sign = -1 if node.op == "sub" else 1
        self.coefficients[node] = {
            r: first.get(r, 0) + sign * second.get(r, 0) for r in {**first, **second}
        }

    def _note_multiple(self, node: Alu, first: dict[Range, int], second: dict[Range, int]) -> None:
        """Record a product: with a constant it is a multiple, any other is no sum of multiples."""
        a, b = node.sources
        if isinstance(b, Const):
            self.coefficients[node] = {r: c * int(b.value) for r, c in first.items()}
        elif isinstance(a, Const):
            self.coefficients[node] = {r: c * int(a.value) for r, c in second.items()}

    def _parts(self, node: ScalarNode) -> dict[Range, int] | None:
        """The coefficients of an operand; empty if it depends on no tagged range."""
        known = self.coefficients.get(node)
        if known is not None:
            return known
        return None if any(map(is_tagged, self.needs[node])) else {}


def is_tagged(axis: Range) -> bool:
    """True if a range is tagged: its iterations are registers, lanes or elements of words."""
    return axis.level in ("unroll", "vector", "dot")


def _tile(ranges: frozenset[Range]) -> Tile:
    unrolled = sorted((r for r in ranges if r.level == "unroll"), key=lambda r: (r.number, r.part))
    vectors = [r for r in ranges if r.level == "vector"]
    if len(vectors) > 1:
        names = " and ".join(sorted(r.name for r in vectors))
        raise InternalError("linearize", "one value along two vectors", got=names, expected="one")
    dot = next((r for r in ranges if r.level == "dot"), None)
    return Tile(tuple(unrolled), vectors[0] if vectors else None, dot)
